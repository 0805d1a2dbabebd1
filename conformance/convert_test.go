package conformance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/loader"
	"bindc/snapshot"
)

// A random bindings file in YAML is converted to Puppet syntax and back. All three compile to the same snapshot,
// except for positions.
func TestConvertingTwiceKeepsTheSnapshot(t *testing.T) {
	for seed := range uint64(2 * *compositionSites) {
		r := randomSet{rand.New(rand.NewPCG(seed, 14)), 0}
		source := r.set()
		first := compiledSet(t, "default.yaml", source)
		puppet := converted(t, "default.yaml", source)
		again := converted(t, "default.pp", puppet)
		for _, c := range []struct{ name, src string }{{"default.pp", puppet}, {"default.yaml", again}} {
			if other := compiledSet(t, c.name, c.src); !reflect.DeepEqual(first, other) {
				t.Fatalf("seed %d:\n%s\nis not\n%s\n%+v\n%+v", seed, source, c.src, first, other)
			}
		}
	}
}

func converted(t *testing.T, name, src string) string {
	t.Helper()
	var diags diag.List
	out, ok := bindingsfile.Convert(name, []byte(src), nil, &diags)
	if !ok {
		t.Fatalf("%s\n%v", src, diags.Sorted())
	}
	return string(out)
}

// compiledSet compiles a site with one bindings file. It removes positions and inputs from the content.
func compiledSet(t *testing.T, name, src string) *snapshot.Content {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "bindings", name), src)
	writeFile(t, filepath.Join(dir, "binder_config.yaml"), "version: 1\nlayers: [{include: 'confdir:/default'}]\n")
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	content := compile.Compile(site, compile.Options{}, &diags)
	if content == nil || diags.Failed() {
		t.Fatalf("%s\n%v", src, diags.Sorted())
	}
	content.Inputs = nil
	for i := range content.Levels {
		for j := range content.Levels[i].Scopes {
			content.Levels[i].Scopes[j].Origins = nil
		}
	}
	for i := range content.Keys {
		for j := range content.Keys[i].Cold {
			content.Keys[i].Cold[j].Origin = snapshot.Origin{}
		}
	}
	for i, v := range content.Values {
		content.Values[i].Bytes = placeless(t, v)
	}
	return content
}

// placeless returns a value without the positions in its expressions.
func placeless(t *testing.T, v snapshot.Stored) string {
	t.Helper()
	if !v.Computed {
		return v.Bytes
	}
	r, err := recipe.Decode(v.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	forget(r)
	return string(recipe.Append(nil, r))
}

func forget(r *recipe.Recipe) {
	for n := range syntax.All(r.Expr) {
		n.Off = 0
	}
	for n := range syntax.All(&expr.Node{Lambda: r.Transformer}) {
		n.Off = 0
	}
	if r.Options != nil {
		for n := range syntax.All(&expr.Node{Lambda: r.Options.Combinator}) {
			n.Off = 0
		}
	}
	for _, p := range r.Parts {
		forget(p.Recipe)
	}
}

// randomSet writes random bindings files as JSON, which is YAML.
type randomSet struct {
	*rand.Rand
	keys int
}

func (r *randomSet) set() string {
	return encoded(map[string]any{"bindings_version": 1, "name": "default", "bind": append(r.statements(3),
		map[string]any{"name": "all", "type": "Array", "multibind_id": "m", "options": map[string]any{"uniq": true}},
		map[string]any{"name": "more", "type": "Hash", "multibind_id": "n", "in": "m", "options": map[string]any{
			"combinator": "|$k, $c, $v| { if $c { $v } }", "uniq": true}},
		[]any{"base", 1}, []any{"old", 1}, map[string]any{"when": map[string]any{"node": "n"}, "bind": []any{
			map[string]any{"rebind": "base"}, map[string]any{"name": "new", "to_renamed": "old"}}},
		map[string]any{"parameters": "Sql[one]", "to": map[string]any{"b": 1}})})
}

func encoded(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func (r *randomSet) statements(depth int) []any {
	var out []any
	for range 1 + r.IntN(4) {
		if depth > 0 && r.IntN(4) == 0 {
			out = append(out, map[string]any{"when": r.when(depth), "bind": r.statements(depth - 1)})
		} else if r.IntN(5) == 0 {
			out = append(out, r.further())
		} else {
			out = append(out, r.binding())
		}
	}
	return out
}

// when returns a condition on a category that no surrounding condition uses, because no request has two values of one.
func (r *randomSet) when(depth int) any {
	categories := []string{"common", []string{"node", "osfamily", "environment"}[depth-1]}
	one := func() any {
		out := map[string]any{}
		for range 1 + r.IntN(2) {
			name := categories[r.IntN(len(categories))]
			values := []any{"a", "b::c", "6.10", 6.5, true, "Ärger", "it's", "when", "-1"}
			out[name] = values[r.IntN(len(values))]
			if r.IntN(3) == 0 {
				out[name] = []any{values[r.IntN(4)], values[4+r.IntN(5)]}
			}
		}
		return out
	}
	if r.IntN(3) > 0 {
		return one()
	}
	return []any{one(), one()}
}

func (r *randomSet) binding() any {
	r.keys++
	key := fmt.Sprintf([]string{"k%d", "a::b%d", "it's %d", "$x%d", "when %d # \\"}[r.IntN(5)], r.keys)
	if r.IntN(3) == 0 {
		return []any{key, r.value(2)}
	}
	out := map[string]any{"name": key}
	switch r.IntN(13) {
	case 9:
		out["to_query"] = "Sql[?? name == 'it\\'s' and (port > 80 or not 'up' != true) and a =~ /x/]"
	case 10:
		out["to_lookup_of"], out["optional"] = "all", true
	case 11:
		out["to_expression"], out["optional"] = "$x['a']", true
	case 12:
		return map[string]any{"name": key, "to_alias_of": "base"}
	case 0:
		out["to"], out["type"] = r.IntN(100), "Integer[0, 100]"
	case 1:
		out["to_expression"] = []string{"$x + 1", "lookup('all')", "[1, 2].map |$x| { $x * $y }", "'a' in ['a', $b]", "if $a { 'b' }",
			"$a ? { /x/ => [$1], default => undef }", "{ a => [1, $b] }", "-5", "\"a${b}\"", "$h['a'][0]", "Integer", "default", "/a\\/b/"}[r.IntN(13)]
	case 2:
		out["to_lookup_of"] = []any{"all", []any{"Array", "all"}}[r.IntN(2)]
	case 3:
		out["to_first_found"] = []any{"nope", []any{"Array[Data]", "all"}}
	case 4:
		out["to_hash_lookup"] = map[string]any{"name": "all", "key": "x"}
	case 5:
		out["to_producer"], out["options"] = "p", map[string]any{"a": r.value(1)}
	case 6:
		out["to_producer"] = []any{"p", 1, "$x"}
	case 7:
		out["to"], out["transformer"] = r.value(1), "|$x, $y = 'z'| { [$x, $y] }"
	case 8:
		out["to"], out["in"] = r.value(1), "m"
		if r.IntN(2) == 0 {
			delete(out, "name")
		}
	}
	if r.IntN(4) == 0 {
		out["sensitive"] = true
	}
	return out
}

// further returns a statement other than a simple binding. It does not repeat an earlier statement.
func (r *randomSet) further() any {
	r.keys++
	n := r.keys
	switch r.IntN(8) {
	case 0:
		return map[string]any{"include": fmt.Sprint("c", n)}
	case 1:
		return map[string]any{"exclude": []any{fmt.Sprint("a::c", n), fmt.Sprint("d", n)}}
	case 2:
		return map[string]any{"parameters": fmt.Sprint("c", n), "to": map[string]any{"p": r.value(1), "q": 1}}
	case 3:
		return map[string]any{"parameters": fmt.Sprintf("Web[it's /%d]", n), "to_expression": "{ p => $x + 1 }", "type": "Integer"}
	case 4:
		o := map[string]any{"map": map[string]any{"a": "b"}}
		return map[string]any{"parameters": fmt.Sprintf("Web[w%d]", n), "to": "Sql[one]", "options": o}
	case 5:
		return map[string]any{"variables": map[string]any{fmt.Sprint("v", n): r.value(1)}, "sensitive": true}
	case 6:
		return map[string]any{"map": []any{fmt.Sprint("Web", n), "Sql"}, "to": map[string]any{"a": "b"}}
	}
	return map[string]any{"dependency": []any{"File[/etc/x]", []any{fmt.Sprintf("Service[%d]", n), "Package[c]"}},
		"kind": []string{"->", "~>"}[r.IntN(2)]}
}

func (r *randomSet) value(depth int) any {
	texts := []string{"", "a", "true", "a ${b} $c", "\\$d ${'e'}", "\\\\${f}", "it's \"so\"", "two\nlines\n", "$6$salt$hash", "%{x}", "6.10", "- a", "a: b #c",
		"${lookup('none')}\\", "  x ", "[a, {b}]", "${if $a { \"b${c}\" } else { 'd' }}", "\t\u00e9\u2028"}
	switch n := r.IntN(8 + min(depth, 2)); {
	case n < 5:
		return texts[r.IntN(len(texts))]
	case n == 5:
		return []any{0, -7, int64(1) << 40, 2.5, -1e30, 1e-7}[r.IntN(6)]
	case n == 6:
		return nil
	case n == 7:
		return r.IntN(2) == 0
	case n == 8:
		out := []any{}
		for range r.IntN(4) {
			out = append(out, r.value(depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range r.IntN(4) {
		out[texts[r.IntN(len(texts))]] = r.value(depth - 1)
	}
	return out
}
