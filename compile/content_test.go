package compile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// The content lists what each scope binds and where. For reports, it also lists bindings that no lookup finds, in order
// of precedence.
func TestContentListsScopesAndKeys(t *testing.T) {
	for _, c := range []struct{ name, high, low, want string }{
		{"hidden bindings are listed for reports", "[a, 1]\n{when: {node: n}, bind: [[a, 2]]}", "{when: {node: n}, bind: [[a, 3]]}\n[a, 4]", `
			high node=n: a=2@2
			a=1; 1 high @1; 1 low node=n @m1; 1 low @m2`},
		{"one of two hidden pairs conflicts", "{when: {node: n}, bind: [[a, 1]]}",
			"{when: {node: n}, bind: [[a, 2], [b, 5]]}\n{when: {node: n}, bind: [[a, 3], [b, 4]]}\n" +
				"{when: {node: n, osfamily: f}, bind: [[b, 6]]}", `m1 conflict`},
		{"conflict of two bindings under equal conditions", "",
			"{when: {node: n, osfamily: f}, bind: [[a, 1]]}\n{when: {node: n, osfamily: f}, bind: [[a, 1]]}",
			`m1 conflict`},
		{"two hidden bindings in one scope", "{when: {node: n}, bind: [[a, 1]]}",
			"{when: {node: n}, bind: [[a, 2]]}\n{when: {node: n}, bind: [[a, 3]]}\n[b, 4]", `
			high node=n: a=1@1
			low node=n: a=2@m1
			a none; 2 low node=n @m2
			b=4; 2 low @m3`},
		{"contributions", "{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}\n" +
			"{when: {node: n}, bind: [{in: l, name: x, to: 2}, {in: l, to: 3}]}\n{in: l, to: 4}\n{in: other, to: 5}",
			"{in: l, to: 6}\n{when: {node: [n, m]}, bind: [{in: l, to: 7}, [b, 8]]}", `
			high node=n: \x00l=[x 2 0 2, - 3 0 3]@0
			high : \x00l=[- 1 1 1, - 4 1 4]@0
			low node=m: \x00l=[- 7 2 7]@0 b=8@m2
			low node=n: \x00l=[- 7 2 7]@0 b=8@m2
			low : \x00l=[- 6 3 6]@0
			\x00l none; 1 high node=n contribution @3; 1 high node=n contribution @3; 2 high contribution @2; ` +
				`2 high contribution @4; 3 low node=n contribution @m2; 3 low node=m contribution @m2; ` +
				`4 low contribution @m1
			b none
			l=computed; 2 high @1`},
		{"contributions in two layers", "{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}", `{in: l, to: 2}`, `
			high : \x00l=[- 1 0 1]@0
			low : \x00l=[- 2 1 2]@0
			\x00l none; 1 high contribution @2; 2 low contribution @m1
			l=computed; 1 high @1`},
		{"contributions with and without a multibinding", "{in: early, to: 1}\n{name: l, multibind_id: l, type: Array}\n" +
			"{in: l, to: 2}", "", `
			high : \x00l=[- 2 0 2]@0
			\x00l none; 1 high contribution @3
			l=computed; 1 high @2`},
		{"classes in two layers", "[a, 1]\n{include: b}",
			"[c, 2]\n{include: d}\n{include: e}", `
			high : \x00/classes=[b include 0 1]@0
			low : \x00/classes=[d include 1 3, e include 1 4]@0
			\x00/classes none; 1 high contribution @2; 2 low contribution @m2; 2 low contribution @m3
			/classes=computed; 2 low @m2
			a=1; 1 high @1
			c=2; 2 low @m1`},
		{"contributions without a multibinding", "[a, 1]\n{in: none, to: 2}\n{in: none, to: 3}", "", `
			a=1; 0 high @1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			config := "version: 1\nlayers: [{name: high, include: 'confdir:/default'},\n" +
				"  {name: low, include: 'module:/*::default'}]\n"
			if err := os.WriteFile(filepath.Join(dir, "binder_config.yaml"), []byte(config), 0o666); err != nil {
				t.Fatal(err)
			}
			writeBindings(t, filepath.Join(dir, "bindings"), "default", c.high)
			writeBindings(t, filepath.Join(dir, "modules", "db", "bindings"), "db::default", c.low)
			var diags diag.List
			content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
			got := ""
			if diags.Failed() {
				got = lineOf(diags.Sorted()[0].Pos) + " " + string(diags.Sorted()[0].Code)
			} else {
				got = contentText(content)
			}
			if content.Sensitive {
				t.Error("the content is sensitive")
			}
			stored := map[snapshot.Stored]bool{}
			for _, v := range content.Values {
				if stored[v] {
					t.Errorf("%s is stored twice", storedText(v))
				}
				stored[v] = true
			}
			want := strings.ReplaceAll(strings.TrimSpace(c.want), "\t", "")
			if got != want {
				t.Errorf("bound is\n%s\nexpected\n%s", got, want)
			}
		})
	}
}

// contentText prints content with a line for each scope and each key.
func contentText(c *snapshot.Content) string {
	var lines []string
	at := func(o snapshot.Origin) string {
		if o.Line == 0 {
			return "@0"
		}
		return "@" + lineOf(diag.Pos{File: c.Inputs[o.Input].Path, Line: int(o.Line)})
	}
	for _, l := range c.Levels {
		for _, s := range l.Scopes {
			var terms []string
			for i, d := range l.Dimensions {
				terms = append(terms, c.Dimensions[d].Name+"="+s.Values[i])
			}
			line := c.Layers[l.Layer] + " " + strings.Join(terms, " ") + ":"
			for i, e := range s.Entries {
				line += fmt.Sprintf(" %s=%s%s", c.Keys[e.Key].Name, storedText(c.Values[e.Value]), at(s.Origins[i]))
			}
			lines = append(lines, line)
		}
	}
	for _, k := range c.Keys {
		line := k.Name + " none"
		if k.Default >= 0 {
			line = k.Name + "=" + storedText(c.Values[k.Default])
		}
		for _, cold := range k.Cold {
			line += fmt.Sprintf("; %d %s", cold.Above, c.Layers[cold.Layer])
			for _, term := range cold.Terms {
				line += " " + c.Dimensions[term.Dimension].Name + "=" + term.Value
			}
			if cold.Contribution {
				line += " contribution"
			}
			line += " " + at(cold.Origin)
		}
		lines = append(lines, line)
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\x00", `\x00`)
}

// storedText prints a constant. For contributions, it prints the name, value, precedence and position of each.
func storedText(s snapshot.Stored) string {
	if !s.Computed {
		v, _, _ := value.View(s.Bytes)
		return string(value.AppendText(nil, v))
	}
	r, err := recipe.Decode(s.Bytes)
	if err != nil || r.Kind != recipe.Contributions {
		return "computed"
	}
	var parts []string
	for _, p := range r.Parts {
		name := p.Name
		if !p.Named {
			name = "-"
		}
		parts = append(parts, fmt.Sprintf("%s %s %d %d", name, value.AppendText(nil, p.Recipe.Value),
			p.Precedence, p.Place))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// A data file whose keys another backend all has, for the same requests, binds nothing. Reports still list it.
func TestHiddenDataFileBindsNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hiera.yaml":  "version: 2\nhierarchy: [[node, '${fqdn}', 'd/${fqdn}'], [common, 'true', common]]\n",
		"d/web1.yaml": "#\na: 11\nb: 3\n",
		"d/web1.json": "{\n\"a\": 22}\n",
		"common.yaml": "#\nb: 1\n",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	var diags diag.List
	content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	want := "site node=web1: a=11@1 b=3@2\na none; 1 site node=web1 @1\nb=1; 1 site @1"
	if got := contentText(content); got != want {
		t.Errorf("bound is\n%s\nexpected\n%s", got, want)
	}
	if got := storedText(content.Values[content.Keys[0].Cold[0].Value]); got != "22" {
		t.Errorf("hidden is %s", got)
	}
	if content.Bindings != 4 {
		t.Errorf("%d bindings", content.Bindings)
	}
}

// The content is marked if it uses ARM-8, so that older readers reject the snapshot.
func TestContentMarksUseOfARM8(t *testing.T) {
	for bind, want := range map[string]bool{
		"[a, 1]":                             false,
		"{name: a, to_lookup_of: b}\n[b, 1]": false,
		"{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}": false,
		"{exclude: a}":                         false,
		"{include: a}":                         true,
		"{parameters: web, to: {a: 1}}":        false,
		"{dependency: ['File[a]', 'File[b]']}": false,
		"{name: l, multibind_id: l, type: Array, options: {combinator: '|$memo, $x| { [$x] }'}}":      true,
		"{name: a, to_lookup_of: b, optional: true}":                                                  true,
		"{name: a, to_alias_of: b}\n[b, 1]":                                                           true,
		"{name: l, multibind_id: l, type: Array}\n{in: l, to_lookup_of: b, optional: true}":           true,
		"{name: l, multibind_id: l, type: Array}\n{in: l, to_alias_of: b}\n[b, 1]":                    true,
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}\n{name: y, to_alias_of: x}": true,
		"{in: l, name: x, to: 1}\n{name: y, to_alias_of: x}":                                          false,
		"{name: l, multibind_id: l, type: Array, options: {combinator: '|$memo, $x| { [$x] }'}}\n" +
			"{name: m, multibind_id: m, type: Array}": true,
	} {
		dir := t.TempDir()
		writeBindings(t, filepath.Join(dir, "bindings"), "default", bind)
		var diags diag.List
		content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
		if diags.Failed() || content.ARM8 != want {
			t.Errorf("%s: %t, %v", bind, content.ARM8, diags.Sorted())
		}
	}
}

func TestContentHasLayersDimensionsAndInputs(t *testing.T) {
	dir := t.TempDir()
	config := "version: 1\ncategories: [[osfamily, '${osfamily}']]\nlayers:\n" +
		"- {name: high, include: 'confdir:/default'}\n" +
		"- {include: 'confdir-hiera:/'}\n"
	hiera := "version: 2\nhierarchy: [[osfamily, '${osfamily}', 'd/${dc}/${osfamily}'],\n" +
		"  [common, 'true', 'r/${role}']]\n"
	for name, text := range map[string]string{"binder_config.yaml": config, "hiera.yaml": hiera,
		"d/ams/debian.yaml": "{b: 2, a: 1}", "r/web.yaml": "a: 3"} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	writeBindings(t, filepath.Join(dir, "bindings"), "default",
		"[c, '${x}']\n{name: d, sensitive: true, to: 4}\n{when: {osfamily: [b, a]}, bind: [[a, 5]]}\n[c2, 6]")
	var diags diag.List
	content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{StrictVariables: true}, &diags)
	if found := diags.Sorted(); len(found) > 0 {
		t.Fatal(found)
	}
	if layers := strings.Join(content.Layers, ","); layers != "high," {
		t.Errorf("the layers are %q", layers)
	}
	var dims, inputs, keys []string
	for _, d := range content.Dimensions {
		dims = append(dims, fmt.Sprintf("%s %d %v %v", d.Name, d.Category, d.Guard, len(d.Program) > 0))
	}
	if want := []string{"node -1 false true", "osfamily -1 false true", "environment -1 false true",
		`"${dc}" 1 true true`, `"${role}" -1 true true`}; !slices.Equal(dims, want) {
		t.Errorf("the dimensions are %q, want %q", dims, want)
	}
	for _, in := range content.Inputs {
		inputs = append(inputs, fmt.Sprintf("%s %v %v", in.Path, in.Size > 0, in.Hash != 0))
	}
	if want := []string{"binder_config.yaml true true", "bindings/default.yaml true true",
		"d/ams/debian.yaml true true", "hiera.yaml true true", "r/web.yaml true true"}; !slices.Equal(inputs, want) {
		t.Errorf("the inputs are %q, want %q", inputs, want)
	}
	for _, k := range content.Keys {
		computed := k.Default >= 0 && content.Values[k.Default].Computed
		keys = append(keys, fmt.Sprintf("%s %v %v %d", k.Name, k.Default >= 0, computed, len(k.Cold)))
	}
	// c, c2 and d are unconditional and therefore in no scope.
	if want := []string{"a false false 0", "b false false 0", "c true true 1", "c2 true false 1",
		"d true true 1"}; !slices.Equal(keys, want) {
		t.Errorf("the keys are %q, want %q", keys, want)
	}
	var levels []string
	for _, l := range content.Levels {
		text := fmt.Sprint(l.Layer, l.Dimensions)
		for _, s := range l.Scopes {
			text += fmt.Sprint(" ", s.Values, len(s.Entries), len(s.Origins))
			if !slices.IsSortedFunc(s.Entries, func(a, b snapshot.Entry) int { return cmp.Compare(a.Key, b.Key) }) {
				t.Errorf("the entries of %q are not in the order of their keys", s.Values)
			}
		}
		levels = append(levels, text)
	}
	if want := []string{"0 [1] [a] 1 1 [b] 1 1", "1 [1 3] [debian ams] 2 2",
		"1 [4] [web] 1 1"}; !slices.Equal(levels, want) {
		t.Errorf("the levels are %q, want %q", levels, want)
	}
	if !content.Strict || !content.Sensitive || content.Bindings != 7 {
		t.Errorf("strict %v, sensitive %v, %d bindings", content.Strict, content.Sensitive, content.Bindings)
	}
}

// Lookups in a data file are checked, and reported at the position of their entry.
func TestReportsMistakesInDataFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"binder_config.yaml": "version: 1\nlayers: [{include: 'confdir:/default'}, {include: 'confdir-hiera:/'}]\n",
		"hiera.yaml":         "version: 2\nhierarchy: [[common, 'true', common]]\n",
		"common.yaml":        "a: 1\nb: 2\nport: 3\nc: \"${lookup('prot')}\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	writeBindings(t, filepath.Join(dir, "bindings"), "default", "{name: b, override: true, to: 1}")
	var diags diag.List
	Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	found := diags.Sorted()
	if len(found) != 1 || found[0].Code != "key_unbound" || found[0].Pos.Line != 4 || found[0].Pos.Col != 1 {
		t.Errorf("reported is %v", found)
	}
}
