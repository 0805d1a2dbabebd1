package snapshot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/value"
)

func TestInfoDescribesSnapshot(t *testing.T) {
	c := small()
	c.Bindings, c.Strict = 77, true
	c.Inputs = []Input{{"a.yaml", 3, 1 << 63}, {"data/größe.yaml", 1 << 40, 2}, {"z", 0, 0}}
	path := filepath.Join(t.TempDir(), "s.bsnap")
	written, err := Write(path, c)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in := s.Info()
	if in.Version != Version || in.Size != len(file) || in.Keys != 4 || in.Bindings != 77 || in.Levels != 4 ||
		!slices.Equal(in.Layers, c.Layers) || in.Digest != written.Digest || written.Size != int64(len(file)) ||
		written.Sum != s.Sum() || s.Digest() != written.Digest || !slices.Equal(s.Layers(), c.Layers) {
		t.Errorf("%+v, written %+v", in, written)
	}
	if got, want := fmt.Sprintf("%+v", in.Dimensions), fmt.Sprintf("%+v", c.Dimensions); got != want {
		t.Errorf("dimensions are %s, expected %s", got, want)
	}
	end := uint64(headerSize)
	for i, sec := range in.Sections {
		if sec.Name != section(i).String() || sec.Offset != end {
			t.Errorf("section %d is %+v, expected at %d", i, sec, end)
		}
		end = (sec.Offset + sec.Bytes + sectionAlign - 1) / sectionAlign * sectionAlign
	}
	if end != uint64(len(file)) {
		t.Errorf("%d sections end at %d of %d bytes", len(in.Sections), end, len(file))
	}
	if got, err := s.Inputs(); err != nil || !slices.Equal(got, c.Inputs) {
		t.Errorf("inputs are %v, %v", got, err)
	}
	if plain := open(t, &Content{Layers: []string{"l"}}); plain.Strict() || !s.Strict() || plain.Info().Keys != 0 {
		t.Errorf("strict are %t and %t", plain.Strict(), s.Strict())
	}
	keys := 0
	for key := range s.Keys() {
		if keys++; strings.HasPrefix(key, "\x00") {
			t.Errorf("the internal key %q is listed", key)
		}
		break
	}
	if keys != 1 {
		t.Errorf("%d keys after the first break", keys)
	}
}

// The owner and the group may read a sensitive snapshot, nobody else, whatever the umask.
func TestWriteLimitsPermissionsOfSensitiveSnapshots(t *testing.T) {
	for _, sensitive := range []bool{false, true} {
		c := small()
		c.Sensitive = sensitive
		path := filepath.Join(t.TempDir(), "s.bsnap")
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(path, c); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		want := os.FileMode(0o644)
		if sensitive {
			want = 0o640
		}
		if info.Mode().Perm() != want {
			t.Errorf("sensitive %t: the file has mode %o", sensitive, info.Mode().Perm())
		}
	}
}

// Contents beyond the limits of the format are rejected before anything is written; contents at the limits are
// accepted.
func TestWriteRejectsContentsBeyondLimits(t *testing.T) {
	key := func(name string) Key { return Key{Name: name, Default: -1} }
	for want, c := range map[string]*Content{
		"65535 layers; this site has 65536": {Layers: make([]string, math.MaxUint16+1)},
		"":                                  {Layers: make([]string, math.MaxUint16)},
		"categories and guards":             {Dimensions: make([]Dimension, math.MaxUint16+1)},
		`found "b" before "a"`:              {Keys: []Key{key("b"), key("a")}},
		`found "c" before "c"`:              {Keys: []Key{key("a"), key("c"), key("c")}},
	} {
		err := checkContent(c)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for _, c := range []struct {
		layers, dimensions, keys, values int
		want                             string
	}{
		{math.MaxUint16, math.MaxUint16, maxKeys, maxStored, ""},
		{math.MaxUint16 + 1, 0, 0, 0, "65536"},
		{0, math.MaxUint16 + 1, 0, 0, "categories and guards; this site has 65536"},
		{0, 0, maxKeys + 1, 2, "this site has 16777217 and 2"},
		{0, 0, 1, maxStored + 1, "this site has 1 and 1073741824"},
	} {
		err := checkCounts(c.layers, c.dimensions, c.keys, c.values)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	limits := map[section]uint64{secKeys: maxCells, secDicts: maxSection, secScopes: maxSection, secTables: maxSection}
	for sec := range sectionCount {
		limit := cmp.Or(limits[sec], math.MaxUint64-1)
		if err := checkSize(sec, limit); err != nil {
			t.Errorf("section %s of %d bytes: %v", sec, limit, err)
		}
		if err := checkSize(sec, limit+1); (err == nil) != (limits[sec] == 0) {
			t.Errorf("section %s of %d bytes: %v", sec, limit+1, err)
		}
	}
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, &Content{Keys: []Key{key("b"), key("a")}}); err == nil {
		t.Error("keys out of order were accepted")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a rejected content left a file: %v", err)
	}
}

func TestOpenRejectsInvalidFiles(t *testing.T) {
	dir := t.TempDir()
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte(Magic), 0o666); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(short); !errors.As(err, new(*DamageError)) {
		t.Errorf("a file with only the magic: %v", err)
	}
	if _, err := Open(empty); !errors.Is(err, ErrFormat) {
		t.Errorf("an empty file: %v", err)
	}
	var at *os.PathError
	for _, path := range []string{dir, filepath.Join(dir, "absent")} {
		if s, err := Open(path); !errors.As(err, &at) || at.Path != path || s != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestReaderDecodesNumbersAndStrings(t *testing.T) {
	for _, n := range []uint64{0, 1, 127, 128, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, 1 << 32, 1<<63 - 1,
		1 << 63, math.MaxUint64} {
		r := reader{b: string(binary.AppendUvarint(nil, n)) + "x"}
		if got := r.uvarint(); got != n || r.failed || r.b != "x" {
			t.Errorf("%d is read as %d, %t, and %q is left", n, got, r.failed, r.b)
		}
		r = reader{b: string(binary.AppendUvarint(nil, n))}
		if got := r.u32(); r.failed != (n > math.MaxUint32) || !r.failed && uint64(got) != n {
			t.Errorf("%d is read as the 32 bits %d, %t", n, got, r.failed)
		}
		r = reader{b: string(binary.AppendUvarint(nil, n))}
		if got := r.int(); r.failed != (n > math.MaxInt32) || !r.failed && uint64(got) != n || r.failed && got != 0 {
			t.Errorf("%d is read as the int %d, %t", n, got, r.failed)
		}
	}
	nines := strings.Repeat("\xff", 9)
	for _, b := range []string{"", "\x80", nines, nines + "\x02", nines + "\x80\x00"} {
		r := reader{b: b}
		if got := r.uvarint(); !r.failed || got != 0 && b != nines {
			t.Errorf("%x is read as %d, %t", b, got, r.failed)
		}
	}
	if r := (reader{}); r.byte() != 0 || !r.failed {
		t.Error("past the end there is a byte")
	}
	for _, c := range []struct {
		b     string
		bytes int
		want  uint64
		fails bool
	}{
		{"\x02abcd", 2, 2, false}, {"\x02abc", 2, 0, true}, {"\x03abcd", 2, 0, true}, {"\x00", 9, 0, false},
		{"", 1, 0, true},
	} {
		r := reader{b: c.b}
		if got := r.count(c.bytes); got != c.want || r.failed != c.fails {
			t.Errorf("%q counts %d of %d bytes, %t", c.b, got, c.bytes, r.failed)
		}
	}
	for b, want := range map[string]string{"\x02abc": "ab", "\x00abc": "", "\x03abc": "abc", "\x04abc": "", "": ""} {
		r := reader{b: b}
		if got := r.text(); got != want || r.failed != (b == "" || b[0] > 3) {
			t.Errorf("%q is the text %q, %t", b, got, r.failed)
		}
	}
	for b, want := range map[string]uint64{"\x01\x00\x00\x00\x00\x00\x00\x80": 1<<63 + 1, "1234567": 0} {
		r := reader{b: b}
		if got := r.u64(); got != want || r.failed != (len(b) < 8) {
			t.Errorf("%q is %d, %t", b, got, r.failed)
		}
	}
	for b, fails := range map[string]bool{"\x00": false, "\x03": false, "\x04": true, "\x07": true, "": true} {
		r := reader{b: b}
		if r.flags(3); r.failed != fails {
			t.Errorf("flags %q: %t", b, r.failed)
		}
	}
}

// Values up to the inline limits are stored in the reference; the next larger ones are not.
func TestSmallValuesAreInline(t *testing.T) {
	for _, c := range []struct {
		v    value.Value
		want uint32
		ok   bool
	}{
		{value.Value{}, 1 << 30, true},
		{value.FromBool(false), 1<<30 | 1<<2, true},
		{value.FromBool(true), 1<<30 | 2<<2, true},
		{value.TheDefault(), 1<<30 | 3<<2, true},
		{value.FromInt(0), 1<<30 | 1, true},
		{value.FromInt(5), 1<<30 | 5<<2 | 1, true},
		{value.FromInt(-1), 1<<31 - 3, true},
		{value.FromInt(1<<27 - 1), 1<<30 | (1<<27-1)<<2 | 1, true},
		{value.FromInt(-1 << 27), 1<<30 | 1<<29 | 1, true},
		{value.FromInt(1 << 27), 0, false},
		{value.FromInt(-1<<27 - 1), 0, false},
		{value.FromString(""), 0, false},
		{value.FromFloat(1), 0, false},
	} {
		encoded := string(value.Append(nil, c.v))
		got, ok := inlineRef(encoded)
		if got != c.want || ok != c.ok {
			t.Errorf("%v is %#x, %t; expected %#x", c.v, got, ok, c.want)
		}
		if !ok {
			continue
		}
		if back, err := (&Snapshot{}).Value(Ref(got)); err != nil || !value.Identical(back, c.v) {
			t.Errorf("%v comes back as %v, %v", c.v, back, err)
		}
	}
	if _, ok := inlineRef("\x0b"); ok {
		t.Error("an invalid value has an inline reference")
	}
}

// The cache of decoded blocks is limited, but always keeps the last block.
func TestBlockCacheEvictsOldest(t *testing.T) {
	var c blockCache
	text := strings.Repeat("b", cacheBytes/4)
	has := func(want ...uint32) {
		t.Helper()
		var got []uint32
		for n := range uint32(9) {
			if s, ok := c.get(n); ok {
				got = append(got, n)
				if len(s) == 0 {
					t.Errorf("block %d is empty", n)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the cache has %v, expected %v", got, want)
		}
	}
	has()
	for n := range uint32(4) {
		c.put(n, text)
		c.put(n, text) // as after two concurrent misses
	}
	has(0, 1, 2, 3)
	c.put(4, "x")
	has(1, 2, 3, 4)
	c.put(5, text)
	has(2, 3, 4, 5)
	c.put(6, strings.Repeat("b", cacheBytes+1))
	has(6)
	c.put(7, "y")
	has(7)
}

// The error for a dangling reference names the section that should contain the target.
func TestDanglingReferencesReportDamage(t *testing.T) {
	s := open(t, small())
	for want, ref := range map[string]Ref{
		"keys":     Ref(len(s.keys) / cellUnit),
		"recipes":  refRecipe,
		"blocktab": Ref(refBlock | s.blockValues),
	} {
		var damage *DamageError
		if v, err := s.Value(ref); !errors.As(err, &damage) || damage.Section != want || !v.IsUndef() {
			t.Errorf("%#x is %v, %v; expected damage of %s", uint32(ref), v, err, want)
		}
	}
	long := forged(t, fleet(1), func(w *writer) { w.out[secBlockTab][15] = 255 }) // makes block 0 too long
	var damage *DamageError
	if v, err := long.Value(refBlock); !errors.As(err, &damage) || damage.Section != "blocktab" || !v.IsUndef() ||
		!strings.HasPrefix(damage.Expected, "a block inside") {
		t.Errorf("a value of a block outside the file is %v, %v", v, err)
	}
	fewer := forged(t, everything(), func(w *writer) { w.blocks.values = 1 }) // but blocktab has places for two values
	if v, err := fewer.Value(refBlock | 1); !errors.As(err, &damage) || damage.Expected != "the place of value 1" {
		t.Errorf("a value more than there are is %v, %v", v, err)
	}
	nothing := open(t, &Content{Layers: []string{"l"}, Keys: []Key{{Name: "k", Default: 0}},
		Values: []Stored{{Computed: true}}})
	if text, err := nothing.Recipe(0); text != "" || err != nil {
		t.Errorf("a recipe of no bytes is %q, %v", text, err)
	}
	for n, ok := range map[int]bool{-1: false, 0: true, s.Recipes() - 1: true, s.Recipes(): false} {
		if text, err := s.Recipe(n); (err == nil) != ok || (text == "") == ok {
			t.Errorf("recipe %d of %d is %q, %v", n, s.Recipes(), text, err)
		}
	}
}

// A long key with a wrong length mark is not found, and a section that begins outside the file is rejected.
func TestInvalidLengthMarksAndSectionOffsetsReportDamage(t *testing.T) {
	for _, mark := range []byte{maxInlineKey + 1, longKey - 1} {
		s := forged(t, small(), func(w *writer) {
			for at := 0; at < len(w.records); at += keyRecord {
				if w.out[secKeys][at+recLength] == longKey {
					w.out[secKeys][at+recLength] = mark
				}
			}
		})
		absent(t, s, strings.Repeat("z", 50))
		if err := s.Verify(anyRecipe); !errors.As(err, new(*DamageError)) {
			t.Errorf("a long key marked %d: %v", mark, err)
		}
	}
	sections := open(t, small()).Info().Sections
	size := uint64(len(fileOf(t, small())))
	for i := range sections {
		for _, off := range []uint64{0, headerSize - 1, size + 1, math.MaxUint64} {
			b := fileOf(t, small())
			binary.LittleEndian.PutUint64(b[offSectionTab+sectionEntry*i:], off)
			binary.LittleEndian.PutUint64(b[offHeaderSum:], xxhash.Sum64(b[:offHeaderSum]))
			var damage *DamageError
			if _, err := OpenBytes(b); !errors.As(err, &damage) || damage.Section != "header" {
				t.Errorf("section %s at %d: %v", sections[i].Name, off, err)
			}
		}
	}
}
