package explore

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

// census records which conditions hold for which nodes, so that the nodes that a binding reaches can be counted without
// lookups.
type census struct {
	nodes   int
	numbers [][]uint32           // by node: its value number in each dimension; nil if its facts are unusable
	sets    []map[uint32]nodeSet // by dimension and value number: the nodes with that value
	known   nodeSet              // nodes with usable facts
	wrong   []string             // messages about nodes with unusable facts
	facts   factValues           // values of the facts that the data reads
	spelled spellings
	done    atomic.Int64  // nodes whose categories are known
	ready   chan struct{} // closed when everything above is set
}

// nodeSet is a set of nodes: a bit for each node, or a list if it has few.
type nodeSet struct {
	words []uint64
	few   []int32 // used if words is nil
}

func newCensus(d *Data) *census { return &census{nodes: len(d.nodes), ready: make(chan struct{})} }

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// take evaluates the categories for every node.
func (c *census) take(d *Data) {
	defer close(c.ready)
	c.numbers = make([][]uint32, c.nodes)
	c.spelled.known = newSpellings(len(d.file.Dimensions()))
	failed := make([]error, c.nodes)
	affected.InParallel(c.nodes, func(i int) {
		defer c.done.Add(1)
		failed[i] = d.read(func() error {
			r, err := affected.Request(d.snap, d.nodes[i])
			if err == nil {
				c.numbers[i] = r.Numbers()
				c.spelled.add(d, r, i, c.numbers[i])
			}
			return err
		})
	})
	c.known.words = make([]uint64, (c.nodes+63)/64)
	for i, err := range failed {
		if err != nil {
			c.wrong = append(c.wrong, err.Error())
		} else {
			c.known.add(i, c.nodes)
		}
	}
	c.sets = make([]map[uint32]nodeSet, len(d.file.Dimensions()))
	for dim := range c.sets {
		c.sets[dim] = c.setsOf(dim)
	}
	c.takeFacts(d)
}

// setsOf returns the set of nodes for each value of a dimension.
func (c *census) setsOf(dim int) map[uint32]nodeSet {
	lists := map[uint32][]int32{}
	for i, numbers := range c.numbers {
		if numbers != nil && numbers[dim] != snapshot.None {
			lists[numbers[dim]] = append(lists[numbers[dim]], int32(i))
		}
	}
	out := make(map[uint32]nodeSet, len(lists))
	for number, list := range lists {
		set := nodeSet{few: list}
		if len(list) > c.nodes/64 {
			set = nodeSet{}
			for _, i := range list {
				set.add(int(i), c.nodes)
			}
		}
		out[number] = set
	}
	return out
}

// add adds node i to a set over n nodes.
func (s *nodeSet) add(i, n int) {
	if s.words == nil {
		s.words = make([]uint64, (n+63)/64)
	}
	s.words[i/64] |= 1 << (i % 64)
}

func (s *nodeSet) has(i int) bool { return s.words[i/64]&(1<<(i%64)) != 0 }

// count returns the number of nodes in a set.
func (s *nodeSet) count() int {
	n := len(s.few)
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// all yields the nodes of a set, in order.
func (s *nodeSet) all(yield func(node int) bool) {
	for _, node := range s.few {
		if !yield(int(node)) {
			return
		}
	}
	for at, w := range s.words {
		for ; w != 0; w &= w - 1 {
			if !yield(at*64 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// remove removes the nodes in other from s, which must have words.
func (s *nodeSet) remove(other *nodeSet) {
	for _, node := range other.few {
		s.words[node/64] &^= 1 << (node % 64)
	}
	for i, w := range other.words {
		s.words[i] &^= w
	}
}

// reach calls do with the nodes that each row reaches. A row reaches a node if its condition holds, and the condition
// of no earlier row without Declines holds. With merged, earlier rows do not matter. rest is the set of nodes that no
// row decides.
func (c *census) reach(d *Data, rows []decision.Row, merged bool, do func(row int, nodes *nodeSet)) (rest nodeSet) {
	rest.words = slices.Clone(c.known.words)
	found := nodeSet{words: make([]uint64, len(rest.words))}
	for i := range rows {
		nodes := c.where(d, rows[i].Terms(), &rest)
		do(i, &nodes)
		found.insert(&nodes)
		if !merged && !rows[i].Declines {
			rest.remove(&nodes)
		}
	}
	rest.words = slices.Clone(c.known.words)
	rest.remove(&found)
	return rest
}

// insert adds the nodes in other to s, which must have words.
func (s *nodeSet) insert(other *nodeSet) {
	for _, node := range other.few {
		s.words[node/64] |= 1 << (node % 64)
	}
	for i, w := range other.words {
		s.words[i] |= w
	}
}

// where returns the nodes in a set for which a condition holds. The set must have words.
func (c *census) where(d *Data, terms []snapshot.Term, in *nodeSet) nodeSet {
	sets, wanted := make([]nodeSet, len(terms)), make([]uint32, len(terms))
	smallest := -1 // index of the term with the shortest list
	for k, t := range terms {
		wanted[k] = d.file.ValueNumber(t.Dimension, t.Value)
		set, ok := c.sets[t.Dimension][wanted[k]]
		if !ok {
			return nodeSet{}
		}
		if sets[k] = set; set.words == nil && (smallest < 0 || len(set.few) < len(sets[smallest].few)) {
			smallest = k
		}
	}
	if smallest >= 0 {
		return nodeSet{few: c.filter(sets[smallest].few, terms, wanted, in)}
	}
	out := nodeSet{words: slices.Clone(in.words)}
	for _, set := range sets {
		for i, w := range set.words {
			out.words[i] &= w
		}
	}
	return out
}

// filter returns the nodes in list that are in the set and have the wanted values.
func (c *census) filter(list []int32, terms []snapshot.Term, wanted []uint32, in *nodeSet) (out []int32) {
	for _, node := range list {
		holds := in.has(int(node))
		for k, t := range terms {
			holds = holds && c.numbers[node][t.Dimension] == wanted[k]
		}
		if holds {
			out = append(out, node)
		}
	}
	return out
}
