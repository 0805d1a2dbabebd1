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

// maxSamples limits the number of requests made up for each key.
const maxSamples = 2000

type question struct {
	name  string // name in messages
	facts *bindings.Facts
	keys  []int // indexes in questions.keys
}

// strategy is a merge that a lookup requests. If value is undef, lookup_options determine the
// merge.
type strategy struct {
	name  string
	value lookup.Value
}

// questions are the lookups to make in both sites.
type questions struct {
	keys     []string
	merges   [][]strategy    // for each key, the merges to compare
	terms    [][]lookup.Term // for each key, the terms in its conditions in the old site
	settled  []bool          // for each key, whether it needs no further comparison
	all      []question
	expected [][]uint64 // for each question, the old site's answers
}

// mergeNames lists the merge strategies without options.
var mergeNames = []string{"first", "unique", "hash", "deep"}

func (p *prover) prepare(next *builtSite) error {
	names := slices.AppendSeq(slices.Collect(p.old.snap.Keys()), next.snap.Keys())
	slices.Sort(names)
	q := &questions{keys: slices.Compact(names)}
	q.settled = make([]bool, len(q.keys))
	p.questions, p.report.Keys = q, len(q.keys)
	if err := p.chooseMerges(); err != nil {
		return err
	}
	if err := p.askNodes(); err != nil {
		return err
	}
	if err := p.askSamples(next); err != nil {
		return err
	}
	p.applyLimit()
	return p.askOldSite()
}

func (p *prover) chooseMerges() error {
	forAllKeys := []strategy{{name: "none"}}
	if !p.opts.OnlyAsked || p.opts.Calls.AnyMerge() {
		for _, name := range mergeNames {
			s, err := newStrategy(value.FromString(name))
			if err != nil {
				return err
			}
			forAllKeys = append(forAllKeys, s)
		}
	}
	perKey := map[string][]strategy{}
	for _, c := range p.opts.Calls.All {
		if !c.MergeKnown {
			continue
		}
		s, err := newStrategy(c.Merge)
		if err != nil {
			return err
		}
		if c.Keys == nil {
			forAllKeys = appendNew(forAllKeys, s)
		}
		for _, key := range c.Keys {
			perKey[key] = appendNew(perKey[key], s)
		}
	}
	shown := map[string]bool{}
	p.questions.merges = make([][]strategy, len(p.questions.keys))
	for i, key := range p.questions.keys {
		all := slices.Clip(forAllKeys)
		for _, s := range perKey[key] {
			all = appendNew(all, s)
		}
		p.questions.merges[i] = all
		for _, s := range all {
			shown[s.name] = true
		}
	}
	for _, name := range append([]string{"none"}, mergeNames...) {
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
	var parsed bindings.Value
	err := parsed.UnmarshalJSON([]byte(text))
	if v.Kind() == value.String {
		text = v.Text()
	}
	return strategy{text, lookup.Value(parsed)}, err
}

func appendNew(all []strategy, s strategy) []strategy {
	if slices.ContainsFunc(all, func(o strategy) bool { return o.name == s.name }) {
		return all
	}
	return append(all, s)
}

// askNodes adds a question for each node with facts. It looks up all keys.
func (p *prover) askNodes() error {
	every := make([]int, len(p.questions.keys))
	for i := range every {
		every[i] = i
	}
	for _, n := range p.opts.Nodes {
		f, err := facts.Variables(n, bindings.FactsOptions{})
		if err != nil {
			return err
		}
		p.questions.all = append(p.questions.all, question{"the node " + n.Name, f, every})
	}
	p.report.Nodes = len(p.opts.Nodes)
	return nil
}

// askSamples adds questions for requests made up from the conditions of each key in both sites.
// Keys with the same conditions share them.
func (p *prover) askSamples(next *builtSite) error {
	others, err := p.old.sampler.Variables()
	if err != nil {
		return err
	}
	// From a sample's ID to the index of its question, which sets only the variables of the sample.
	// In the following question, all variables are set.
	at := map[string]int{}
	p.questions.terms = make([][]lookup.Term, len(p.questions.keys))
	for i, key := range p.questions.keys {
		seen := map[string]bool{}
		for _, site := range []*builtSite{p.old, next} {
			samples, err := site.sampler.Samples(key, maxSamples)
			if err != nil {
				return err
			}
			p.report.Rows += samples.Rows
			p.report.Exceeded = p.report.Exceeded || samples.Exceeded
			if site == p.old {
				p.questions.terms[i] = samples.Terms
			}
			for _, s := range samples.Samples {
				id := s.ID()
				if seen[id] {
					continue
				}
				seen[id] = true
				if _, known := at[id]; !known {
					at[id] = len(p.questions.all)
					if err := p.addRequests(s, others); err != nil {
						return err
					}
				}
				q := p.questions.all[at[id]:]
				q[1].keys = append(q[1].keys, i)
				if s.Alone { // this sample, without the other variables
					q[0].keys = append(q[0].keys, i)
				}
			}
		}
	}
	p.questions.all = slices.DeleteFunc(p.questions.all, func(q question) bool { return len(q.keys) == 0 })
	p.report.Requests = len(p.questions.all) - len(p.opts.Nodes)
	return nil
}

// addRequests adds two questions for a sample: one that sets only the variables of the sample, and
// one in which the other variables are set too.
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
		p.questions.all = append(p.questions.all, question{name: name, facts: f})
	}
	return nil
}

func (p *prover) applyLimit() {
	budget := p.opts.Limit
	for i, q := range p.questions.all {
		for _, key := range q.keys {
			budget -= len(p.questions.merges[key])
		}
		if budget < 0 {
			p.report.Omitted = len(p.questions.all) - i
			p.questions.all = p.questions.all[:i]
			return
		}
	}
}
