// Package rewrite replaces what depends on other bindings: transfers of parameters, keys that many statements bind
// together, aliases and renames, types that abstract bindings demand, and merges of Hiera 5.
package rewrite

import (
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
)

// Bindings is a site with every binding in its final scope and with its final value. No later pass changes it.
type Bindings struct {
	*place.Tables
	Ranks      *place.Ranking
	Scopes     []place.Scope
	Multibinds place.Multibinds
	Rebound    []place.Rebound
	Erased     map[uint32]bool // keys that are renamed, by number in place.Tables
	Merges     *Merges
	Totals     place.Totals
}

// Apply replaces everything that depends on other bindings. It places further bindings in p: of parameters that another
// target has too, of keys that many statements bind together, and of aliases, renames and rebindings. Types of abstract
// bindings become checks of the bindings that beat them, and keys that lookup_options touch become merges.
func Apply(e *pass.Env, p *place.Placement) *Bindings {
	p.AddBindings(transferParameters(e, p))
	p.AddUnwritten(bindCollected(p))
	rebinding := rebind(e, p)
	rebinding.addTo(p)
	scopes := constrain(e, p.Tables, p.Scopes)
	merges := mergeHiera(e, p.Tables, scopes)
	totals := p.Totals
	totals.Sensitive = totals.Sensitive || merges.sensitive
	return &Bindings{Tables: p.Tables, Ranks: p.Ranks, Scopes: scopes, Multibinds: p.Multibinds,
		Rebound: rebinding.rebound, Erased: rebinding.erased, Merges: merges, Totals: totals}
}

// IsFinal reports whether no lookup continues below an unconditional binding of key to val.
func (s *Bindings) IsFinal(key, val uint32) bool { return !s.Declining[val] && !s.Erased[key] }
