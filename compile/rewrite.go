package compile

// rewrittenSite is a site with every binding in its final scope and with its final value. No later pass changes it.
type rewrittenSite struct {
	*tables
	ranks      *ranking
	scopes     []scope
	multibinds multibinds
	rebound    []rebound
	erased     map[uint32]bool // keys that are renamed, by number in tables
	merges     *merges
	totals     totals
}

// rewrite replaces what depends on other bindings: aliases, renames and rebindings become bindings of their keys, types
// of abstract bindings become checks of the bindings that beat them, and keys that lookup_options touch become merges.
func rewrite(e *env, p *placement) *rewrittenSite {
	rebinding := rebind(e, p)
	rebinding.addTo(p)
	scopes := constrain(e, p.tables, p.scopes)
	merges := mergeHiera(e, p.tables, scopes)
	totals := p.totals
	totals.sensitive = totals.sensitive || merges.sensitive
	return &rewrittenSite{tables: p.tables, ranks: p.ranks, scopes: scopes, multibinds: p.multibinds,
		rebound: rebinding.rebound, erased: rebinding.erased, merges: merges, totals: totals}
}

// isFinal reports whether no lookup continues below an unconditional binding of key to val.
func (s *rewrittenSite) isFinal(key, val uint32) bool { return !s.declining[val] && !s.erased[key] }
