package policy

import (
	"maps"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	bindings "bindc/runtime"
)

// opened is the compiled site, opened for lookups.
type opened struct {
	*bindings.Snapshot
	explainer lookup.Explainer
}

func openBytes(content []byte) (*opened, error) {
	s, err := bindings.OpenBytes(content, bindings.Options{})
	if err != nil {
		return nil, err
	}
	return &opened{Snapshot: s}, nil
}

// breach describes how a policy is broken for one request.
type breach struct {
	message string // does not contain the value if that is sensitive
	secret  bool
	at      diag.Pos // position of the winning binding, with the path stored in the snapshot; zero if no binding wins
	when    []lookup.Term
}

// examine looks up key with the facts f. It returns nil if the policy holds for this request or does not apply to it.
func (o *opened) examine(policy *Policy, key string, f *bindings.Facts) (*breach, error) {
	r, err := o.Request(f)
	if err != nil {
		return nil, nil // a category cannot be computed, so all lookups fail
	}
	engine := (*lookup.Request)(r)
	seen := &view{categories: map[string]string{}, env: factsEnv{(*lookup.Facts)(f).Variable}}
	for _, t := range engine.Categories() {
		seen.categories[t.Name] = fold(t.Value)
	}
	if !policy.region.holds(seen) {
		return nil, nil
	}
	found, there, failed := engine.Lookup(key)
	isAbstract := lookup.CodeOf(failed) == lookup.CodeAbstract
	switch text := policy.claim.ofNothing(); {
	case failed != nil && !isAbstract: // the key is bound even though its value cannot be computed
		return nil, nil
	case isAbstract && text != "":
		return &breach{message: "expected a value, found an abstract binding"}, nil
	case !there && text != "":
		return &breach{message: text}, nil
	case !there:
		return nil, nil
	}
	return o.examineValue(policy, key, engine, found)
}

func (o *opened) examineValue(policy *Policy, key string, r *lookup.Request, found lookup.Value) (*breach, error) {
	v, err := found.Whole()
	if err != nil {
		return nil, err
	}
	v, inner, err := v.Unveiled()
	if err != nil {
		return nil, err
	}
	b := &breach{secret: found.Sensitive() || inner}
	layer := ""
	if policy.claim.layers == nil && policy.claim.ofValue(v, layer, b.secret) == "" {
		return nil, nil
	}
	e, err := o.explainer.Briefly(r, key, 0)
	if err != nil {
		return nil, err
	}
	for _, c := range e.Candidates {
		if c.State == lookup.Wins || c.State == lookup.Merged && b.at.File == "" {
			layer, b.when, b.at = c.Layer, c.When, diag.ParsePos(c.At)
		}
	}
	if b.message = policy.claim.ofValue(v, layer, b.secret); b.message == "" {
		return nil, nil
	}
	return b, nil
}

// confirm looks for a request with the variables in w that breaks the policy. If it finds one, it reports it and
// returns true.
func (p *prover) confirm(policy *Policy, key string, w way) (bool, error) {
	o, err := p.snapshotOf()
	if err != nil {
		return false, err
	}
	for texts := range p.completions(w) {
		b, err := p.examine(o, policy, key, texts)
		if err != nil {
			return false, err
		}
		if b != nil {
			texts, err := p.shortened(o, policy, key, w, texts, b)
			if err == nil {
				p.report(policy, key, texts, b)
			}
			return true, err
		}
	}
	return false, nil
}

// completions returns an iterator over requests that have the variables in w. The other variables are unset, or have a
// value that no condition uses.
func (p *prover) completions(w way) func(yield func(way) bool) {
	return func(yield func(way) bool) {
		free := slices.DeleteFunc(slices.Sorted(maps.Keys(p.space.paths)), func(v string) bool {
			_, assigned := w[v]
			return assigned
		})
		with := func(set func(i int) bool) way {
			out := maps.Clone(w)
			for i, v := range free {
				if set(i) {
					out[v] = "other_" + strings.ReplaceAll(v, "\x00", "_")
				}
			}
			return out
		}
		if !yield(with(func(int) bool { return true })) || !yield(with(func(int) bool { return false })) {
			return
		}
		for only := range free {
			is, isNot := func(i int) bool { return i == only }, func(i int) bool { return i != only }
			if !yield(with(is)) || !yield(with(isNot)) {
				return
			}
		}
	}
}

// examine checks the policy for the request with the variables in texts.
func (p *prover) examine(o *opened, policy *Policy, key string, texts way) (*breach, error) {
	f, err := p.sample(texts).Facts(nil)
	if err != nil {
		return nil, nil // no node can have such facts
	}
	return o.examine(policy, key, f)
}

// sample returns the request with the variables in texts.
func (p *prover) sample(texts way) decision.Sample {
	out := map[string]string{}
	for v, text := range texts {
		if text == "" || strings.HasPrefix(v, opaqueMark) {
			continue
		}
		for _, path := range p.space.paths[v] {
			out[path] = text
		}
	}
	return decision.NewSample(out)
}

// shortened returns texts without the variables that the violation does not need. It keeps the variables in w. It
// removes any other variable if the same binding breaks the policy without it.
func (p *prover) shortened(o *opened, policy *Policy, key string, w, texts way, b *breach) (way, error) {
	out := maps.Clone(texts)
	for _, v := range slices.Sorted(maps.Keys(texts)) {
		if _, needed := w[v]; needed {
			continue
		}
		text := out[v]
		delete(out, v)
		fewer, err := p.examine(o, policy, key, out)
		if err != nil {
			return nil, err
		}
		if fewer == nil || fewer.at != b.at {
			out[v] = text
		}
	}
	return out, nil
}
