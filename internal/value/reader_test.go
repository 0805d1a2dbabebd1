package value_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"bindc/internal/value"
)

var errCut = errors.New("the value is cut")

// peeks returns a source of the values in cells that decodes each with Peek.
func peeks(cells string) *value.Source {
	return value.NewSource("", func(n uint64) (value.Value, error) {
		v, ok := value.Peek(cells[min(value.Position(n), uint64(len(cells))):])
		if !ok {
			return v, errCut
		}
		return v, nil
	})
}

// Reading from the cells must not differ from decoding, for values of all kinds, whole and cut at every byte.
func TestSourceReadsCellsAsPeekDoes(t *testing.T) {
	values := []value.Value{entries(), value.Strings(strings.Split(strings.Repeat("a,", 200), ",")...),
		value.FromString(strings.Repeat("x", 127)), value.FromString(strings.Repeat("x", 128)),
		value.Strings(strings.Repeat("x", 123)), value.Strings(strings.Repeat("x", 126)), value.FromPairs()}
	for k, e := range entries().Pairs() {
		values = append(values, k, e, value.FromPairs(value.Pair{Key: k, Value: e}))
	}
	for _, v := range values {
		for _, before := range []string{"...", "...."} {
			encoded := before + string(value.Append(nil, v))
			for end := range len(encoded) + 1 {
				compareReads(t, encoded[:end], uint64(len(before)))
			}
		}
	}
	for tag := range 256 { // malformed lists and unknown tags
		for _, rest := range []string{"", "\x00", "\x00\x00", "\x01", "\x01\x00", "\x01\x01", "\x02\x02\x40", "\x80\x00",
			"\x02\x80\x00", "\x7f\x00" + strings.Repeat("\x40", 126)} {
			compareReads(t, string([]byte{byte(tag)})+rest, 0)
		}
	}
}

func compareReads(t *testing.T, cells string, at uint64) {
	t.Helper()
	load := peeks(cells)
	fast := value.NewSource(cells, func(n uint64) (value.Value, error) { return load.Value(n).Read() }).At(at)
	want, wantErr := load.At(at).Read()
	got, err := fast.Read()
	if !errors.Is(err, wantErr) || err == nil && !value.Same(got, want) {
		t.Fatalf("%.40q: read %s, %v, want %s, %v", cells, value.Describe(got), err, value.Describe(want), wantErr)
	}
	wantKind := want.Kind()
	if wantErr != nil {
		wantKind = value.Invalid
	}
	if kind := fast.ReadKind(); kind != wantKind {
		t.Fatalf("%.40q: kind %s, want %s", cells, kind, wantKind)
	}
	if text, ok := fast.ReadText(); ok && (wantKind != value.String || text != want.Text()) {
		t.Fatalf("%.40q: text %q, want %s", cells, text, value.Describe(want))
	}
	before := "before"
	out, ok := fast.AppendCell([]byte(before))
	if !ok && string(out) != before {
		t.Fatalf("%.40q: appended %s although AppendCell did not read the value", cells, out)
	}
	rich, special := value.AppendRich([]byte(before), want)
	if ok && (wantErr != nil || special || !value.Sound(want) || string(out) != string(rich)) {
		t.Fatalf("%.40q: appended %s, want %s", cells, out, rich)
	}
}

func TestAppendCellAppendsPlainValuesOfASource(t *testing.T) {
	list := value.FromSlice([]value.Value{{}, value.FromBool(true), value.FromBool(false), value.FromInt(63),
		value.FromInt(-64), value.FromInt(math.MinInt64), value.FromString(""), value.FromString("b c"),
		value.FromPairs(), value.FromSlice(nil)})
	plain := value.FromPairs(value.Pair{Key: value.FromString("a"), Value: list},
		value.Pair{Key: value.FromString("b"), Value: value.FromInt(7)})
	of := func(v value.Value) value.Value {
		return value.NewSource(string(value.Append(nil, v)), nil).Value(0)
	}
	want := `{"a":[null,true,false,63,-64,-9223372036854775808,"","b c",{},[]],"b":7}`
	if out, ok := of(plain).AppendCell(nil); !ok || string(out) != want {
		t.Errorf("appended %s, %t, want %s", out, ok, want)
	}
	for what, v := range map[string]value.Value{"a float": value.FromFloat(1), "a quote": value.FromString(`"`),
		"another key":     value.FromPairs(value.Pair{Key: value.FromInt(1)}),
		"the key __ptype": value.FromPairs(value.Pair{Key: value.FromString("__ptype")}),
		"a long string":   value.FromString(strings.Repeat("x", 128)), "a regular expression": value.FromRegexp("a")} {
		if out, ok := of(v).AppendCell(nil); ok {
			t.Errorf("%s: appended %s", what, out)
		}
		if out, ok := of(value.FromSlice([]value.Value{v})).AppendCell(nil); ok {
			t.Errorf("%s in an array: appended %s", what, out)
		}
	}
	for what, v := range map[string]value.Value{"a built value": plain, "a sensitive value": of(plain).Sensitive(),
		"undef": {}, "an inline value": value.NewSource("@", nil).Value(value.Inline | 1)} {
		if out, ok := v.AppendCell(nil); ok {
			t.Errorf("%s: appended %s", what, out)
		}
	}
}

func TestReadTextReadsOnlyShortStringsOfASource(t *testing.T) {
	at := value.NewSource("\x82ab.\x41.\x07\x01a", nil)
	if text, ok := at.Value(0).ReadText(); !ok || text != "ab" {
		t.Errorf("read %q, %t", text, ok)
	}
	for what, v := range map[string]value.Value{"an integer": at.Value(2), "a regular expression": at.Value(3),
		"a value outside": at.Value(9), "a built string": value.FromString("a"), "undef": {},
		"a sensitive string": at.Value(0).Sensitive()} {
		if text, ok := v.ReadText(); ok {
			t.Errorf("%s: read %q", what, text)
		}
	}
}

func TestKindOfASensitiveValueIsItsOwn(t *testing.T) {
	cells := value.NewSource("\x82ab", nil)
	for want, v := range map[value.Kind]value.Value{
		value.String: cells.Value(0), value.Int: cells.Value(value.Inline | 1),
		value.Undef: cells.Value(value.Inline), value.Bool: value.FromBool(true)} {
		if got := v.Sensitive().ReadKind(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
