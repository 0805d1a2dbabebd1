package decision

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// siteOf returns the tables of a site with one set of bindings and a second category.
func siteOf(t *testing.T, category, statements string) *Tables {
	t.Helper()
	return bookOf(t, contentOf(t,
		"binder_config.yaml", "version: 1\ncategories: [[node, '${fqdn}'], [role, '"+category+"']]\n",
		"bindings/default.yaml", binds("default", statements)))
}

// diffLines formats a difference: for each change its requests, the old and the new value, and its cause.
func diffLines(d *Difference) (out []string) {
	for _, k := range d.Keys {
		if len(k.Changes)+len(k.Contributions) == 0 {
			out = append(out, k.Key+" without a change")
		}
		for i, c := range append(slices.Clone(k.Changes), k.Contributions...) {
			line := fmt.Sprintf("%s for %s: %s, %s", k.Key, termsOf(c.When), bindingText(c.Old), bindingText(c.New))
			for _, e := range c.Except {
				line += " except " + termsOf(e)
			}
			if len(c.Through) > 0 {
				line += " through " + strings.Join(c.Through, " ")
			}
			if c.Below {
				line += " below"
			}
			if i >= len(k.Changes) {
				line = "contributed to " + line
			}
			out = append(out, line)
		}
	}
	return out
}

// Diff reports exactly the differences between two sites, with the affected requests.
func TestDiffReportsExactlyTheDifferences(t *testing.T) {
	const optional = "- {when: {node: n1}, bind: [{name: high, to_expression: '$x', optional: true}]}\n"
	const same = "- [same, 1]\n- {name: asks_same, to_lookup_of: same}\n" +
		"- {name: list, multibind_id: all, type: Array}\n" +
		"- {name: asks, to_lookup_of: changed}\n- {name: may, to_expression: '$x', optional: true}\n" +
		"- {name: free, to_expression: 'lookup($x)'}\n"
	before := siteOf(t, "${role}", same+"- [changed, 1]\n- [gone, 1]\n- {in: all, name: a, to: 1}\n"+
		"- {when: {role: web}, bind: [[some, 1], [role_gone, 1]]}\n- [some, 2]\n"+
		"- {when: {node: n1}, bind: [[some, 3]]}\n"+
		"- {in: all, name: kept, to: 0}\n"+optional+"- [high, 1]\n")
	after := siteOf(t, "${role}", same+"- [changed, 2]\n- [new, 1]\n- {in: all, name: a, to: 2}\n"+
		"- {when: {role: web}, bind: [[some, 1]]}\n- [some, 4]\n- {when: {node: n1}, bind: [[some, 3]]}\n"+
		"- {in: all, name: kept, to: 0}\n"+optional+"- [high, 2]\n")
	done := 0
	d, err := Diff(before, after, func() { done++ })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"asks for []: lookup('changed'), lookup('changed') through changed",
		"changed for []: 1, 2",
		"gone for []: 1, nothing",
		"high for [node=n1]: optional($x) declines, optional($x) declines below",
		"high for []: 1, 2",
		"list for []: multibind('all'), multibind('all') through all",
		"contributed to list for []: 1 named a, 2 named a",
		"new for []: nothing, 1",
		"role_gone for [role=web]: 1, nothing",
		"some for []: 2, 4 except [node=n1] except [role=web]",
	}
	if got := diffLines(d); !slices.Equal(got, want) {
		t.Errorf("it differs in\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(d.Dynamic, []string{"free"}) || len(d.Categories) > 0 || done != 13 {
		t.Errorf("free are %v, other categories %v, %d keys are done", d.Dynamic, d.Categories, done)
	}
	if d, err = Diff(before, before, func() {}); err != nil || len(d.Keys)+len(d.Categories) > 0 {
		t.Errorf("from itself it differs in %v, %v", diffLines(d), err)
	}
	d, err = Diff(before, siteOf(t, "${other}", same), func() {})
	if err != nil || !slices.Equal(d.Categories, []string{"role"}) {
		t.Errorf("other categories are %v, %v", d.Categories, err)
	}
}
