package explore

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

// census records the category values of every node. From these it computes which nodes a binding reaches, without any
// lookup.
type census struct {
	nodes   int
	numbers [][]uint32           // value numbers by node and dimension; nil for a node with unusable facts
	sets    []map[uint32]nodeSet // nodes by dimension and value number
	known   nodeSet              // nodes with usable facts
	wrong   []string             // messages about nodes with unusable facts
	facts   factValues           // known values of the facts that the data reads
	spelled spellings
	done    atomic.Int64  // number of nodes evaluated so far
	ready   chan struct{} // closed when all fields above are set
}

// nodeSet is a set of node numbers: a bit set, or a list if the set is small.
type nodeSet struct {
	words []uint64
	few   []int32 // in ascending order; used if words is nil
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

// take evaluates the categories of every node and closes c.ready.
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

// setsOf maps each value number of a dimension to the nodes with that value.
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

// add adds node i to s. n is the number of nodes in the fleet.
func (s *nodeSet) add(i, n int) {
	if s.words == nil {
		s.words = make([]uint64, (n+63)/64)
	}
	s.words[i/64] |= 1 << (i % 64)
}

func (s *nodeSet) has(i int) bool { return s.words[i/64]&(1<<(i%64)) != 0 }

func (s *nodeSet) count() int {
	n := len(s.few)
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// all calls yield for each node in s, in ascending order, until yield returns false.
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

// remove removes the nodes in other from s. s.words must not be nil.
func (s *nodeSet) remove(other *nodeSet) {
	for _, node := range other.few {
		s.words[node/64] &^= 1 << (node % 64)
	}
	for i, w := range other.words {
		s.words[i] &^= w
	}
}

// reach calls do for each row with the nodes that the row reaches. A row reaches a node if its condition holds and no
// earlier row decides the value. An earlier row decides it if its condition holds and it does not decline. If merged is
// true, only the row's own condition matters. The result rest is the set of nodes that no row reaches.
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

// insert adds the nodes in other to s. s.words must not be nil.
func (s *nodeSet) insert(other *nodeSet) {
	for _, node := range other.few {
		s.words[node/64] |= 1 << (node % 64)
	}
	for i, w := range other.words {
		s.words[i] |= w
	}
}

// where returns the nodes in the set in for which all terms hold. in.words must not be nil.
func (c *census) where(d *Data, terms []snapshot.Term, in *nodeSet) nodeSet {
	sets, wanted := make([]nodeSet, len(terms)), make([]uint32, len(terms))
	smallest := -1 // index of the term with the shortest list of nodes, or -1
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

// filter returns the nodes in list that are also in the set in and for which every terms[k] has the value number
// wanted[k].
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
