package runtime_test

import (
	"errors"
	"path/filepath"
	"testing"

	bindings "bindc/runtime"
)

const recipeBindings = `bindings_version: 1
name: default
bind:
  - {name: one, to: 1}
  - {name: text, to: '${word}'}
  - {name: nothing, to_expression: 'undef'}
  - {name: empty, to: ''}
  - {name: users, to: {alice: {shell: zsh}, bob: {shell: sh}}}
  - {name: listed, to: [1, 2]}
  - {name: fails, to_expression: 'Integer($word)'}
  - {name: secret, sensitive: true, to: '${word}'}

  - {name: of_one, to_lookup_of: one}
  - {name: of_one_as_text, to_lookup_of: [String, one]}
  - {name: of_fails, to_lookup_of: fails}
  - {name: of_missing, to_lookup_of: missing}
  - {name: of_fails_typed, to_lookup_of: [String, fails]}

  - {name: first, to_first_found: [missing, nothing, one, fails]}
  - {name: first_is_empty, to_first_found: [empty, one]}
  - {name: first_is_typed, to_first_found: [missing, [String, one], empty]}
  - {name: first_fails, to_first_found: [missing, fails, one]}
  - {name: none, to_first_found: [missing, nothing]}

  - {name: shell, to_hash_lookup: {name: users, key: bob}}
  - {name: shell_of_nobody, to_hash_lookup: {name: users, key: carol}}
  - {name: shell_of_missing, to_hash_lookup: {name: missing, key: bob}}
  - {name: shell_of_list, to_hash_lookup: {name: listed, key: bob}}
  - {name: shell_of_fails, to_hash_lookup: {name: fails, key: bob}}

  - {name: asked, to_expression: "lookup('one') + 1"}
  - {name: asked_typed, to_expression: "lookup('one', String)"}
  - {name: asked_fails, to_expression: "[lookup('fails')]"}
  - {name: otherwise, to_expression: "lookup('missing') |$v| { if $v =~ Undef { 'default' } else { $v } }"}
  - {name: otherwise_one, to_expression: "lookup('one') |$v| { if $v =~ Undef { 'default' } else { $v } }"}

  - {name: doubled, to: 4, transformer: '|$v| { $v * 2 }'}
  - {name: transformed_fails, to_lookup_of: fails, transformer: '|$v| { 5 }'}
  - {name: transformer_fails, to: 0, transformer: '|$v| { 1 / $v }'}
  - {name: transformed_type, type: String, to: 4, transformer: '|$v| { "$v" }'}
  - {name: transformed_wrong, type: Integer, to: 4, transformer: '|$v| { "$v" }'}
  - {name: typed, type: Integer, to_expression: '$word'}
`

const multibindings = `bindings_version: 1
name: default
bind:
  - {name: list, multibind_id: list, type: Array}
  - {name: once, multibind_id: once, type: Array, options: {uniq: true}}
  - {name: flat, multibind_id: flat, type: Array, options: {flatten: true, uniq: true}}
  - {name: numbers, multibind_id: numbers, type: 'Array[Integer]'}
  - {name: all_named, multibind_id: all_named, type: Array, options: {priority_on_named: false}}
  - {name: one_unnamed, multibind_id: one_unnamed, type: Array, options: {priority_on_unnamed: true}}
  - {name: highest, multibind_id: highest, type: Hash}
  - {name: ignoring, multibind_id: ignoring, type: Hash, options: {conflict_resolution: ignore}}
  - {name: strict, multibind_id: strict, type: Hash, options: {conflict_resolution: error}}
  - {name: appended, multibind_id: appended, type: Hash, options: {conflict_resolution: append}}
  - name: appended_once
    multibind_id: appended_once
    type: Hash
    options: {conflict_resolution: append, flatten: true, uniq: true}
  - {name: merged, multibind_id: merged, type: Hash, options: {conflict_resolution: merge}}
  - {name: merged_text, multibind_id: merged_text, type: Hash, options: {conflict_resolution: merge}}
  - {name: no_parts, multibind_id: no_parts, type: Array}
  - {name: no_named_parts, multibind_id: no_named_parts, type: Hash}

  - {name: both, multibind_id: both, type: Array}
  - {name: pairs, multibind_id: pairs, type: 'Hash[Array[String, 2]]', options: {conflict_resolution: append}}
  - {name: alternatives, multibind_id: alternatives, type: Array}
  - {name: needy, multibind_id: needy, type: Array}

  - {in: list, to: general}
  - {in: both, name: n, to: general}
  - {in: both, to: general}
  - {in: pairs, name: n, to: general}
  - {in: once, to: [a]}
  - {in: once, to: b}
  - {in: once, to: [a]}
  - {in: flat, to: [a, [b]]}
  - {in: flat, to: b}
  - {in: numbers, to: 1}
  - {in: numbers, to_expression: '$word'}
  - {in: all_named, name: n, to: general}
  - {in: one_unnamed, to: general}
  - {in: highest, name: n, to: general}
  - {in: highest, name: m, to: general}
  - {in: ignoring, name: n, to: general}
  - {in: strict, name: n, to: general}
  - {in: appended, name: n, to: general}
  - {in: appended, name: m, to: [general]}
  - {in: appended_once, name: n, to: [a, [b]]}
  - {in: merged, name: n, to: {low: 1, both: 1}}
  - {in: merged_text, name: n, to: {low: 1}}
  - when: {node: n1}
    bind:
      - {in: list, to: special}
      - {in: both, name: n, to: special}
      - {in: both, to: special}
      - {in: pairs, name: n, to: special}
      - {in: needy, to: "${if $fqdn { lookup('needy') }}"}
      - {in: once, to: b}
      - {in: all_named, name: n, to: special}
      - {in: one_unnamed, to: special}
      - {in: highest, name: n, to: special}
      - {in: ignoring, name: n, to: special}
      - {in: strict, name: n, to: special}
      - {in: appended, name: n, to: special}
      - {in: appended_once, name: n, to: [b, c]}
      - {in: merged, name: n, to: {both: 2, high: 2}}
      - {in: merged_text, name: n, to: '${word}'}
  - when: {node: [n1, n2]}
    bind:
      - {in: list, to: of two}
  - when: [{node: n1}, {environment: production}]
    bind:
      - {in: alternatives, to: once}
`

// checkLookups looks keys up for a node and compares the values in JSON, or the codes of errors; "" means
// not found.
func checkLookups(t *testing.T, source, node string, want map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, source)
	req := requestOf(t, path, node, map[string]any{"word": "hunter"})
	for key, want := range want {
		v, found, err := req.Lookup(key)
		got := ""
		var failed *bindings.Error
		switch {
		case errors.As(err, &failed):
			got = string(failed.Code)
		case err != nil:
			t.Errorf("%s: %v", key, err)
			continue
		case found:
			json, err := v.Reveal().MarshalJSON()
			if err != nil {
				t.Error(err)
			}
			got = string(json)
		}
		if got != want || found != (err == nil && want != "") {
			t.Errorf("%s for %s is %s, expected %s (found is %v: %v)", key, node, got, want, found, err)
		}
	}
}

func requestOf(t *testing.T, path, node string, facts map[string]any) *bindings.Request {
	t.Helper()
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	values, err := bindings.ValueOf(facts)
	if err != nil {
		t.Fatal(err)
	}
	of, err := bindings.NewFacts(values, bindings.FactsOptions{Node: node})
	if err != nil {
		t.Fatal(err)
	}
	req, err := snap.Request(of)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestLookupEvaluatesRecipes(t *testing.T) {
	checkLookups(t, recipeBindings, "n1", map[string]string{
		"of_one": `1`, "of_one_as_text": "type_mismatch", "of_fails": "evaluation", "of_missing": "null",
		"of_fails_typed": "evaluation",
		"first":          `1`, "first_is_empty": `""`, "first_is_typed": "type_mismatch", "first_fails": "evaluation",
		"none":  "null",
		"shell": `{"shell":"sh"}`, "shell_of_nobody": "null", "shell_of_missing": "null",
		"shell_of_list": "type_mismatch", "shell_of_fails": "evaluation",
		"asked": `2`, "asked_typed": "type_mismatch", "asked_fails": "evaluation",
		"otherwise": `"default"`, "otherwise_one": `1`,
		"doubled": `8`, "transformed_fails": "evaluation", "transformer_fails": "evaluation", "transformed_type": `"4"`,
		"transformed_wrong": "type_mismatch", "typed": "type_mismatch", "missing": "",
	})
}

func TestLookupCollectsContributions(t *testing.T) {
	checkLookups(t, multibindings, "n1", map[string]string{
		"list":      `["special","of two","general"]`,
		"once":      `["b",["a"]]`,
		"flat":      `["a","b"]`,
		"numbers":   "type_mismatch",
		"all_named": `["special","general"]`, "one_unnamed": `["special"]`,
		"highest": `{"n":"special","m":"general"}`, "ignoring": `{"n":"special"}`, "strict": "duplicate",
		"appended":      `{"n":["special","general"],"m":[["general"]]}`,
		"appended_once": `{"n":["b","c","a"]}`,
		"merged":        `{"n":{"low":1,"both":2,"high":2}}`, "merged_text": "type_mismatch",
		"both":  `["special","special","general"]`,
		"pairs": `{"n":["special","general"]}`, "alternatives": `["once"]`, "needy": "loop",
		"no_parts": `[]`, "no_named_parts": `{}`,
	})
	checkLookups(t, multibindings, "n2", map[string]string{
		"list": `["of two","general"]`, "pairs": "type_mismatch", "alternatives": `["once"]`, "needy": `[]`,
		"strict": `{"n":"general"}`, "merged": `{"n":{"low":1,"both":1}}`, "merged_text": `{"n":{"low":1}}`,
	})
}

const categories = `version: 1
categories:
  - [node, '${fqdn}']
  - [place, '${site}-${rack}']
  - [computed, "${upcase($word)}"]
  - [counted, '${count}']
  - [always, here]
  - [checked, '${Integer($number)}']
`

func TestRequestEvaluatesCategories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	buildSite(t, path, map[string]string{"binder_config.yaml": categories, "bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - when: {place: A-1}
    bind: [[place, of one rack]]
  - when: {counted: 3}
    bind: [[counted, by number]]
  - when: {always: HERE, computed: 'a word of more than thirty-two bytes, longer'}
    bind: [[long, folded]]
  - when: {place: ü-1}
    bind: [[umlaut, folded]]
`})
	facts := map[string]any{
		"site": "A", "rack": 1, "word": "A Word of more than thirty-two bytes, longer", "count": 3, "number": "5",
	}
	req := requestOf(t, path, "N1.example", facts)
	for name, want := range map[string]string{
		"node": "n1.example", "place": "a-1", "counted": "3",
		"computed": "a word of more than thirty-two bytes, longer",
		"always":   "here", "checked": "5", "environment": "production", "none": "",
	} {
		if got, has := req.Category(name); got != want || has != (want != "") {
			t.Errorf("%s is %q, %v; expected %q", name, got, has, want)
		}
	}
	for key, want := range map[string]string{"place": "of one rack", "counted": "by number", "long": "folded"} {
		if v, found, err := req.Lookup(key); err != nil || !found || textOf(v) != want {
			t.Errorf("%s is %v, %v: %v", key, v, found, err)
		}
	}
	facts["site"] = "Ü"
	if _, found, err := requestOf(t, path, "n1", facts).Lookup("umlaut"); err != nil || !found {
		t.Errorf("found is %v: %v", found, err)
	}
	facts["word"] = ""
	if text, has := requestOf(t, path, "n1", facts).Category("computed"); has || text != "" {
		t.Errorf("computed from nothing is %q, %v", text, has)
	}
}
