package compile

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

// rebindReports lists sites with aliases, renames and rebindings, in the form of reports.
var rebindReports = []struct{ name, site, module, want string }{
	{"rename of an unbound key next to another binding", "[other, 1]\n{name: new, to_renamed: old}", ``,
		`2 error rebind:`},
	{"two renames of an unbound key", "{name: a, to_renamed: x}\n{name: b, to_renamed: x}", `[other, 1]`,
		"1 error rebind:\n2 error rebind:"},
	{"alias of an unbound key hides a similar key",
		"{name: 'ntp::port', to_alias_of: gone}\n['ntp::prot', 1]\n{name: z, to_lookup_of: 'ntp::port'}", ``,
		`1 error rebind:`},
	{"alias with an invalid type", "{name: b, to_alias_of: a, type: 'Integer['}", `[a, 1]`, `1 error type:`},
	{"rename and binding of equal precedence, above two bindings", "{name: new, to_renamed: old}\n[old, 1]",
		"[old, 2]\n[old, 3]", "1 error conflict: 2\nm1 error conflict: m2"},
	{"bound twice on one node, renamed on another, hidden", `[old, 0]`,
		"{when: {node: m}, bind: [{name: new, to_renamed: old}]}\n" +
			"{when: {node: n}, bind: [[old, 1], [old, 2]]}\n[old, 3]", ``},
	{"contributions renamed twice, next to an alias", "{name: other, to_alias_of: k}\n[k, 1]\n" +
		"{name: a, to_renamed: x}\n{name: b, to_renamed: x}",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", `3 error conflict: 4`},
	{"key and contributions with the same name renamed twice", "{name: a, to_renamed: x}\n{name: b, to_renamed: x}",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}\n[x, 1]", `1 error conflict: 2`},
	{"duplicate contributions named like a rebound key", `{rebind: x}`,
		"[x, 1]\n{name: l, multibind_id: l, type: Hash}\n{in: l, name: x, to: 1}\n{in: l, name: x, to: 2}",
		`m4 error duplicate: m3`},
}

func TestReportsMistakesInAliasesAndRenames(t *testing.T) { checkReports(t, rebindReports) }

// A rename that conflicts is reported in the same way whether it is first or last in the file.
func TestRenameConflictHasSameMessageInAnyOrder(t *testing.T) {
	const want = "'old' is renamed, and bound or renamed again with the same precedence in layer 'site'"
	for _, site := range []string{"{name: new, to_renamed: old}\n[old, 1]", "[old, 1]\n{name: new, to_renamed: old}"} {
		if found := reported(t, site, `[old, 0]`); len(found) != 1 || found[0].Message != want {
			t.Errorf("%s: reported is %v", site, found)
		}
	}
}

func TestEquallySimilarNamesAreSuggestedInOneOrder(t *testing.T) {
	site := "{name: a, to_alias_of: 'host::'}\n" +
		lines(26, func(i int) string { return fmt.Sprintf("['host::%c', 1]", 'z'-i) })
	for range 5 {
		if found := reported(t, site, ``); len(found) != 1 || found[0].Hint != "did you mean 'host::a' or 'host::z'?" {
			t.Errorf("reported is %v", found)
		}
	}
}

// In Hiera 5, a dotted key means a part of a value. An alias finds the same value as a lookup, even if contributions
// have that name. Renames and rebindings only apply to whole keys.
func TestAliasOfDottedKeyFindsPartOfValue(t *testing.T) {
	const parts = ", {name: l, multibind_id: l, type: Hash}, {in: l, name: b.c, to: 5}"
	for _, c := range []struct{ name, bind, want, lookups string }{
		{"alias of a part of a value", "{name: new, to_alias_of: b.c}", "", "new 1"},
		{"alias of a part of an unbound key", "{name: new, to_alias_of: a.c}", "error rebind", ""},
		{"alias of an invalid key", "{name: new, to_alias_of: b..c}", "error rebind", ""},
		{"alias of a part of a value and of contributions", "{name: new, to_alias_of: b.c}" + parts, "",
			`new 1; l {"b.c":5,"new":5}`},
		{"rename of a part of a value is an error", "{name: new, to_renamed: b.c}", "error rebind", ""},
		{"rename of contributions named like a part of a value",
			"{when: {node: n}, bind: [{name: new, to_renamed: b.c}]}" + parts, "",
			`b.c@n 1; new@n -; l {"b.c":5}; l@n {"new":5}`},
		{"rebinding of a part of a value is an error", "{rebind: b.c}", "error rebind", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "hiera.yaml"),
				"version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n")
			writeFile(t, filepath.Join(dir, "data", "common.yaml"), "b: {c: 1}\n")
			writeBindings(t, filepath.Join(dir, "bindings"), "default", c.bind)
			var diags diag.List
			content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
			var codes []string
			for _, d := range diags.Sorted() {
				codes = append(codes, d.Severity.String()+" "+string(d.Code))
			}
			if got := strings.Join(codes, "\n"); got != c.want {
				t.Errorf("reported is %v", diags.Sorted())
			}
			if c.lookups != "" {
				checkLookups(t, opened(t, dir, content), c.lookups)
			}
		})
	}
}
