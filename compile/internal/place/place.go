// Package place ranks the conditions of a site and puts every binding into the scope of its layer and condition.
package place

import (
	"iter"

	"bindc/internal/recipe"
	"bindc/loader"
)

// Placement holds each binding of a site where it belongs: in the scopes of its conditions, with the multibinding that
// it contributes to, or in a list of bindings that depend on other bindings.
type Placement struct {
	*Tables
	Ranks      *Ranking
	Scopes     []Scope
	scopeAt    map[ScopeKey]int // index in Scopes
	Multibinds Multibinds
	Rebound    []Rebound
	Totals     Totals
}

// Totals summarizes the bindings of a site.
type Totals struct {
	Bindings  int  // number of bindings in files, including transferred parameters
	Sensitive bool // some binding is sensitive
	ARM8      bool // some binding uses ARM-8 operations
}

// Scope holds the bindings of a layer under a condition.
type Scope struct {
	Layer, Condition int
	Rank             int // precedence among all layers; 0 is the highest
	Members          []Member
	Hidden           []*loader.DataFile // files that are never used, see loader.DataFile
}

// ScopeKey identifies a scope.
type ScopeKey struct{ Layer, Condition int }

func (s *Scope) Key() ScopeKey { return ScopeKey{s.Layer, s.Condition} }

// Member is a data file or a structured binding in a scope.
type Member struct {
	Order   int // position in the input; for a file, the position of its first entry
	File    *loader.DataFile
	Binding *loader.Binding

	Key, Value uint32 // numbers in Tables; only for a binding
}

// LayeredBinding is a binding that a pass adds, with its layer.
type LayeredBinding struct {
	*loader.Binding
	Layer int
}

// Bindings places the bindings in the files of a site.
func Bindings(site *loader.Site, ranks *Ranking) *Placement {
	p := &Placement{Tables: newTables(site), Ranks: ranks, scopeAt: make(map[ScopeKey]int, len(site.Conditions)),
		Scopes:     make([]Scope, 0, len(site.Conditions)),
		Multibinds: newMultibinds()}
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

func (p *Placement) addFile(f *loader.DataFile, layer int) {
	s := p.scope(layer, f.Condition)
	if f.Hidden {
		s.Hidden = append(s.Hidden, f)
	} else {
		s.Members = append(s.Members, Member{Order: p.Totals.Bindings, File: f})
	}
	p.Totals.Bindings += len(f.Entries)
	for _, e := range f.Entries {
		p.keep(e.Value)
	}
}

// AddBindings places bindings that a pass derived from other bindings.
func (p *Placement) AddBindings(list []LayeredBinding) {
	for _, b := range list {
		p.addBinding(b.Binding, b.Layer)
	}
}

// AddSynthetic places bindings that no file contains. They do not count as bindings of the site.
func (p *Placement) AddSynthetic(list []LayeredBinding) {
	for _, b := range list {
		p.addBinding(b.Binding, b.Layer)
		p.Totals.Bindings--
	}
}

func (p *Placement) addBinding(b *loader.Binding, layer int) {
	order := p.Totals.Bindings
	p.Totals.Bindings++
	if b.More == nil {
		p.AddToScopes(b, layer, order)
		return
	}
	if b.More.Recipe != nil && b.More.Recipe.Sensitive {
		p.Totals.Sensitive = true
	}
	if b.More.Multibind != nil {
		p.Multibinds.declare(b)
		p.Totals.ARM8 = p.Totals.ARM8 || declaresARM8(b)
	}
	switch {
	case b.More.In != nil:
		p.Multibinds.contribute(b, layer, order, p.Ranks)
	case b.More.Rebinds != nil:
		p.Rebound = append(p.Rebound, Rebound{OrderedBinding: OrderedBinding{b, layer, order}})
	default:
		p.AddToScopes(b, layer, order)
	}
}

// AddToScopes adds a binding to the scope of each of its conditions.
func (p *Placement) AddToScopes(b *loader.Binding, layer, order int) {
	m := Member{Order: order, Binding: b, Key: b.Number, Value: b.Value}
	p.keep(m.Value)
	if r := RecipeOf(b); r != nil && !r.IsFinal() {
		p.Declining[m.Value], p.Totals.ARM8 = true, true
	}
	for _, condition := range b.When {
		s := p.scope(layer, condition)
		s.Members = append(s.Members, m)
	}
}

// scope returns the scope of a layer and a condition. The pointer is valid until the next call.
func (p *Placement) scope(layer, condition int) *Scope {
	key := ScopeKey{layer, condition}
	at, ok := p.scopeAt[key]
	if !ok {
		at = len(p.Scopes)
		p.scopeAt[key] = at
		p.Scopes = append(p.Scopes, Scope{Layer: layer, Condition: condition, Rank: p.Ranks.Rank(layer, condition)})
	}
	return &p.Scopes[at]
}

// Bound returns an iterator over the keys that s binds and their values, as numbers in Tables.
func (s *Scope) Bound() iter.Seq2[uint32, uint32] {
	return func(yield func(key, value uint32) bool) {
		for i := range s.Members {
			m := &s.Members[i]
			if m.Binding != nil {
				if !yield(m.Key, m.Value) {
					return
				}
				continue
			}
			for _, e := range m.File.Entries {
				if !yield(e.Key, e.Value) {
					return
				}
			}
		}
	}
}

// Multibinds holds the multibindings of a site and the contributions to them, by id.
type Multibinds struct {
	Declared      map[string][]Declaration
	Broken        map[string]bool // ids of multibindings with a reported error
	Contributions map[string][]Candidate
	Renamed       map[string]bool // ids with contributions that have additional names
}

// Declaration is a binding with a multibind_id.
type Declaration struct {
	Binding *loader.Binding
	Options *recipe.Options
}

func newMultibinds() Multibinds {
	return Multibinds{Declared: map[string][]Declaration{}, Broken: map[string]bool{},
		Contributions: map[string][]Candidate{}, Renamed: map[string]bool{}}
}

func (ms *Multibinds) declare(b *loader.Binding) {
	m := b.More.Multibind
	if m.Options == nil {
		ms.Broken[m.ID] = true
		return
	}
	ms.Declared[m.ID] = append(ms.Declared[m.ID], Declaration{b, m.Options})
}

func declaresARM8(b *loader.Binding) bool {
	return b.More.Multibind.Options != nil && b.More.Recipe != nil && b.More.Recipe.IsARM8()
}

// contribute records the contribution b, unless its value is invalid.
func (ms *Multibinds) contribute(b *loader.Binding, layer, order int, ranks *Ranking) {
	if b.More.Recipe != nil {
		ms.Add(b.More.In.ID, Candidate{Binding: b, Layer: layer, Order: order, Recipe: b.More.Recipe}, ranks)
	}
}

// Add adds a contribution to id, once for each condition of its binding.
func (ms *Multibinds) Add(id string, cand Candidate, ranks *Ranking) {
	for _, condition := range cand.Binding.When {
		cand.Condition, cand.Rank = condition, ranks.Rank(cand.Layer, condition)
		ms.Contributions[id] = append(ms.Contributions[id], cand)
	}
}

// OrderedBinding is a binding with its layer and its position in the input.
type OrderedBinding struct {
	*loader.Binding
	Layer, Order int
}

// Rebound is an alias, a rename or a rebinding. It takes its value from another key, or from lower bindings.
type Rebound struct {
	OrderedBinding
	OfKey, OfPart bool // whether a key, or a contribution, has the old name
}

// Old returns the old name: the name of the key or contributions that r rebinds.
func (r *Rebound) Old() string { return r.More.Rebinds.ID }

// IsOwn reports whether r refers to the key that it binds.
func (r *Rebound) IsOwn() bool { return r.Old() == r.Key }

// Below reports whether r takes its value from the bindings of the old name below r.
func (r *Rebound) Below() bool {
	k := RecipeOf(r.Binding)
	return k != nil && k.Kind == recipe.Below
}
