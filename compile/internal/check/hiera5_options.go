package check

import (
	"bindc/compile/internal/pass"
	"bindc/compile/internal/rewrite"
	"bindc/diag"
	"bindc/internal/value"
)

const options = "lookup_options"

// checkHieraOptions warns about keys in Hiera 5 data that resemble lookup_options and may have a hash as their value.
func checkHieraOptions(e *pass.Env, s *rewrite.Bindings) {
	for i := range s.Scopes {
		if !e.IsHiera(s.Scopes[i].Layer) {
			continue
		}
		for _, m := range s.Scopes[i].Members {
			for i, entry := range m.File.Entries {
				key := s.Keys[entry.Key]
				if diag.Misspelt(key, []string{options}) == "" {
					continue
				}
				if v, ok := s.Constant(entry.Value); !ok || v.Kind() == value.Hash {
					e.Report(diag.Diagnostic{Pos: m.File.Pos(i), Severity: diag.Warning, Code: "hiera_options",
						Message: "'" + key + "' is an ordinary key and has no effect on lookups of other keys",
						Fix:     diag.MeantAs(key, options)})
				}
			}
		}
	}
}
