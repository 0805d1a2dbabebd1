package lint

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/legacy"
	"bindc/internal/yaml"
)

// legacyFacts reports legacy facts in a Hiera 5 string, such as %{osfamily} or %{facts.osfamily}.
func (r *reader) legacyFacts(n *yaml.Node, text string) {
	tree, _ := expr.ParseHiera(text) // the loader has reported the errors
	expr.HieraVariables(tree, func(off int, path []string) {
		name := path[0]
		if name == "facts" && len(path) == 2 {
			name = path[1]
		} else if len(path) > 1 {
			return
		}
		modern := legacy.Structured(name)
		if modern == "" {
			return
		}
		message := "%{" + strings.Join(path, ".") + "} is a legacy fact, which Puppet 8 agents do not send by default"
		// The message names only the fact, because the string may be sensitive.
		r.advice = append(r.advice, diag.Diagnostic{Pos: r.doc.PosIn(n, off), Code: "legacy_fact", Secret: true,
			Message: message, Discreet: message,
			Hint: "write %{facts." + modern + "}", Fix: diag.MeantAs(strings.Join(path, "."), "facts."+modern)})
	})
}
