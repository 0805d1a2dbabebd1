package compile

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/diag"
	"bindc/loader"
)

const structured = "-- bindings/default.yaml --\nbindings_version: 1\nname: default\nbind:\n"

// A name that a class or more uses confirm is not replaced by a similar bound name, which is the misspelt one. The note
// has its place.
func TestConfirmedNameIsNotReplacedByTypo(t *testing.T) {
	const (
		data      = "-- hiera.yaml --\nversion: 5\n-- data/common.yaml --\n"
		parameter = "this is the key of a parameter of a class, so correct 'web::prot' where it is bound"
		either    = "'web::prot' is bound: correct one of the two names"
	)
	for _, c := range []struct {
		name, site, code, hint string
		note                   int // line of the bound name
	}{
		{"lookup in Hiera 5", data + "web::prot: 1\na: \"%{lookup('web::port')}\"\n", "key_unbound", parameter, 1},
		{"lookup_options", data + "web::prot: 1\nlookup_options: {'web::port': {merge: first}}\n", "hiera_options",
			parameter, 1},
		{"structured lookup", structured + "- [web::prot, 1]\n- {name: a, to_lookup_of: web::port}\n", "key_unbound",
			parameter, 4},
		{"lookup in an expression", structured + "- [web::prot, 1]\n- [a, \"x ${lookup('web::port')}\"]\n",
			"key_unbound", parameter, 4},
		{"alias", structured + "- [web::prot, 1]\n- {name: a, to_alias_of: web::port}\n", "rebind", parameter, 4},
		{"override", structured + "- [web::prot, 1]\n- {name: web::port, to: 2, override: true}\n", "override",
			parameter, 4},
		{"two lookups of the same unbound key", structured + "- [web::prot, 1]\n- {name: a, to_lookup_of: web::prt}\n" +
			"- {name: b, to: \"x ${lookup('web::prt')}\"}\n", "key_unbound", either, 4},
		{"contributions to an id that no multibinding has", structured + "- {name: a, multibind_id: plugns, type: Array}\n" +
			"- {in: plugins, to: 1}\n- {in: plugins, to: 2}\n", "multibind_unknown",
			"a multibinding has the id 'plugns': correct one of the two ids", 4},
	} {
		for _, d := range diagnosed(t, c.site, c.code) {
			if d.Hint != c.hint || !d.Fix.IsNone() || len(d.Notes) != 1 || d.Notes[0].Pos.Line != c.note {
				t.Errorf("%s: the hint is %q, the fix %v, the notes %v", c.name, d.Hint, d.Fix, d.Notes)
			}
		}
	}
}

// A name that is looked up as often as a similar bound name is the misspelt one, however it is looked up.
func TestNameThatOtherLookupsConfirmReplacesTypo(t *testing.T) {
	const twice = "- {name: a, to_lookup_of: prt}\n- [b, \"x ${lookup('prt')}\"]\n"
	for what, confirming := range map[string]string{
		"by to_lookup_of":  "- {name: c, to_lookup_of: port}\n",
		"in an expression": "- [c, \"x ${lookup('port')}\"]\n",
	} {
		for _, d := range diagnosed(t, structured+"- [port, 1]\n"+twice+confirming, "key_unbound") {
			if d.Fix.New != "port" || len(d.Notes) > 0 {
				t.Errorf("%s: the fix is %v, the hint %q, the notes %v", what, d.Fix, d.Hint, d.Notes)
			}
		}
	}
}

// Two contributions have an id that no multibinding has. That id is the typo, not the similar one of a multibinding, if
// the multibinding has other contributions or is declared twice.
func TestIDThatIsUsedReplacesTypo(t *testing.T) {
	const typos = "- {in: plugns, to: 1}\n- {in: plugns, to: 2}\n"
	for what, used := range map[string]string{
		"by a contribution":    "- {name: a, multibind_id: plugins, type: Array}\n- {in: plugins, to: 3}\n",
		"by two multibindings": "- {name: a, multibind_id: plugins, type: Array}\n- {name: b, multibind_id: plugins, type: Array}\n",
	} {
		for _, d := range diagnosed(t, structured+used+typos, "multibind_unknown") {
			if d.Fix.New != "plugins" || len(d.Notes) > 0 {
				t.Errorf("%s: the fix is %v, the hint %q", what, d.Fix, d.Hint)
			}
		}
	}
}

// diagnosed returns the diagnostics of a site with a code, at least one. web::port is a parameter of a class.
func diagnosed(t *testing.T, site, code string) (out []diag.Diagnostic) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(site)).Files {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
	var diags diag.List
	isParameter := func(key string) bool { return key == "web::port" }
	Compile(loader.Load(dir, loader.Options{}, &diags), Options{IsParameter: isParameter}, &diags)
	for _, d := range diags.Sorted() {
		if string(d.Code) == code {
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		t.Errorf("no %s: %v", code, diags.Sorted())
	}
	return out
}
