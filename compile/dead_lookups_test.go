package compile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/diag"
	"bindc/loader"
)

// The expected warnings are those that the scenario of the same sites expects from the programs.
func TestWarnsAboutLookupsOfUnboundKeys(t *testing.T) {
	a, err := txtar.ParseFile("../cmd/testdata/script/reference_to_unbound_key_is_reported.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, told := t.TempDir(), map[string]string{}
	for _, f := range a.Files {
		told[f.Name] = string(f.Data)
		writeFile(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
	for site, want := range map[string][]string{
		"site":   linesWith(told["told.txt"], ": warning: ", "  hint: "),
		"hiera5": linesWith(told["hiera5.txt"], ": warning: ", "  hint: "),
		"secret": {"secret/bindings/default.yaml:5:12: warning: this reads an entry of 'urls', which never has it: " +
			"the value is always undef [key_unbound]"},
		"sound": nil,
	} {
		var diags diag.List
		Compile(loader.Load(filepath.Join(dir, site), loader.Options{}, &diags), Options{}, &diags)
		var got []string
		for _, d := range diags.Sorted() {
			file, err := filepath.Rel(dir, d.Pos.File)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s:%d:%d: %s: %s [%s]", filepath.ToSlash(file), d.Pos.Line, d.Pos.Col,
				d.Severity, d.Message, d.Code))
			if d.Hint != "" {
				got = append(got, "  hint: "+d.Hint)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: reported\n%s\nwant\n%s", site, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// linesWith returns the lines of text that contain at least one of the parts.
func linesWith(text string, parts ...string) (out []string) {
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) }) {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

// The warning suggests the similar entry. There is no warning if the hash is computed, merged or hidden for some
// requests, because it may then have other entries.
func TestWarnsAboutMissingHashEntries(t *testing.T) {
	const entry, other = `{name: e, to_hash_lookup: {name: h, key: htps}}`, `{name: o, to_hash_lookup: {name: i, key: k}}`
	const undef = "this reads the entry 'htps' of 'h', which never has it: the value is always undef"
	const meant = undef + "; did you mean 'https'?"
	for name, c := range map[string]struct{ site, module, want string }{
		"one hash":                        {entry + "\n[h, {https: 1}]", "", meant},
		"its keys are not strings":        {entry + "\n[h, {1: 1, 2: 2}]", "", undef},
		"one of its keys is not a string": {entry + "\n[h, {1: 1, https: 2}]", "", meant},
		"it has the entry":                {entry + "\n[h, {https: 1, htps: 2}]", "", ""},
		"a lower one has the entry":       {entry + "\n{when: {node: n}, bind: [[h, {https: 1}]]}\n[h, {htps: 1}]", "", ""},
		"a higher one has the entry":      {entry + "\n{when: {node: n}, bind: [[h, {htps: 1}]]}\n[h, {https: 1}]", "", ""},
		"the name meant is elsewhere":     {entry + "\n{when: {node: n}, bind: [[h, {https: 1}]]}\n[h, {}]", "", meant},
		"it is computed":                  {entry + "\n{name: h, to_expression: '{$x => 1}'}", "", ""},
		"a lower one is computed": {entry + "\n{when: {node: n}, bind: [[h, {https: 1}]]}\n" +
			"{name: h, to_expression: '{$x => 1}'}", "", ""},
		"a higher one is computed": {entry + "\n{when: {node: n}, bind: [{name: h, to_expression: '{$x => 1}'}]}\n" +
			"[h, {https: 1}]", "", ""},
		"one of three is computed": {entry + "\n" +
			"{when: {osfamily: f}, bind: [{name: h, to_expression: '{$x => 1}'}]}\n" +
			"{when: {node: n}, bind: [[h, {https: 1}]]}\n[h, {https: 2}]", "", ""},
		"a contribution takes it": {"{name: l, multibind_id: l, type: Array}\n" +
			"{in: l, to_hash_lookup: {name: h, key: htps}}\n[h, {https: 1}]", "", meant},
		"two hashes, and other keys": {"[a, 1]\n" + entry + "\n[g, {k: 1}]\n[h, {https: 1}]\n" + other +
			"\n[i, {k: 1}]\n[z, 1]",
			"[b, 1]", meant},
		"another hash is computed": {entry + "\n[h, {https: 1}]\n" + other + "\n{name: i, to_expression: '{$x => 1}'}",
			"", meant},
		"the hash has a default": {`{name: e, to_hash_lookup: {name: h, key: htps}, transformer: '|$x| { 1 }'}` +
			"\n[h, {https: 1}]", "", ""},
		"it is optional": {`{name: e, to_hash_lookup: {name: h, key: htps}, optional: true}` +
			"\n[h, {https: 1}]", "", ""},
		"the hash is of the layer above": {"[h, {https: 1}]", entry, meant},
	} {
		var got []string
		for _, d := range reported(t, c.site, c.module) {
			got = append(got, d.Message)
			if d.Hint != "" {
				got = append(got, d.Hint)
			}
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: reported %q, expected %q", name, got, c.want)
		}
	}
}
