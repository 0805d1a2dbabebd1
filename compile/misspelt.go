package compile

import (
	"maps"
	"slices"

	"bindc/internal/diag"
)

// warnOfMisspeltKeys tells of bindings that look up a key which nothing binds, where one is bound that it is nearly.
func (c *composer) warnOfMisspeltKeys(needy map[uint32]needs) {
	meant := map[uint32][2]string{} // by the number of a value: what it looks up, and what it means
	for _, value := range slices.Sorted(maps.Keys(needy)) {
		for _, key := range needy[value].unbound {
			if near := c.diags.Misspelt(key, c.names); near != "" {
				meant[value] = [2]string{key, near}
			}
		}
	}
	if len(meant) == 0 {
		return
	}
	warn := func(value uint32, at diag.Pos) {
		if m, ok := meant[value]; ok {
			c.report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "key_unbound",
				Message: "this looks up '" + m[0] + "', which nothing binds", Hint: "did you mean '" + m[1] + "'?"})
		}
	}
	for i := range c.scopes {
		for _, m := range c.scopes[i].members {
			if m.binding != nil {
				warn(m.value, m.binding.Pos)
				continue
			}
			for i, e := range m.file.Entries {
				warn(e.Value, m.file.Pos(i))
			}
		}
	}
}
