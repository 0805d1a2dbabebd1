package compile

import (
	"iter"

	"bindc/internal/recipe"
	"bindc/loader"
)

// placement is a site with every binding in its place: under the scopes of its conditions, under the multibinding that
// it contributes to, or, if it depends on other bindings, in a list of its own.
type placement struct {
	*tables
	ranks      *ranking
	scopes     []scope
	scopeAt    map[scopeKey]int // index in scopes
	multibinds multibinds
	rebound    []rebound // aliases, renames and rebindings
	totals     totals
}

// totals are properties of a whole site.
type totals struct {
	bindings  int  // number of bindings that are written somewhere
	sensitive bool // a binding is sensitive
	arm8      bool // a binding is an operation of ARM-8
}

// scope holds the bindings of one layer under one condition, in order of the input.
type scope struct {
	layer, condition int
	rank             int // precedence over all layers; 0 is the highest
	members          []member
	hidden           []*loader.DataFile // files all of whose keys other members bind, see loader.DataFile
}

type scopeKey struct{ layer, condition int }

// member is a data file, or one structured binding.
type member struct {
	order   int // in the input; of a file, that of its first entry
	file    *loader.DataFile
	binding *loader.Binding

	key, value uint32 // of the binding, in tables
}

// layeredBinding is a binding that a pass adds to a layer.
type layeredBinding struct {
	*loader.Binding
	layer int
}

// placeBindings places all bindings that are written in a site.
func placeBindings(site *loader.Site, ranks *ranking) *placement {
	p := &placement{tables: newTables(site), ranks: ranks, scopeAt: make(map[scopeKey]int, len(site.Conditions)),
		multibinds: newMultibinds()}
	for layer := range site.Layers {
		for i := range site.Layers[layer].Contributions {
			contribution := &site.Layers[layer].Contributions[i]
			for j := range contribution.Files {
				p.addFile(&contribution.Files[j], layer)
			}
			for j := range contribution.Bindings {
				p.addBinding(&contribution.Bindings[j], layer)
			}
		}
	}
	return p
}

func (p *placement) addFile(f *loader.DataFile, layer int) {
	s := p.scope(layer, f.Condition)
	if f.Hidden {
		s.hidden = append(s.hidden, f)
	} else {
		s.members = append(s.members, member{order: p.totals.bindings, file: f})
	}
	p.totals.bindings += len(f.Entries)
	for _, e := range f.Entries {
		p.keep(e.Value)
	}
}

// addBindings places the bindings that a pass made of other ones.
func (p *placement) addBindings(list []layeredBinding) {
	for _, b := range list {
		p.addBinding(b.Binding, b.layer)
	}
}

// addUnwritten places bindings that are written nowhere: they do not count as bindings of the site.
func (p *placement) addUnwritten(list []layeredBinding) {
	for _, b := range list {
		p.addBinding(b.Binding, b.layer)
		p.totals.bindings--
	}
}

func (p *placement) addBinding(b *loader.Binding, layer int) {
	order := p.totals.bindings
	p.totals.bindings++
	if b.More == nil {
		p.addToScopes(b, layer, order)
		return
	}
	if b.More.Recipe != nil && b.More.Recipe.Sensitive {
		p.totals.sensitive = true
	}
	if b.More.Multibind != nil {
		p.multibinds.declare(b)
		p.totals.arm8 = p.totals.arm8 || declaresARM8(b)
	}
	switch {
	case b.More.In != nil:
		p.multibinds.contribute(b, layer, order, p.ranks)
	case b.More.Rebinds != nil:
		p.rebound = append(p.rebound, rebound{orderedBinding: orderedBinding{b, layer, order}})
	default:
		p.addToScopes(b, layer, order)
	}
}

// addToScopes places a binding under each of its conditions.
func (p *placement) addToScopes(b *loader.Binding, layer, order int) {
	m := member{order: order, binding: b, key: b.Number, value: b.Value}
	p.keep(m.value)
	if r := recipeOf(b); r != nil && !r.IsFinal() {
		p.declining[m.value], p.totals.arm8 = true, true
	}
	for _, condition := range b.When {
		s := p.scope(layer, condition)
		s.members = append(s.members, m)
	}
}

// scope returns the scope of a layer under a condition. The pointer is valid until the next call.
func (p *placement) scope(layer, condition int) *scope {
	key := scopeKey{layer, condition}
	at, ok := p.scopeAt[key]
	if !ok {
		at = len(p.scopes)
		p.scopeAt[key] = at
		p.scopes = append(p.scopes, scope{layer: layer, condition: condition, rank: p.ranks.rank(layer, condition)})
	}
	return &p.scopes[at]
}

// bound ranges over the keys that s binds and their values, by their numbers in tables.
func (s *scope) bound() iter.Seq2[uint32, uint32] {
	return func(yield func(key, value uint32) bool) {
		for i := range s.members {
			m := &s.members[i]
			if m.binding != nil {
				if !yield(m.key, m.value) {
					return
				}
				continue
			}
			for _, e := range m.file.Entries {
				if !yield(e.Key, e.Value) {
					return
				}
			}
		}
	}
}

// multibinds holds the multibindings of a site and the contributions to them, by id.
type multibinds struct {
	declared      map[string][]declaration
	broken        map[string]bool // a multibinding of that id could not be compiled, which is reported
	contributions map[string][]candidate
	renamed       map[string]bool // some contributions have other names
}

// declaration is a binding with a multibind_id.
type declaration struct {
	binding *loader.Binding
	options *recipe.Options
}

func newMultibinds() multibinds {
	return multibinds{declared: map[string][]declaration{}, broken: map[string]bool{},
		contributions: map[string][]candidate{}, renamed: map[string]bool{}}
}

// declare records that b collects contributions.
func (ms *multibinds) declare(b *loader.Binding) {
	m := b.More.Multibind
	if m.Options == nil {
		ms.broken[m.ID] = true
		return
	}
	ms.declared[m.ID] = append(ms.declared[m.ID], declaration{b, m.Options})
}

// declaresARM8 reports whether a binding with a multibind_id uses ARM-8.
func declaresARM8(b *loader.Binding) bool {
	return b.More.Multibind.Options != nil && b.More.Recipe != nil && b.More.Recipe.IsARM8()
}

// contribute records a binding with `in`.
func (ms *multibinds) contribute(b *loader.Binding, layer, order int, ranks *ranking) {
	if b.More.Recipe != nil {
		ms.add(b.More.In.ID, candidate{binding: b, layer: layer, order: order, recipe: b.More.Recipe}, ranks)
	}
}

// add records a contribution to id under each condition of its binding.
func (ms *multibinds) add(id string, cand candidate, ranks *ranking) {
	for _, condition := range cand.binding.When {
		cand.condition, cand.rank = condition, ranks.rank(cand.layer, condition)
		ms.contributions[id] = append(ms.contributions[id], cand)
	}
}

// orderedBinding is a binding, its layer and its place in the input.
type orderedBinding struct {
	*loader.Binding
	layer, order int
}

// rebound is an alias, a rename or a rebinding: a binding to the value of another key, or to the value that its own key
// has below it.
type rebound struct {
	orderedBinding
	ofKey, ofPart bool // the old name is that of a key that is bound, or that of contributions
}

// old returns the name that r refers to.
func (r *rebound) old() string { return r.More.Rebinds.ID }

// isOwn reports whether r binds the key that it refers to.
func (r *rebound) isOwn() bool { return r.old() == r.Key }

// below reports whether r has the value that the old name has below it.
func (r *rebound) below() bool {
	k := recipeOf(r.Binding)
	return k != nil && k.Kind == recipe.Below
}
