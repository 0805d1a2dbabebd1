package yaml

import (
	"math"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/internal/value"
)

// strange lists strings that have another meaning, or no valid one, when written without quotes.
var strange = []string{
	"", " ", "yes", "No", "on", "null", "~", "=", "<<", "0644", "0o644", "12:30", "12:30:45.5", "1_000", "1,000",
	"1e3", "1.0e+3",
	".inf", "-.INF", ".nan", "2001-12-14", ":sym", ":", "a: b", "a:", "a #b", "#", "- a", "-", "--", "---", "--- a",
	"...", "? a", "?",
	"[a", "{", "}", "]", ",", "&a", "*a", "!a", "!!str a", "|", ">", "%YAML 1.1", "@", "`", "'", "\"", "it's", "a\\b",
	"\\",
	" leading", "trailing ", "a\nb", "a\n", "a\n\n", "\na", "\n", " a\nb", "a\n b", "a \nb", "\ta",
	"a\tb", "a\t\nb", "a\r\nb", "\r",
	"a\n---\nb", "a\n...\nb", "a\n# b", "\x00", "\x01", "\x1b", "\x7f", "\u0085", "\u009f", "\u00a0",
	"\u00ad", "\u2028", "\u2029",
	"\ufeff", "\ufeffa", "a\ufeff", "\ufffe", "\uffff", "\U0001f600", "é", "\U0010ffff", "a\u0085b\nc", "x\n\u2028y",
	strings.Repeat("long ", 100), strings.Repeat("k", 200), strings.Repeat("a b\n", 50),
	"a\n\n\n  b\n\n", "#a\nb", "'a\nb",
}

// readsBack fails unless Parse reads the output of Write(v) as v, also when v is a key or an element.
func readsBack(t *testing.T, v value.Value) {
	t.Helper()
	at := value.FromString("at")
	for _, v := range []value.Value{
		v,
		value.FromSlice([]value.Value{v, value.FromSlice([]value.Value{v})}),
		value.FromPairs(value.Pair{Key: at, Value: v},
			value.Pair{Key: v, Value: value.FromPairs(value.Pair{Key: v, Value: v})}),
	} {
		text, err := Write(v)
		if err != nil {
			t.Fatal(err)
		}
		var diags diag.List
		doc, ok := Parse("f", text, Options{}, &diags)
		if !ok || doc.Root == nil {
			t.Fatalf("%q is written as %q: %s", value.AppendJSON(nil, v), text, summary(&diags))
		}
		want, got := string(value.AppendJSON(nil, v)), string(value.AppendJSON(nil, doc.Root.Literal()))
		if got != want || !value.Identical(doc.Root.Literal(), v) && !strings.Contains(want, "NaN") {
			t.Fatalf("%s is written as %q and read as %s", want, text, got)
		}
	}
}

func TestWrittenValueReadsBack(t *testing.T) {
	testmode.SkipUnderRace(t)
	for _, s := range strange {
		readsBack(t, value.FromString(s))
	}
	for _, span := range [][2]rune{{0, 0x300}, {0x2000, 0x2070}, {0xfff0, 0x10010}} {
		for r := span[0]; r < span[1]; r++ {
			readsBack(t, value.FromString(string(r)))
			readsBack(t, value.FromString("a\n"+string(r)+"b"))
		}
	}
	for _, n := range []int64{0, 7, 64, -1, math.MaxInt64, math.MinInt64} {
		readsBack(t, value.FromInt(n))
	}
	for _, f := range []float64{
		0, 1, -1, 0.1, 1e3, 1e15, 1e20, 1e-7, 1e300, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(),
		math.MaxFloat64,
		math.SmallestNonzeroFloat64,
	} {
		readsBack(t, value.FromFloat(f))
	}
	for _, v := range []value.Value{
		{}, value.FromBool(true), value.FromBool(false), value.FromSlice(nil), value.FromPairs(),
		value.FromSlice([]value.Value{value.FromSlice(nil), value.FromPairs()}),
	} {
		readsBack(t, v)
	}
}

func TestWriteChoosesStyleByText(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`"web"`, "web\n"},
		{`"yes"`, "\"yes\"\n"},
		{`"a b: c"`, "'a b: c'\n"},
		{`"one\ntwo\n"`, "|\n  one\n  two\n"},
		{`"\u007f"`, "\"\\x7F\"\n"},
		{`{"z": [1, {"a": 1.0, "b": []}], "a": null, "m": {}, "t": "one\ntwo"}`,
			"z:\n- 1\n- a: 1.0\n  b: []\na: null\nm: {}\nt: |-\n  one\n  two\n"},
		{`[[1, 2], []]`, "- - 1\n  - 2\n- []\n"},
	} {
		doc, ok := ParseJSON("f", []byte(c.json), Options{}, &diag.List{})
		if !ok {
			t.Fatal(c.json)
		}
		if got, err := Write(doc.Root.Literal()); err != nil || string(got) != c.want {
			t.Errorf("%s is written as\n%s%v, expected\n%s", c.json, got, err, c.want)
		}
	}
}

func FuzzWrite(f *testing.F) {
	for _, s := range strange {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { readsBack(t, value.FromString(strings.ToValidUTF8(s, "?"))) })
}
