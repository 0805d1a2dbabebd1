package snapshot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/value"
)

// position finds numbers of any distribution, although it is optimized for evenly distributed key numbers.
func TestPositionFindsNumbersOfAnyDistribution(t *testing.T) {
	const keys = 1000
	for name, numbers := range map[string][]uint32{
		"none but the first": {0}, "none but the last": {keys - 1}, "the lowest": upTo(0, 100),
		"the highest": upTo(keys-100, keys), "those in the middle": upTo(450, 550), "all": upTo(0, keys),
		"both ends": append(upTo(0, 50), upTo(keys-50, keys)...), "one, and the highest": append([]uint32{500},
			upTo(keys-100, keys)...),
	} {
		for _, short := range []bool{true, false} {
			v := tableView{n: uint32(len(numbers)), short: short}
			var b []byte
			for _, n := range numbers {
				if short {
					b = binary.LittleEndian.AppendUint16(b, uint16(n))
				} else {
					b = binary.LittleEndian.AppendUint32(b, n)
				}
			}
			v.keys = string(b)
			for n := range uint32(keys) {
				want, found := slices.BinarySearch(numbers, n)
				if got, ok := v.position(n, keys); ok != found || ok && got != uint32(want) {
					t.Fatalf("%s, short %t: %d is at %d, %t; expected %d, %t", name, short, n, got, ok, want, found)
				}
			}
		}
	}
}

func upTo(from, to uint32) (out []uint32) {
	for n := from; n < to; n++ {
		out = append(out, n)
	}
	return out
}

// One Scopes can be reused for snapshots with different columns.
func TestScopesCanBeReusedForAnotherSnapshot(t *testing.T) {
	of := func(levels int) *Snapshot {
		c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
			Keys: []Key{{Name: "k", Default: -1}}, Values: stored(value.FromInt(int64(levels)))}
		for range levels {
			c.Levels = append(c.Levels, Level{Dimensions: []int{0}, Scopes: []Scope{{Values: []string{"x"}}}})
		}
		c.Levels[levels-1].Scopes[0].Entries = []Entry{{0, 0}}
		return open(t, c)
	}
	var at Scopes
	for _, levels := range []int{70, 300, 3, 80, 75} {
		s := of(levels)
		for _, text := range []string{"x", "", "x"} {
			request(t, s, &at, []string{text})
			if v, ok := find(t, s, "k", &at); ok != (text != "") || ok && v.Int() != int64(levels) {
				t.Errorf("of %d levels, for %q: %v, %t", levels, text, v, ok)
			}
		}
	}
}

// A directory of one dimension is direct if at least one value in four has a scope. With at most one scope, it is
// direct if the dimension has at most four values.
func TestDirectoryIsDirectIfOneValueInFourHasAScope(t *testing.T) {
	for _, c := range []struct {
		values, scopes int
		direct         bool
	}{{4, 0, true}, {5, 0, false}, {4, 1, true}, {5, 1, false}, {8, 2, true}, {9, 2, false}} {
		content := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
			Levels: make([]Level, 2)}
		for i := range content.Levels {
			content.Levels[i].Dimensions = []int{0}
		}
		for i := range c.values {
			content.Levels[0].Scopes = append(content.Levels[0].Scopes, Scope{Values: []string{fmt.Sprint(i)}})
		}
		content.Levels[1].Scopes = content.Levels[0].Scopes[:c.scopes]
		s := open(t, content)
		sound(t, s)
		if s.levels[1].direct != c.direct {
			t.Errorf("%+v: indexed %t", c, s.levels[1].direct)
		}
	}
}

func TestValuesFrom512BytesAreStoredInBlocks(t *testing.T) {
	for bytes, want := range map[int]Ref{blockFrom - 1: refCell, blockFrom: refBlock} {
		c := &Content{Keys: []Key{{Name: "k", Default: 0}},
			Values: stored(value.FromString(strings.Repeat("v", bytes-3)))}
		if len(c.Values[0].Bytes) != bytes {
			t.Fatalf("the value has %d bytes", len(c.Values[0].Bytes))
		}
		ref, _, err := open(t, c).Find("k", &Scopes{})
		if err != nil || ref&refKind != want {
			t.Errorf("a value of %d bytes is %#x, %v", bytes, uint32(ref), err)
		}
	}
}

// Section meta can be inside the head that Open reads first, after it, or partly inside.
func TestOpenReadsMetaAtAnyOffset(t *testing.T) {
	sound, entry := fileOf(t, small()), offSectionTab+sectionEntry*int(secMeta)
	le := binary.LittleEndian
	meta := sound[le.Uint64(sound[entry:]):][:le.Uint64(sound[entry+8:])]
	for _, at := range []int{headBytes - len(meta), headBytes - len(meta) + 1, headBytes - 1, headBytes} {
		b := append(slices.Clone(sound), make([]byte, 2*headBytes)...)
		copy(b[max(at, len(sound)):], meta)
		le.PutUint64(b[entry:], uint64(max(at, len(sound))))
		if at < len(sound) {
			t.Fatalf("the file of %d bytes is too long", len(sound))
		}
		path := filepath.Join(t.TempDir(), "s.bsnap")
		if err := os.WriteFile(path, resum(b), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			t.Fatalf("at %d: %v", at, err)
		}
		if got := s.Dimensions(); len(got) != 3 || got[2].Name != "g" {
			t.Errorf("at %d: the dimensions are %v", at, got)
		}
		s.Close()
	}
}

// Open reports damage in section meta even if a valid part follows.
func TestOpenReportsMetaDamagedBeforeTheSlice(t *testing.T) {
	c := small()
	c.Slice = []Term{{0, "n01"}}
	w := newWriter(c, 1)
	if err := cmp.Or(w.index(), w.store()); err != nil {
		t.Fatal(err)
	}
	meta := w.out[secMeta]
	flags := len(meta) - len("\x01\x00\x03n01") - 1 // flags of the last level; columns, directory and slots follow
	for meta[flags] != levelNarrow|levelDirect {
		flags--
	}
	meta[flags] |= 4
	_, err := OpenBytes(w.file())
	damagedAs(t, "an unknown flag of the last level", err, "meta", "layers, dimensions and levels")
	if err == nil {
		t.Error("the file opens")
	}
}

func TestCloseReturnsUnmapError(t *testing.T) {
	file := string(fileOf(t, small()))
	s, err := newSnapshot(file, file, func() error { return io.ErrClosedPipe })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != io.ErrClosedPipe {
		t.Errorf("Close returns %v", err)
	}
}

// A slot with a number that no key has does not lead to a record, even if the bytes after the last record look like
// one.
func TestFindRejectsKeyNumbersOutOfRange(t *testing.T) {
	const n = 9
	c := &Content{Layers: []string{"l"}}
	for i := range n {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprint(i), Default: -1})
	}
	fake, found := "", false
	s := forged(t, c, func(w *writer) {
		copy(w.out[secPilots][len(w.out[secPilots])-n-4:], "\x09\x00\x00\x00") // changes the slot that remap moves
		for i := 0; !found; i++ {                                              // a zero byte follows the fingerprints
			fake = fmt.Sprintf("fake key of usual length %d", i)
			h := hashText(fake, w.seed)
			found = uint8(h) == 0 &&
				slotOf(h, load16(w.hash.pilots[2*reduce(h, w.hash.buckets):]), w.hash.slots) >= n
		}
		record := make([]byte, keyRecord)
		record[recLength] = byte(copy(record[recText:], fake))
		w.out[secKeys] = append(w.out[secKeys][:n*keyRecord], record...)
	})
	absent(t, s, fake)
}

// A value number that does not exist, or whose text is damaged, is not found.
func TestValueNumbersAfterTheLastAreNotFound(t *testing.T) {
	const seed = 1
	texts := "\x00\x00\x00\x00" + "\x04\x00\x00\x00" + "\x08\x00\x00\x00" + "fake" // two offsets, strings
	d := dictionary{hash: perfect{n: 1, buckets: 1, slots: 2, remap: "\x01\x00\x00\x00"},
		offsets: texts[:8], text: texts[8:]}
	for pilot := uint16(0); slotOf(hashText("fake", seed), pilot, 2) != 1; pilot++ {
		d.hash.pilots = string(binary.LittleEndian.AppendUint16(nil, pilot+1))
	}
	d.hash.pilots = cmp.Or(d.hash.pilots, "\x00\x00")
	if got := d.find("fake", seed); got != None {
		t.Errorf("a text that is not a value has number %d", got)
	}
	s := forged(t, everything(), func(w *writer) { w.out[secDicts][0x138] = 255 }) // damages the end of the empty value
	if got := s.ValueNumber(2, ""); got != None {
		t.Errorf("a value without a text has number %d", got)
	}
}

// Verify counts the real size of long exact masks: together with the keys they fill the section.
func TestVerifyAcceptsLongMasks(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Values: stored(value.FromInt(1))}
	for i := range 100 {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("%0*d", maxInlineKey, i), Default: -1})
	}
	for i := range 64 * 25 {
		c.Levels = append(c.Levels, Level{Scopes: []Scope{{}}})
		if i < len(c.Keys) {
			c.Levels[i].Scopes[0].Entries = []Entry{{uint32(i), 0}}
		}
	}
	s := open(t, c)
	if s.words != 25 {
		t.Fatalf("masks have %d words", s.words)
	}
	sound(t, s)
}

// Two blocks that share one frame would be decoded twice. Verify rejects the blocks because they overlap, although each
// value is valid.
func TestVerifyRejectsBlocksThatShareAFrame(t *testing.T) {
	text := stored(value.FromString(strings.Repeat("large ", blockSize)))[0]
	c := &Content{Layers: []string{"l"}, Keys: []Key{{Name: "a", Default: 0}, {Name: "b", Default: 1}},
		Values: []Stored{text, text}}
	s := forged(t, c, func(w *writer) {
		entries := w.out[secBlockTab][4:]
		copy(entries[blockEntry:2*blockEntry], entries[:blockEntry])
		w.out[secBlocks] = w.out[secBlocks][:binary.LittleEndian.Uint32(entries[8:])]
	})
	refuses(t, "two blocks", s, "blocks", "items that do not overlap")
}

// A block of keys must begin with the key after the last one of the previous block. Otherwise a key is missing or
// duplicated.
func TestVerifyRejectsMissingOrDuplicateKeyRecords(t *testing.T) {
	c := &Content{Layers: []string{"l"}}
	for i := range 9 {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprint(i), Default: -1})
	}
	for first, expected := range map[uint32]string{5: "", 4: "bindings of keys, in order", 6: "bindings of keys"} {
		s := forged(t, c, reblocked(func(blocks []coldRaw) []coldRaw {
			return []coldRaw{{coldKeys, 0, strings.Repeat("\x00", 5)}, {coldKeys, first, strings.Repeat("\x00", 4)}}
		}))
		refuses(t, fmt.Sprint("the second block begins with key ", first), s, "origins", expected)
	}
}

// Verify passes every recipe to check, including recipes of hidden bindings, but no constants.
func TestVerifyChecksRecipes(t *testing.T) {
	var got []string
	err := open(t, everything()).Verify(func(encoded string) (contributes, alone bool, err error) {
		got = append(got, encoded)
		return anyRecipe(encoded)
	})
	if want := []string{"sealed recipe", "recipe", "contributions", "recipe"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("checked are %q, %v; expected %q", got, err, want)
	}
}

// A caller that breaks out of the loop gets no error for later damage.
func TestAllRecipesStopsBeforeDamage(t *testing.T) {
	c := keyBlocks()
	c.Values[0].Computed = true
	s := forged(t, c, func(w *writer) {
		w.out[secOrigins][binary.LittleEndian.Uint64(w.out[secOriginTab][coldEntry:])]++ // damages the frame of block 1
	})
	n := 0
	for _, err := range s.AllRecipes() {
		if n++; err != nil {
			t.Fatal(err)
		}
		break
	}
	if n != 1 {
		t.Errorf("%d recipes", n)
	}
}

// A narrow level and the wide one after it can have equal places, and scopes with equally many keys. Bindings must not
// confuse their origins.
func TestBindingsSeparateLevelsWithEqualPlaces(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
		Inputs: []Input{{Path: "a"}}, Values: stored(value.FromInt(1)),
		Keys: []Key{{Name: "other", Default: -1}, {Name: "wanted", Default: -1}},
		Levels: []Level{{Scopes: []Scope{{Entries: []Entry{{0, 0}}, Origins: []Origin{{0, 7, 1}}}}},
			{Dimensions: []int{0}}}}
	for i := range maxColumns + 1 {
		c.Levels[1].Scopes = append(c.Levels[1].Scopes, Scope{Values: []string{fmt.Sprint(i)}})
	}
	c.Levels[1].Scopes[0].Entries, c.Levels[1].Scopes[0].Origins = []Entry{{1, 0}}, []Origin{{0, 8, 1}}
	bs, err := open(t, c).Bindings("wanted")
	if err != nil || len(bs) != 1 || bs[0].Origin.Line != 8 {
		t.Errorf("bindings are %+v, %v; expected one of line 8", bs, err)
	}
}

// A place of a narrow level must not be a column of the next level.
func TestBindingsRejectPlaceInNextLevel(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}, {Name: "e", Category: -1}},
		Keys: []Key{{Name: "k", Default: -1}}, Values: stored(value.FromInt(1), value.FromInt(2)),
		Levels: []Level{
			{Dimensions: []int{0}, Scopes: []Scope{{Values: []string{"x"}, Entries: []Entry{{0, 0}}},
				{Values: []string{"z"}}}},
			{Dimensions: []int{1}, Scopes: []Scope{{Values: []string{"y"}, Entries: []Entry{{0, 1}}}}}}}
	s := forged(t, c, func(w *writer) {
		for at := 0; at < 8; at += 4 { // the directory of the first level
			if place := w.out[secScopes][at:]; place[0] == 2 {
				place[0] = 3
			}
		}
	})
	bs, err := s.Bindings("k")
	var got []string
	for _, b := range bs {
		got = append(got, fmt.Sprint(b.Level(), b.Terms))
	}
	if want := []string{"0 [{0 x}]", "1 [{1 y}]"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("bindings are %q, %v; expected %q", got, err, want)
	}
}

// The default is the first binding without a condition, even if a binding with a condition precedes it.
func TestDefaultIsFirstBindingWithoutCondition(t *testing.T) {
	c := hiddenPair()
	c.Keys[0].Default = 1
	s := open(t, c)
	sound(t, s)
	bs, err := s.Bindings("k")
	if err != nil || len(bs) != 2 || !bs[0].Hidden || len(bs[0].Terms) != 1 || bs[1].Hidden || bs[1].Ref == noRef {
		t.Errorf("bindings are %+v, %v", bs, err)
	}
}

// Candidates stops when the caller breaks out of the loop, even between hidden and visible candidates.
func TestCandidatesStopOnBreakAtHiddenCandidate(t *testing.T) {
	scope := []Scope{{Entries: []Entry{{0, 0}}}}
	s := open(t, &Content{Layers: []string{"l"}, Values: stored(value.FromInt(1)),
		Keys:   []Key{{Name: "k", Default: -1, Cold: []Cold{{Above: 1}}}},
		Levels: []Level{{Scopes: scope}, {Scopes: scope}}})
	for most := 1; most <= 3; most++ {
		got := ""
		for c, err := range s.Candidates("k", nil, scopes(s)) {
			if err != nil {
				t.Fatal(err)
			}
			if got += fmt.Sprint(" ", c.Hidden); strings.Count(got, " ") == most {
				break
			}
		}
		if want := " false true false"; !strings.HasPrefix(want, got) || strings.Count(got, " ") != most {
			t.Errorf("hidden are%s", got)
		}
	}
}

// If a damaged file gives the default an unreadable condition, Binding returns an error and not the default without the
// condition.
func TestDefaultWithDamagedConditionReportsDamage(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
		Keys: []Key{{Name: "k", Default: 0, Cold: []Cold{{}}}}, Values: stored(value.FromInt(1)),
		Levels: []Level{{Dimensions: []int{0}, Scopes: []Scope{{Values: []string{"x"}}}}}}
	s := forged(t, c, func(w *writer) {
		reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[1].raw = blocks[1].raw[:7] + "\x01\x00\x00" // adds a term with value 0
			return blocks
		})(w)
		w.out[secDicts][8+4] = 255 // damages the end of value 0
	})
	if b, err := s.Binding("k", Candidate{Level: -1}); !errors.As(err, new(*DamageError)) {
		t.Errorf("the default is %+v, %v", b, err)
	}
}
