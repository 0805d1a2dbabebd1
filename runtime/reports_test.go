package runtime_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/internal/types"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// openFile writes a snapshot with content c and opens it. Before that, change modifies its sections, unless it is
// nil.
func openFile(t *testing.T, c *snapshot.Content, opts bindings.Options, change func(section func(string) []byte),
) *bindings.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, c); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		file, err := snapshot.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		sections := file.Info().Sections
		file.Close()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		change(func(name string) []byte {
			sec := sections[slices.IndexFunc(sections, func(s snapshot.SectionInfo) bool { return s.Name == name })]
			return b[sec.Offset:][:sec.Bytes]
		})
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := bindings.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// requestFor makes a request with facts in JSON.
func requestFor(t *testing.T, s *bindings.Snapshot, facts string) *bindings.Request {
	t.Helper()
	f, err := parseFacts([]byte(facts), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func constant(v value.Value) snapshot.Stored {
	return snapshot.Stored{Bytes: string(value.Append(nil, v))}
}

func variable(name string) *expr.Node { return &expr.Node{Op: expr.Var, Name: name} }

// newNode returns an expression with kids.
func newNode(op expr.Op, name string, kids ...*expr.Node) *expr.Node {
	return &expr.Node{Op: op, Name: name, Kids: kids}
}

// Needs examines all bindings of a key: unconditional, in a scope, and hidden. It counts those that may be arrays or
// hashes, reports whether the key is merged, and lists the variables that it needs.
func TestNeedsExaminesAllBindings(t *testing.T) {
	text, array := constant(value.FromString("text")), constant(value.Strings("a"))
	hash := constant(value.FromPairs(value.Pair{Key: value.FromString("a"), Value: value.FromInt(1)}))
	one := value.FromInt(1)
	options := &recipe.Options{Array: true}
	multibind := computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00m", Options: options})
	none := snapshot.Stored{}
	for _, c := range []struct {
		name                      string
		key                       string
		unconditional, in, hidden snapshot.Stored
		locations                 int
		merged, variables         string
	}{
		{"texts", "k", text, text, text, 1, "", ""},
		{"an array", "k", array, text, none, 2, "", ""},
		{"a hash in a scope", "k", text, hash, none, 2, "", ""},
		{"a hash in a scope that hides another binding", "k", text, hash, text, 3, "", ""},
		{"a hidden array", "k", text, none, array, 2, "", ""},
		{"a hidden hash and an array", "k", none, array, hash, 2, "", ""},
		{"an array alone", "k", array, none, none, 1, "", ""},
		{"a multibinding", "k", multibind, none, none, 1, "k", ""},
		{"a multibinding above an array", "k", array, multibind, none, 1, "k", ""},
		{"a hidden multibinding", "k", text, none, multibind, 1, "", ""},
		{"a hidden multibinding below an array", "k", array, none, multibind, 2, "", ""},
		{"a computed text", "k", computed(&recipe.Recipe{Value: value.FromString("s")}), text, none, 1, "", ""},
		{"a computed array", "k", computed(&recipe.Recipe{Value: value.Strings("s")}), text, none, 2, "", ""},
		{"a hidden computed array", "k", text, none, computed(&recipe.Recipe{Value: value.Strings("s")}), 2, "", ""},
		{"a transformed value", "k", computed(&recipe.Recipe{Value: one,
			Transformer: &expr.Lambda{Body: variable("v")}}), text, none, 2, "", "v"},
		{"an interpolated text", "k", computed(&recipe.Recipe{Kind: recipe.Expression,
			Expr: newNode(expr.Concat, "", variable("x"))}), text, none, 1, "", "x"},
		{"another expression", "k", computed(&recipe.Recipe{Kind: recipe.Expression, Expr: variable("kernel")}), text,
			none, 2, "", "kernel os"},
		{"an environment is not a fact", "k", computed(&recipe.Recipe{Kind: recipe.Expression,
			Expr: newNode(expr.ArrayLit, "", variable("z"), variable("environment"), variable("a"),
				variable("is_virtual"))}),
			text, none, 2, "", "a hypervisors is_virtual virtual z"},
		{"another key", "k", computed(&recipe.Recipe{Kind: recipe.LookupOf,
			Targets: []recipe.Target{{Key: "l"}}}), text, none, 2, "", ""},
		{"contributions", "\x00k", contribute(part("n", 1, "a")), contribute(part("n", 2, "b")), none, 1, "", ""},
	} {
		content := &snapshot.Content{Layers: []string{"site"}, Keys: []snapshot.Key{{Name: c.key, Default: -1}}}
		if c.unconditional != none {
			content.Keys[0].Default, content.Keys[0].Cold = 0, []snapshot.Cold{{}}
			content.Values = append(content.Values, c.unconditional)
		}
		if c.in != none {
			content.Levels = []snapshot.Level{{Scopes: []snapshot.Scope{{Entries: []snapshot.Entry{{Key: 0,
				Value: uint32(len(content.Values))}}}}}}
			content.Values = append(content.Values, c.in)
		}
		if c.hidden != none {
			cold := snapshot.Cold{Value: uint32(len(content.Values)), Above: len(content.Levels)}
			if len(content.Keys[0].Cold) > 0 {
				content.Keys[0].Cold[0].Above = cold.Above
			}
			content.Keys[0].Cold = append(content.Keys[0].Cold, cold)
			content.Values = append(content.Values, c.hidden)
		}
		variables, merged, locations, err := (*lookup.Snapshot)(openFile(t, content, bindings.Options{}, nil)).Needs()
		if err != nil {
			t.Fatal(c.name, err)
		}
		if locations != c.locations || strings.Join(merged, " ") != c.merged ||
			strings.Join(variables, " ") != c.variables {
			t.Errorf("%s: %d locations, merged %q, variables %q; expected %d, %q, %q", c.name, locations, merged,
				variables, c.locations, c.merged, c.variables)
		}
	}
}

// A recipe that several keys share counts for each of them. Needs also lists the variables of categories.
func TestNeedsCountsSharedRecipeForEachKey(t *testing.T) {
	scope := []snapshot.Scope{{Entries: []snapshot.Entry{{Key: 1, Value: 0}, {Key: 2, Value: 2}}}}
	c := &snapshot.Content{Layers: []string{"site"},
		Dimensions: []snapshot.Dimension{{Name: "os", Category: -1, Program: expr.Append(nil, variable("osfamily"))}},
		Keys:       []snapshot.Key{{Name: "a", Default: 0}, {Name: "b", Default: 0}, {Name: "c", Default: 1}},
		Values: []snapshot.Stored{
			computed(&recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: "l"}}}),
			computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00z", Options: &recipe.Options{}}),
			computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00y", Options: &recipe.Options{}})},
		Levels: []snapshot.Level{{Scopes: scope}}}
	for _, name := range []string{"d", "e", "f", "g", "h"} {
		c.Keys = append(c.Keys, snapshot.Key{Name: name, Default: 1})
	}
	s := openFile(t, c, bindings.Options{}, nil)
	variables, merged, locations, err := (*lookup.Snapshot)(s).Needs()
	if err != nil || locations != 2 || fmt.Sprint(merged, variables) != "[c d e f g h] [os osfamily]" {
		t.Errorf("%d locations, merged %q, variables %q, %v", locations, merged, variables, err)
	}
	if d := s.Digest(); len(d) != 64 || strings.Trim(d, "0123456789abcdef") != "" {
		t.Errorf("the digest is %s", d)
	}
	s.Close()
	variables, merged, locations, err = (*lookup.Snapshot)(s).Needs()
	if err != fs.ErrClosed || variables != nil || merged != nil || locations != 0 {
		t.Errorf("of a closed snapshot: %q, %q, %d, %v", variables, merged, locations, err)
	}
}

// Needs of an unreadable value reports damage and returns nothing.
func TestNeedsReportsDamagedValue(t *testing.T) {
	content := func(bytes string) *snapshot.Content {
		return &snapshot.Content{Layers: []string{"site"}, Keys: []snapshot.Key{{Name: "k", Default: 0,
			Cold: []snapshot.Cold{{}}}}, Values: []snapshot.Stored{{Computed: true, Bytes: bytes}}}
	}
	sound := computed(&recipe.Recipe{Value: value.FromInt(1)}).Bytes
	for _, c := range []struct {
		bytes   string
		change  func(section func(string) []byte)
		section string
	}{
		{"\xff\x00", nil, "recipes"},
		{"\x00\x10" + strings.Repeat("s", 40), nil, "recipes"}, // a sealed recipe in a file without a key
		{sound, func(section func(string) []byte) { section("origins")[0]++ }, "origins"},
		// an offset of a list, which is damaged
		{sound, func(section func(string) []byte) { section("keys")[8] = 1 }, "recipetab"},
	} {
		s := openFile(t, content(c.bytes), bindings.Options{}, c.change)
		variables, merged, locations, err := (*lookup.Snapshot)(s).Needs()
		var damage *bindings.DamageError
		if !errors.As(err, &damage) || damage.Section != c.section || variables != nil || merged != nil ||
			locations != 0 {
			t.Errorf("%s: %q, %q, %d, %v", c.section, variables, merged, locations, err)
		}
	}
}

// Needs counts a value that it cannot decrypt as an array, because it may be one. It examines a value that it can
// decrypt.
func TestNeedsCountsEncryptedValueAsArray(t *testing.T) {
	key := seal.NewKey()
	box, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, sealedFor string
		opts            bindings.Options
		locations       int
	}{
		{"sealed, with the key", "k", bindings.Options{Unseal: unsealWith(key)}, 1},
		{"sealed, without the key", "k", bindings.Options{}, 2},
		{"not sealed", "", bindings.Options{}, 1},
		{"sealed for another key", "other", bindings.Options{Unseal: unsealWith(key)}, 2},
	} {
		text := string(recipe.Append(nil, &recipe.Recipe{Sensitive: true, Value: value.FromString("s")}))
		if c.sealedFor != "" {
			text = recipe.Seal(text, c.sealedFor, box)
		}
		content := &snapshot.Content{Layers: []string{"site"}, Seal: []byte("wrapped"),
			Keys:   []snapshot.Key{{Name: "k", Default: 0}},
			Values: []snapshot.Stored{{Computed: true, Bytes: text}, constant(value.FromString("t"))},
			Levels: []snapshot.Level{{Scopes: []snapshot.Scope{{Entries: []snapshot.Entry{{Key: 0, Value: 1}}}}}}}
		_, _, locations, err := (*lookup.Snapshot)(openFile(t, content, c.opts, nil)).Needs()
		if err != nil || locations != c.locations {
			t.Errorf("%s: %d locations, %v", c.name, locations, err)
		}
	}
}

// A slice only covers requests in which its categories have the values that it was cut for.
func TestSliceRejectsOtherRequests(t *testing.T) {
	s := openFile(t, &snapshot.Content{Layers: []string{"site"}, Keys: []snapshot.Key{{Name: "k", Default: 0}},
		Values: []snapshot.Stored{constant(value.FromString("text"))},
		Dimensions: []snapshot.Dimension{{Name: "environment", Category: -1, Program: expr.Append(nil, variable("e"))},
			{Name: "path", Category: -1, Exact: true, Program: expr.Append(nil, variable("p"))}},
		Slice: []snapshot.Term{{Dimension: 0, Value: "live"}, {Dimension: 1, Value: "Data"}}}, bindings.Options{}, nil)
	for facts, want := range map[string]string{
		`{"e": "live", "p": "Data"}`: "", `{"e": "LIVE", "p": "Data"}`: "",
		`{"e": "Test", "p": "Data"}`: "with environment 'live' only; this one has 'test'",
		`{"e": "live", "p": "data"}`: "with path 'Data' only; this one has 'data'",
		`{"e": "live"}`:              "with path 'Data' only; this one has ''",
		`{}`:                         "with environment 'live' only; this one has ''",
	} {
		f, err := parseFacts([]byte(facts), bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Request(f)
		var refused *bindings.Error
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", facts, err)
			} else if v, found, err := r.Lookup("k"); err != nil || !found || textOf(v) != "text" {
				t.Errorf("%s: %v, %v, %v", facts, v, found, err)
			}
			continue
		}
		if !errors.As(err, &refused) || refused.Code != bindings.CodeFacts || r != nil ||
			!strings.HasSuffix(refused.Message, want) {
			t.Errorf("%s: %v; expected %s", facts, err, want)
		}
	}
}

// A guard without a value does not match, even if its category has none either. Other dimensions are unaffected.
func TestGuardOfAbsentCategoryDoesNotMatch(t *testing.T) {
	c := &snapshot.Content{Layers: []string{"site"}, Keys: []snapshot.Key{{Name: "k", Default: -1}},
		Levels: []snapshot.Level{{Dimensions: []int{1, 3}}}}
	for i, name := range []string{"a", "b", "x", "y"} {
		d := snapshot.Dimension{Name: name, Category: -1, Program: expr.Append(nil, variable(name))}
		if i >= 2 {
			d.Guard, d.Category = true, i-2
		}
		c.Dimensions = append(c.Dimensions, d)
	}
	for i, text := range []string{"one", "two", "three"} {
		c.Values = append(c.Values, constant(value.FromString(text)))
		c.Levels[0].Scopes = append(c.Levels[0].Scopes, snapshot.Scope{Values: []string{"here", text},
			Entries: []snapshot.Entry{{Key: 0, Value: uint32(i)}}})
	}
	s := openFile(t, c, bindings.Options{}, nil)
	for _, text := range []string{"one", "two", "three"} {
		v, found, err := requestFor(t, s, `{"b": "here", "x": "there", "y": "`+text+`"}`).Lookup("k")
		if err != nil || !found || textOf(v) != text {
			t.Errorf("%s: %v, %v, %v", text, v, found, err)
		}
	}
}

// The expression of a category may yield a value of any type. Conditions compare its text.
func TestNonStringCategoryIsComparedAsText(t *testing.T) {
	five := &expr.Node{Op: expr.Const, Value: value.FromInt(5)}
	for want, program := range map[string]*expr.Node{"5": five, "-5": newNode(expr.Unary, "-", variable("v")),
		"[5]": newNode(expr.ArrayLit, "", variable("v"))} {
		s := openFile(t, &snapshot.Content{Layers: []string{"site"}, Keys: []snapshot.Key{{Name: "k", Default: -1}},
			Dimensions: []snapshot.Dimension{{Name: "a", Category: -1, Program: expr.Append(nil, program)}},
			Values:     []snapshot.Stored{constant(value.FromString("found"))},
			Levels: []snapshot.Level{{Dimensions: []int{0}, Scopes: []snapshot.Scope{{Values: []string{want},
				Entries: []snapshot.Entry{{Key: 0, Value: 0}}}}}}}, bindings.Options{}, nil)
		r := requestFor(t, s, `{"v": 5}`)
		if v, found, err := r.Lookup("k"); err != nil || !found || textOf(v) != "found" {
			t.Errorf("%s: %v, %v, %v", want, v, found, err)
		}
		if got, ok := r.Category("a"); !ok || got != want {
			t.Errorf("the category is %q, %t, expected %s", got, ok, want)
		}
	}
}

// Explain reads bindings that a lookup does not need, and reports damage in them.
func TestExplainReportsDamage(t *testing.T) {
	const noRecipe, noSuchTag = "\xff\x00", "\x09\x02\x01\x0b"
	ask := func(key string) snapshot.Stored {
		return computed(&recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: key}}})
	}
	list := computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00m", Options: &recipe.Options{Array: true}})
	asks := func(key string) recipe.Part {
		return recipe.Part{Recipe: &recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: key}}}}
	}
	node := []snapshot.Dimension{{Name: "node", Category: -1, Program: expr.Append(nil, variable("fqdn"))}}
	// elsewhere has contributions for another node
	elsewhere := func(value uint32, cold ...snapshot.Cold) *snapshot.Content {
		return &snapshot.Content{Layers: []string{"site"}, Dimensions: node,
			Keys: []snapshot.Key{{Name: "\x00m", Default: -1, Cold: cold}, {Name: "bad", Default: 1},
				{Name: "list", Default: 0, Cold: []snapshot.Cold{{}}}},
			Values: []snapshot.Stored{list, {Bytes: noSuchTag}, {Computed: true, Bytes: noRecipe},
				contribute(asks("bad")), contribute(part("", 1, "a")),
				contribute(part("", 1, "a"), part("", 1, "b"))},
			Levels: []snapshot.Level{{Dimensions: []int{0}, Scopes: []snapshot.Scope{{Values: []string{"n2"},
				Entries: []snapshot.Entry{{Key: 0, Value: value}}}}}}}
	}
	contribution := snapshot.Cold{Above: 1, Contribution: true, Terms: []snapshot.Term{{Dimension: 0, Value: "n2"}}}
	hidden := &snapshot.Content{Layers: []string{"site"}, Keys: []snapshot.Key{{Name: "asks", Default: 0},
		{Name: "bad", Default: 2, Cold: []snapshot.Cold{{}}},
		{Name: "inner", Default: 1, Cold: []snapshot.Cold{{}, {Value: 3}}}},
		Values: []snapshot.Stored{ask("inner"), constant(value.FromString("sound")), {Bytes: noSuchTag},
			{Computed: true, Bytes: noRecipe}}}
	spoil := func(name string) func(section func(string) []byte) {
		return func(section func(string) []byte) { section(name)[len(section(name))/2] ^= 0xff }
	}
	for _, c := range []struct {
		name, key string
		content   *snapshot.Content
		change    func(section func(string) []byte)
		damage    string
	}{
		{"an invalid hidden recipe", "inner", hidden, nil, "section origins, offset 0: expected a recipe: "},
		{"an invalid hidden recipe of a key that the key looks up", "asks", hidden, nil,
			"section origins, offset 0: expected a recipe: "},
		{"an array with invalid elements", "bad", hidden, nil,
			"section keys, offset 0: expected a value, all of whose"},
		{"origins that cannot be read", "asks", hidden, spoil("origins"), "section origins, "},
		{"files that cannot be read", "asks", hidden, spoil("inputs"), "section inputs, "},
		{"invalid contributions of another node", "list", elsewhere(2, contribution), nil,
			"section recipes, offset 0: expected a recipe: "},
		{"contributions of another node that look up a damaged value", "list", elsewhere(3, contribution), nil,
			"section keys, offset 0: expected a value, all of whose"},
		{"more origins than contributions", "list", elsewhere(4, contribution, contribution), nil, ""},
		{"contributions of another node", "list", elsewhere(4, contribution), nil, ""},
	} {
		req := requestFor(t, openFile(t, c.content, bindings.Options{}, c.change), `{"fqdn": "n1"}`)
		if c.key == "inner" || c.key == "bad" {
			if cs, err := engine(req).Candidates(c.key); !errors.As(err, new(*bindings.DamageError)) || cs != nil {
				t.Errorf("%s: candidates are %v, %v", c.name, cs, err)
			}
			if os, err := engine(req).Effective(c.key); !errors.As(err, new(*bindings.DamageError)) || os != nil {
				t.Errorf("%s: effective are %v, %v", c.name, os, err)
			}
		}
		e, err := engine(req).Explain(c.key)
		var damage *bindings.DamageError
		switch {
		case c.damage == "" && (err != nil || e == nil):
			t.Errorf("%s: %v", c.name, err)
		case c.damage != "" && (e != nil || !errors.As(err, &damage) ||
			!strings.HasPrefix(damage.Error(), "snapshot damaged: "+c.damage)):
			t.Errorf("%s: %v, expected %s", c.name, err, c.damage)
		}
	}
	// Explain lists all contributions, even if the file lacks the origin of one.
	fewer := requestFor(t, openFile(t, elsewhere(5, contribution), bindings.Options{}, nil), `{"fqdn": "n2"}`)
	if e, err := engine(fewer).Explain("list"); err != nil || public(e.Outcome.Value).Len() != 2 ||
		len(e.Contributions) != 2 {
		t.Errorf("of two contributions with one place: %+v, %v", e, err)
	}
}

// A binding whose position lacks the line or the file has "an unknown place"; the rest is explained as usual.
func TestExplainShowsUnknownPositions(t *testing.T) {
	c := &snapshot.Content{Layers: []string{"site"}, Inputs: []snapshot.Input{{Path: "a.yaml"}},
		Values: []snapshot.Stored{constant(value.FromString("soon")), constant(value.FromInt(1))}}
	for _, o := range []snapshot.Origin{{Line: 3, Col: 4}, {Col: 4}, {Input: 1, Line: 3, Col: 4}, {Input: 9, Line: 3}} {
		c.Keys = append(c.Keys, snapshot.Key{Name: fmt.Sprint(len(c.Keys)), Default: 1,
			Cold: []snapshot.Cold{{Origin: o}, {Origin: o, Value: 0}}})
	}
	req := requestFor(t, openFile(t, c, bindings.Options{}, nil), `{}`)
	for i, key := range c.Keys {
		want := "an unknown place"
		if i == 0 {
			want = "a.yaml:3:4"
		}
		cs, err := engine(req).Candidates(key.Name)
		if err != nil || len(cs) != 2 || cs[0].At != want || cs[1].At != want ||
			textOf(public(cs[1].Outcome.Value)) != "soon" {
			t.Errorf("%v: %+v, %v", key.Cold[0].Origin, cs, err)
		}
	}
}

// If contributions are appended, those of one name form an array, and the element type applies to that array. A
// contribution that cannot be read is damage.
func TestTypeOfAppendedContributionsIsChecked(t *testing.T) {
	two, err := types.Parse("Array[String, 2]")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		element *types.Type
		parts   snapshot.Stored
		want    string
	}{
		{two, contribute(part("n", 1, "a"), part("n", 2, "b")), `{"n":["a","b"]}`},
		{two, contribute(part("n", 1, "a"), part("m", 2, "b")), "'n' of 'm': expected Array[String, 2]"},
		{nil, contribute(part("n", 1, "a"), part("m", 2, "b")), `{"n":["a"],"m":["b"]}`},
	} {
		_, req := forge(t, map[string]snapshot.Stored{"\x00m": c.parts, "m": computed(&recipe.Recipe{
			Kind: recipe.Multibind, Name: "\x00m", Options: &recipe.Options{Resolution: recipe.AppendAll,
				Element: c.element}})})
		v, _, err := req.Lookup("m")
		got := fmt.Sprint(err)
		if json, failed := v.MarshalJSON(); err == nil && failed == nil {
			got = string(json)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, expected %s", got, c.want)
		}
	}
	hidden := &snapshot.Content{Layers: []string{"site"},
		Keys: []snapshot.Key{{Name: "\x00m", Default: -1, Cold: []snapshot.Cold{{}}}, {Name: "m", Default: 1}},
		Values: []snapshot.Stored{constant(value.FromInt(1)), computed(&recipe.Recipe{Kind: recipe.Multibind,
			Name: "\x00m", Options: &recipe.Options{Array: true}})}}
	s := openFile(t, hidden, bindings.Options{}, func(section func(string) []byte) { section("origins")[0]++ })
	if v, found, err := requestFor(t, s, `{}`).Lookup("m"); !errors.As(err, new(*bindings.DamageError)) || found {
		t.Errorf("contributions that cannot be read: %v, %v, %v", v, found, err)
	}
}

// A text that contains a sensitive value is sensitive, even if a later lookup or producer in it yields a plain
// value.
func TestSensitiveResultStaysSensitive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: secret, to: '${word}', sensitive: true}
  - {name: plain, to: '${word}'}
  - {name: produced, to_producer: plain}
  - {name: secret_then_plain, to: "${lookup('secret')}${lookup('plain')}"}
  - {name: secret_then_produced, to: "${lookup('secret')}${lookup('produced')}"}
  - {name: otherwise, to_expression: "lookup('absent', {'default_value' => 'default'})"}
`)
	s, err := bindings.Open(path, bindings.Options{Producers: map[string]bindings.Producer{
		"plain": func(*bindings.Request, bindings.Value) (bindings.Value, error) { return bindings.ValueOf("made") }}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	req := requestFor(t, s, `{"word": "hunter"}`)
	for key, want := range map[string]string{"secret": "<sensitive>", "plain": "hunter", "produced": "made",
		"secret_then_plain": "<sensitive>", "secret_then_produced": "<sensitive>", "otherwise": "default"} {
		if v, found, err := req.Lookup(key); err != nil || !found || v.String() != want {
			t.Errorf("%s: %v, %t, %v; expected %s", key, v, found, err, want)
		}
	}
}

// Explain omits contributions that cannot be decrypted, but explains their multibinding.
func TestExplainOmitsEncryptedContributions(t *testing.T) {
	box, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	sealed := recipe.Seal(contribute(part("", 1, "a")).Bytes, "\x00m", box)
	s := openFile(t, &snapshot.Content{Layers: []string{"site"}, Seal: []byte("wrapped"),
		Keys: []snapshot.Key{{Name: "\x00m", Default: -1, Cold: []snapshot.Cold{{Above: 1, Contribution: true}}},
			{Name: "m", Default: 0, Cold: []snapshot.Cold{{}}}},
		Values: []snapshot.Stored{computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00m",
			Options: &recipe.Options{Array: true}}), {Computed: true, Bytes: sealed}},
		Levels: []snapshot.Level{{Scopes: []snapshot.Scope{{Entries: []snapshot.Entry{{Key: 0, Value: 1}}}}}},
	}, bindings.Options{}, nil)
	e, err := engine(requestFor(t, s, `{}`)).Explain("m")
	var failed *bindings.Error
	if err != nil || !errors.As(e.Outcome.Err, &failed) || failed.Code != bindings.CodeEncrypted ||
		len(e.Candidates) != 1 || e.Contributions != nil {
		t.Errorf("%+v, %v", e, err)
	}
}

// A sealed value must decrypt to a recipe. Verify cannot check that, so the lookup returns an error of the key, not
// damage.
func TestSealedValueThatIsNotARecipeIsAnError(t *testing.T) {
	key := seal.NewKey()
	box, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	s := openFile(t, &snapshot.Content{Layers: []string{"site"}, Seal: []byte("wrapped"),
		Keys:   []snapshot.Key{{Name: "k", Default: 0}},
		Values: []snapshot.Stored{{Computed: true, Bytes: recipe.Seal("\x00\x00none", "k", box)}},
	}, bindings.Options{Unseal: unsealWith(key)}, nil)
	var failed *bindings.Error
	v, found, err := requestFor(t, s, `{}`).Lookup("k")
	if found || !errors.As(err, &failed) || failed.Code != bindings.CodeEncrypted || s.Verify() != nil {
		t.Errorf("%v, %v, %v", v, found, err)
	}
}

// AppendRich writes <sensitive> in place of a sensitive value, and returns an error for a damaged one.
func TestAppendRichHidesSensitiveAndRejectsDamagedValues(t *testing.T) {
	_, req := forge(t, map[string]snapshot.Stored{
		"plain":     constant(value.Strings("a")),
		"default":   constant(value.TheDefault()),
		"sensitive": computed(&recipe.Recipe{Sensitive: true, Value: value.FromString("hunter")}),
		"damaged":   {Bytes: "\x09\x02\x01\x0b"},
	})
	for key, want := range map[string]string{"plain": `x["a"] false`, "default": `x{"__ptype":"Default"} true`,
		"sensitive": `x"<sensitive>" false`, "damaged": "x false damaged"} {
		v, _, err := req.Lookup(key)
		if err != nil {
			t.Fatal(err)
		}
		out, rich, err := lookup.Value(v).AppendRich([]byte("x"))
		got := fmt.Sprintf("%s %t", out, rich)
		if errors.As(err, new(*bindings.DamageError)) {
			got += " damaged"
		}
		if got != want {
			t.Errorf("%s: %s, expected %s", key, got, want)
		}
	}
}

func TestCheckAcceptsValueOfType(t *testing.T) {
	v, err := parseJSON([]byte(`["a"]`))
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{"Array[String]": true, "Array": true, "Array[Integer]": false} {
		typ, err := bindings.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Check(typ); (err == nil) != fits {
			t.Errorf("held to %s: %v", text, err)
		}
	}
	if v, err := parseJSON([]byte(`{1: 2}`)); err == nil {
		t.Errorf("an object of a number is %v", v)
	}
}

// Facts, trusted facts and variables must be hashes.
func TestNewFactsRejectsNonHash(t *testing.T) {
	hash, err := parseJSON([]byte(`{"a": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	list, err := parseJSON([]byte(`[1]`))
	if err != nil {
		t.Fatal(err)
	}
	for want, opts := range map[string]bindings.FactsOptions{"": {Trusted: hash, Variables: hash},
		"expected trusted facts as a hash, found an array":                           {Trusted: list},
		"expected variables as a hash whose keys are variable names, found an array": {Variables: list}} {
		_, err := bindings.NewFacts(bindings.Value{}, opts)
		var refused *bindings.Error
		if (err == nil) != (want == "") || err != nil && (!errors.As(err, &refused) || refused.Message != want ||
			refused.Code != bindings.CodeFacts) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// Variables take precedence over facts of the same name, and $facts does not contain them.
func TestVariablesPrecedeFacts(t *testing.T) {
	s := open(t, "bindings_version: 1\nname: default\nbind: [[k, \"${a} ${b} ${facts['a']} ${facts['b']}\"]]\n",
		bindings.Options{})
	facts, err := parseJSON([]byte(`{"a": "fact", "c": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	variables, err := parseJSON([]byte(`{"a": "variable", "b": "other"}`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := bindings.NewFacts(facts, bindings.FactsOptions{Variables: variables})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	if v, _, err := r.Lookup("k"); err != nil || textOf(v) != "variable other fact " {
		t.Errorf("%q, %v", textOf(v), err)
	}
}

// Closing a lease twice releases its snapshot once, so another lease can still use it.
func TestLeaseClosedTwiceCountsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, byHand)
	if s, err := w.Snapshot(); err != nil || s.Verify() != nil {
		t.Errorf("what answers: %v", err)
	}
	first, second := begin(t, w), begin(t, w)
	if _, err := w.Request(nil); err == nil { // a failed request does not count
		t.Error("a request without facts")
	}
	build(t, path, generation(2))
	check(t, w, true)
	first.Close()
	first.Close()
	if err := second.Snapshot().Verify(); err != nil {
		t.Errorf("the file of a request that goes on: %v", err)
	}
	second.Close()
	if err := second.Snapshot().Verify(); err != fs.ErrClosed {
		t.Errorf("the file after its last request: %v", err)
	}
	w.Close()
	if s, err := w.Snapshot(); err != fs.ErrClosed || s != nil {
		t.Errorf("of a closed watcher: %v, %v", s, err)
	}
}
