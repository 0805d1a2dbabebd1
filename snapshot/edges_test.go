package snapshot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/value"
)

// A block ends once it reaches blockSize bytes. It contains nothing after its last value.
func TestBlocksEndAtTheirLimit(t *testing.T) {
	text := func(bytes int) Stored { // tag and length take three of the bytes
		s := stored(value.FromString(strings.Repeat("v", bytes-3)))[0]
		if len(s.Bytes) != bytes {
			t.Fatalf("a value is encoded in %d bytes, expected %d", len(s.Bytes), bytes)
		}
		return s
	}
	for _, c := range []struct{ values, blocks []int }{
		{[]int{blockSize}, []int{blockSize}},
		{[]int{blockSize - 1}, []int{blockSize - 1}},
		{[]int{blockSize, blockSize + 1, 600}, []int{blockSize, blockSize + 1, 600}},
		{[]int{blockSize - 1, 700, 600}, []int{blockSize - 1 + 700, 600}},
	} {
		content := &Content{Layers: []string{"l"}}
		for i, n := range c.values {
			content.Keys = append(content.Keys, Key{Name: fmt.Sprint(i), Default: i})
			content.Values = append(content.Values, text(n))
		}
		w := newWriter(content, 1)
		for i := range c.values {
			w.ref(uint32(i))
		}
		table, _ := w.blocks.finish()
		var got []int
		for i := range int(binary.LittleEndian.Uint32(table)) {
			got = append(got, int(binary.LittleEndian.Uint32(table[4+blockEntry*i+12:])))
		}
		if !slices.Equal(got, c.blocks) {
			t.Errorf("values of %v bytes are in blocks of %v, expected %v", c.values, got, c.blocks)
		}
	}
}

func TestWriteRejectsDuplicateKeysAndReturnsWriterErrors(t *testing.T) {
	twice := &Content{Keys: []Key{{Name: "a", Default: -1}, {Name: "a", Default: -1}}}
	if _, err := WriteTo(io.Discard, twice); err == nil || !strings.Contains(err.Error(), "without duplicates") {
		t.Errorf("a duplicate key: %v", err)
	}
	if err := newWriter(twice, 1).index(); err != errNoPerfectHash {
		t.Errorf("index accepts a duplicate key: %v", err)
	}
	if _, err := WriteTo(failing{}, small()); err != io.ErrShortWrite {
		t.Errorf("a failing writer: %v", err)
	}
}

func TestRefsToRecipesAndBlocksAreNotSmall(t *testing.T) {
	for ref, want := range map[Ref]bool{0: true, 5: true, refInline: true, refInline | inlineInt: true,
		refRecipe: false, refRecipe | 3: false, refBlock: false, noRef: false} {
		if ref.Small() != want {
			t.Errorf("%#x is small: %t", uint32(ref), ref.Small())
		}
	}
}

// A string that has the same fingerprint as the key, but differs in one group of eight bytes, is not found.
func TestStringsWithFingerprintOfKeyAreNotFound(t *testing.T) {
	key := strings.Repeat("k", maxInlineKey)
	s := open(t, &Content{Layers: []string{"l"}, Keys: []Key{{Name: key, Default: 0}},
		Values: stored(value.FromInt(1))})
	for _, at := range []int{0, 8, 16, 24, 32, 39} {
		same := 0
		for i := range 3000 {
			name := key[:at] + fmt.Sprintf("%08d", i) + key[min(at+8, len(key)):]
			name = name[:len(key)]
			if uint8(hashText(name, s.seed)) == s.prints[0] {
				same++
			}
			absent(t, s, name)
		}
		if same == 0 {
			t.Errorf("no text that differs from byte %d on has the print of the key", at)
		}
	}
}

// A string that is not a key is not found, even if slots and lengths in a damaged file are wrong.
func TestDamagedSlotsAndLengthsAddNoKeys(t *testing.T) {
	slot := forged(t, everything(), func(w *writer) { w.out[secPilots][8] = 9 }) // the file has nine keys, 0 to 8
	for i := range 1000 {
		absent(t, slot, fmt.Sprintf("%020d", i))
		absent(t, slot, fmt.Sprint("n", i))
	}
	length := forged(t, everything(), func(w *writer) { w.out[secKeys][recLength] = 254 }) // key 0 is array
	absent(t, length, "array")
	empty := forged(t, everything(), func(w *writer) {
		for at := 0; at < len(w.records); at += keyRecord {
			w.out[secKeys][at+recLength] = 254
		}
	})
	absent(t, empty, "")
	if got := append(empty.AllKeys(), slices.Collect(empty.Keys())...); len(got) != 0 {
		t.Errorf("keys without names are listed: %q", got)
	}
}

func TestAllKeysAreSorted(t *testing.T) {
	c := everything()
	s := open(t, c)
	var want []string
	for _, k := range c.Keys {
		want = append(want, k.Name)
	}
	slices.Sort(want)
	if got := s.AllKeys(); !slices.Equal(got, want) {
		t.Errorf("keys are %q, expected %q", got, want)
	}
	for n, key := range want {
		if number, ok := s.keyNumber(key); !ok || s.KeyName(number) != key {
			t.Errorf("key %d: %q has number %d, whose name is %q", n, key, number, s.KeyName(number))
		}
	}
}

// With more than 64 levels, several levels share a bit. A binding in one of them must not be found in another.
func TestMoreThan64LevelsShareBits(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Values: stored(value.FromString("upper"), value.FromString("other")),
		Dimensions: []Dimension{{Name: "a", Category: -1}, {Name: "b", Category: -1}}}
	var others []Entry
	for i := range 3000 { // so many keys that the filter accepts every key
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("%04d", i), Default: -1})
		if i > 0 {
			others = append(others, Entry{uint32(i), 1})
		}
	}
	for range maxColumns + 1 { // a level needs a scope to get a column
		c.Levels = append(c.Levels, Level{Dimensions: []int{0}, Scopes: []Scope{{Values: []string{"z"}}}})
	}
	c.Levels[0].Scopes = []Scope{{Values: []string{"x"}, Entries: []Entry{{0, 0}}}}
	c.Levels[maxColumns] = Level{Dimensions: []int{1}, Scopes: []Scope{{Values: []string{"y"}, Entries: others}}}
	s := open(t, c)
	sound(t, s)
	if s.words != 2 {
		t.Fatalf("masks have %d words", s.words)
	}
	depths, err := s.Depths()
	if err != nil {
		t.Fatal(err)
	}
	for n, depth := range depths { // each key is bound in one level
		if depth != 1 {
			t.Errorf("%s has at most %d candidates", s.KeyName(uint32(n)), depth)
		}
	}
	for _, r := range []struct{ a, b, first, second string }{
		{"", "y", "", "other"}, {"x", "", "upper", ""}, {"x", "y", "upper", "other"}, {"", "", "", ""},
	} {
		for i, want := range []string{r.first, r.second} {
			if v, ok := find(t, s, c.Keys[i].Name, scopes(s, r.a, r.b)); v.Text() != want || ok != (want != "") {
				t.Errorf("a %q, b %q: %s is %q, %t; expected %q", r.a, r.b, c.Keys[i].Name, v.Text(), ok, want)
			}
		}
	}
}

// If the origins of a level are missing, the origins of the level above are not used instead.
func TestMissingOriginsAreNotTakenFromAnotherLevel(t *testing.T) {
	scope := []Scope{{Entries: []Entry{{0, 0}}, Origins: []Origin{{0, 7, 1}}}}
	c := &Content{Layers: []string{"upper", "lower"}, Keys: []Key{{Name: "k", Default: -1}},
		Values: stored(value.FromInt(1)), Inputs: []Input{{Path: "a"}},
		Levels: []Level{{Scopes: scope}, {Layer: 1, Scopes: scope}}}
	s := forged(t, c, reblocked(func(blocks []coldRaw) []coldRaw { return slices.Delete(blocks, 1, 2) }))
	var lines []string
	for c, err := range s.Candidates("k", nil, scopes(s)) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Binding("k", c)
		lines = append(lines, fmt.Sprint(c.Level, " ", b.Origin.Line, " ", errors.As(err, new(*DamageError))))
	}
	if want := []string{"0 7 false", "1 0 true"}; !slices.Equal(lines, want) {
		t.Errorf("candidates are %q, expected %q", lines, want)
	}
}

// hiddenPair has a key with two hidden computed bindings, one with a condition and one without.
func hiddenPair() *Content {
	return &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
		Keys:   []Key{{Name: "k", Default: -1, Cold: []Cold{{Terms: []Term{{0, "x"}}, Value: 0}, {Value: 1}}}},
		Values: []Stored{{Computed: true, Bytes: "first"}, {Computed: true, Bytes: "second"}}}
}

// An error of the first binding is returned, although the next binding is valid.
func TestDamagedFirstBindingIsReported(t *testing.T) {
	s := forged(t, hiddenPair(), func(w *writer) { w.out[secDicts][8+4] = 255 }) // the end of value 0
	_, err := s.Bindings("k")
	damagedAs(t, "all bindings", err, "dicts", "a value of d")
	if err == nil {
		t.Error("no error")
	}
	book, err := s.AllBindings()
	if err != nil {
		t.Fatal(err)
	}
	if bs, err := book.Bindings("k"); !errors.As(err, new(*DamageError)) || bs != nil {
		t.Errorf("in a book: %v, %v", bs, err)
	}
	_, err = s.Content()
	damagedAs(t, "the content", err, "dicts", "a value of d")
	if err == nil {
		t.Error("the content has no error")
	}
}

// A string that is not a key has no bindings, and Binding reports damage.
func TestUnknownKeysHaveNoBindings(t *testing.T) {
	s := open(t, hiddenPair()) // every string hashes to the only key
	book, err := s.AllBindings()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 { // some have the fingerprint of the key
		name := fmt.Sprint("none", i)
		if bs, err := book.Bindings(name); bs != nil || err != nil {
			t.Fatalf("AllBindings: %s has %v, %v", name, bs, err)
		}
		if bs, err := s.Bindings(name); bs != nil || err != nil {
			t.Fatalf("%s has %v, %v", name, bs, err)
		}
		if b, err := s.Binding(name, Candidate{Level: -1}); !errors.As(err, new(*DamageError)) || b.Terms != nil {
			t.Fatalf("%s is bound %v, %v", name, b, err)
		}
	}
}

// The error of an unreadable condition ends the candidates.
func TestDamagedConditionsEndCandidatesWithError(t *testing.T) {
	pair := forged(t, hiddenPair(), func(w *writer) { w.out[secDicts][8+4] = 255 })
	var last error
	for _, err := range pair.Candidates("k", []uint32{0}, &Scopes{}) { // the request has value 0
		last = err
	}
	if !errors.As(last, new(*DamageError)) {
		t.Errorf("hidden candidates end with %v", last)
	}
	key, values := strings.Repeat("text", 11)+"end", []string{"n01", "Data", "linux"}
	ns := numbers(open(t, everything()), values)
	s := forged(t, everything(), func(w *writer) { w.out[secDicts][0x120] = 255 }) // damages the text "Data"
	at := &Scopes{}
	if err := s.Resolve(ns, at); err != nil {
		t.Fatal(err)
	}
	for c, err := range s.Candidates(key, ns, at) {
		if err != nil {
			t.Fatal(err)
		}
		if b, err := s.Binding(key, c); c.Level == 0 && (!errors.As(err, new(*DamageError)) || b.Terms != nil) {
			t.Errorf("a candidate of level %d: %+v, %v", c.Level, b, err)
		}
	}
}

// The header says which features a file uses and how many sections it has.
func TestHeaderListsFeaturesAndSections(t *testing.T) {
	slice := []Term{{0, "n01"}}
	hiera := []HieraPlace{{Part: HieraGlobal}} // the place of the only layer
	for _, c := range []struct {
		seal     []byte
		slice    []Term
		hiera    []HieraPlace
		arm8     bool
		features byte
		sections byte
	}{{nil, nil, nil, false, 0, 13}, {[]byte("s"), nil, nil, false, 1, 14}, {nil, slice, nil, false, 2, 13},
		{[]byte("s"), slice, nil, false, 3, 14}, {nil, nil, hiera, false, 4, 13}, {nil, nil, nil, true, 8, 13},
		{[]byte("s"), slice, hiera, true, 15, 14}} {
		content := small()
		content.Seal, content.Slice, content.Hiera, content.ARM8 = c.seal, c.slice, c.hiera, c.arm8
		b := fileOf(t, content)
		if b[offFeatures] != c.features || b[offSections] != c.sections {
			t.Errorf("features are %d and sections %d, expected %d and %d", b[offFeatures], b[offSections], c.features,
				c.sections)
		}
		s, err := OpenBytes(b)
		if err != nil {
			t.Fatal(err)
		}
		if seal, ok := s.Seal(); ok != (c.seal != nil) || seal != string(c.seal) ||
			len(s.Info().Sections) != int(c.sections) {
			t.Errorf("the seal is %q, %t", seal, ok)
		}
	}
}

// Records of one byte fill a block exactly to its limit.
func TestOriginBlocksEndAtTheirLimit(t *testing.T) {
	c := &Content{Layers: []string{"l"}}
	for i := range coldBlock + 5 {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("%05x", i), Default: -1})
	}
	s := open(t, c)
	if s.coldBlocks() != 2 || s.coldFirst(1) != coldBlock {
		t.Errorf("%d blocks, the last begins with key %d", s.coldBlocks(), s.coldFirst(s.coldBlocks()-1))
	}
}

func TestEmptyPerfectHashNeedsASlot(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}}}
	for section, forge := range map[string]func(w *writer){
		"":       func(*writer) {},
		"pilots": func(w *writer) { w.hash.slots = 0 },
		"dicts":  func(w *writer) { w.dicts[0].hash.slots = 0 },
	} {
		w := newWriter(c, 1)
		if err := cmp.Or(w.index(), w.store()); err != nil {
			t.Fatal(err)
		}
		forge(w)
		w.meta(nil)
		s, err := OpenBytes(w.file())
		damagedAs(t, "no slots", err, section, "of 0 ")
		if section == "" && (s == nil || s.ValueNumber(0, "x") != None) {
			t.Errorf("a value of a dimension without values: %v", err)
		}
	}
}

// One text needs at least one slot, and all slots must fit into the bytes.
func TestPerfectHashChecksNumberOfSlots(t *testing.T) {
	for slots, fits := range map[uint32]bool{0: false, 1: true, 2: true, 3: false} {
		p := perfect{n: 1, buckets: 1, slots: slots}
		rest, ok := p.view(strings.Repeat("\x00", 4+4))
		if ok != fits || ok && len(rest) != 4*int(2-slots) {
			t.Errorf("%d slots: %t, %d bytes are left", slots, ok, len(rest))
		}
	}
	for bytes, fits := range map[int]bool{3: false, 4: true} {
		p := perfect{n: 1, buckets: 1, slots: 1}
		if _, ok := p.view(strings.Repeat("\x00", bytes)); ok != fits {
			t.Errorf("a slot in %d bytes: %t", bytes, ok)
		}
	}
}

// An empty frame at the end of the section is inside it.
func TestFramesMustBeInsideTheirSection(t *testing.T) {
	for _, c := range []struct {
		off           uint64
		bytes, length uint32
		ok            bool
	}{{0, 8, 8, true}, {3, 5, 5 * maxExpansion, true}, {8, 0, 0, true}, {9, 0, 0, false}, {8, 1, 1, false},
		{3, 5, 5*maxExpansion + 1, false}, {8, 0, 1, false}} {
		entry := binary.LittleEndian.AppendUint64(nil, c.off)
		entry = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(entry, c.bytes), c.length)
		packed, length, ok := frameOf(string(entry), "8 bytes!")
		if ok != c.ok || ok && (len(packed) != int(c.bytes) || length != uint64(c.length)) {
			t.Errorf("%+v: %q of %d bytes, %t", c, packed, length, ok)
		}
	}
}

// With more than 64 columns, a lookup reads the exact mask of the key. Otherwise it may read a list.
func TestLookupReportsDamagedMaskOrList(t *testing.T) {
	s := forged(t, wide(), func(w *writer) { // moves the mask of every key out of bounds
		for n := range 4 {
			binary.LittleEndian.PutUint32(w.out[secKeys][keyRecord*n+recList:], uint32(len(w.out[secKeys])-14)&^1)
		}
	})
	_, found, err := s.Find("a", scopes(s, "n0", "linux"))
	damagedAs(t, "a mask out of bounds", err, "keys", "a mask inside the section")
	if found || err == nil {
		t.Errorf("a is found, %v", err)
	}
	s = forged(t, everything(), func(w *writer) { // moves the list of narrow columns out of bounds
		binary.LittleEndian.PutUint32(w.out[secKeys][6*keyRecord+recList:], 1<<20)
	})
	if _, found, err := s.Find("\x00m", scopes(s)); found || !errors.As(err, new(*DamageError)) {
		t.Errorf("a key without a list is found: %t, %v", found, err)
	}
}

// A level with as many scopes as there are columns is narrow; with one more scope it is wide.
func TestLevelIsNarrowUpToMaxColumns(t *testing.T) {
	for n, narrow := range map[int]bool{maxColumns - 1: true, maxColumns: true, maxColumns + 1: false} {
		c := fleet(n)
		c.Levels = c.Levels[1:] // the level of the nodes
		s := open(t, c)
		sound(t, s)
		if l := s.levels[0]; l.narrow != narrow || narrow && l.count != n {
			t.Errorf("a level of %d scopes has %d columns, narrow %t", n, l.count, l.narrow)
		}
	}
}

// Open must not require more than one byte for each name and number in section meta.
func TestMetaMayEndAfterOneByteParts(t *testing.T) {
	if s := open(t, &Content{Layers: make([]string, 50)}); len(s.Info().Layers) != 50 {
		t.Errorf("%d layers of 50", len(s.Info().Layers))
	}
	s, r := &Snapshot{dimensions: make([]Dimension, 2)}, &reader{b: "\x02\x00\x01"}
	if dims := s.readDims(r); r.failed || !slices.Equal(dims, []uint32{0, 1}) {
		t.Errorf("two dimensions are read as %d, %t", dims, r.failed)
	}
}

// Contributions are also in scopes, so they are not separate candidates.
func TestContributionsAreNotExtraCandidates(t *testing.T) {
	s := open(t, &Content{Layers: []string{"l"}, Values: []Stored{{Computed: true, Bytes: "hidden"}},
		Keys: []Key{{Name: "\x00m", Default: -1,
			Cold: []Cold{{Contribution: true}, {Value: 0}, {Contribution: true}}}}})
	n := 0
	for c, err := range s.Candidates("\x00m", nil, scopes(s)) {
		if n++; err != nil || c.Stored.Bytes != "hidden" {
			t.Errorf("%+v, %v", c, err)
		}
	}
	if n != 1 {
		t.Errorf("%d candidates", n)
	}
}

func TestTruncatedRecordsReportDamage(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
		Inputs: []Input{{Path: "a"}}, Keys: []Key{{Name: "\x00m", Default: -1,
			Cold: []Cold{{Contribution: true, Origin: Origin{0, 300, 1}, Terms: []Term{{0, "x"}}}}}}}
	length := 0
	forged(t, c, reblocked(func(blocks []coldRaw) []coldRaw { length = len(blocks[0].raw); return blocks }))
	for cut := 0; cut < length; cut++ {
		s := forged(t, c, reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[0].raw = blocks[0].raw[:length-cut]
			return blocks
		}))
		_, err := s.Bindings("\x00m")
		if cut == 0 && err != nil || cut > 0 && err == nil {
			t.Errorf("a record that is cut by %d bytes: %v", cut, err)
		} else if cut > 0 {
			damagedAs(t, fmt.Sprint("by ", cut), err, "origins", "bindings of keys")
		}
	}
}

// A lookup in a directory without a free slot ends, even if the scope is not in it.
func TestLookupInFullDirectoryTerminates(t *testing.T) {
	s := forged(t, everything(), func(w *writer) {
		free := w.out[secScopes][:0x40]
		for at := 0; at < 0x40; at += 0x10 {
			if binary.LittleEndian.Uint32(free[at+12:]) == 0 {
				copy(free[at:], free[:0x10])
			}
		}
	})
	key := strings.Repeat("text", 11) + "end"
	if v, ok := find(t, s, key, scopes(s, "n02", "Data", "linux")); !ok || v.Text() != strings.Repeat("v", 90) {
		t.Errorf("a request in no scope finds %v, %t", v, ok)
	}
}

// A directory has the smallest size at which it is at most three quarters full and no chain is too long.
func TestDirectoriesHaveSmallestSize(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "a", Category: -1}, {Name: "b", Category: -1}},
		Levels: []Level{{Dimensions: []int{0, 1}}}}
	for i := range 512 {
		c.Levels[0].Scopes = append(c.Levels[0].Scopes, Scope{Values: []string{fmt.Sprint(i), "x"}})
	}
	for scopes, want := range map[int]uint32{0: 1, 1: 2, 3: 4, 4: 8, 384: 512, 385: 1024, 512: 1024} {
		some := *c
		some.Levels = []Level{{Dimensions: []int{0, 1}, Scopes: c.Levels[0].Scopes[:scopes]}}
		if s := open(t, &some); s.levels[0].slots != want {
			t.Errorf("%d scopes have a directory of %d slots, expected %d", scopes, s.levels[0].slots, want)
		}
	}
	w := newWriter(c, 1)
	if err := cmp.Or(w.index(), w.store()); err != nil {
		t.Fatal(err)
	}
	if w.hashedDirectory(c.Levels[0], make([]uint32, 512), 1024) != true {
		t.Error("half full is too full")
	}
	places := make([]uint32, 512)
	for i := range places {
		places[i] = uint32(i) + 1
	}
	if w.hashedDirectory(c.Levels[0], places, 512) {
		t.Error("a chain may be as long as the directory")
	}
}

// Open reads section meta completely, even if it is longer than headBytes.
func TestOpenReadsLongMeta(t *testing.T) {
	c := &Content{Layers: []string{"l"}}
	for i := range 500 {
		c.Dimensions = append(c.Dimensions, Dimension{Name: fmt.Sprintf("dimension %d", i), Category: -1})
	}
	s := open(t, c)
	sound(t, s)
	if got := s.Dimensions(); len(got) != 500 || got[499].Name != "dimension 499" {
		t.Errorf("%d dimensions", len(got))
	}
}

// The error for an invalid value names its block or its cell.
func TestInvalidValueErrorNamesItsPlace(t *testing.T) {
	s := open(t, everything())
	for ref, want := range map[Ref]string{
		refBlock:     "section blocks, offset 0: expected a value in the block of value 0",
		refBlock | 1: "section blocks, offset 0: expected a value in the block of value 1",
		0:            "section keys, offset 0: expected a value",
		5:            "section keys, offset 10: expected a value",
	} {
		if got := s.badValue(ref).Error(); got != "snapshot damaged: "+want {
			t.Errorf("%#x: %s, expected %s", uint32(ref), got, want)
		}
	}
}

// AllRecipes stops when the caller breaks out of the loop.
func TestAllRecipesStopsWithinHiddenRecipes(t *testing.T) {
	s := open(t, hiddenPair())
	for most, want := range map[int]string{1: "first", 2: "first second", 3: "first second"} {
		var got []string
		for text := range s.AllRecipes() {
			if got = append(got, text); len(got) == most {
				break
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("at most %d recipes: %q, expected %s", most, got, want)
		}
	}
}

// The terms of a slice are read back. Invalid terms are rejected as damage.
func TestSliceTermsAreReadBack(t *testing.T) {
	c := small()
	c.Slice = []Term{{0, "n01"}, {1, "Data"}}
	s := open(t, c)
	sound(t, s)
	if !slices.Equal(s.Slice(), c.Slice) || !slices.Equal(s.Info().Slice, c.Slice) {
		t.Errorf("the slice is %v, in the information %v", s.Slice(), s.Info().Slice)
	}
	if s := open(t, small()); s.Slice() != nil {
		t.Errorf("the slice of a whole site is %v", s.Slice())
	}
	c.Slice = c.Slice[:1]
	if s := open(t, c); !slices.Equal(s.Slice(), c.Slice) {
		t.Errorf("the slice of one term is %v", s.Slice())
	}
	for _, s := range []*Snapshot{s, open(t, c)} {
		var out strings.Builder
		if err := s.Dump(&out, quotedRecipe, quoted); err != nil {
			t.Fatal(err)
		}
		lines := []string{fmt.Sprintf("slice: terms %d\n", len(s.Slice())), `  node is "n01"` + "\n",
			`  env is "Data"` + "\n"}
		for _, line := range lines[:1+len(s.Slice())] {
			if !strings.Contains(out.String(), line) {
				t.Errorf("the dump does not contain %q", line)
			}
		}
	}
	for name, behind := range map[string]string{ // changes to the bytes after the levels
		"no term": "\x00", "no number of terms": "", "a guard": "\x01\x02\x01x", "half a term": "\x01\x00",
		"a dimension that does not exist": "\x01\x03\x01x", "more terms than bytes": "\x03\x00\x01x",
		"half of the second": "\x02\x00\x01x\x01", "a byte more": "\x01\x00\x01x\x00",
	} {
		w := newWriter(c, 1)
		if err := cmp.Or(w.index(), w.store()); err != nil {
			t.Fatal(err)
		}
		levels := len(w.out[secMeta]) - len("\x01\x00\x03n01")
		w.out[secMeta] = append(w.out[secMeta][:levels], behind...)
		_, err := OpenBytes(w.file())
		damagedAs(t, name, err, "meta", "layers, dimensions and levels")
		if err == nil {
			t.Errorf("%s: the file opens", name)
		}
	}
}

// Open reports the reason and leaves nothing mapped.
func TestFailedOpenUnmapsFile(t *testing.T) {
	dir := t.TempDir()
	absent, damaged := filepath.Join(dir, "absent"), filepath.Join(dir, "damaged")
	b := fileOf(t, small())
	b[offSeed]++
	if err := os.WriteFile(damaged, b, 0o666); err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(dir, "alone")
	if err := os.WriteFile(alone, fileOf(t, small())[:headerSize], 0o666); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func(string) (*Snapshot, error){Open, OpenCopy} {
		if _, err := open(absent); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
		if _, err := open(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("a directory: %v", err)
		}
		_, err := open(damaged)
		damagedAs(t, "a header of another sum", err, "header", "the header to match its checksum")
		if err == nil {
			t.Error("a damaged header opens")
		}
		_, err = open(alone)
		damagedAs(t, "a header alone", err, "header", "the size of the file, 512 bytes")
		if err == nil {
			t.Error("a header alone opens")
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("only Linux lists the maps")
	}
	if err != nil || strings.Contains(string(maps), damaged) {
		t.Errorf("a rejected file is still mapped, or the maps are unknown: %v", err)
	}
}
