package runtime_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

// Errors end up in logs and reports, so they must not quote sensitive values.
func TestErrorsDoNotQuoteSensitiveValues(t *testing.T) {
	const secret = "hunter2"
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: typed, type: 'Enum[red, green]', sensitive: true, to: '${password}'}
  - {name: evaluated, sensitive: true, to_expression: 'Integer($password)'}
  - {name: password, sensitive: true, to: '${password}'}
  - {name: asked_as, to_lookup_of: ['Enum[red, green]', password]}
  - {name: merged, multibind_id: merged, type: 'Hash[Data]', options: {conflict_resolution: merge}}
  - {name: part, in: merged, sensitive: true, to: '${password}'}
  - {name: appended, multibind_id: appended, type: 'Hash[Array[Enum[red]]]', options: {conflict_resolution: append}}
  - {name: part, in: appended, sensitive: true, to: '${password}'}
  - {name: listed, multibind_id: listed, type: 'Array[Enum[red]]'}
  - {in: listed, sensitive: true, to: '${password}'}
  - {name: produced, sensitive: true, to_producer: fails}
`)
	fails := func(*bindings.Request, bindings.Value) (bindings.Value, error) {
		return bindings.Value{}, errors.New("the password " + secret + " is expired")
	}
	snap, err := bindings.Open(path, bindings.Options{Producers: map[string]bindings.Producer{"fails": fails}})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	facts, err := parseFacts([]byte(`{"password": "`+secret+`"}`), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	req, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"typed", "evaluated", "asked_as", "merged", "appended", "listed", "produced"} {
		if v, _, err := req.Lookup(key); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, %v", key, v, err)
		}
	}
}

// Formatting a sensitive value, or a part of one, hides it. Methods such as Text and Int reveal it.
func TestSensitiveValuesAreNotFormatted(t *testing.T) {
	const secret = "hunter2"
	snap := open(t, `bindings_version: 1
name: default
bind:
  - {name: text, sensitive: true, to: hunter2}
  - {name: list, sensitive: true, to: [hunter2]}
  - {name: hash, sensitive: true, to: {hunter2: [hunter2]}}
  - {name: derived, to: "x${lookup('text')}"}
  - {name: built, to_expression: "[lookup('text')]"}
  - {name: made, to_producer: wrap}
`, bindings.Options{Producers: map[string]bindings.Producer{
		"wrap": func(r *bindings.Request, _ bindings.Value) (bindings.Value, error) {
			v, _, err := r.Lookup("text")
			if err != nil {
				return v, err
			}
			return bindings.ValueOf(map[string]any{"wrapped": []bindings.Value{v}})
		},
	}})
	req, err := snap.Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"text", "list", "hash", "derived", "built", "made"} {
		v, _, err := req.Lookup(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts(v) {
			shown, err := json.Marshal(map[string]any{"v": part, "p": &part, "i": ordinaryOf(part)})
			if err != nil {
				t.Fatal(err)
			}
			hidden := struct{ v bindings.Value }{part}
			text := fmt.Sprintf("%v %+v %#v %s %q %x %d %T %v %v", part, part, part, part, part, part, part, part,
				hidden, &hidden)
			text += string(shown) + part.String() + fmt.Sprint(ordinaryOf(part), []any{part}, &part)
			if !part.Sensitive() || strings.Contains(text, secret) || strings.Contains(text,
				hex.EncodeToString([]byte(secret))) {
				t.Errorf("%s: sensitive is %v: %s", key, part.Sensitive(), text)
			}
		}
		if got := v.Reveal(); got.Sensitive() || !strings.Contains(got.String(), secret) {
			t.Errorf("%s revealed is %v", key, got)
		}
		for _, part := range parts(v.Reveal()) {
			if part.Sensitive() {
				t.Errorf("%s: a part of a revealed value is sensitive", key)
			}
		}
	}
	v, _, err := req.Lookup("text")
	if err != nil || textOf(v) != secret || v.Kind() != bindings.String || fmt.Sprintf("%v|%13s", v,
		v) != "<sensitive>|  <sensitive>" {
		t.Errorf("%q, %v, %v", textOf(v), v.Kind(), err)
	}
	if got, err := json.Marshal(v); err != nil || string(got) != `"\u003csensitive\u003e"` {
		t.Errorf("%s, %v", got, err)
	}
}

// parts returns v and all values inside it.
func parts(v bindings.Value) []bindings.Value {
	all := []bindings.Value{v}
	for e := range v.Elems() {
		all = append(all, parts(e)...)
	}
	if v.Len() > 0 && v.Kind() == bindings.Array {
		all = append(all, v.Index(0))
	}
	for k, e := range v.Entries() {
		inner, _ := v.Get(textOf(k))
		all = append(append(append(all, k, inner), parts(k)...), parts(e)...)
	}
	return all
}

func TestValuesAreFormattedAsText(t *testing.T) {
	v, err := bindings.ValueOf(map[string]any{"a": []any{1, 2.0, "x", nil}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v|%s|%q", v, v, v.Index(0)); got != `{a => [1, 2.0, x, ]}|{a => [1, 2.0, x, ]}|""` {
		t.Error(got)
	}
}
