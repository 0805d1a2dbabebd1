package compile

import (
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

// If categories use the same variable, their conditions may imply or exclude one another. This must work for classes
// and contributions, too. Lines have the form of reports.
func TestRelatedConditionsExcludeAndImplyOneAnother(t *testing.T) {
	const h = "{name: h, multibind_id: h, type: Hash}\n"
	for _, c := range []struct{ name, site, want string }{
		{"class included and excluded, hidden by an equivalent condition",
			"{when: {two: x-n}, bind: [{include: a}, {exclude: a}]}\n{when: {one: n}, bind: [{include: a}]}", ""},
		{"class included and excluded above an equivalent condition",
			"{when: {two: x-n}, bind: [{include: a}]}\n{when: {one: n}, bind: [{include: a}, {exclude: a}]}",
			"2 error conflict: 2"},
		{"duplicate contributions, hidden by an equivalent condition", h +
			"{when: {two: x-n}, bind: [{in: h, name: a, to: 1}, {in: h, name: a, to: 2}]}\n" +
			"{when: {one: n}, bind: [{in: h, name: a, to: 3}]}", ""},
		{"duplicate contributions above an equivalent condition", h + "{when: {two: x-n}, bind: [{in: h, name: a, to: 3}]}\n" +
			"{when: {one: n}, bind: [{in: h, name: a, to: 1}, {in: h, name: a, to: 2}]}", "3 error duplicate: 3"},
		{"override under a condition that never holds", "{when: {one: n, two: x-m}, bind: [{name: a, override: true, to: 1}]}", ""},
		{"abstract under a condition that never holds", "{when: {one: n, two: x-m}, bind: [{name: a, abstract: true}]}", ""},
		{"bound twice, possibly hidden, below an unrelated condition", "" +
			"{when: {one: n}, bind: [[a, 1], [a, 2]]}\n{when: {loud: N}, bind: [[a, 3]]}\n" +
			"{when: {mid: x}, bind: [[a, 4]]}",
			"1 error conflict: 1 'loud' and 'one' depend on the same variable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "binder_config.yaml"), "version: 1\ncategories: [[loud, '${upcase($a)}'], "+
				"[mid, '${m}'], [one, '${a}'], [two, 'x-${a}']]\nlayers: [{include: 'confdir:/default'}]\n")
			writeBindings(t, filepath.Join(dir, "bindings"), "default", c.site)
			var diags diag.List
			Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
			var got []string
			for _, d := range diags.Sorted() {
				line := lineOf(d.Pos) + " " + d.Severity.String() + " " + string(d.Code) + ":"
				for _, n := range d.Notes {
					if doubt, _, ok := strings.Cut(n.Message, ", but"); ok {
						line += " " + doubt
					} else {
						line += " " + lineOf(n.Pos)
					}
				}
				got = append(got, line)
			}
			if got := strings.Join(got, "\n"); got != c.want {
				t.Errorf("reported is\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}
