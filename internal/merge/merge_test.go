package merge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/merge"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// parse reads a value as it stands in data.
func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, ok := parsed(text)
	if !ok {
		t.Fatalf("%s is no YAML", text)
	}
	return v
}

func parsed(text string) (value.Value, bool) {
	var diags diag.List
	doc, ok := yaml.Parse("data", []byte(text), yaml.Options{LastKeyWins: true, TimesAreText: true}, &diags)
	if !ok || doc.Root == nil {
		return value.Value{}, ok
	}
	return doc.Root.Literal(), true
}

func strategy(t testing.TB, text string) merge.Strategy {
	t.Helper()
	s, err := merge.Parse(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inEntries are candidates in an entry each.
func inEntries(values ...value.Value) (out []merge.Candidate) {
	for i, v := range values {
		out = append(out, merge.Candidate{Entry: i, OnlyPath: true,
			Value: func() (value.Value, bool, error) { return v, true, nil }})
	}
	return out
}

var errAsked = errors.New("this candidate was not to be asked")

func TestTheFirstAsksNoFurther(t *testing.T) {
	all := append(inEntries(value.FromInt(1)), merge.Candidate{Entry: 1, Value: func() (value.Value, bool, error) {
		return value.Value{}, false, errAsked
	}})
	if got := answer(strategy(t, "first").Merge(all)); got != "1" {
		t.Errorf("expected 1, found %s", got)
	}
	if _, found, err := strategy(t, "unique").Merge(all); found || err != errAsked {
		t.Errorf("expected the error of a candidate, found %v, %v", found, err)
	}
	declines := merge.Candidate{Value: func() (value.Value, bool, error) { return value.Value{}, false, nil }}
	if got := answer(strategy(t, "first").Merge(append([]merge.Candidate{declines}, all...))); got != "1" {
		t.Errorf("expected the first that is found, found %s", got)
	}
}

func TestMergesOfSecretsAreSecret(t *testing.T) {
	const canary = "correct horse"
	secret := value.Strings(canary).Sensitive()
	for _, name := range []string{"first", "deep"} {
		v, _, err := strategy(t, name).Merge(inEntries(secret, value.Strings("b")))
		if err != nil || !v.IsSensitive() {
			t.Errorf("%s: expected a sensitive value, found %v", name, err)
		}
	}
	for _, name := range []string{"hash", "unique"} {
		_, _, err := strategy(t, name).Merge(inEntries(secret, value.Strings("b")))
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: expected an error without the value, found %v", name, err)
		}
	}
	if v, _, _ := strategy(t, "unique").Merge(inEntries(value.Strings("b"))); v.IsSensitive() {
		t.Error("a merge of what is no secret is none")
	}
}

func TestErrorsNameTheCandidate(t *testing.T) {
	h := parse(t, "{a: 1}")
	for _, c := range []struct {
		strategy string
		values   []value.Value
		at       int
	}{
		{"hash", []value.Value{h, h, value.FromInt(1)}, 2},
		{"hash", []value.Value{value.FromInt(1), h}, 0},
		{"unique", []value.Value{value.FromInt(1), value.FromInt(2), h, h}, 2},
		{"{strategy: deep, sort_merged_arrays: true}", []value.Value{value.Strings("a"), parse(t, "[{}]")}, 1},
	} {
		_, _, err := strategy(t, c.strategy).Merge(inEntries(c.values...))
		var e *merge.Error
		if !errors.As(err, &e) || e.Class != merge.Mismatch || e.Candidate != c.at {
			t.Errorf("%s: expected an error of candidate %d, found %v of %v", c.strategy, c.at, err, e)
		}
	}
}

func TestMessages(t *testing.T) {
	for _, c := range []struct{ options, module, message string }{
		{"{k: {merge: {strategy: deep, unpack_arrays: ','}}}", "", "expected knockout_prefix, merge_hash_arrays or sort"},
		{"{k: {merge: {strategy: hash, knockout_prefix: '--'}}}", "", "'hash' has no option 'knockout_prefix', it has none"},
		{"{k: {merge: {strategy: deep, knockout_prefix: 1}}}", "", "must be a String, found the kind Integer"},
		{"{k: {merge: depp}}", "", "there is no merge strategy 'depp', expected first, unique, hash or deep"},
		{"{k: {merge: {knockout_prefix: '--'}}}", "", "needs the key 'strategy'"},
		{"{k: {convert_to: Intger}}", "", "convert_to of 'k': unknown type 'Intger'"},
		{"{k: {convert_to: [1]}}", "", "convert_to of 'k': expected a type, or a list of a type and arguments"},
		{"{k: [deep]}", "", "what lookup_options say of 'k' must be a Hash"},
		{"{k: {merge: deep}}", "m", "'k' in the lookup_options of the module 'm' must begin with its name: m::"},
		{"{'^k': {merge: deep}}", "m", "must begin with its name: ^m::"},
		{"{'^k[': {merge: deep}}", "", "the pattern '^k[' in lookup_options does not compile: "},
		{"{1: {merge: deep}}", "", "a key in lookup_options must be a String, found the kind Integer"},
		{"[k]", "", "lookup_options must be a Hash, found the kind Array"},
	} {
		l, err := merge.Compile(parse(t, c.options), c.module)
		if err == nil {
			err = l.Entries[0].Check()
		}
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: expected %q, found %v", c.options, c.message, err)
		}
	}
}

func TestAllThatIsWrongWithLookupOptionsIsSaid(t *testing.T) {
	_, err := merge.Compile(parse(t, "{'^(': {}, 1: {}, k: {}}"), "")
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("expected two errors, found %v", err)
	}
}

func TestLevelsTellWhichKeysTheyTouch(t *testing.T) {
	l, err := merge.Compile(parse(t, "{k: {merge: deep}, '^m::a': {merge: deep}}"), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"k": true, "k2": false, "m::a": true, "m::ab": true, "m::b": false} {
		if l.Touches(name) != want {
			t.Errorf("%s: expected %v", name, want)
		}
	}
	if e := l.Entries[1]; !e.Pattern() || e.Name != "^m::a" {
		t.Errorf("entries come in the order of the data, found %s", e.Name)
	}
}

func TestConversionsOfSecretsShowNothing(t *testing.T) {
	const canary = "correct horse"
	l, err := merge.Compile(parse(t, "{k: {convert_to: Integer}, s: {convert_to: Sensitive}}"), "")
	if err != nil {
		t.Fatal(err)
	}
	secret := value.FromString(canary).Sensitive()
	if _, err = l.Entries[0].Convert(secret, expr.Options{}); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("expected an error without the value, found %v", err)
	}
	for i, v := range []value.Value{value.FromString("7").Sensitive(), secret} {
		if v, err := l.Entries[i].Convert(v, expr.Options{}); err != nil || !v.IsSensitive() {
			t.Errorf("expected a sensitive value, found %v", err)
		}
	}
}

// FuzzMerge merges anything by any strategy. What is merged stays as it was, and the answer is the same each time.
func FuzzMerge(f *testing.F) {
	for i, c := range table(f, "merges") {
		if i%50 == 0 {
			f.Add(yamlOf(f, get(c, "merge")), yamlOf(f, get(c, "layers")))
		}
	}
	f.Fuzz(func(t *testing.T, strategy, layers string) {
		how, ok := parsed(strategy)
		v, fine := parsed(layers)
		s, err := merge.Parse(how)
		if !ok || !fine || err != nil {
			return
		}
		before := rich(v)
		once := answer(s.Merge(candidates(v)))
		if twice := answer(s.Merge(candidates(v))); twice != once || rich(v) != before {
			t.Errorf("%s of %s: %s, then %s", strategy, layers, once, twice)
		}
	})
}

func yamlOf(f *testing.F, v value.Value) string {
	b, err := yaml.Write(v)
	if err != nil {
		f.Fatal(err)
	}
	return string(b)
}

// FuzzOptions holds what is asked level by level to what the levels say when they are merged.
func FuzzOptions(f *testing.F) {
	f.Add("{a: {merge: deep}, '^b': {merge: hash}}", "{'^a': {merge: unique}, '^b': ~, a: ~}", "ab")
	f.Add("{'^a': {merge: none}}", "{a: text with merge, '^.': {convert_to: [Sensitive]}}", "a")
	f.Fuzz(func(t *testing.T, upper, lower, name string) {
		var levels []*merge.Level
		var values []value.Value
		for _, text := range []string{upper, lower} {
			v, _ := parsed(text)
			l, err := merge.Compile(v, "")
			if err != nil {
				return
			}
			levels, values = append(levels, l), append(values, v)
		}
		s := strategy(t, "hash")
		whole, _, mergeErr := s.Merge(inEntries(values...))
		options, err := merge.Combine(levels)
		if (err == nil) != (mergeErr == nil) {
			t.Fatalf("%v, merged %v", err, mergeErr)
		}
		if err != nil {
			return
		}
		l, err := merge.Compile(whole, "")
		if err != nil {
			t.Fatal(err)
		}
		one, _ := merge.Combine([]*merge.Level{l})
		if a, b := said(options.For(name)), said(one.For(name)); a != b {
			t.Errorf("%s above %s say of %q %s, merged %s", upper, lower, name, a, b)
		}
	})
}

// said is what e says, in short.
func said(e *merge.Entry) string {
	s, err := e.Strategy()
	v, convertErr := e.Convert(value.FromString("7"), expr.Options{})
	return fmt.Sprint(s, err, answer(v, true, convertErr))
}

// Eight levels, each of which has some of a service's settings.
func BenchmarkDeepMergeOfEightLevels(b *testing.B) {
	var values []value.Value
	for i := range 8 {
		values = append(values, parse(b, fmt.Sprintf(`{service: {port: %d, options: {a%[1]d: x, shared: %[1]d,
			nested: {b: %[1]d}}, users: [root, u%[1]d, admin]}, list: [a, b, c%[1]d], enabled: true}`, i)))
	}
	s, candidates := strategy(b, "deep"), inEntries(values...)
	for b.Loop() {
		if _, found, err := s.Merge(candidates); !found || err != nil {
			b.Fatal(err)
		}
	}
}
