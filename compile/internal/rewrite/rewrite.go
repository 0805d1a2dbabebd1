// Package rewrite replaces bindings that depend on other bindings. It handles parameter transfers, keys that collect
// statements, aliases and renames, types of abstract bindings, and Hiera 5 merges.
package rewrite

import (
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
)

// Bindings is a site with all bindings in their final scopes, with their final values.
type Bindings struct {
	*place.Tables
	Ranks      *place.Ranking
	Scopes     []place.Scope
	Multibinds place.Multibinds
	Rebound    []place.Rebound
	Erased     map[uint32]bool // renamed keys, by number in place.Tables
	Merges     *Merges
	Totals     place.Totals
}

// Apply replaces everything that depends on other bindings. It adds the bindings of transferred parameters, of keys
// that collect statements, and of aliases, renames and rebindings. Bindings that override abstract bindings get type
// checks, and keys to which lookup_options apply get recipes that merge. Apply changes p, and the result shares its
// data, so the caller must not use p afterwards.
func Apply(e *pass.Env, p *place.Placement) *Bindings {
	p.AddBindings(transferParameters(e, p))
	p.AddSynthetic(bindCollected(p))
	rebinding := rebind(e, p)
	rebinding.addTo(p)
	scopes := constrain(e, p.Tables, p.Scopes)
	merges := mergeHiera(e, p.Tables, scopes)
	totals := p.Totals
	totals.Sensitive = totals.Sensitive || merges.sensitive
	return &Bindings{Tables: p.Tables, Ranks: p.Ranks, Scopes: scopes, Multibinds: p.Multibinds,
		Rebound: rebinding.rebound, Erased: rebinding.erased, Merges: merges, Totals: totals}
}

// IsFinal reports whether an unconditional binding of key to val always ends a lookup of key.
func (s *Bindings) IsFinal(key, val uint32) bool { return !s.Declining[val] && !s.Erased[key] }
