package snapshot

import (
	"bytes"
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

// Blocks are ended from blockSize bytes on, and no byte is in them but those of values.
func TestBlocksAreEndedWhereTheyAreFull(t *testing.T) {
	text := func(bytes int) Stored { // encoded, as long as that: three bytes say what it is and its length
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

// What cannot be written is an error, of the content or of what is written to.
func TestWritingThatFails(t *testing.T) {
	twice := &Content{Keys: []Key{{Name: "a", Default: -1}, {Name: "a", Default: -1}}}
	if _, err := WriteTo(io.Discard, twice); err == nil || !strings.Contains(err.Error(), "keys in order") {
		t.Errorf("a key twice: %v", err)
	}
	if err := newWriter(twice, 1).index(); err != errNoPerfectHash {
		t.Errorf("a key twice is in an index: %v", err)
	}
	if _, err := WriteTo(failing{}, small()); err != io.ErrShortWrite {
		t.Errorf("what is written to fails: %v", err)
	}
}

// Which references a lookup answers without decoding.
func TestSmallReferences(t *testing.T) {
	for ref, want := range map[Ref]bool{0: true, 5: true, refInline: true, refInline | inlineInt: true,
		refRecipe: false, refRecipe | 3: false, refBlock: false, noRef: false} {
		if ref.Small() != want {
			t.Errorf("%#x is small: %t", uint32(ref), ref.Small())
		}
	}
}

// A text whose print is that of the key is told from it by each stretch of eight bytes alone.
func TestEachStretchOfAKeyCounts(t *testing.T) {
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

// What is no key is absent, whatever a damaged file says of slots and lengths.
func TestNoTextIsAKeyByDamage(t *testing.T) {
	slot := forged(t, everything(), func(w *writer) { w.out[secPilots][8] = 9 }) // of nine keys
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

// With more than 64 levels several share a bit: what one of them binds is not found in another.
func TestLevelsThatShareABit(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Values: stored(value.FromString("upper"), value.FromString("other")),
		Dimensions: []Dimension{{Name: "a", Category: -1}, {Name: "b", Category: -1}}}
	var others []Entry
	for i := range 3000 { // so many that the request's tables may have any key
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("%04d", i), Default: -1})
		if i > 0 {
			others = append(others, Entry{uint32(i), 1})
		}
	}
	for range maxColumns + 1 { // each has a scope: empty ones would have no column
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

// A candidate of a level whose origins are missing is not told those of the level above.
func TestOriginsOfAnotherLevelAreNoOrigins(t *testing.T) {
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

// hiddenPair binds a key by a hidden binding with a condition and one without, both computed.
func hiddenPair() *Content {
	return &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
		Keys:   []Key{{Name: "k", Default: -1, Cold: []Cold{{Terms: []Term{{0, "x"}}, Value: 0}, {Value: 1}}}},
		Values: []Stored{{Computed: true, Bytes: "first"}, {Computed: true, Bytes: "second"}}}
}

// The first of several bindings that fails is the one that is told.
func TestADamagedBindingIsNotForgottenForTheNext(t *testing.T) {
	s := forged(t, hiddenPair(), func(w *writer) { w.out[secDicts][8+4] = 255 }) // the end of value 0
	_, err := s.Bindings("k")
	damagedAs(t, "all bindings", err, "dicts", "a value of d")
	if err == nil {
		t.Error("no error")
	}
	book, err := s.Book()
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

// What is no key has no bindings, and no candidate of it can be told of.
func TestBindingsOfWhatIsNoKey(t *testing.T) {
	s := open(t, hiddenPair()) // every text leads to the only key
	book, err := s.Book()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 { // some have the print of the key
		name := fmt.Sprint("none", i)
		if bs, err := book.Bindings(name); bs != nil || err != nil {
			t.Fatalf("in a book %s has %v, %v", name, bs, err)
		}
		if bs, err := s.Bindings(name); bs != nil || err != nil {
			t.Fatalf("%s has %v, %v", name, bs, err)
		}
		if b, err := s.Binding(name, Candidate{Level: -1}); !errors.As(err, new(*DamageError)) || b.Terms != nil {
			t.Fatalf("%s is bound %v, %v", name, b, err)
		}
	}
}

// A condition that cannot be read is damage of the candidate that has it.
func TestCandidatesOfDamagedConditions(t *testing.T) {
	pair := forged(t, hiddenPair(), func(w *writer) { w.out[secDicts][8+4] = 255 })
	var last error
	for _, err := range pair.Candidates("k", []uint32{0}, &Scopes{}) { // a request of value 0
		last = err
	}
	if !errors.As(last, new(*DamageError)) {
		t.Errorf("hidden candidates end with %v", last)
	}
	key, values := strings.Repeat("text", 11)+"end", []string{"n01", "Data", "linux"}
	ns := numbers(open(t, everything()), values)
	s := forged(t, everything(), func(w *writer) { w.out[secDicts][0x120] = 255 }) // Data
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

// What the header says of a file: which features it uses, and how many sections it has.
func TestFeaturesOfFiles(t *testing.T) {
	slice := []Term{{0, "n01"}}
	hiera := []HieraPlace{{Part: HieraGlobal}} // of the only layer
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
		s, err := openBytes(b)
		if err != nil {
			t.Fatal(err)
		}
		if seal, ok := s.Seal(); ok != (c.seal != nil) || seal != string(c.seal) ||
			len(s.Info().Sections) != int(c.sections) {
			t.Errorf("the seal is %q, %t", seal, ok)
		}
	}
}

// Records of a byte fill a block to the byte.
func TestBlocksOfOriginsAreEndedWhereTheyAreFull(t *testing.T) {
	c := &Content{Layers: []string{"l"}}
	for i := range coldBlock + 5 {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("%05x", i), Default: -1})
	}
	s := open(t, c)
	if s.coldBlocks() != 2 || s.coldFirst(1) != coldBlock {
		t.Errorf("%d blocks, the second of which begins with key %d", s.coldBlocks(), s.coldFirst(s.coldBlocks()-1))
	}
}

// A perfect hash has slots, also of no text.
func TestPerfectHashesOfNothing(t *testing.T) {
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
		s, err := openBytes(w.file())
		damagedAs(t, "no slots", err, section, "of 0 ")
		if section == "" && (s == nil || s.ValueNumber(0, "x") != None) {
			t.Errorf("a value of a dimension without values: %v", err)
		}
	}
}

// There may be as many slots as texts, and no more than there are bytes for.
func TestPerfectHashesOfOneText(t *testing.T) {
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

// A frame is inside its section, also one of nothing at its end.
func TestWhereFramesAre(t *testing.T) {
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

// Of more than 64 columns, a lookup reads the exact mask of a key.
func TestALookupOfADamagedMask(t *testing.T) {
	s := forged(t, wide(), func(w *writer) { // of every key
		for n := range 4 {
			binary.LittleEndian.PutUint32(w.out[secKeys][keyRecord*n+recList:], uint32(len(w.out[secKeys])-14)&^1)
		}
	})
	_, found, err := s.Find("a", scopes(s, "n0", "linux"))
	damagedAs(t, "a mask outside", err, "keys", "a mask inside the section")
	if found || err == nil {
		t.Errorf("a is found, %v", err)
	}
	s = forged(t, everything(), func(w *writer) { // of narrow columns, a list
		binary.LittleEndian.PutUint32(w.out[secKeys][6*keyRecord+recList:], 1<<20)
	})
	if _, found, err := s.Find("\x00m", scopes(s)); found || !errors.As(err, new(*DamageError)) {
		t.Errorf("what is in no list is found: %t, %v", found, err)
	}
}

// One level may have all the columns there are.
func TestALevelOfAllColumns(t *testing.T) {
	for n, narrow := range map[int]bool{maxColumns - 1: true, maxColumns: true, maxColumns + 1: false} {
		c := fleet(n)
		c.Levels = c.Levels[1:] // that of the nodes
		s := open(t, c)
		sound(t, s)
		if l := s.levels[0]; l.narrow != narrow || narrow && l.count != n {
			t.Errorf("a level of %d scopes has %d columns, narrow %t", n, l.count, l.narrow)
		}
	}
}

// Names and numbers of section meta take a byte each where they are short, and nothing need be behind them.
func TestShortPartsOfMeta(t *testing.T) {
	if s := open(t, &Content{Layers: make([]string, 50)}); len(s.Info().Layers) != 50 {
		t.Errorf("%d layers of 50", len(s.Info().Layers))
	}
	s, r := &Snapshot{dimensions: make([]Dimension, 2)}, &reader{b: "\x02\x00\x01"}
	if dims := s.readDims(r); r.failed || !slices.Equal(dims, []uint32{0, 1}) {
		t.Errorf("two dimensions are read as %d, %t", dims, r.failed)
	}
}

// What is contributed is in scopes as well, and so no candidate beside those.
func TestContributionsAreNoCandidates(t *testing.T) {
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

// A record that is cut short is damage, wherever it is cut.
func TestRecordsThatAreCutShort(t *testing.T) {
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

// A directory in which no slot is free has the scopes that it has, and no other.
func TestADirectoryWithoutAFreeSlot(t *testing.T) {
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

// A directory is the least that is filled to three quarters at most, and no chain in it is too long.
func TestDirectoriesAreSmall(t *testing.T) {
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

// Section meta may be longer than what is read of a file at first.
func TestManyDimensions(t *testing.T) {
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

// Where a value is none: in its block, or in its cell.
func TestWhereAValueIsNone(t *testing.T) {
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

// What is shown of a text is all of it up to a length, and then no half of a character.
func TestTextsThatAreShownInPart(t *testing.T) {
	all := strings.Repeat("x", maxText)
	for text, want := range map[string]string{all: all, all + "y": all + "..", all[1:] + "ü": all[1:] + ".."} {
		if got := cut(text); got != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}

// Many dimensions of one long value are refused by what their texts take.
func TestVerifyRefusesDictionariesThatOverlap(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
		Levels: []Level{{Dimensions: []int{0}, Scopes: []Scope{{Values: []string{strings.Repeat("v", 10_000)}}}}}}
	of := func(c Content, copies int) *Snapshot {
		return forged(t, &c, func(w *writer) {
			levels := bytes.Clone(w.out[secMeta][len(w.out[secMeta])-8*len(c.Levels):]) // numbers of a byte each
			for range copies {
				w.c.Dimensions, w.dicts = append(w.c.Dimensions, w.c.Dimensions[0]), append(w.dicts, w.dicts[0])
			}
			w.meta(levels)
		})
	}
	refuses(t, "many dictionaries that overlap", of(*c, 100), "dicts", "things that do not overlap")
	refuses(t, "two dictionaries that overlap", of(*c, 1), "dicts", "things that do not overlap")
	c.Levels = nil
	refuses(t, "dictionaries of no value that overlap", of(*c, 3), "dicts", "things that do not overlap")
}

// Who has seen enough recipes of hidden bindings is shown no more.
func TestHiddenRecipesEnd(t *testing.T) {
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

// Verify tells of the recipe that is none, where it is.
func TestVerifyTellsWhichRecipeIsNone(t *testing.T) {
	s := open(t, everything())
	for text, at := range map[string]int{"sealed recipe": 0, "recipe": 13, "contributions": 19} {
		err := s.Verify(func(encoded string) (bool, error) {
			if encoded == text {
				return false, errors.New("none")
			}
			return anyRecipe(encoded)
		})
		want := fmt.Sprintf("snapshot damaged: section recipes, offset %d: expected a recipe: none", at)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
	hidden := open(t, hiddenPair())
	err := hidden.Verify(func(string) (bool, error) { return false, errors.New("none") })
	damagedAs(t, "a hidden recipe that is none", err, "origins", "bindings of keys, in order")
	if err == nil {
		t.Error("a hidden recipe that is none is taken")
	}
}

// What the requests are that a slice is for comes back; what no writer makes is damage.
func TestSlicesOfASite(t *testing.T) {
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
				t.Errorf("the dump does not say %q", line)
			}
		}
	}
	for name, behind := range map[string]string{ // the levels
		"no term": "\x00", "no number of terms": "", "a guard": "\x01\x02\x01x", "half a term": "\x01\x00",
		"a dimension there is not": "\x01\x03\x01x", "more terms than bytes": "\x03\x00\x01x",
		"half of the second": "\x02\x00\x01x\x01", "a byte more": "\x01\x00\x01x\x00",
	} {
		w := newWriter(c, 1)
		if err := cmp.Or(w.index(), w.store()); err != nil {
			t.Fatal(err)
		}
		levels := len(w.out[secMeta]) - len("\x01\x00\x03n01")
		w.out[secMeta] = append(w.out[secMeta][:levels], behind...)
		_, err := openBytes(w.file())
		damagedAs(t, name, err, "meta", "layers, dimensions and levels")
		if err == nil {
			t.Errorf("%s: the file opens", name)
		}
	}
}

// Of what cannot be opened the reason is told, and nothing of it stays mapped.
func TestWhatCannotBeOpened(t *testing.T) {
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
			t.Errorf("what is absent: %v", err)
		}
		if _, err := open(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("a directory: %v", err)
		}
		_, err := open(damaged)
		damagedAs(t, "a header of another sum", err, "header", "the checksum of the header")
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
		t.Skip("only Linux says what is mapped")
	}
	if err != nil || strings.Contains(string(maps), damaged) {
		t.Errorf("what was refused is mapped still, or unknown: %v", err)
	}
}

// A hidden binding beside others can be effective with those of other conditions, and not with those of other values.
func TestHowManyHiddenBindingsCanMeet(t *testing.T) {
	of := func(layer, above uint32, terms ...coldTerm) *coldBinding {
		return &coldBinding{layer: layer, above: above, terms: terms}
	}
	for name, c := range map[string]struct {
		bindings []*coldBinding
		want     int
	}{
		"one":                          {[]*coldBinding{of(0, 0)}, 1},
		"of two layers":                {[]*coldBinding{of(0, 3), of(1, 3)}, 2},
		"of two layers, far apart":     {[]*coldBinding{of(0, 3), of(256, 3), of(1<<16, 3), of(1<<24, 3)}, 4},
		"below other levels":           {[]*coldBinding{of(0, 3), of(0, 4), of(0, 3+256)}, 3},
		"two under one condition":      {[]*coldBinding{of(0, 3, coldTerm{0, 7}), of(0, 3, coldTerm{0, 7})}, 2},
		"of two values":                {[]*coldBinding{of(0, 3, coldTerm{0, 7}), of(0, 3, coldTerm{0, 8})}, 1},
		"of two dimensions":            {[]*coldBinding{of(0, 3, coldTerm{0, 7}), of(0, 3, coldTerm{1, 7})}, 2},
		"of values that are far apart": {[]*coldBinding{of(0, 3, coldTerm{0, 1}), of(0, 3, coldTerm{0, 257})}, 1},
		"three values, one of them twice": {[]*coldBinding{of(0, 3, coldTerm{0, 1}), of(0, 3, coldTerm{0, 2}),
			of(0, 3, coldTerm{0, 2}), of(0, 3, coldTerm{0, 3}), of(0, 3, coldTerm{0, 3})}, 2},
		"one twice, then another three times": {[]*coldBinding{of(0, 3, coldTerm{0, 1}), of(0, 3, coldTerm{0, 1}),
			of(0, 3, coldTerm{0, 2}), of(0, 3, coldTerm{0, 2}), of(0, 3, coldTerm{0, 2})}, 3},
	} {
		var h hiddenDepth
		got := 0
		for _, b := range c.bindings {
			got += h.add(b)
		}
		if got != c.want {
			t.Errorf("%s: %d can meet, expected %d", name, got, c.want)
		}
	}
}

// Depths counts what the site of everything can have at most: a default, a level that binds the key, a hidden binding.
func TestDepthsOfKeys(t *testing.T) {
	s := open(t, everything())
	depths, err := s.Depths()
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int{"": 1, "\x00m": 1, "a": 5, "array": 2, "encrypted": 1, "large": 2,
		"larger": 1, strings.Repeat("long", 12): 2, strings.Repeat("text", 11) + "end": 2} {
		n, ok := s.keyNumber(key)
		if !ok || depths[n] != want {
			t.Errorf("%q has at most %d candidates, expected %d", key, depths[n], want)
		}
	}
}

// Of hidden bindings under values of one dimension a request meets one; a column of origins is of 32 bits.
func TestHiddenBindingsUnderOneDimension(t *testing.T) {
	c := hiddenPair()
	c.Keys[0].Cold[1].Terms = []Term{{0, "y"}}
	s := open(t, c)
	if depths, err := s.Depths(); err != nil || depths[0] != 1 {
		t.Errorf("depths are %v, %v", depths, err)
	}
	for same, fails := range map[uint64]bool{1 << 32: false, 1<<32 + 1: true} {
		r, column := reader{b: string(binary.AppendUvarint(nil, same))}, originColumn{}
		if r.column(&column, 1); r.failed != fails {
			t.Errorf("a column of %d: %t", same-1, r.failed)
		}
	}
}

// A survey ends with the first error, be it of the file or of who asks.
func TestSurveysEnd(t *testing.T) {
	all, stop := 0, errors.New("enough")
	s := open(t, everything())
	if err := s.Survey(func(Bound) error { all++; return nil }); err != nil {
		t.Fatal(err)
	}
	if want := 8 + 6 + 3 + 2; all != want { // defaults, in narrow columns, in tables, hidden
		t.Errorf("%d bindings, expected %d", all, want)
	}
	for most := 1; most <= all; most++ {
		n := 0
		err := s.Survey(func(Bound) error {
			if n++; n == most {
				return stop
			}
			return nil
		})
		if err != stop || n != most {
			t.Errorf("stopped at %d: %d bindings, %v", most, n, err)
		}
	}
}

// keyBlocks is a site whose keys have so many hidden bindings that their records take three blocks.
func keyBlocks() *Content {
	c := &Content{Layers: []string{"l"}, Values: stored(value.FromString(strings.Repeat("hidden", 20)))}
	for i := range 3 * coldBlock / 128 {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("%05d", i), Default: -1, Cold: []Cold{{Value: 0}}})
	}
	return c
}

// What a survey and what counts candidates say of forged files, byte by byte where.
func TestSurveysOfForgedFiles(t *testing.T) {
	survey := func(s *Snapshot) error { return s.Survey(func(Bound) error { return nil }) }
	depths := func(s *Snapshot) error { _, err := s.Depths(); return err }
	recipes := func(s *Snapshot) (last error) {
		for _, last = range s.AllRecipes() {
		}
		return last
	}
	book := func(s *Snapshot) error { _, err := s.Book(); return err }
	content := func(s *Snapshot) error { _, err := s.Content(); return err }
	verify := func(s *Snapshot) error { return s.Verify(anyRecipe) }
	bindings := func(key string) func(s *Snapshot) error {
		return func(s *Snapshot) error { _, err := s.Bindings(key); return err }
	}
	le := binary.LittleEndian
	overlap := func(w *writer) { // the second block of keys begins a byte before the end of the first
		le.PutUint64(w.out[secOriginTab][coldEntry:], uint64(le.Uint32(w.out[secOriginTab][8:]))-1)
	}
	badFrame := func(block int) func(w *writer) {
		return func(w *writer) { w.out[secOrigins][le.Uint64(w.out[secOriginTab][coldEntry*block:])]++ }
	}
	oneTable := func(w *writer) { // all scopes have the table of three keys
		for at := 0xc8; at < 0x150; at += 4 {
			w.out[secScopes][at] = 5
		}
	}
	outside := func(w *writer) {
		for n := range w.c.Keys {
			le.PutUint32(w.out[secKeys][keyRecord*n+recList:], 1<<20)
		}
	}
	for _, c := range []struct {
		name    string
		content *Content
		forge   func(w *writer)
		ask     func(s *Snapshot) error
		want    string
	}{
		{"nothing is forged", keyBlocks(), func(*writer) {}, survey, ""},
		{"nothing is forged", keyBlocks(), func(*writer) {}, depths, ""},
		{"nothing is forged", everything(), func(*writer) {}, recipes, ""},
		{"blocks that overlap", keyBlocks(), overlap, survey,
			"section origins, offset %d: expected a block behind the one before"},
		{"blocks that overlap", keyBlocks(), overlap, depths,
			"section origins, offset %d: expected a block behind the one before"},
		{"a block of keys that is no frame", keyBlocks(), badFrame(1), survey,
			"section origins, offset %d: expected a zstd frame"},
		{"a block of keys that is no frame", keyBlocks(), badFrame(1), depths,
			"section origins, offset %d: expected a zstd frame"},
		{"a block of keys that is no frame", everything(), badFrame(4), recipes,
			"section origins, offset 116: expected a zstd frame"},
		{"a block outside", everything(), func(w *writer) { w.out[secOriginTab][4*coldEntry+4] = 1 }, survey,
			"section origintab, offset 96: expected a block inside section origins"},
		{"a table outside", everything(), func(w *writer) { w.out[secScopes][0x118] = 0x27 }, survey,
			"section tables, offset 152: expected a table"},
		{"scopes of one table", everything(), oneTable, survey,
			"section tables, offset 16: expected a table of its own for each scope"},
		{"a few scopes of one table", everything(), sevenScopes, survey,
			"section tables, offset 16: expected a table of its own for each scope"},
		{"a table of a key there is not", everything(), func(w *writer) { w.out[secTables][0x18] = 9 }, survey,
			"section tables, offset 0: expected numbers of keys"},
		{"a table of a key there is not", everything(), func(w *writer) { w.out[secTables][0x18] = 9 }, book,
			"section tables, offset 16: expected numbers of keys"},
		{"a list outside", everything(), outside, survey, "section keys, offset 140: expected a list inside the section"},
		{"a mask outside", wide(), outside, survey, ""}, // of a site without narrow columns
		{"a mask outside", wide(), outside, depths, "section keys, offset 12: expected a mask inside the section"},
		{"a mask outside", wide(), outside, verify, "section keys, offset 12: expected a mask inside the section"},
		{"a mask outside", wide(), outside, bindings("a"), "section keys, offset 76: expected a mask inside the section"},
		{"a mask that is not the exact one", wide(), func(w *writer) { w.out[secKeys][keyRecord+recMask] ^= 4 }, verify,
			"section keys, offset 64: expected a mask of 70 columns"},
		{"a table of a value there is not", everything(), func(w *writer) { w.out[secTables][0x24] = 2 }, verify,
			"section tables, offset 16: expected one of 2 values in blocks"},
		{"a table of a key there is not", everything(), func(w *writer) { w.out[secTables][0x18] = 9 }, verify,
			"section tables, offset 16: expected ascending numbers of 9 keys"},
		{"a table of a key that its column does not bind", everything(),
			func(w *writer) { w.out[secTables][0x14] = 1 }, verify,
			"section tables, offset 16: expected keys that column 35 binds"},
		{"scopes of one table", everything(), oneTable, verify,
			"section tables, offset 16: expected things that do not overlap"},
		{"a default that is a recipe there is not", everything(),
			func(w *writer) { w.out[secKeys][3*keyRecord+recDefault] = 3 }, verify,
			"section keys, offset 200: expected one of 3 recipes"},
		{"a key of no valid length", everything(),
			func(w *writer) { w.out[secKeys][keyRecord+recLength] = 254 }, content,
			"section keys, offset 64: expected the name of a key"},
		{"a scope of a value there is not", everything(), func(w *writer) { w.out[secScopes][0x34] = 9 }, verify,
			"section scopes, offset 48: expected one of 1 values of path"},
		{"blocks of keys before those of scopes", everything(), reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[3], blocks[4] = blocks[4], blocks[3]
			return blocks
		}), verify, "section origins, offset 151: expected a block behind the one before"},
		{"a block of the second level before that of the first", everything(),
			reblocked(func(blocks []coldRaw) []coldRaw {
				blocks[0], blocks[1] = blocks[1], blocks[0]
				return blocks
			}), verify, "section origins, offset %d: expected a block behind the one before"},
		{"a recipe outside", everything(), func(w *writer) { w.out[secRecipeTab][16] = 99 }, recipes,
			"section recipetab, offset 8: expected a recipe inside section recipes"},
		{"a scope of no place", everything(), reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[0].raw = "\x00" + blocks[0].raw[1:]
			return blocks
		}), book, "section origins, offset 0: expected the origins of a scope of its level"},
	} {
		s := forged(t, c.content, c.forge)
		want := c.want
		if strings.Contains(want, "%d") {
			want = fmt.Sprintf(want, load64(s.coldEntry(1)))
		}
		got := ""
		if err := c.ask(s); err != nil {
			got = strings.TrimPrefix(err.Error(), "snapshot damaged: ")
		}
		if got != want {
			t.Errorf("%s: %q, expected %q", c.name, got, want)
		}
	}
}

// A dump of a section that ends with the file reads nothing behind it.
func TestDumpOfSectionsThatEndWithTheFile(t *testing.T) {
	sound := fileOf(t, everything())
	for sec := range sectionCount {
		for _, length := range []int{0, 1, 3, 4, 7, 11, 15, 23, 63} {
			b := slices.Clone(sound)
			entry := b[offSectionTab+sectionEntry*int(sec):]
			binary.LittleEndian.PutUint64(entry, uint64(len(b)-length))
			binary.LittleEndian.PutUint64(entry[8:], uint64(length))
			s, err := openBytes(resum(b))
			if err != nil {
				continue // Open looks at the section
			}
			if err := s.Dump(io.Discard, quotedRecipe, quoted); err != nil {
				t.Errorf("section %s of %d bytes: %v", sec, length, err)
			}
		}
	}
}

// A value in a block before that of the value before is damage, and the block is not decoded again.
func TestDumpOfValuesOutOfOrder(t *testing.T) {
	s := forged(t, manyNodes(100), func(w *writer) {
		tab := w.out[secBlockTab]
		last := tab[len(tab)-blockValueEntry:]
		binary.LittleEndian.PutUint32(last, 0)
	})
	var out strings.Builder
	if err := s.Dump(&out, quotedRecipe, quoted); err != nil {
		t.Fatal(err)
	}
	_, values, _ := strings.Cut(out.String(), "\nsection blocktab,")
	values, _, _ = strings.Cut(values, "\nsection ")
	if strings.Contains(values, "value 99:") || !strings.HasSuffix(values, "  damaged\n") {
		t.Errorf("places of values that are out of order end with %s", values[len(values)-300:])
	}
}

// Blocks that overlap are damage from the second on, and no later one is shown.
func TestDumpOfBlocksThatOverlap(t *testing.T) {
	dump := func(s *Snapshot) (all, blocks string) {
		var out strings.Builder
		if err := s.Dump(&out, quotedRecipe, quoted); err != nil {
			t.Fatal(err)
		}
		_, blocks, _ = strings.Cut(out.String(), "\nsection blocks,")
		blocks, _, _ = strings.Cut(blocks, "\nsection ")
		return out.String(), blocks
	}
	s := open(t, manyNodes(100))
	all, blocks := dump(s)
	n := int(load32(s.sections[secBlockTab]))
	if n < 3 || strings.Count(blocks, "a zstd frame") != n {
		t.Errorf("%d blocks are shown as %s", n, blocks)
	}
	for i := range n {
		_, off, _ := strings.Cut(all, fmt.Sprintf("  block %d: offset ", i))
		if row := fmt.Sprintf("\n%.8s  ", off); !strings.Contains(blocks, row) {
			t.Errorf("block %d is to be at %s, and is not there", i, off[:8])
		}
	}
	_, blocks = dump(forged(t, manyNodes(100), func(w *writer) {
		clear(w.out[secBlockTab][4+blockEntry : 4+blockEntry+8])
	}))
	if strings.Count(blocks, "a zstd frame") != 1 || !strings.HasSuffix(blocks, "  damaged\n") {
		t.Errorf("blocks that overlap are shown as %s", blocks)
	}
}

// Of several things that are wrong the first that is met is told; a block of no records is none.
func TestVerifyTellsWhatItMeetsFirst(t *testing.T) {
	block := func(n int, was, is string) func(w *writer) {
		return reblocked(func(blocks []coldRaw) []coldRaw {
			if !strings.Contains(blocks[n].raw, was) {
				t.Fatalf("block %d is not as it is meant: %x", n, blocks[n].raw)
			}
			blocks[n].raw = strings.Replace(blocks[n].raw, was, is, 1)
			return blocks
		})
	}
	for _, c := range []struct {
		name, want string
		forge      func(w *writer)
	}{
		{"a scope that there is not, and another cut short", "the origins of scopes",
			block(0, "\x01\x01\x04\x01\x02\x03\x01\x01\x04\x01\x03\x03", "\x02\x01\x04\x01\x02\x03\x01\x01\x04\x01\x03")},
		{"an input that there is not, and a key too many", "bindings of keys", func(w *writer) {
			block(4, "\x01\x03\x01\x01\x04\x05\x02", "\x01\x03\x01\x02\x04\x05\x02")(w)
			reblocked(func(blocks []coldRaw) []coldRaw {
				blocks[4].raw += "\x00"
				return blocks
			})(w)
		}},
		{"scopes whose places descend", "the origins of scopes, each once",
			reblocked(func(blocks []coldRaw) []coldRaw {
				blocks[0].first = 2
				blocks[0].raw = "\x02\x01\x04\x01\x03\x03" + "\xff\xff\xff\xff\x0f\x01\x04\x01\x02\x03"
				return blocks
			})},
		{"no keys", "the origins of all scopes and keys",
			reblocked(func(blocks []coldRaw) []coldRaw { return blocks[:4] })},
		{"a block of the level behind the last", "a level", reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[3].level = 4
			return blocks
		})},
		{"a block of no keys", "bindings of keys, in order", func(w *writer) {
			tab, packed := appendFrame(w.out[secOriginTab], w.out[secOrigins], nil)
			tab = binary.LittleEndian.AppendUint32(tab, coldKeys)
			tab = binary.LittleEndian.AppendUint32(tab, uint32(len(w.c.Keys)))
			w.out[secOriginTab], w.out[secOrigins] = tab, packed
		}},
	} {
		err := forged(t, everything(), c.forge).Verify(anyRecipe)
		if err == nil || !strings.HasSuffix(err.Error(), ": expected "+c.want) {
			t.Errorf("%s: %v, expected %s", c.name, err, c.want)
		}
	}
}
