package policy

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/snapshot"
)

// Input is the content of a snapshot whose policies Prove checks.
type Input struct {
	Content *snapshot.Content
	Files   func(input string) string // returns the path of an input file, for diagnostics
	Context context.Context           // if not nil, Prove returns an error once it is done
}

// Result says which policies are proven, and knows which are neither proven nor broken.
type Result struct {
	Proven []*Policy // policies that hold for all requests

	prover *prover
	open   []*Open
}

// Open is a policy that is neither proven nor broken, because some values depend on facts or other keys.
type Open struct {
	*Policy
	keys     []string
	computed []diag.Pos // positions of bindings whose values are not known
	kindless *literal   // comparison whose result depends on the type of a fact, or nil
}

// Prove tries to prove each policy for all possible requests to a site. It adds to diags the violations, and warnings
// about policies that apply to no key or no request. Result.Report adds warnings about policies that are neither proven
// nor broken.
func Prove(in Input, policies []*Policy, diags *diag.List) (*Result, error) {
	out := &Result{}
	if len(policies) == 0 {
		return out, nil
	}
	s, err := newSpace(in.Content)
	if err != nil {
		return nil, err
	}
	p := &prover{Input: in, space: s, diags: diags, blockersOf: map[uint32]*blockers{}, seen: map[string]bool{}}
	out.prover = p
	keys := make([][]uint32, len(policies))
	for i, policy := range policies {
		keys[i] = p.keysOf(policy)
	}
	p.tables = newTables(in.Content)
	doubts := p.findDoubts(policies, keys)
	p.findRows(policies, keys, doubts)
	for i, policy := range policies {
		if in.Context != nil && in.Context.Err() != nil {
			return nil, in.Context.Err()
		}
		v, err := p.prove(policy, keys[i], doubts[i])
		switch {
		case err != nil:
			return nil, err
		case v == holds:
			out.Proven = append(out.Proven, policy)
		case v == unknown:
			out.open = append(out.open, p.current)
		}
	}
	return out, nil
}

// prover holds the state of Prove.
type prover struct {
	Input
	space      *space
	tables     *tables
	diags      *diag.List
	blockersOf map[uint32]*blockers
	opened     *opened // nil until the first lookup
	seen       map[string]bool

	current *Open // policy that is being proven
	region  []conjunct
}

// keysOf returns the numbers of the keys to which a policy applies.
func (p *prover) keysOf(policy *Policy) (out []uint32) {
	keys := p.Content.Keys
	from, _ := slices.BinarySearchFunc(keys, policy.prefix,
		func(k snapshot.Key, name string) int { return strings.Compare(k.Name, name) })
	for i := from; i < len(keys) && strings.HasPrefix(keys[i].Name, policy.prefix); i++ {
		if name := keys[i].Name; !strings.HasPrefix(name, "\x00") && policy.concerns(name) {
			out = append(out, uint32(i))
		}
	}
	return out
}

// prove decides one policy. keys and doubts are those of the policy. If the policy applies to no request, prove only
// adds a warning.
func (p *prover) prove(policy *Policy, keys []uint32, doubts []doubt) (verdict, error) {
	p.current = &Open{Policy: policy}
	if !p.checkCategories(policy) {
		return broken, nil
	}
	p.checkLayers(policy)
	p.region, _ = policy.region.conjuncts(false)
	if p.region = slices.DeleteFunc(p.region, func(c conjunct) bool { return !p.isPossible(&c) }); len(p.region) == 0 {
		p.warn(policy, "the policy '"+policy.Name+"' applies to no request: its condition never holds",
			"correct 'when' and 'unless', or remove the policy")
		return broken, nil
	}
	if len(keys) == 0 && policy.claim.ofNothing() == "" {
		p.warn(policy, "the policy '"+policy.Name+"' matches no key: nothing binds '"+policy.source+"'",
			keyHint(p.diags, policy, p.Content.Keys))
		return broken, nil
	}
	if policy.keys == nil && len(keys) == 0 {
		return p.proveUnbound(policy)
	}
	out := holds
	for _, key := range keys {
		n := 0
		for n < len(doubts) && doubts[n].key == key {
			n++
		}
		v, err := p.proveKey(policy, key, doubts[:n])
		if err != nil {
			return broken, err
		}
		out, doubts = worse(out, v), doubts[n:]
	}
	return out, nil
}

// worse returns the worse of two verdicts: broken, then unknown, then holds.
func worse(a, b verdict) verdict {
	if a == broken || b == broken {
		return broken
	}
	return max(a, b)
}

// proveUnbound decides a policy that requires a value for a key without any bindings.
func (p *prover) proveUnbound(policy *Policy) (verdict, error) {
	return p.proveRow(policy, policy.key, nil, p.nothing(), broken)
}

// proveKey decides a policy for one of its keys. doubts are the bindings of the key that may break the policy.
func (p *prover) proveKey(policy *Policy, key uint32, doubts []doubt) (verdict, error) {
	name := p.Content.Keys[key].Name
	out := holds
	for i := range doubts {
		found, err := p.proveRow(policy, name, p.blockers(key), &doubts[i].row, doubts[i].verdict)
		if err != nil {
			return broken, err
		}
		out = worse(out, found)
	}
	if policy.claim.ofNothing() == "" || p.tables.isAlwaysBound(key) {
		return out, nil
	}
	found, err := p.proveRow(policy, name, p.blockers(key), p.nothing(), broken)
	return worse(out, found), err
}

// nothing returns a pseudo-row below all rows of a table. It wins for requests for which no row has a value.
func (p *prover) nothing() *row { return &row{level: int32(len(p.Content.Levels)) + 1} }

// blockers returns the blockers of a key, with a cache.
func (p *prover) blockers(key uint32) *blockers {
	b := p.blockersOf[key]
	if b == nil {
		b = p.tables.blockers(p.space, key)
		p.blockersOf[key] = b
	}
	return b
}

// proveRow decides whether the policy is broken for some request for which r wins. v is the verdict on the value of r,
// broken or unknown.
func (p *prover) proveRow(policy *Policy, key string, b *blockers, r *row, v verdict) (verdict, error) {
	var own []equation
	if int(r.level) < len(p.Content.Levels) {
		own = p.space.ofScope(p.Content.Levels[r.level].Dimensions, p.tables.scope(r).Values)
	}
	out := holds
	for i := range p.region {
		c := &p.region[i]
		ways, complete := p.space.solve(slices.Concat(own, p.space.ofLiterals(c.positive)))
		for _, w := range ways {
			if p.isExcluded(c, w) || b != nil && b.block(w, r.level) {
				continue
			}
			out = unknown
			if v == unknown {
				break
			}
			found, err := p.confirm(policy, key, w)
			if err != nil || found {
				return broken, err
			}
			p.current.kindless = cmp.Or(p.current.kindless, p.kindless(c, w))
		}
		if !complete {
			out = worse(out, unknown)
		}
	}
	if out == unknown {
		p.leaveOpen(key, r, v)
	}
	return out, nil
}

// isExcluded reports whether the policy never applies to requests with the variables in w, because one of c's negative
// literals holds for all of them.
func (p *prover) isExcluded(c *conjunct, w way) bool {
	return slices.ContainsFunc(c.negative, func(l *literal) bool {
		return p.space.implies(w, l) && !l.dependsOnKind()
	})
}

// kindless returns a negative literal of c that holds for all requests with the variables in w if facts are strings. It
// returns nil if there is none.
func (p *prover) kindless(c *conjunct, w way) *literal {
	i := slices.IndexFunc(c.negative, func(l *literal) bool { return p.space.implies(w, l) })
	if i < 0 {
		return nil
	}
	return c.negative[i]
}

// isPossible reports whether some request may meet c.
func (p *prover) isPossible(c *conjunct) bool {
	ways, complete := p.space.solve(p.space.ofLiterals(c.positive))
	return !complete || slices.ContainsFunc(ways, func(w way) bool { return !p.isExcluded(c, w) })
}

// leaveOpen records that the current policy cannot be decided because of row r. v is the verdict on the value of r.
func (p *prover) leaveOpen(key string, r *row, v verdict) {
	if !slices.Contains(p.current.keys, key) {
		p.current.keys = append(p.current.keys, key)
	}
	if _, at := p.tables.origin(r); at.Line > 0 && (v == unknown || p.current.kindless == nil) {
		p.current.computed = append(p.current.computed, p.pos(at))
	}
}

func (p *prover) pos(o snapshot.Origin) diag.Pos {
	return diag.Pos{File: p.Files(p.Content.Inputs[o.Input].Path), Line: int(o.Line), Col: int(o.Col)}
}

// checkCategories reports unknown categories and probably misspelt values in a policy's condition. It returns false if
// a category is unknown.
func (p *prover) checkCategories(policy *Policy) bool {
	ok := true
	names := slices.Sorted(maps.Keys(p.space.categories))
	policy.region.literals(func(l *literal) {
		if l.category == "" {
			return
		}
		dim, known := p.space.categories[l.category]
		if !known {
			ok = false
			p.diags.Add(diag.Diagnostic{Pos: policy.At, Code: Code, Fix: diag.Correct(l.category, names),
				Message: "the policy '" + policy.Name + "' uses the category '" + l.category + "'; the site has " +
					diag.Quoted(names)})
			return
		}
		if near := diag.Misspelt(l.text, p.valuesOf(dim)); near != "" {
			p.correct(policy, fmt.Sprintf("no condition uses the value '%s' of the category '%s'", l.written,
				l.category), diag.MeantAs(l.written, near))
		}
	})
	return ok
}

// valuesOf returns the values that conditions compare with a dimension. It may return duplicates.
func (p *prover) valuesOf(dim int) (out []string) {
	for _, level := range p.Content.Levels {
		if at := slices.Index(level.Dimensions, dim); at >= 0 {
			for _, s := range level.Scopes {
				out = append(out, s.Values[at])
			}
		}
	}
	return out
}

// checkLayers warns about layers in a policy that the site does not have.
func (p *prover) checkLayers(policy *Policy) {
	for _, name := range policy.claim.layers {
		if !slices.Contains(p.Content.Layers, name) {
			p.correct(policy, "the policy '"+policy.Name+"' names the layer '"+name+"'; the site has "+
				diag.Quoted(slices.Compact(slices.Clone(p.Content.Layers))), diag.Correct(name, p.Content.Layers))
		}
	}
}

// snapshotOf returns the site, opened in memory as a snapshot. It opens the site on the first call.
func (p *prover) snapshotOf() (*opened, error) {
	if p.opened == nil {
		var b bytes.Buffer
		if _, err := snapshot.WriteTo(&b, p.Content); err != nil {
			return nil, err
		}
		var err error
		if p.opened, err = openBytes(b.Bytes()); err != nil {
			return nil, err
		}
	}
	return p.opened, nil
}
