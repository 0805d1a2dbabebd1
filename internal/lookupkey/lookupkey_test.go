package lookupkey_test

import (
	"errors"
	"math"
	"os"
	"testing"

	"bindc/diag"
	"bindc/internal/lookupkey"
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

func rich(v value.Value) string {
	b, _ := value.AppendRich(nil, v)
	return string(b)
}

func TestParseAgreesWithPuppet(t *testing.T) {
	for _, c := range table(t, "keys") {
		k, err := lookupkey.Parse(get(c, "key").Text())
		_, fails := c.Get(value.FromString("error"))
		var e *lookupkey.KeyError
		switch want := get(c, "value"); {
		case fails != (err != nil) || fails && !errors.As(err, &e):
			t.Errorf("%q: found %q %s, %v", get(c, "key").Text(), k.Root, rich(value.FromSlice(k.Path)), err)
		case fails:
		case k.Root != get(want, "root").Text() || lookupkey.Module(k.Root) != get(want, "module").Text() ||
			rich(value.FromSlice(k.Path)) != rich(get(want, "path")):
			t.Errorf("%q: expected %s, found %q %s", k.Text, rich(want), k.Root, rich(value.FromSlice(k.Path)))
		}
	}
}

func TestDigAgreesWithPuppet(t *testing.T) {
	dug := table(t, "dug")
	for _, c := range table(t, "digs") {
		in := get(dug[get(c, "in").Int()], "value")
		k, err := lookupkey.Parse(get(c, "key").Text())
		if err != nil {
			t.Fatal(err)
		}
		v, found, err := k.Dig(in)
		_, fails := c.Get(value.FromString("error"))
		want, finds := c.Get(value.FromString("value"))
		var e *lookupkey.DigError
		if fails != errors.As(err, &e) || finds != found || finds && rich(v) != rich(want) {
			t.Errorf("%s in %s: expected %s, found %s %v %v", k.Text, rich(in), rich(c), rich(v), found, err)
		}
	}
}

func TestDigInSensitiveValueIsSensitive(t *testing.T) {
	secret := value.FromPairs(value.Pair{Key: value.FromString("a"), Value: value.FromString("x")}).Sensitive()
	for text, want := range map[string]bool{"k": true, "k.a": true, "k.b": false} {
		k, err := lookupkey.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if v, found, err := k.Dig(secret); found != want || v.IsSensitive() != want || err != nil {
			t.Errorf("%s: expected %v, found %v and sensitive: %v, %v", text, want, found, v.IsSensitive(), err)
		}
	}
}

func TestParseAndDigErrorsNameTheKey(t *testing.T) {
	for text, want := range map[string]string{
		"k.a":   "'k.a' needs a Hash with the key 'a', found String",
		"k.1":   "'k.1' needs an Array with element 1 or a Hash with that key, found String",
		"k..a":  "'k..a' is not a valid key: there is nothing between two dots, before the first dot or after the last one",
		"k.a'b": "'k.a'b' is not a valid key: quotes must enclose everything between two dots, and must not be empty",
		"k.'a":  "'k.'a' is not a valid key: a quote is not closed",
		"1.a":   "'1.a' is not a valid key: it must not begin with a number; put the number in quotes",
	} {
		k, err := lookupkey.Parse(text)
		if err == nil {
			_, _, err = k.Dig(value.FromString("text"))
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: expected %s, found %v", text, want, err)
		}
	}
}

func TestReservedMatchesLookupOptionsAndPathsIntoIt(t *testing.T) {
	for text, want := range map[string]bool{"lookup_options": true, "lookup_options.a": true, "'lookup_options'": false,
		"lookup_options2": false} {
		if lookupkey.Reserved(text) != want {
			t.Errorf("%s: expected %v", text, want)
		}
	}
}

func TestParseReadsBackQuotedAndJoinedKeys(t *testing.T) {
	for root, want := range map[string]string{"a": "a", "a::b": "a::b", "": "", "a.b": `"a.b"`, `a"b`: `'a"b'`,
		"it's": `"it's"`, `a'b"c`: "none"} {
		got, ok := lookupkey.Quoted(root)
		if !ok {
			got += "none"
		}
		if got != want {
			t.Errorf("%q is written %s, expected %s", root, got, want)
		}
	}
	for segments, want := range map[string]string{"[a]": "a", "[a, b c]": "a.b c", "[a, 0]": "a.0", "[a, '0']": "a.'0'",
		"['0']": "0", "[a, -12]": "a.-12", "[a, 'x1']": "a.x1", "[' a ', b]": "' a '.b", "[a, '', b]": "a. .b",
		"[a.b, c]": "'a.b'.c", `[a, it's]`: `a."it's"`, `[a, 'x"y']`: `a.'x"y'`, `["a\0", b]`: "'a\x00'.b"} {
		list := parse(t, segments)
		got := lookupkey.Join(list)
		read, err := lookupkey.Split(got)
		if got != want || err != nil || rich(value.FromSlice(read)) != rich(value.FromSlice(list)) {
			t.Errorf("%s are written %q, expected %q; that is read as %s, %v", segments, got, want,
				rich(value.FromSlice(read)), err)
		}
	}
}

// As in Ruby's to_i, only the first line counts. Numbers beyond 64 bits become the nearest int64.
func TestParsesNumericSegmentsLikeRuby(t *testing.T) {
	for text, want := range map[string]int64{"k.7": 7, "k.+7": 7, "k.-7": -7, "k. 7 ": 7, "k.:7": 0, "k.x\n7": 0,
		"k.7\nx": 7, "k.--7\n7": 0, "k.7x\n7": 7, "k.9223372036854775807": math.MaxInt64,
		"k.9223372036854775808": math.MaxInt64, "k.-9223372036854775808": math.MinInt64,
		"k.-9223372036854775809": math.MinInt64} {
		k, err := lookupkey.Parse(text)
		if err != nil || len(k.Path) != 1 || k.Path[0].Kind() != value.Int || k.Path[0].Int() != want {
			t.Errorf("%q is %s, expected %d (%v)", text, rich(value.FromSlice(k.Path)), want, err)
		}
	}
}

// Dig reads an unreadable value only to look inside it, and never reports the error as a missing entry.
func TestDigReportsUnreadableValue(t *testing.T) {
	load := func(uint64) (value.Value, error) { return value.FromInt(1), errors.New("no key") }
	sealed := value.NewSource("", load).Value(0)
	if _, found, err := lookupkey.Dig("k", nil, sealed); !found || err != nil {
		t.Errorf("found %v, %v, expected the value as it is", found, err)
	}
	v, found, err := lookupkey.Dig("k.a", []value.Value{value.FromString("a")}, sealed)
	if !v.IsUndef() || found || err == nil || err.Error() != "no key" {
		t.Errorf("found %v %v, expected the error, which is %v", rich(v), found, err)
	}
	inner := value.FromPairs(value.Pair{Key: value.FromString("a"), Value: value.FromString("x").Sensitive()})
	_, _, err = lookupkey.Dig("k.a.b", []value.Value{value.FromString("a"), value.FromString("b")}, inner)
	want := "'k.a.b' needs a Hash with the key 'b', found something sensitive"
	if err == nil || err.Error() != want {
		t.Errorf("found %v, expected %s", err, want)
	}
}

func parse(t *testing.T, text string) []value.Value {
	t.Helper()
	var diags diag.List
	doc, ok := yaml.Parse("text", []byte(text), yaml.Options{}, &diags)
	if !ok {
		t.Fatal(text, diags.Sorted())
	}
	return doc.Root.Literal().Slice()
}

// FuzzKey checks that no text makes Parse or Dig panic, and that Parse reads back what Quoted returns.
func FuzzKey(f *testing.F) {
	for _, c := range table(f, "keys") {
		f.Add(get(c, "key").Text())
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := lookupkey.Parse(text)
		if err == nil && len(k.Path) > 0 {
			if _, _, err := k.Dig(value.FromSlice(k.Path)); err != nil && k.Path[0].Kind() == value.Int {
				var e *lookupkey.DigError
				if !errors.As(err, &e) {
					t.Errorf("%q: %v", text, err)
				}
			}
		}
		written, ok := lookupkey.Quoted(text)
		if !ok {
			return
		}
		if k, err := lookupkey.Parse(written); err != nil || k.Root != text || len(k.Path) > 0 {
			t.Errorf("%q was written %q: found %q, %v", text, written, k.Root, err)
		}
	})
}
