package value_test

import (
	"errors"
	"strings"
	"testing"

	"bindc/internal/value"
)

var errCut = errors.New("the value is cut")

// peeks returns a source of the values in cells that decodes each with Peek.
func peeks(cells string) *value.Source {
	return value.NewSource("", func(n uint64) (value.Value, error) {
		v, ok := value.Peek(cells[min(value.CellUnit*n, uint64(len(cells))):])
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
		encoded := "..." + "." + string(value.Append(nil, v))
		for end := range len(encoded) + 1 {
			compareReads(t, encoded[:end], 2)
		}
	}
	for tag := range 256 { // malformed lists and unknown tags
		for _, rest := range []string{"", "\x00", "\x00\x00", "\x01", "\x01\x00", "\x01\x01", "\x02\x02\x40", "\x80\x00",
			"\x02\x80\x00", "\x7f\x00" + strings.Repeat("\x40", 126)} {
			compareReads(t, string([]byte{byte(tag)})+rest, 0)
		}
	}
}

func compareReads(t *testing.T, cells string, n uint64) {
	t.Helper()
	load := peeks(cells)
	fast := value.NewSource(cells, func(n uint64) (value.Value, error) { return load.Value(n).Read() }).Value(n)
	want, wantErr := load.Value(n).Read()
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
	for want, v := range map[value.Kind]value.Value{value.String: cells.Value(0), value.Int: cells.Value(value.Inline | 1),
		value.Undef: cells.Value(value.Inline), value.Bool: value.FromBool(true)} {
		if got := v.Sensitive().ReadKind(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
