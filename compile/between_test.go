package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

// If part of a site could not be read, it is unknown which binding wins. Compile then checks only the values.
func TestIncompleteSiteReportsNoConflicts(t *testing.T) {
	got := strings.Join(compiled(t, "{to: 1}\n[a, 1]\n[a, 2]", ``), "\n")
	if want := "1 error attribute:"; got != want {
		t.Errorf("reported is %q, want %q", got, want)
	}
}

// The conflict is reported at the earlier position, although the file with the later position is read first.
func TestReportsConflictAtEarlierPosition(t *testing.T) {
	dir := t.TempDir()
	config := "version: 1\nlayers: [{include: ['confdir:/z::default', 'confdir:/b::default']}]\n"
	if err := os.WriteFile(filepath.Join(dir, "binder_config.yaml"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "z"} {
		writeBindings(t, filepath.Join(dir, "bindings", name), name+"::default", "[a, 1]")
	}
	var diags diag.List
	Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	found := diags.Sorted()
	if len(found) != 1 || !strings.Contains(found[0].Pos.File, "/b/") ||
		!strings.Contains(found[0].Notes[0].Pos.File, "/z/") {
		t.Errorf("reported is %v", found)
	}
}

// The data file is in the same layer and has a narrower condition of equal precedence. The conflict exists even if a
// higher binding hides both, because the value below the rename would be ambiguous.
func TestRenameConflictsWithDataFileOfEqualPrecedence(t *testing.T) {
	for _, include := range []string{"'confdir:/default', 'confdir-hiera:/'", "'confdir-hiera:/', 'confdir:/default'"} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"binder_config.yaml": "version: 1\ncategories: [[osfamily, '${osfamily}']]\n" +
				"layers: [{name: high, include: 'confdir:/high::default'}, {name: low, include: [" + include + "]}]\n",
			"hiera.yaml":        "version: 2\nhierarchy: [[osfamily, '${osfamily}', 'd/${dc}/${osfamily}']]\n",
			"d/ams/debian.yaml": "old: 2"} {
			writeFile(t, filepath.Join(dir, name), text)
		}
		writeBindings(t, filepath.Join(dir, "bindings", "high"), "high::default",
			"{when: {osfamily: debian}, bind: [[old, 0]]}")
		writeBindings(t, filepath.Join(dir, "bindings"), "default",
			"{when: {osfamily: debian}, bind: [{name: new, to_renamed: old}]}\n[old, 1]")
		var diags diag.List
		Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
		found := diags.Sorted()
		if len(found) != 1 || found[0].Code != "conflict" || filepath.Base(found[0].Pos.File) != "default.yaml" ||
			len(found[0].Notes) != 1 || filepath.Base(found[0].Notes[0].Pos.File) != "debian.yaml" {
			t.Errorf("%s: reported is %v", include, found)
		}
	}
}

// Compile cannot relate a category to a path that is computed from the same variable. The note is at the binding,
// because a path has no position.
func TestConflictWithComputedPathHasNote(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"binder_config.yaml": "version: 1\ncategories: [[one, '${a}']]\n" +
			"layers: [{name: site, include: ['confdir:/default', 'confdir-hiera:/']}]\n",
		"hiera.yaml": "version: 2\nhierarchy: [[one, '${a}', 'd/${upcase($a)}/${a}']]\n",
		"d/N/n.yaml": "k: 2"} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	writeBindings(t, filepath.Join(dir, "bindings"), "default", "{when: {one: n}, bind: [[k, 1]]}")
	var diags diag.List
	Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	found := diags.Sorted()
	if len(found) != 1 || len(found[0].Notes) != 2 || found[0].Notes[1].Pos != found[0].Pos ||
		!strings.Contains(found[0].Notes[1].Message, "depend on the same variable") {
		t.Errorf("reported is %v", found)
	}
}

// Categories that use the same variable may exclude or imply one another. If an expression computes one of them, this
// is unknown, and the message of a conflict says so.
func TestNotesUnknownRelationToComputedCategory(t *testing.T) {
	const doubt = "'loud' and 'one' depend on the same variable, but 'loud' is computed by an expression: it is unknown " +
		"whether they exclude or imply one another"
	for _, c := range []struct{ name, site, want string }{
		{"one excludes the other", "{when: {one: n}, bind: [{name: a, override: true, to: 1}]}\n" +
			"{when: {two: x-m}, bind: [[a, 2]]}", "1 error override:"},
		{"one implies the other", "{when: {one: n}, bind: [{name: a, override: true, to: 1}]}\n" +
			"{when: {two: x-n}, bind: [[a, 2]]}", ""},
		{"unrelated categories", "{when: {one: n}, bind: [{name: a, override: true, to: 1}]}\n" +
			"{when: {far: m}, bind: [[a, 2]]}", "1 warning override: 2"},
		{"bound twice", "{when: {one: n, two: x-n}, bind: [[a, 1], [a, 2]]}", "1 error conflict: 1"},
		{"bound twice under a condition that never holds", "{when: {one: n, two: x-m}, bind: [[a, 1], [a, 2]]}", ""},
		{"bound twice under categories that may be related", "{when: {one: n, loud: M}, bind: [[a, 1], [a, 2]]}",
			"1 error conflict: 1 binder_config.yaml: " + doubt},
		{"bound twice, possibly hidden", "{when: {far: f, one: n}, bind: [[a, 1], [a, 2]]}\n" +
			"{when: {far: f, loud: N}, bind: [[a, 1]]}", "1 error conflict: 1 binder_config.yaml: " + doubt},
		{"no loop: categories may be related", "{when: {one: n}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {loud: N}, bind: [{name: b, to_lookup_of: a}]}", ""},
		{"no loop: possibly hidden", "{when: {one: n}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {loud: N}, bind: [[b, 1]]}\n{name: b, to_lookup_of: a}", ""},
		{"no loop: condition never holds", "{when: {one: n, two: x-m}, bind: [{name: a, to_lookup_of: a}]}", ""},
		{"loop: next to a contribution that may be effective",
			"{when: {one: n}, bind: [{name: l, multibind_id: l, type: Array}]}\n{in: l, to_lookup_of: l}\n" +
				"{when: {loud: N}, bind: [{in: l, to: 1}]}", "1 error loop: 2"},
		{"loop: binding that may be effective is hidden", "{when: {far: f, one: n}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {far: f, one: n}, bind: [{name: b, to_lookup_of: a}]}\n{when: {loud: N}, bind: [[b, 1]]}",
			"1 error loop: 2"},
		{"loop: optional binding that may be effective is hidden", "" +
			"{when: {far: f, one: n}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {far: f, one: n}, bind: [{name: b, to_lookup_of: a}]}\n" +
			"{when: {loud: N}, bind: [{name: b, to_lookup_of: c, optional: true}]}\n[c, 1]", "1 error loop: 2"},
		{"contributions renamed twice below another rename", "{when: {two: x-n}, bind: [{name: a, to_renamed: x}]}\n" +
			"{when: {one: n}, bind: [{name: b, to_renamed: x}]}\n{when: {one: n}, bind: [{name: c, to_renamed: x}]}\n" +
			"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", "2 error conflict: 3"},
		{"loop: through a contribution above one that may be effective", "{name: l, multibind_id: l, type: Array}\n" +
			"{when: {far: f, one: n}, bind: [{in: l, name: x, to_lookup_of: l}]}\n" +
			"{when: {loud: N}, bind: [{in: l, name: x, to: 1}]}", "1 error loop: 2"},
		{"no loop: through a contribution below one that may be effective", "{name: l, multibind_id: l, type: Array}\n" +
			"{when: {one: n}, bind: [{in: l, name: x, to_lookup_of: l}]}\n" +
			"{when: {loud: N}, bind: [{in: l, name: x, to: 1}]}", ""},
		{"no loop: optional key looks up a binding that may be effective", "" +
			"{when: {one: n}, bind: [{name: a, to_first_found: [b, z]}]}\n{name: b, to_lookup_of: c, optional: true}\n" +
			"{when: {loud: N}, bind: [[c, 1]]}\n{name: z, to_lookup_of: a}", ""},
		{"no loop: optional key uses the fact of a category", "" +
			"{when: {one: n}, bind: [{name: a, to_first_found: [b, z]}]}\n" +
			"{name: b, to_expression: '$c', optional: true}\n{name: z, to_lookup_of: a}", ""},
		{"no loop: earlier key of to_first_found may be effective", "{when: {one: n}, bind: [{name: a, to_first_found: [b, a]}]}\n" +
			"{when: {loud: N}, bind: [[b, 1]]}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			config := "version: 1\ncategories: [[far, '${c}'], [loud, '${upcase($a)}'], [one, '${a}'], [two, 'x-${a}']]\n" +
				"layers: [{name: site, include: 'confdir:/default'}]\n"
			if err := os.WriteFile(filepath.Join(dir, "binder_config.yaml"), []byte(config), 0o666); err != nil {
				t.Fatal(err)
			}
			writeBindings(t, filepath.Join(dir, "bindings"), "default", c.site)
			var diags diag.List
			Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
			var got []string
			for _, d := range diags.Sorted() {
				line := fmt.Sprintf("%s %v %s:", lineOf(d.Pos), d.Severity, d.Code)
				for _, n := range d.Notes {
					if strings.Contains(n.Message, "depend") {
						line += " " + filepath.Base(n.Pos.File) + ": " + n.Message
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
