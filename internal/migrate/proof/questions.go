package proof

import (
	"maps"
	"slices"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// maxSamples is how many requests are made from the rows of one key.
const maxSamples = 2000

// question is a request, and the keys that both sites are asked for, by number.
type question struct {
	name  string // for messages
	facts *bindings.Facts
	keys  []int
}

// strategy is a merge that a caller may ask for; undef asks for the one in lookup_options.
type strategy struct {
	name  string
	value lookup.Value
}

// questions are all that is asked of both sites.
type questions struct {
	keys    []string
	merges  [][]strategy    // by key
	terms   [][]lookup.Term // by key, what its rows in the old site ask for
	settled []bool          // by key: it need not be asked for again
	all     []question
	want    [][]uint64 // by question, the answers of the old site
}

// everyMerge are the names of the strategies that a caller may ask for.
var everyMerge = []string{"first", "unique", "hash", "deep"}

// prepare makes the questions, and asks the old site.
func (p *prover) prepare(next *built) error {
	names := slices.AppendSeq(slices.Collect(p.old.snap.Keys()), next.snap.Keys())
	slices.Sort(names)
	q := &questions{keys: slices.Compact(names)}
	q.settled = make([]bool, len(q.keys))
	p.asked, p.report.Keys = q, len(q.keys)
	if err := p.chooseMerges(); err != nil {
		return err
	}
	if err := p.askNodes(); err != nil {
		return err
	}
	if err := p.askSamples(next); err != nil {
		return err
	}
	p.cut()
	return p.askOld()
}

// chooseMerges chooses the merges of each key.
func (p *prover) chooseMerges() error {
	general := []strategy{{name: "none"}}
	if !p.opts.OnlyAsked || p.opts.Calls.AnyMerge() {
		for _, name := range everyMerge {
			s, err := newStrategy(value.FromString(name))
			if err != nil {
				return err
			}
			general = append(general, s)
		}
	}
	own := map[string][]strategy{}
	for _, c := range p.opts.Calls.All {
		if !c.MergeKnown {
			continue
		}
		s, err := newStrategy(c.Merge)
		if err != nil {
			return err
		}
		if c.Keys == nil {
			general = with(general, s)
		}
		for _, key := range c.Keys {
			own[key] = with(own[key], s)
		}
	}
	shown := map[string]bool{}
	p.asked.merges = make([][]strategy, len(p.asked.keys))
	for i, key := range p.asked.keys {
		all := slices.Clip(general)
		for _, s := range own[key] {
			all = with(all, s)
		}
		p.asked.merges[i] = all
		for _, s := range all {
			shown[s.name] = true
		}
	}
	for _, name := range append([]string{"none"}, everyMerge...) {
		if shown[name] {
			p.report.Merges = append(p.report.Merges, name)
			delete(shown, name)
		}
	}
	p.report.Merges = append(p.report.Merges, slices.Sorted(maps.Keys(shown))...)
	return nil
}

func newStrategy(v value.Value) (strategy, error) {
	text := string(value.AppendJSON(nil, v))
	var of bindings.Value
	err := of.UnmarshalJSON([]byte(text))
	if v.Kind() == value.String {
		text = v.Text()
	}
	return strategy{text, lookup.Value(of)}, err
}

func with(all []strategy, s strategy) []strategy {
	if slices.ContainsFunc(all, func(o strategy) bool { return o.name == s.name }) {
		return all
	}
	return append(all, s)
}

// askNodes has every key be asked for by each node of facts.
func (p *prover) askNodes() error {
	every := make([]int, len(p.asked.keys))
	for i := range every {
		every[i] = i
	}
	for _, n := range p.opts.Nodes {
		f, err := facts.Variables(n, bindings.FactsOptions{})
		if err != nil {
			return err
		}
		p.asked.all = append(p.asked.all, question{"the node " + n.Name, f, every})
	}
	p.report.Nodes = len(p.opts.Nodes)
	return nil
}

// askSamples makes requests from the rows of each key in both sites. Keys share them.
func (p *prover) askSamples(next *built) error {
	others, err := p.old.sampler.Variables()
	if err != nil {
		return err
	}
	at := map[string]int{} // by ID, the question without others; that with them is next
	p.asked.terms = make([][]lookup.Term, len(p.asked.keys))
	for i, key := range p.asked.keys {
		seen := map[string]bool{}
		for _, site := range []*built{p.old, next} {
			of, err := site.sampler.Samples(key, maxSamples)
			if err != nil {
				return err
			}
			p.report.Rows += of.Rows
			p.report.Exceeded = p.report.Exceeded || of.Exceeded
			if site == p.old {
				p.asked.terms[i] = of.Terms
			}
			for _, s := range of.Samples {
				id := s.ID()
				if seen[id] {
					continue
				}
				seen[id] = true
				if _, known := at[id]; !known {
					at[id] = len(p.asked.all)
					if err := p.addRequests(s, others); err != nil {
						return err
					}
				}
				q := p.asked.all[at[id]:]
				q[1].keys = append(q[1].keys, i)
				if s.Alone { // also alone, without other variables
					q[0].keys = append(q[0].keys, i)
				}
			}
		}
	}
	p.asked.all = slices.DeleteFunc(p.asked.all, func(q question) bool { return len(q.keys) == 0 })
	p.report.Requests = len(p.asked.all) - len(p.opts.Nodes)
	return nil
}

// addRequests adds the request of a sample, and the one in which all other variables are set too.
func (p *prover) addRequests(s decision.Sample, others []string) error {
	for _, set := range [][]string{nil, others} {
		f, err := s.Facts(set)
		if err != nil {
			return err
		}
		name := s.String()
		if name == "" {
			name = "a node without facts"
		}
		p.asked.all = append(p.asked.all, question{name: name, facts: f})
	}
	return nil
}

// cut drops the questions above the limit.
func (p *prover) cut() {
	left := p.opts.Limit
	for i, q := range p.asked.all {
		for _, key := range q.keys {
			left -= len(p.asked.merges[key])
		}
		if left < 0 {
			p.report.Cut = len(p.asked.all) - i
			p.asked.all = p.asked.all[:i]
			return
		}
	}
}
