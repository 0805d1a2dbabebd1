package merge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/merge"
	"bindc/internal/testmode"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// parse parses a value in YAML.
func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, ok := parsed(text)
	if !ok {
		t.Fatalf("%s is not YAML", text)
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

// inEntries returns candidates in separate entries.
func inEntries(values ...value.Value) (out []merge.Candidate) {
	for i, v := range values {
		out = append(out, merge.Candidate{Entry: i, OnlyPath: true,
			Value: func() (value.Value, bool, error) { return v, true, nil }})
	}
	return out
}

var errAsked = errors.New("this candidate must not be read")

func TestFirstStopsAtFirstValue(t *testing.T) {
	all := append(inEntries(value.FromInt(1)), merge.Candidate{Entry: 1, Value: func() (value.Value, bool, error) {
		return value.Value{}, false, errAsked
	}})
	if got := resultText(strategy(t, "first").Merge(all)); got != "1" {
		t.Errorf("expected 1, found %s", got)
	}
	declines := merge.Candidate{Value: func() (value.Value, bool, error) { return value.Value{}, false, nil }}
	if got := resultText(strategy(t, "first").Merge(append([]merge.Candidate{declines}, all...))); got != "1" {
		t.Errorf("expected the first that is found, found %s", got)
	}
}

// fails returns a candidate whose Value returns found and an error.
func fails(found bool) merge.Candidate {
	return merge.Candidate{Entry: 9, Value: func() (value.Value, bool, error) { return value.Value{}, found, errAsked }}
}

func TestMergeReportsUnreadableCandidate(t *testing.T) {
	unread := value.NewSource("", func(uint64) (value.Value, error) { return value.Value{}, errAsked })
	for _, name := range []string{"first", "unique", "hash", "deep"} {
		for _, all := range [][]merge.Candidate{
			{fails(false)}, {fails(true)}, append(inEntries(parse(t, "{a: 1}")), fails(true)),
			inEntries(unread.Value(1)),
		} {
			if name == "first" && (len(all) > 1 || all[0].Entry == 0) {
				continue // first does not read the second candidate, and returns deferred values unread
			}
			if _, found, err := strategy(t, name).Merge(all); found || !errors.Is(err, errAsked) {
				t.Errorf("%s: expected the error of a candidate, found %v, %v", name, found, err)
			}
		}
	}
}

func TestMergeReadsDeferredValues(t *testing.T) {
	source := value.NewSource("", func(n uint64) (value.Value, error) {
		return parse(t, []string{"{a: [1]}", "{a: [2], b: 3}"}[n]), nil
	})
	for name, want := range map[string]string{"first": "{a: [1]}", "hash": "{a: [1], b: 3}",
		"deep": "{a: [2, 1], b: 3}"} {
		v, _, err := strategy(t, name).Merge(inEntries(source.Value(0), source.Value(1)))
		if err == nil {
			v, err = v.Read()
		}
		if got := resultText(v, true, err); got != rich(parse(t, want)) {
			t.Errorf("%s: expected %s, found %s", name, want, got)
		}
	}
}

// Data contains no regexps, but the arguments of lookup() may.
func TestRegexpsAreNotStrategiesOrKnockOuts(t *testing.T) {
	text, regexp := value.FromString, value.FromRegexp
	for _, v := range []value.Value{
		regexp("deep"),
		value.FromPairs(value.Pair{Key: text("strategy"), Value: regexp("deep")}),
		value.FromPairs(value.Pair{Key: text("strategy"), Value: text("deep")},
			value.Pair{Key: regexp("strategy"), Value: text("deep")}),
		value.FromPairs(value.Pair{Key: text("strategy"), Value: text("deep")},
			value.Pair{Key: regexp("sort_merged_arrays"), Value: value.FromBool(true)}),
	} {
		if s, err := merge.Parse(v); err == nil {
			t.Errorf("%s is not a merge, but was parsed as %s", rich(v), s)
		}
	}
	s := strategy(t, "{strategy: deep, knockout_prefix: '--'}")
	for _, c := range []struct{ high, low, want []value.Value }{
		{[]value.Value{regexp("--")}, value.Strings("b").Slice(), []value.Value{text("b"), regexp("--")}},
		{[]value.Value{regexp("--b")}, value.Strings("b").Slice(), []value.Value{text("b"), regexp("--b")}},
		{value.Strings("--b").Slice(), []value.Value{regexp("b")}, []value.Value{regexp("b")}},
	} {
		got := resultText(s.Merge(inEntries(value.FromSlice(c.high), value.FromSlice(c.low))))
		if want := rich(value.FromSlice(c.want)); got != want {
			t.Errorf("expected %s, found %s", want, got)
		}
	}
}

func TestFirstAndKnocksDescribeStrategy(t *testing.T) {
	for name, takesFirst := range map[string]bool{"~": true, "first": true, "default": true, "unique": false,
		"hash": false, "deep": false, "reverse_deep": false} {
		if s := strategy(t, name); s.First() != takesFirst || s.Knocks() {
			t.Errorf("%s: found %v, %v", name, s.First(), s.Knocks())
		}
	}
	s := strategy(t, "{strategy: deep, knockout_prefix: '--'}")
	if !s.Knocks() {
		t.Error("Knocks is false for a strategy with a knockout_prefix")
	}
	for text, item := range map[string]string{"--a": "a", "a": "", "--": "", "a--b": ""} {
		if got := s.KnocksOut(text); got != item {
			t.Errorf("%s: expected %q, found %q", text, item, got)
		}
	}
}

func TestCheckRejectsValuesThatStrategyCannotMerge(t *testing.T) {
	const canary = "correct horse"
	secret := value.FromString(canary).Sensitive()
	for _, c := range []struct {
		strategy string
		v        value.Value
		message  string
	}{
		{"hash", parse(t, "{a: {1: 2}}"),
			"strategy 'hash' needs Hashes of Data with Strings as keys, and this has a key of the kind Integer: " +
				"write the key in quotes"},
		{"hash", parse(t, "{a: [{true: 2}]}"), "and this has a key of the kind Boolean: write the key in quotes"},
		{"hash", parse(t, "[{1: 2}]"), "and this is of the kind Array"},
		{"unique", parse(t, "[a, {b: {1.5: c}}]"), "and this has a key of the kind Float: write the key in quotes"},
		{"unique", parse(t, "{1: 2}"), "and this is of the kind Hash"},
		{"hash", value.FromInt(1), "and this is of the kind Integer"},
		{"unique", parse(t, "{}"), "strategy 'unique' needs scalars and Arrays of Data, and this is of the kind Hash"},
		{"unique", secret, "and this is sensitive, or something in it is"},
		{"unique", value.FromSlice([]value.Value{secret}), "and this is sensitive, or something in it is"},
		{"unique", value.FromInt(1), ""},
		{"hash", parse(t, "{a: 1}"), ""},
		{"deep", secret, ""},
	} {
		err := strategy(t, c.strategy).Check(c.v)
		var e *merge.MergeError
		switch {
		case c.message == "" && err == nil:
		case !errors.As(err, &e) || !strings.HasSuffix(e.Message, c.message) || e.Candidate != 0:
			t.Errorf("%s: expected %q, found %v", c.strategy, c.message, err)
		case strings.Contains(e.Message, canary):
			t.Errorf("%s shows a sensitive value", e.Message)
		}
	}
}

func TestMergeOfSensitiveValuesIsSensitiveOrFails(t *testing.T) {
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
		t.Error("a merge of plain values is sensitive")
	}
}

func TestMergeErrorHasNumberOfCandidate(t *testing.T) {
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
		var e *merge.MergeError
		if !errors.As(err, &e) || e.Class != merge.Mismatch || e.Candidate != c.at {
			t.Errorf("%s: expected an error of candidate %d, found %v of %v", c.strategy, c.at, err, e)
		}
	}
}

func TestErrorMessagesOfLookupOptions(t *testing.T) {
	for _, c := range []struct{ options, module, message string }{
		{"{k: {merge: {strategy: deep, unpack_arrays: ','}}}", "",
			"expected knockout_prefix, merge_hash_arrays or sort"},
		{"{k: {merge: {strategy: hash, knockout_prefix: '--'}}}", "",
			"'hash' has no option 'knockout_prefix', it has none"},
		{"{k: {merge: {strategy: deep, knockout_prefix: 1}}}", "", "must be a String, found a value of type Integer"},
		{"{k: {merge: {strategy: unconstrained_deep, unpack_arrays: 1}}}", "",
			"must be a String, found a value of type Integer"},
		{"{k: {merge: {strategy: unconstrained_deep, 1: x}}}", "",
			"no option of the kind Integer, its options are non-empty Strings"},
		{"{k: {merge: {strategy: deep, knockout: '--'}}}", "", "expected knockout_prefix, merge_hash_arrays or sort"},
		{"{k: {merge: 1}}", "", "unknown merge strategy of the kind Integer, expected first"},
		{"{k: {merge: depp}}", "", "unknown merge strategy 'depp', expected first, unique, hash or deep"},
		{"{k: {merge: {knockout_prefix: '--'}}}", "", "needs the key 'strategy'"},
		{"{k: {convert_to: Intger}}", "", "convert_to of 'k': unknown type 'Intger'"},
		{"{k: {convert_to: [1]}}", "", "convert_to of 'k': expected a type, or a list of a type and arguments"},
		{"{k: [deep]}", "", "the lookup_options of 'k' must be a Hash"},
		{"{k: {merge: deep}}", "m", "'k' in the lookup_options of the module 'm' must begin with its name: m::"},
		{"{'^k': {merge: deep}}", "m", "must begin with its name: ^m::"},
		{"{'^k[': {merge: deep}}", "", "the pattern '^k[' in lookup_options does not compile: "},
		{"{1: {merge: deep}}", "", "a key in lookup_options must be a String, found a value of type Integer"},
		{"[k]", "", "lookup_options must be a Hash, found a value of type Array"},
	} {
		l, err := merge.Compile(parse(t, c.options), c.module)
		if err == nil {
			err = l.Entries[0].Check()
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: expected one error, found %v", c.options, err)
		}
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: expected %q, found %v", c.options, c.message, err)
		}
	}
}

func TestCompileReportsAllErrors(t *testing.T) {
	_, err := merge.Compile(parse(t, "{'^(': {}, 1: {}, k: {}}"), "")
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("expected two errors, found %v", err)
	}
	var e *merge.MergeError
	if !errors.As(err, &e) || e.Entry != "^(" {
		t.Errorf("expected an error of the entry '^(', found %v", e)
	}
	l, err := merge.Compile(parse(t, "{k: {merge: depp, convert_to: Intger}, l: [deep]}"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err = l.Entries[0].Check(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("expected the errors of merge and of convert_to, found %v", err)
	}
	if _, err = l.Entries[1].Strategy(); err == nil || !strings.Contains(err.Error(), "must be a Hash") {
		t.Errorf("expected an error for a list, found %v", err)
	}
}

// Absent distinguishes types that only Puppet supports from invalid types.
func TestErrorMarksTypesThatOnlyPuppetSupports(t *testing.T) {
	for to, want := range map[string]bool{"SemVerRange": true, "'Array[SemVer]'": true, "'SemVer[x]'": true,
		"[Timestamp, '%F', current]": true, "[Timespan, '%1001H']": true, "[Timespan, ['%H', '%00H']]": true,
		"Intger": false, "File": false} {
		var e *merge.MergeError
		err := compiled(t, "{k: {convert_to: "+to+"}}").Entries[0].Check()
		if !errors.As(err, &e) || e.Absent != want {
			t.Errorf("%s: the error is %v, want one that is absent: %v", to, err, want)
		}
	}
}

func TestConvertToAcceptsRichTypes(t *testing.T) {
	for _, to := range []string{"Timestamp", "'Optional[URI]'", "[Timestamp, '%F', CET]", "[Timespan, '%1000H']",
		"[Timespan, ['%0H', '%']]", "[SemVer, 1, 2]"} {
		if err := compiled(t, "{k: {convert_to: "+to+"}}").Entries[0].Check(); err != nil {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// The error for a value that only Puppet can convert says that the conversion is not supported.
func TestConvertReportsValuesThatOnlyPuppetConverts(t *testing.T) {
	for to, of := range map[string]string{"Timestamp": "2024-01-01 current", "URI": "{scheme: http, host: a}",
		"[Timestamp, '%Y']": "'9999999999'"} {
		_, err := compiled(t, "{k: {convert_to: "+to+"}}").Entries[0].Convert(parse(t, of), expr.Options{})
		if err == nil || !strings.Contains(err.Error(), "is not supported here") {
			t.Errorf("%s of %s: expected an error that says it is not supported here, found %v", to, of, err)
		}
	}
}

// Puppet discards the options collected so far if the lookup_options of a module are null.
func TestNullModuleOptionsEraseEnvironmentOptions(t *testing.T) {
	site := []*merge.Level{compiled(t, "{'m::a': {merge: deep}}")}
	null, err := merge.Compile(value.Value{}, "m")
	if err != nil {
		t.Fatal(err)
	}
	options, err := merge.Combine(site, []*merge.Level{null})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := options.For("m::a", nil); e != nil || err != nil {
		t.Errorf("found %v, %v", e, err)
	}
	if !null.Erases() || site[0].Erases() || compiled(t, "~").Erases() {
		t.Error("Erases is not true for exactly the null options of a module")
	}
}

func compiled(t *testing.T, text string) *merge.Level {
	t.Helper()
	l, err := merge.Compile(parse(t, text), "")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A pattern is not a key: it does not match its own source. Go's regexp does not support the lookahead.
func TestTouchesAndForFindKeysAndPatterns(t *testing.T) {
	l := compiled(t, "{k: {merge: deep}, '^m::a': {merge: hash}, '^s(?!x)': {merge: unique}}")
	options, err := merge.Combine([]*merge.Level{l})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"k": "k", "k2": "", "m::a": "^m::a", "m::ab": "^m::a", "m::b": "",
		"^m::a": "", "s": "^s(?!x)", "sa": "^s(?!x)", "sx": "", "^s(?!x)": ""} {
		if touches, err := l.Touches(name, nil); touches != (want != "") || err != nil {
			t.Errorf("%s: expected %q, %v", name, want, err)
		}
		if e, err := options.For(name, nil); err != nil || nameOf(e) != want {
			t.Errorf("%s: expected the entry %q, found %v, %v", name, want, e, err)
		}
	}
	for i, name := range []string{"k", "^m::a"} {
		if e := l.Entries[i]; e.Name != name || e.Pattern() != (i == 1) {
			t.Errorf("entries come in the order of the data, found %s", e.Name)
		}
	}
	if got := rich(l.Entries[1].Value()); got != `{"merge":"hash"}` {
		t.Errorf("expected the source of the entry, found %s", got)
	}
}

// Plain backtracking would take 2⁶⁰ steps for these patterns.
func TestAmbiguousPatternMatchesInFewSteps(t *testing.T) {
	l := compiled(t, `{'^(?=(a+)+$)': {merge: deep}, '^(?!z)(?:(?:a|aa)+[bd]|a+c$)': {merge: unique}}`)
	for _, c := range []struct{ end, want string }{
		{"", "^(?=(a+)+$)"}, {"c", "^(?!z)(?:(?:a|aa)+[bd]|a+c$)"}, {"e", ""},
	} {
		options, err := merge.Combine([]*merge.Level{l})
		if err != nil {
			t.Fatal(err)
		}
		left := 10_000
		e, err := options.For(strings.Repeat("a", 60)+c.end, &left)
		if name := nameOf(e); name != c.want || err != nil || left <= 0 {
			t.Errorf("60 a's and %q: %q, %v, with %d steps left, expected %q", c.end, name, err, left, c.want)
		}
	}
}

func nameOf(e *merge.Entry) string {
	if e == nil {
		return ""
	}
	return e.Name
}

// A backreference prevents the matcher from remembering states that failed. If matching takes too many steps, the
// result is an error and never a guess.
func TestReportsPatternThatTakesTooManySteps(t *testing.T) {
	l := compiled(t, `{'^(a?)(?:(?:a|aa)+[bd]|a+c$)\1': {merge: deep, convert_to: Sensitive}}`)
	key := strings.Repeat("a", 60)
	var wrong *merge.MergeError
	if _, err := l.Touches(key, nil); !errors.As(err, &wrong) || wrong.Entry != l.Entries[0].Name ||
		!strings.Contains(err.Error(), "takes too many steps") {
		t.Errorf("expected an error that names the pattern, found %v", err)
	}
	if !l.Secret(key, nil) || !l.UsedPatterns([]string{key}, nil)[l.Entries[0]] {
		t.Error("an undecided pattern must count as secret and used")
	}
	if ok, err := l.Touches("aaab", nil); !ok || err != nil {
		t.Errorf("a key that matches early: %t, %v", ok, err)
	}
}

// A pattern that begins with literal text is only tried on keys with that text. A thousand patterns then cost a key
// hardly more than one.
func TestPatternIndexLimitsComparisons(t *testing.T) {
	var b strings.Builder
	b.WriteString("{'^.*::last$': {merge: hash}")
	const modules = 1000
	for i := range modules {
		fmt.Fprintf(&b, ", '^m%d::(a|b)': {merge: deep}, '^m%d::b?c': {merge: first}", i, i)
	}
	options, err := merge.Combine([]*merge.Level{compiled(t, b.String()+"}")})
	if err != nil {
		t.Fatal(err)
	}
	const enough = 1_000_000
	left := enough
	for i := range modules {
		m := fmt.Sprintf("m%d::", i)
		for key, want := range map[string]string{"a": "^" + m + "(a|b)", "bc": "^" + m + "(a|b)", "c": "^" + m + "b?c",
			"last": "^.*::last$", "d": "", "x\n" + m + "a": "^" + m + "(a|b)"} {
			if strings.Contains(key, "\n") && i > 0 {
				continue // ^ may match a later line, so no pattern can be skipped for this key
			}
			if e, err := options.For(m+key, &left); nameOf(e) != want || err != nil {
				t.Fatalf("%q: %q, %v, expected %q", m+key, nameOf(e), err, want)
			}
		}
	}
	if spent := enough - left; spent > 6*modules*10 {
		t.Errorf("%d keys take %d steps", 5*modules, spent)
	}
}

func TestSecretFindsConversionsToSensitive(t *testing.T) {
	l := compiled(t, `{k: {convert_to: Sensitive}, '^m': {convert_to: 'Sensitive[String]'}, n: {convert_to: Integer},
		p: {merge: deep}}`)
	for name, want := range map[string]bool{"k": true, "m": true, "m::a": true, "n": false, "p": false, "q": false} {
		if l.Secret(name, nil) != want {
			t.Errorf("%s: expected %v", name, want)
		}
	}
}

func TestPlainReturnsFirstValueUnchanged(t *testing.T) {
	if e := (*merge.Entry)(nil); !e.Plain() {
		t.Error("Plain is false for a nil entry")
	}
	for options, want := range map[string]bool{"{}": true, "~": true, "{merge: first}": true, "{merge: ~, x: 1}": true,
		"{merge: deep}": false, "{merge: depp}": false, "[deep]": false, "{convert_to: Integer}": false,
		"{convert_to: Intger}": false, "{convert_to: Sensitive, merge: first}": false} {
		if compiled(t, "{k: "+options+"}").Entries[0].Plain() != want {
			t.Errorf("%s: expected %v", options, want)
		}
	}
}

func TestSoundRejectsLevelsThatMakeLookupsFail(t *testing.T) {
	for options, want := range map[string]bool{"{}": true, "{k: {merge: deep}, '^k': {convert_to: Intger}}": true,
		"~": false, "{k: {x: {1: 2}}}": false, "{a: {merge: deep}, k: {merge: depp}}": false, "{k: [deep]}": false} {
		if compiled(t, options).Sound() != want {
			t.Errorf("%s: expected %v", options, want)
		}
	}
}

func TestErrorMessagesOfConversions(t *testing.T) {
	load := func(uint64) (value.Value, error) { return value.Value{}, errors.New("a broken file") }
	broken := value.NewSource("", load)
	for _, c := range []struct {
		to      string
		v       value.Value
		message string
	}{
		{"Integer", value.FromString("x"), "convert_to of 'k' to Integer: "},
		{"Integer", value.FromString("x").Sensitive(),
			"convert_to of 'k' to Integer: the sensitive value cannot be"},
		{"'Sensitive[Integer]'", value.FromString("x"),
			"convert_to of 'k' to Sensitive[Integer]: the value is of type String"},
		{"[Sensitive, 1]", value.FromString("x"), "convert_to of 'k' to Sensitive: the type Sensitive takes no arguments"},
		{"Sensitive", broken.Value(1), "convert_to of 'k' to Sensitive: a broken file"},
		{"Integer", broken.Value(1), "convert_to of 'k' to Integer: a broken file"},
	} {
		_, err := compiled(t, "{k: {convert_to: "+c.to+"}}").Entries[0].Convert(c.v, expr.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.message) {
			t.Errorf("%s: expected %q, found %v", c.to, c.message, err)
		}
		if c.to == "Integer" && c.v.Text() == "x" && strings.Contains(err.Error(), "sensitive") {
			t.Errorf("a plain value is reported as sensitive: %v", err)
		}
	}
}

func TestConversionErrorHidesSensitiveValue(t *testing.T) {
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

// FuzzMerge checks that merging arbitrary values does not modify them and always has the same result.
func FuzzMerge(f *testing.F) {
	testmode.SkipUnderRace(f)
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
		once := resultText(s.Merge(candidates(v)))
		if twice := resultText(s.Merge(candidates(v))); twice != once || rich(v) != before {
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

// FuzzOptions checks that Combine and For give the same options as a merge of the raw values of the levels.
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
		e, err := options.For(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := one.For(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := summary(e), summary(other); a != b {
			t.Errorf("%s above %s: the options of %q are %s, of the merged values %s", upper, lower, name, a, b)
		}
	})
}

// summary shows the effect of e: its strategy, and its conversion of a string.
func summary(e *merge.Entry) string {
	s, err := e.Strategy()
	v, convertErr := e.Convert(value.FromString("7"), expr.Options{})
	return fmt.Sprint(s, err, resultText(v, true, convertErr))
}

// Each of the eight levels sets some of the settings of one service.
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
