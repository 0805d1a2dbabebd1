package runtime_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// contribute stores contributions to a multibinding. The index of each is its place in the site.
func contribute(ps ...recipe.Part) snapshot.Stored {
	for i := range ps {
		ps[i].Place = uint32(i)
	}
	return computed(&recipe.Recipe{Kind: recipe.Contributions, Parts: ps})
}

func part(name string, precedence uint32, text string) recipe.Part {
	return recipe.Part{Name: name, Named: name != "", Precedence: precedence,
		Recipe: &recipe.Recipe{Value: value.FromString(text)}}
}

// Two contributions with the same name and precedence are duplicates, unless a higher one has that name too.
func TestDuplicateContributionsOfOneName(t *testing.T) {
	highest := contribute(part("n", 1, "high"), part("n", 2, "low"), part("n", 2, "low"), part("m", 3, "other"))
	equal := contribute(part("n", 1, "a"), part("n", 1, "b"))
	unnamed := contribute(part("", 1, "a"), part("", 1, "b"))
	for _, c := range []struct {
		options recipe.Options
		parts   snapshot.Stored
		want    string
	}{
		{recipe.Options{Array: true, PriorityOnNamed: true}, highest, `["high","other"]`},
		{recipe.Options{Array: true, PriorityOnNamed: true}, equal, "duplicate"},
		{recipe.Options{Array: true, PriorityOnNamed: true}, unnamed, `["a","b"]`},
		{recipe.Options{Array: true, PriorityOnUnnamed: true}, unnamed, "duplicate"},
		{recipe.Options{Array: true, PriorityOnUnnamed: true}, equal, `["a","b"]`},
		{recipe.Options{Resolution: recipe.Priority}, highest, `{"n":"high","m":"other"}`},
		{recipe.Options{Resolution: recipe.Priority}, equal, "duplicate"},
		{recipe.Options{Resolution: recipe.Ignore}, equal, `{"n":"a"}`},
		{recipe.Options{Resolution: recipe.ErrorOnConflict}, highest, "duplicate"},
	} {
		_, req := forge(t, map[string]snapshot.Stored{"\x00m": c.parts, "m": computed(&recipe.Recipe{
			Kind: recipe.Multibind, Name: "\x00m", Options: &c.options})})
		v, found, err := req.Lookup("m")
		got, failed := "", new(bindings.Error)
		if errors.As(err, &failed) {
			got = string(failed.Code)
		} else if json, err := v.MarshalJSON(); err == nil {
			got = string(json)
		}
		if got != c.want || found != (err == nil) || failed.Code == bindings.CodeDuplicate && failed.Key != "m" {
			t.Errorf("%+v of %q: %s, %v, %v; expected %s", c.options, c.parts.Bytes, got, found, err, c.want)
		}
	}
}

// The total size of the values that a lookup collects from other lookups is limited, even if nothing copies them.
func TestTotalSizeOfLookupIsLimited(t *testing.T) {
	large := snapshot.Stored{Bytes: string(value.Append(nil, value.FromString(strings.Repeat("large", 1<<20))))}
	ps := make([]recipe.Part, 110)
	for i := range ps {
		ps[i] = recipe.Part{Recipe: &recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: "large"}}}}
	}
	list := computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00m", Options: &recipe.Options{Array: true}})
	for n, want := range map[int]bool{50: true, len(ps): false} {
		_, req := forge(t, map[string]snapshot.Stored{"large": large, "\x00m": contribute(ps[:n]...), "m": list})
		v, found, err := req.Lookup("m")
		var failed *bindings.Error
		if found != want || want && v.Len() != n || !want && (!errors.As(err, &failed) ||
			failed.Code != bindings.CodeEvaluation) {
			t.Errorf("of %d contributions: %v, %v", n, found, err)
		}
	}
}

// Error messages that may quote sensitive data are replaced. Others are unchanged.
func TestErrorsHideSensitiveValues(t *testing.T) {
	const source = `bindings_version: 1
name: default
bind:
  - {name: fails, to_expression: "Integer($word)", sensitive: true}
  - {name: typed, to_expression: '$word', type: Integer, sensitive: true}
  - {name: abstract, abstract: true, sensitive: true}
  - {when: {node: n2}, bind: [[abstract, 1]]}
  - {name: open_fails, to_expression: "Integer($word)"}
  - {name: merged, multibind_id: merged, type: Hash, options: {conflict_resolution: merge}}
  - {in: merged, name: n, to: '${word}'}
  - {name: merged_too, multibind_id: merged_too, type: Hash, options: {conflict_resolution: merge}}
  - {in: merged_too, name: n, to: '${word}', sensitive: true}
`
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, source)
	req := requestOf(t, path, "n1", map[string]any{"word": "hunter"})
	for key, want := range map[string]bindings.Error{
		"fails": {Code: bindings.CodeEvaluation,
			Message: "'fails': the value is sensitive, so the error is not shown"},
		"typed":      {Code: bindings.CodeTypeMismatch, Message: "'typed': expected Integer, found"},
		"abstract":   {Code: bindings.CodeAbstract, Message: "'abstract' is abstract: nothing binds it"},
		"open_fails": {Code: bindings.CodeEvaluation, Message: "'open_fails': "},
		"merged": {Code: bindings.CodeTypeMismatch,
			Message: "a contribution to 'merged' named 'n': expected a hash to merge, found String"},
		"merged_too": {Code: bindings.CodeTypeMismatch, Message: "a contribution to 'merged_too' named 'n': " +
			"expected a hash to merge, found a sensitive value of a different type"},
	} {
		_, found, err := req.Lookup(key)
		var failed *bindings.Error
		if !errors.As(err, &failed) || found || failed.Code != want.Code || failed.Key != key ||
			!strings.HasPrefix(failed.Message, want.Message) {
			t.Errorf("%s: %v", key, err)
		}
		if strings.Contains(fmt.Sprint(err), "hunter") {
			t.Errorf("%s: the message is %v", key, err)
		}
	}
}

// Two multibindings that collect the same contributions are a loop.
func TestTwoMultibindingsOfSameContributionsAreALoop(t *testing.T) {
	list := computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00m", Options: &recipe.Options{Array: true}})
	asks := recipe.Part{Recipe: &recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: "other"}}}}
	_, req := forge(t, map[string]snapshot.Stored{"\x00m": contribute(asks), "list": list, "other": list})
	_, found, err := req.Lookup("list")
	var failed *bindings.Error
	if !errors.As(err, &failed) || found || failed.Key != "m" || failed.Code != bindings.CodeLoop ||
		failed.Message != "'m' depends on itself: multibind m -> other -> multibind m" {
		t.Errorf("%#v, %v", failed, found)
	}
}

// category opens a snapshot with the category a. Key k is bound for its values one and two.
func category(t *testing.T, program *expr.Node) *bindings.Snapshot {
	t.Helper()
	c := &snapshot.Content{Layers: []string{"site"}, Keys: []snapshot.Key{{Name: "k", Default: -1}},
		Dimensions: []snapshot.Dimension{{Name: "a", Category: -1, Program: expr.Append(nil, program)}},
		Levels:     []snapshot.Level{{Dimensions: []int{0}}}}
	for i, text := range []string{"one", "two", "z", strings.Repeat("ü", 17), strings.Repeat("long", 10)} {
		c.Values = append(c.Values, snapshot.Stored{Bytes: string(value.Append(nil, value.FromString(text)))})
		c.Levels[0].Scopes = append(c.Levels[0].Scopes, snapshot.Scope{Values: []string{text},
			Entries: []snapshot.Entry{{Key: 0, Value: uint32(i)}}})
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, c); err != nil {
		t.Fatal(err)
	}
	s, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// The values of a category are folded to lower case. Its expression may name the variable with or without the prefix
// ::. An expression whose result is empty gives the category no value.
func TestCategoryValuesAreLowerCase(t *testing.T) {
	variable := func(name string) *expr.Node { return &expr.Node{Op: expr.Var, Name: name} }
	for _, c := range []struct {
		program *expr.Node
		fact    string
		want    string
	}{
		{variable("v"), "TWO", "two"}, {variable("v"), "one", "one"}, {variable("v"), "Z", "z"},
		{variable("v"), strings.Repeat("Ü", 17), strings.Repeat("ü", 17)},
		{variable("v"), strings.Repeat("LONG", 10), strings.Repeat("long", 10)},
		{variable("::v"), "Two", "two"}, {variable(""), "two", ""}, {variable("1"), "two", ""},
		{&expr.Node{Op: expr.Concat, Kids: []*expr.Node{variable("v")}}, "two", "two"},
		{&expr.Node{Op: expr.Concat}, "two", ""},
	} {
		facts, err := parseFacts([]byte(`{"v": "`+c.fact+`"}`), bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		req, err := category(t, c.program).Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		v, found, err := req.Lookup("k")
		if err != nil || found != (c.want != "") || textOf(v) != c.want {
			t.Errorf("%s of %q: %v, %v, %v", c.program.Name, c.fact, v, found, err)
		}
	}
}

func TestCategoryWithLookupFails(t *testing.T) {
	key := &expr.Node{Op: expr.Const, Value: value.FromString("k")}
	call := &expr.Node{Op: expr.Call, Name: "lookup", Kids: []*expr.Node{key}}
	_, err := category(t, call).Request(nodeFacts(t, "n1"))
	var failed *bindings.Error
	if !errors.As(err, &failed) || failed.Code != bindings.CodeEvaluation ||
		!strings.Contains(err.Error(), "cannot depend on a lookup") {
		t.Errorf("%v", err)
	}
}

// Some damage is only found when a value is read: by its lookup, by one that depends on it, or when it is formatted.
func TestDamageFoundWhileReadingValueIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, `bindings_version: 1
name: default
bind:
  - [large, '`+strings.Repeat("large", 200)+`']
  - {name: asks, to: "${lookup('large')}"}
  - [wrong, 2147483648]
`)
	file, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, sec := range file.Info().Sections {
		switch {
		case sec.Name == "blocks":
			content[sec.Offset] ^= 0xff
		case sec.Name == "keys": // invalidates every default that refers to a value outside the record
			for at := sec.Offset; at+64 <= sec.Offset+sec.Bytes; at += 64 {
				if content[at+11]>>6 == 0 {
					content[at+11] = 0x3f
				}
			}
		}
	}
	file.Close()
	replace(t, path, content)
	req := requestOf(t, path, "n1", nil)
	for _, key := range []string{"large", "asks"} {
		v, found, err := req.Lookup(key)
		if !errors.As(err, new(*bindings.DamageError)) || found || !v.IsUndef() {
			t.Errorf("%s: %v, %v, %v", key, v, found, err)
		}
	}
	v, _, err := req.Lookup("wrong")
	if json, failed := v.MarshalJSON(); err != nil || !errors.As(failed, new(*bindings.DamageError)) || json != nil {
		t.Errorf("as JSON: %s, %v, %v", json, failed, err)
	}
	if _, err := engine(req).Explain("large"); !errors.As(err, new(*bindings.DamageError)) {
		t.Errorf("Explain: %v", err)
	}
}

// In a file without a sealed key, a recipe marked as sealed is damage, and Unseal is not called.
func TestSealedRecipeInUnsealedFileIsDamage(t *testing.T) {
	_, req := forge(t, map[string]snapshot.Stored{"a": {Computed: true, Bytes: "\x00\x10" + strings.Repeat("s", 40)}})
	if v, found, err := req.Lookup("a"); !errors.As(err, new(*bindings.DamageError)) || found {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	unseal := func([]byte) ([]byte, error) { return nil, errors.New("called") }
	s, err := bindings.Open(path, bindings.Options{Unseal: unseal})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// A snapshot that Open rejects is unmapped.
func TestRejectedSnapshotIsUnmapped(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "site.bsnap")
	refuse := errors.New("refused")
	build(t, path, generation(1))
	accept := func(string, [32]byte) error { return refuse }
	if _, err := bindings.Open(path, bindings.Options{Accept: accept}); !errors.Is(err, refuse) {
		t.Fatal(err)
	}
	sealed := filepath.Join(dir, "sealed")
	sealedAs(t, sealed, "a", make([]byte, 32))
	unseal := func([]byte) ([]byte, error) { return nil, refuse }
	if _, err := bindings.Open(sealed, bindings.Options{Unseal: unseal}); !errors.Is(err, refuse) {
		t.Fatal(err)
	}
	if _, err := snapshot.Write(filepath.Join(dir, "program"), &snapshot.Content{Layers: []string{"site"},
		Dimensions: []snapshot.Dimension{{Name: "role", Category: -1, Program: []byte{0xff}}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := bindings.Open(filepath.Join(dir, "program"), bindings.Options{}); err == nil {
		t.Fatal("an invalid program")
	}
	w := watch(t, path, byHand)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-100] ^= 1
	replace(t, path, content)
	if _, err := w.Check(); !errors.As(err, new(*bindings.DamageError)) {
		t.Fatal(err)
	}
	if n := mapped(t, dir, 1); n > 1 {
		t.Errorf("%d files are mapped, expected only the one in use", n)
	}
}

func TestErrorNamesThePathOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	check := func() {
		_, err := bindings.Open(path, bindings.Options{})
		if n := strings.Count(fmt.Sprint(err), path); n != 1 {
			t.Errorf("the path is named %d times: %v", n, err)
		}
	}
	check()
	if err := os.WriteFile(path, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	check()
}

func TestKeysListsAllKeys(t *testing.T) {

	s, _ := forge(t, map[string]snapshot.Stored{"a": {Bytes: "\x00"}, "b": {Bytes: "\x00"}, "c": {Bytes: "\x00"}})
	if got := slices.Sorted(s.Keys()); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("keys are %q", got)
	}
}

func TestParseJSONRejectsInvalidJSON(t *testing.T) {
	deep := strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1)
	for text, want := range map[string]string{
		deep: "nested at most", "[1e400]": "a 64-bit number", `{"a": 1e400}`: "a 64-bit number",
		`{"a": 1} 2`: "data after it", `[1,`: "EOF", `{"a"`: "EOF", "": "EOF", "[9223372036854775808]": "64-bit",
		`{1: 2}`: "invalid character '1'", `{"a": 1, 2}`: "invalid character '2'",
	} {
		v, err := parseJSON([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !v.IsUndef() {
			t.Errorf("%.20q: %v, %v; expected %s", text, v, err, want)
		}
	}
	v, err := parseJSON([]byte(`[10, -10, 1234567890123]`))
	if err != nil || intOf(v.Index(0)) != 10 || intOf(v.Index(1)) != -10 || intOf(v.Index(2)) != 1234567890123 {
		t.Errorf("%v, %v", v, err)
	}
}
