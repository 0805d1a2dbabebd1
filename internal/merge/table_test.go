package merge_test

import (
	"errors"
	"os"
	"testing"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/merge"
	"bindc/internal/testmode"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// table reads a table of results that Puppet produced (testdata/merges/generate.rb).
func table(t testing.TB, name string) []value.Value {
	t.Helper()
	b, err := os.ReadFile("../../testdata/merges/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var diags diag.List
	doc, ok := yaml.Parse(name, b, yaml.Options{}, &diags)
	if !ok {
		t.Fatal(name, " is not YAML")
	}
	return doc.Root.Literal().Slice()
}

func get(v value.Value, key string) value.Value {
	e, _ := v.Get(value.FromString(key))
	return e
}

// rich prints v so that the order of keys and the difference between integers and floats are visible.
func rich(v value.Value) string {
	b, _ := value.AppendRich(nil, v)
	return string(b)
}

// resultText prints a result as the tables do. Only a *merge.MergeError has a class.
func resultText(v value.Value, found bool, err error) string {
	var e *merge.MergeError
	switch {
	case errors.As(err, &e):
		return `error "` + string(e.Class) + `"`
	case err != nil:
		return "error " + err.Error()
	case !found:
		return "missing"
	}
	return rich(v)
}

// expectedText prints the expected result of a case.
func expectedText(c value.Value) string {
	if v, ok := c.Get(value.FromString("value")); ok {
		return rich(v)
	}
	if v, ok := c.Get(value.FromString("error")); ok {
		return "error " + rich(v)
	}
	return "missing"
}

// candidates converts layers to candidates. A layer is a list of entries, and an entry is a list of paths. A path is
// [v] if it has the value v.
func candidates(layers value.Value) (out []merge.Candidate) {
	for l, layer := range layers.Slice() {
		for e, entry := range layer.Slice() {
			for path := range entry.Elems() {
				out = append(out, merge.Candidate{Layer: l, Entry: e,
					OnlyPath: entry.Len() == 1, OnlyEntry: layer.Len() == 1,
					Value: func() (value.Value, bool, error) { return path.Index(0), path.Len() > 0, nil }})
			}
		}
	}
	return out
}

func TestMergeAgreesWithPuppet(t *testing.T) {
	testmode.SkipUnderRace(t)
	for _, c := range table(t, "merges") {
		s, err := merge.Parse(get(c, "merge"))
		if err != nil {
			t.Errorf("%s: %v", rich(get(c, "merge")), err)
			continue
		}
		layers, do := get(c, "layers"), s.Merge
		if get(c, "defaults").Bool() {
			layers, do = value.FromSlice(layers.Slice()[:1]), s.MergeDefaults
		}
		before := rich(layers)
		want, got := expectedText(c), resultText(do(candidates(layers)))
		if want == `error "merge"` && got == `error "options"` {
			got = want // Puppet only checks these options when it merges
		}
		if got != want {
			t.Errorf("%s of %s: expected %s, found %s", rich(get(c, "merge")), before, want, got)
		}
		if rich(layers) != before {
			t.Errorf("%s: the values themselves became %s", before, rich(layers))
		}
	}
}

func TestParseStrategyAgreesWithPuppet(t *testing.T) {
	for _, c := range table(t, "strategies") {
		s, err := merge.Parse(get(c, "merge"))
		want, got := expectedText(c), resultText(value.FromString(s.String()), true, err)
		if s.String() == "unconstrained_deep" && want == `"deep"` {
			continue // without options, both strategies have the same effect
		}
		if got != want {
			t.Errorf("%s: expected %s, found %s", rich(get(c, "merge")), want, got)
		}
	}
}

func TestLookupOptionsAgreeWithPuppet(t *testing.T) {
	for _, c := range table(t, "options") {
		levels := rich(get(c, "layers"))
		options, err := combined(get(c, "layers"))
		if want, ok := c.Get(value.FromString("error")); ok || err != nil {
			if got := resultText(value.Value{}, true, err); got != "error "+rich(want) {
				t.Errorf("%s: expected the error %s, found %s", levels, rich(want), got)
			}
			continue
		}
		for name, want := range get(c, "value").Pairs() {
			e, err := options.For(name.Text(), nil)
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.Strategy()
			strategy := resultText(value.FromString(s.String()), true, err)
			if got, want := strategy, expectedText(get(want, "merge")); got != want {
				t.Errorf("%s: the merge of %s: expected %s, found %s", levels, name.Text(), want, got)
			}
			if got, want := conversion(e), expectedText(get(want, "convert_to")); got != want {
				t.Errorf("%s: the conversion of %s: expected %s, found %s", levels, name.Text(), want, got)
			}
		}
	}
}

// combined returns the lookup_options of the layers. The last layer is a module.
func combined(all value.Value) (merge.Options, error) {
	var layers [][]*merge.Level
	for i, values := range all.Slice() {
		var levels []*merge.Level
		for v := range values.Elems() {
			l, err := merge.Compile(v, []string{"", "", "m"}[i])
			if err != nil {
				return merge.Options{}, err
			}
			levels = append(levels, l)
		}
		layers = append(layers, levels)
	}
	return merge.Combine(layers...)
}

// conversion shows the conversion of e by its result for the text 7.
func conversion(e *merge.Entry) string {
	v, err := e.Convert(value.FromString("7"), expr.Options{})
	switch {
	case err != nil && e.Name != "" && errorSays(err, "type"):
		return `"convert_to"`
	case err != nil:
		return resultText(v, true, &merge.MergeError{Class: merge.Malform})
	case v.IsSensitive():
		return `"Sensitive"`
	case v.Kind() == value.Int:
		return `"Integer"`
	case v.Text() == "7":
		return "null"
	}
	return "the text became " + rich(v)
}

func errorSays(err error, text string) bool {
	var e *merge.MergeError
	return errors.As(err, &e) && e.Class == merge.Convert
}

func TestConvertAgreesWithPuppet(t *testing.T) {
	for _, c := range table(t, "conversions") {
		to, of := get(c, "convert_to"), get(c, "of")
		l, err := merge.Compile(value.FromPairs(value.Pair{Key: value.FromString("k"),
			Value: value.FromPairs(value.Pair{Key: value.FromString("convert_to"), Value: to})}), "")
		if err != nil {
			t.Fatal(err)
		}
		v, err := l.Entries[0].Convert(of, expr.Options{})
		if got, want := resultText(shown(t, v), true, err), expectedText(c); got != want {
			t.Errorf("%s of %s: expected %s, found %s (%v)", rich(to), rich(of), want, got, err)
		}
	}
}

// shown returns v as the table shows it.
func shown(t *testing.T, v value.Value) value.Value {
	as := func(name string, v value.Value) value.Value {
		return value.FromPairs(value.Pair{Key: value.FromString(name), Value: v})
	}
	switch {
	case v.IsSensitive():
		inner, err := v.Read()
		if err != nil {
			t.Fatal(err)
		}
		return as("sensitive", inner)
	case v.Kind() == value.Regexp:
		return as("text", value.FromString(v.Text()))
	case v.Kind() == value.Type:
		return as("text", value.FromString(v.Ref().String()))
	}
	return v
}

// convert_to returns a rich value as the text that Puppet prints for it (testdata/merges/generate_rich.rb).
func TestRichConvertAgreesWithPuppet(t *testing.T) {
	cases := table(t, "rich")
	if len(cases) < 120 {
		t.Fatalf("expected at least 120 cases, found %d", len(cases))
	}
	for _, c := range cases {
		to, of := get(c, "convert_to"), get(c, "of")
		e := compiled(t, "{k: {convert_to: "+rich(to)+"}}").Entries[0]
		v, err := e.Convert(of, expr.Options{})
		if got, want := resultText(v, true, err), expectedText(c); got != want {
			t.Errorf("%s of %s: expected %s, found %s (%v)", rich(to), rich(of), want, got, err)
		}
	}
}
