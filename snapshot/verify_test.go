package snapshot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/value"
)

// refuses checks which section of a forged file Verify rejects, and what it expected there. An expected "" means that
// the file is valid.
func refuses(t *testing.T, name string, s *Snapshot, section, expected string) {
	t.Helper()
	var damage *DamageError
	switch err := s.Verify(anyRecipe); {
	case expected == "" && err != nil:
		t.Errorf("%s: Verify returned %v", name, err)
	case expected == "":
	case !errors.As(err, &damage) || damage.Section != section || !strings.Contains(damage.Expected, expected):
		t.Errorf("%s: Verify returned %v; expected damage of %s: %s", name, err, section, expected)
	}
}

// The offsets in the file are listed in testdata/everything.dump.
func TestVerifyRejectsForgedRecordsAndReferences(t *testing.T) {
	le := binary.LittleEndian
	record := func(n, at int) int { return keyRecord*n + at }
	for _, c := range []struct {
		name, section, expected string
		forge                   func(w *writer)
	}{
		{"nothing is forged", "", "", func(*writer) {}},
		{"a recipe out of bounds", "recipetab", "a recipe inside section recipes",
			func(w *writer) { w.out[secRecipeTab][24] = 33 }},
		{"a recipe that ends before it begins", "recipetab", "a recipe inside section recipes",
			func(w *writer) { w.out[secRecipeTab][16] = 12 }},
		{"a category value whose hash leads to another number", "dicts", "value 0 of dimension node.os",
			func(w *writer) { w.out[secDicts][0x13c] = 'm' }},
		{"a category value with another text", "dicts", "value 1 of dimension node",
			func(w *writer) { w.out[secDicts][0xaf+2] = '3' + 1 }},
		{"a category value that ends before it begins", "dicts", "value 0 of dimension node",
			func(w *writer) { w.out[secDicts][0x20] = 5 }},
		{"a value past the end", "dicts", "value 0 of dimension path",
			func(w *writer) { w.out[secDicts][0x120] = 255 }},
		{"a key with another name", "keys", "a key whose number is 0",
			func(w *writer) { w.out[secKeys][recText] = 'b' }},
		{"a wrong fingerprint", "keys", "a key whose number is 8",
			func(w *writer) { w.out[secPilots][12+8]++ }},
		{"a slot with a number that no key has", "keys", "a key whose number is 1",
			func(w *writer) { w.out[secPilots][8] = 9 }},
		{"a block of origins out of bounds", "origintab", "a block inside section origins",
			func(w *writer) { w.out[secOriginTab][4*coldEntry+4] = 1 }},
		{"blocks of origins that overlap", "origins", "a block after the previous one",
			func(w *writer) { w.out[secOriginTab][2*coldEntry] = 1 }},
		{"a key with an invalid length", "keys", "a key whose number is 1",
			func(w *writer) { w.out[secKeys][record(1, recLength)] = 254 }},
		{"a long key out of bounds", "keys", "a key whose number is 2",
			func(w *writer) { le.PutUint32(w.out[secKeys][record(2, recLongCell):], 339) }},
		{"a default past the end", "keys", "a value",
			func(w *writer) { le.PutUint32(w.out[secKeys][recDefault:], 362) }},
		{"a default far past the end", "keys", "a value",
			func(w *writer) { le.PutUint32(w.out[secKeys][recDefault:], 1<<30-1) }},
		{"a default in a cell past the end", "keys", "a value",
			func(w *writer) { le.PutUint32(w.out[secKeys][recDefault:], 700) }},
		{"a default that is not a value", "keys", "a value", func(w *writer) { w.out[secKeys][0x16] = 0x0b }},
		{"a truncated default", "keys", "a value", func(w *writer) { // the last cell of the section
			w.out[secKeys] = append(w.out[secKeys], 0x83, 'a')
			le.PutUint32(w.out[secKeys][recDefault:], uint32(len(w.out[secKeys])/cellUnit-1))
		}},
		{"a default with a missing recipe", "keys", "a recipe number below 3",
			func(w *writer) { w.out[secKeys][record(3, recDefault)] = 3 }},
		{"contributions as the default of another key", "keys", "a recipe that this key may have",
			func(w *writer) { w.out[secKeys][record(3, recDefault)] = 2 }},
		{"a default in a block that does not exist", "keys", "a block value number below 2",
			func(w *writer) { w.out[secKeys][record(7, recDefault)] = 2 }},
		{"a multibinding with another recipe", "keys", "a recipe that this key may have",
			func(w *writer) { w.out[secKeys][record(6, recText+3)] = 1 }},
		{"a multibinding with a constant", "keys", "contributions in an internal key",
			func(w *writer) { w.out[secKeys][record(6, recText+6)] = 0x40 }},
		{"a multibinding with a value in a block", "keys", "contributions in an internal key",
			func(w *writer) { copy(w.out[secKeys][record(6, recText+3):], "\x00\x00\x00\xc0") }},
		{"a mask with a column that does not exist", "keys", "a mask of 37 columns",
			func(w *writer) { w.out[secKeys][record(1, 4)] = 1 << 5 }},
		{"a list out of bounds", "keys", "a list inside the section",
			func(w *writer) { w.out[secKeys][record(4, recList)] += 6 }},
		{"a list with a value that does not exist", "keys", "a block value number below 2",
			func(w *writer) { w.out[secKeys][0x2d3] = 0xc0 }},
		{"a value that begins inside the previous one", "blocktab", "value 1 after the previous one",
			func(w *writer) { le.PutUint32(w.out[secBlockTab][32:], 602) }},
		{"a value past the end of its block", "blocktab", "value 1 in a block of 1156 bytes",
			func(w *writer) { le.PutUint32(w.out[secBlockTab][32:], 1156) }},
		{"blocktab ends after the number of blocks", "blocktab", "the place of value 0",
			func(w *writer) { w.out[secBlockTab] = w.out[secBlockTab][:4] }},
		{"blocktab without the number of blocks", "blocktab", "the number of blocks", func(w *writer) { w.out[secBlockTab] = nil }},
		{"a truncated place of a value", "blocktab", "the place of value 1",
			func(w *writer) { w.out[secBlockTab] = w.out[secBlockTab][:35] }},
		{"a value in a block that does not exist", "blocktab", "the place of block 1", func(w *writer) {
			copy(w.out[secBlockTab][28:], "\x01\x00\x00\x00\x00\x00\x00\x00")
		}},
		{"a frame out of bounds", "blocktab", "a block inside section blocks", func(w *writer) { w.out[secBlockTab][4] = 1 }},
		{"a frame past the end", "blocktab", "a block inside section blocks",
			func(w *writer) { w.out[secBlockTab][4] = 40 }},
		{"a frame that expands more than 64 times", "blocktab", "a block inside section blocks",
			func(w *writer) { le.PutUint32(w.out[secBlockTab][16:], 39*maxExpansion+1) }},
		{"a frame with fewer bytes than its entry declares", "blocks", "a zstd frame of 1157 bytes",
			func(w *writer) { le.PutUint32(w.out[secBlockTab][16:], 1157) }},
		{"a frame with more bytes than its entry declares", "blocks", "a zstd frame of 1155 bytes",
			func(w *writer) { le.PutUint32(w.out[secBlockTab][16:], 1155) }},
		{"a scope with an unknown value number", "scopes", "a value number of path below 1",
			func(w *writer) { w.out[secScopes][4] = 1 }},
		{"a scope in a slot that its hash does not lead to", "scopes", "a scope in the slot that its hash leads to", func(w *writer) {
			dir := w.out[secScopes]
			copy(dir[0x20:0x30], dir[:0x10])
			clear(dir[:0x10])
		}},
		{"a scope in two slots", "scopes", "a scope in the slot that its hash leads to", func(w *writer) {
			dir := w.out[secScopes]
			copy(dir[0x10:0x20], dir[:0x10])
			dir[0x1c] = 2
		}},
		{"a column of the next level", "scopes", "a place among 2 columns", func(w *writer) { w.out[secScopes][12] = 3 }},
		{"a table out of bounds", "tables", "a table", func(w *writer) { w.out[secScopes][0xd4-0x8] = 0x27 }},
		{"a table whose entries are outside", "tables", "a table of 9 entries",
			func(w *writer) { w.out[secTables][0x94] = 9 }},
		{"a table with an unknown key number", "tables", "ascending key numbers below 9",
			func(w *writer) { w.out[secTables][0x18] = 9 }},
		{"a table with a key twice", "tables", "ascending key numbers below 9",
			func(w *writer) { w.out[secTables][0x18] = 7 }},
		{"a table whose keys do not ascend", "tables", "ascending key numbers below 9",
			func(w *writer) { w.out[secTables][0x14] = 8 }},
		{"a table with a key that its column does not bind", "tables", "keys that column 35 binds",
			func(w *writer) { w.out[secTables][0x14] = 1 }},
		{"a table with a value that does not exist", "tables", "a block value number below 2",
			func(w *writer) { w.out[secTables][0x24] = 2 }},
		{"tables that overlap", "tables", "items that do not overlap", func(w *writer) {
			for at := 0xc8; at < 0x150; at += 4 { // gives all scopes the table of three keys
				w.out[secScopes][at] = 5
			}
		}},
		{"a few tables that overlap", "tables", "items that do not overlap", sevenScopes},
		{"inputs without their length", "inputs", "a length", func(w *writer) { w.out[secInputs] = make([]byte, 3) }},
		{"inputs that contain only their length", "inputs", "a list of files",
			func(w *writer) { w.out[secInputs] = make([]byte, 4) }},
		{"inputs with a wrong length", "inputs", "a zstd frame", func(w *writer) { w.out[secInputs][0]++ }},
		{"inputs with an impossible length", "inputs", "a zstd frame",
			func(w *writer) { le.PutUint32(w.out[secInputs], 1<<30) }},
		{"inputs with an extra byte", "inputs", "a list of files",
			func(w *writer) { w.out[secInputs] = inputsOf(append(listOf(w), 0)) }},
		{"inputs that end after the paths", "inputs", "a list of files",
			func(w *writer) { w.out[secInputs] = inputsOf(append([]byte("\x01\x14"), make([]byte, 20)...)) }},
		{"inputs without the last byte", "inputs", "a list of files",
			func(w *writer) { w.out[secInputs] = inputsOf(listOf(w)[:38]) }},
	} {
		refuses(t, c.name, forged(t, everything(), c.forge), c.section, c.expected)
	}
}

// sevenScopes gives the seven scopes of a level the same table of 24 bytes, in a section of 152.
func sevenScopes(w *writer) {
	clear(w.out[secScopes][0xc8:0x150])
	for at := 0xc8; at < 0xc8+4*7; at += 4 {
		w.out[secScopes][at] = 5
	}
}

// listOf returns the decoded list of inputs; inputsOf encodes it as a section.
func listOf(w *writer) []byte {
	raw, ok := decompress(string(w.out[secInputs][inputsHead:]), uint64(load32(string(w.out[secInputs]))))
	if !ok {
		panic("the inputs are not a frame")
	}
	return []byte(raw)
}

func inputsOf(raw []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(raw))), compress(raw)...)
}

// Every section has a checksum, and the digest covers the padding between them.
func TestVerifyDetectsChangedBytes(t *testing.T) {
	sound := fileOf(t, everything())
	sections := open(t, everything()).Info().Sections
	for i, sec := range sections {
		for _, at := range []uint64{sec.Offset, sec.Offset + sec.Bytes - 1} {
			b := bytes.Clone(sound)
			b[at] ^= 0x80
			expected := "the section to match its checksum"
			s, err := OpenBytes(b)
			if i == int(secMeta) {
				if err == nil || !strings.Contains(err.Error(), expected) {
					t.Errorf("section %s: Open returned %v", sec.Name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("section %s: Open returned %v", sec.Name, err)
				continue
			}
			refuses(t, "a byte of "+sec.Name, s, sec.Name, expected)
		}
	}
	b := bytes.Clone(sound)
	b[len(b)-1]++
	s, err := OpenBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, "padding", s, "header", "the file to match its digest")
}

// With more than 64 columns, the mask in the key record must agree with the exact mask.
func TestVerifyChecksExactMasks(t *testing.T) {
	exact := keyRecord*4 + 0x3c // the exact mask of the key in columns 1, 5, ...
	notThere := forged(t, wide(), func(w *writer) { w.out[secKeys][exact+8] |= 1 << 6 })
	damagedAs(t, "a column that does not exist", notThere.Verify(anyRecipe), "keys",
		"a mask of 70 columns")
	var damage *DamageError
	if errors.As(notThere.Verify(anyRecipe), &damage) && damage.Offset != uint64(exact) {
		t.Errorf("the mask that is damaged is at %#x, not %#x", exact, damage.Offset)
	}
	for _, c := range []struct {
		name, expected string
		forge          func(w *writer)
	}{
		{"nothing is forged", "", func(*writer) {}},
		{"a wrong column that folds into a bit that is set", "keys that column", func(w *writer) {
			w.out[secKeys][exact] |= 1 // bit 64 becomes bit 0, which the key does not have
			w.out[secKeys][exact+8] &^= 1 << 1
			w.out[secKeys][recMask] |= 1
		}},
		{"a column that is missing from the key record", "a mask of 70 columns", func(w *writer) { w.out[secKeys][exact] |= 1 }},
		{"a column that is missing from the exact mask", "a mask of 70 columns",
			func(w *writer) { w.out[secKeys][recMask] |= 1 }},
		{"a mask out of bounds", "a mask inside the section", func(w *writer) {
			binary.LittleEndian.PutUint32(w.out[secKeys][recList:], uint32(len(w.out[secKeys])-14)&^1)
		}},
	} {
		s := forged(t, wide(), c.forge)
		section := "keys"
		if strings.HasPrefix(c.expected, "keys that") {
			section = "tables"
		}
		refuses(t, c.name, s, section, c.expected)
	}
}

// Values that overlap are each valid, but together they are longer than the section.
func TestVerifyRejectsOverlappingValues(t *testing.T) {
	c := manyNodes(100)
	for i := range c.Values {
		c.Values[i] = stored(value.FromInt(1))[0]
	}
	s := forged(t, c, func(w *writer) {
		first := len(w.out[secKeys]) / cellUnit
		for i := range c.Keys {
			binary.LittleEndian.PutUint32(w.out[secKeys][keyRecord*i+recDefault:], uint32(first+i))
		}
		// Each pair of bytes begins a string of 126 bytes.
		w.out[secKeys] = append(w.out[secKeys], strings.Repeat("\x06\x7e", 200)...)
	})
	refuses(t, "strings", s, "keys", "items that do not overlap")
	var damage *DamageError
	if err := s.Verify(anyRecipe); errors.As(err, &damage) && damage.Offset < uint64(keyRecord*len(c.Keys)) {
		t.Errorf("the value that is damaged is at %d, among the records", damage.Offset)
	}
}

// Each place in blocktab must lead to a value in the block.
func TestVerifyRejectsBlockWithoutAValue(t *testing.T) {
	c := &Content{Keys: []Key{{Name: "k", Default: 0}}, Values: stored(value.FromString(strings.Repeat("\x0b", 600)))}
	s := forged(t, c, func(w *writer) { w.out[secBlockTab][24] = 10 })
	refuses(t, "bytes that no value begins with", s, "blocks", "a value in the block of value 0")
}

// coldRaw is a decoded block of section origins.
type coldRaw struct {
	level, first uint32
	raw          string
}

// reblocked replaces the blocks of section origins by the result of change.
func reblocked(change func(blocks []coldRaw) []coldRaw) func(w *writer) {
	return func(w *writer) {
		s := &Snapshot{}
		s.sections[secOriginTab], s.sections[secOrigins] = string(w.out[secOriginTab]), string(w.out[secOrigins])
		var blocks []coldRaw
		for i := range s.coldBlocks() {
			r, err := s.cold(i)
			if err != nil {
				panic(err)
			}
			blocks = append(blocks, coldRaw{s.coldLevel(i), s.coldFirst(i), r.b})
		}
		var c coldWriter
		for _, b := range change(blocks) {
			c.level, c.first, c.raw = b.level, b.first, []byte(b.raw)
			c.flush()
		}
		w.out[secOriginTab], w.out[secOrigins] = c.frames.finish()
	}
}

// Each case replaces bytes of a block of origins. from and to are hexadecimal.
func TestVerifyChecksOrigins(t *testing.T) {
	const scopes, keys, bindings = "the origins of scopes, each once", "bindings of keys, in order", "bindings of keys"
	const upper, narrow, wide, unconditional, ofKeys = 0, 1, 2, 3, 4 // block numbers
	for _, c := range []struct {
		name             string
		block            int
		from, to         string
		section, damaged string
	}{
		{"nothing is forged", upper, "010104010203", "010104010203", "", ""},
		{"a scope twice", upper, "010104010303", "000104010303", "origins", scopes},
		{"a scope that does not exist", upper, "010104010303", "020104010303", "origins", scopes},
		{"a missing scope", upper, "010104010303", "", "origins", "the origins of all scopes and keys"},
		{"scopes out of order", upper, "010104010203010104010303", "020104010303ffffffff0f0104010203", "origins",
			"the origins of scopes"},
		{"the second scope of a level before the first", upper, "010104010203", "020104010203", "origins", scopes},
		{"a scope after the last of its level", narrow, strings.Repeat("0100000000", 30),
			strings.Repeat("0100000000", 31), "origins", scopes},
		{"more origins than entries", upper, "010104010203", "010204000102010203", "origins", scopes},
		{"no origin for a bound key", upper, "010104010203", "0100000000", "origins", scopes},
		{"a key that the column does not bind", upper, "010104010203", "010103010203", "origins", scopes},
		{"a key that does not exist", upper, "010104010203", "010109010203", "origins", scopes},
		{"a key far after the last", upper, "010104010203", "0101ffffffff0f010203", "origins", scopes},
		{"keys that do not ascend", narrow, "01020206000200", "01020800000200", "origins", scopes},
		{"an input that does not exist", upper, "010104010203", "010104050203", "origins", scopes},
		{"an input that does not exist, without a line", upper,
			"010104010203010104010303", "010104050103010104040303", "", ""},
		{"several inputs, the first of which does not exist", narrow, "01020206000200", "01020206000400", "origins", scopes},
		{"several inputs, the second of which does not exist", narrow, "01020206000200", "01020206000204", "origins", scopes},
		{"several lines, one of which is zero", narrow, "0102020600020000060502", "0102020600020400060002", "", ""},
		{"several inputs, one of which does not exist, with line 1", narrow, "0102020600020000060502",
			"0102020600020400060102", "origins", scopes},
		{"an input that does not exist, with several lines", narrow, "0102020600020000060502" + "010108010803",
			"010202060500060502" + "010108020803", "origins", scopes},
		{"a key that does not exist, with a cell where its mask would be", narrow, "01020206000200", "01020207000200",
			"origins", scopes},
		{"a key number of more than 32 bits", upper, "010104010203", "0101" + "8480808010" + "010203", "origins",
			"the origins of scopes"},
		{"fewer origins than entries of the table", wide, "01030309", "01020309", "origins", scopes},
		{"a truncated record", unconditional, "010106010a02", "010106010a", "origins", "the origins of scopes"},
		{"a record that is a truncated number", unconditional, "010106010a02", "80", "origins", "the origins of scopes"},

		{"a default without its cold record", ofKeys, "03000300000301000103", "02" + "0103", "origins", keys},
		{"a default twice", ofKeys, "0300030000030100", "04" + "00030000030100" + "00030000030100", "origins", keys},
		{"a default with a condition", ofKeys, "0003000003010001", "000300000301010000" + "01", "origins", keys},
		{"a default that the key record does not have", ofKeys, "0102040100090100", "0200040100090100020401" + "00090100",
			"origins", keys},
		{"bindings out of order", ofKeys, "0104010105", "0102010105", "origins", keys},
		{"a hidden binding in an input that does not exist", ofKeys, "01030101040502", "01030102040502", "origins", keys},
		{"a hidden binding on line 1 of an input that does not exist", ofKeys, "01030101040502", "01030102010502",
			"origins", keys},
		{"a hidden binding in a column of more than 32 bits", ofKeys, "01030101040502", "0103010104" + "8580808010" + "02",
			"origins", bindings},
		{"a hidden binding without a known position", ofKeys, "01030101040502", "01030102000502", "", ""},
		{"a hidden binding in a layer that does not exist", ofKeys, "01030101040502", "01030201040502", "origins", bindings},
		{"a binding of an unknown kind", ofKeys, "0102040100090100", "0103040100090100", "origins", bindings},
		{"a term with an unknown value number", ofKeys, "0200130200", "0200220200", "origins", bindings},
		{"terms that do not ascend", ofKeys, "0200130200", "0200130013", "origins", bindings},
		{"a term with a dimension that does not exist", ofKeys, "0200130200", "0200130300", "origins", bindings},
		{"a contribution with a dimension that does not exist", ofKeys, "0102040100090100", "0102040100090101" + "0300",
			"origins", bindings},
		{"a contribution with an unknown value number", ofKeys, "0102040100090100", "0102040100090101" + "0022",
			"origins", bindings},
		{"a contribution with two terms for one dimension", ofKeys, "0102040100090100", "0102040100090102" + "00000001",
			"origins", bindings},
		{"a number of terms larger than the record", ofKeys, "0200130200", "2000130200", "origins", bindings},
		{"a hidden value with an extra byte", ofKeys, "000147", "00024747", "origins", bindings},
		{"an invalid hidden value", ofKeys, "000147", "00010b", "origins", bindings},
		{"a hidden value of an unknown kind", ofKeys, "000147", "020147", "origins", bindings},
		{"a hidden recipe", ofKeys, "000147", "010147", "", ""},
		{"contributions in a hidden binding", ofKeys, "0106726563697065",
			"010d" + hex.EncodeToString([]byte("contributions")), "origins", keys},
		{"a missing key", ofKeys, "000000000000" + "0102040100090100" + "00", "0000000000" + "0102040100090100" + "00",
			"origins", keys},
		{"an extra key", ofKeys, "7265636970" + "65", "7265636970" + "6500", "origins", bindings},
	} {
		found := false
		s := forged(t, everything(), reblocked(func(blocks []coldRaw) []coldRaw {
			b := &blocks[c.block]
			raw := hex.EncodeToString([]byte(b.raw))
			found = strings.Contains(raw, c.from)
			forged, err := hex.DecodeString(strings.Replace(raw, c.from, c.to, 1))
			if err != nil {
				t.Fatal(c.name, err)
			}
			b.raw = string(forged)
			return blocks
		}))
		if !found {
			t.Errorf("%s: block %d is not as expected", c.name, c.block)
		}
		refuses(t, c.name, s, c.section, c.damaged)
	}
}

// Each case replaces bytes of section meta. from and to are hexadecimal.
func TestOpenRejectsForgedMeta(t *testing.T) {
	const meta, level = "layers, dimensions and levels", "01ac020100020132220100000301"
	for _, c := range []struct {
		name, from, to, section, expected string
	}{
		{"nothing is forged", "", "", "", ""},
		{"an unknown flag", "010204", "030204", "meta", meta},
		{"a number of layers larger than the section", "0102047369", "015a047369", "meta", meta},
		{"an extra byte", "000003015401", "00000301540100", "meta", meta},
		{"a missing byte", "000003015401", "0000030154", "meta", meta},
		{"a guard before its category", "2e6f730101", "2e6f730301", "meta", meta},
		{"a guard after its category", "2e6f730101", "2e6f730201", "", ""},
		{"a guard that is its own category", "6e6f646500", "6e6f646501", "meta", meta},
		{"an unknown flag of a dimension", "2e6f730101", "2e6f730105", "meta", meta},
		{"a dictionary out of bounds", "0271714501", "0271715201", "dicts", "a dictionary of 1 values"},
		{"a dictionary with more values than slots", "00220c24", "00250c24", "dicts", "a dictionary of 37 values"},
		{"a dictionary with more values than offsets", "4a020103", "4a060107", "dicts", "a dictionary of 6"},
		{"a dictionary without buckets", "450101020", "450100020", "dicts", "a dictionary of 1 values"},
		{"a dictionary with too many buckets", "4501010207", "4501600207", "dicts", "a dictionary of 1 values"},
		{"keys without buckets", "040a0000030", "000a0000030", "pilots", "a perfect hash of 9 keys"},
		{"keys with too many slots", "040a0000030", "040b0000030", "pilots", "a perfect hash of 9 keys"},
		{"fewer slots than keys", "040a0000030", "04080000030", "pilots", "a perfect hash of 9 keys"},
		{"a level in a layer that does not exist", level, "02" + level[2:], "meta", meta},
		{"dimensions that do not ascend", "03000102010200", "03000101010200", "meta", meta},
		{"a dimension twice", "03000102010200", "03010102010200", "meta", meta},
		{"a dimension that does not exist", "03000102010200", "03000103010200", "meta", meta},
		{"an unknown flag of a level", level, "01ac02010006" + level[12:], "meta", meta},
		{"a narrow level with more columns than a record has", "00010100032110", "00010100034110", "meta", meta},
		{"a narrow level with more columns than are left", "00010100032110", "00010100034010", "meta", meta},
		{"a narrow level with all the columns that are left", "00010100032110", "00010100033c10", "", ""},
		{"a wide level with two columns", level, "01ac020100020232220100000301", "meta", meta},
		{"a directory out of bounds", "0154" + "01", "0155" + "01", "scopes", "a directory inside the section"},
		{"a direct directory with two dimensions", "0300010201020004", "02000103020004", "scopes", "indexed by a dimension"},
		{"a directory with three slots", "01020004", "01020003", "scopes", "a power of two of slots"},
		{"a directory without slots", "01020004", "01020000", "scopes", "a power of two of slots"},
		{"a directory that is too long", "01020004", "01020020", "scopes", "a directory inside the section"},
		{"a direct directory with three dimensions", "01020004", "03020004", "scopes", "indexed by a dimension"},
		{"a direct directory with fewer slots than values", level, "01ac020100020132210100000301", "scopes",
			"indexed by a dimension"},
		{"two places without a dimension", "000003015401", "000003015402", "scopes", "a directory of one place"},
		{"a hashed directory without a dimension", "000003015401", "000001015401", "scopes",
			"a directory of one place"},
	} {
		w := newWriter(everything(), 1)
		if err := cmp.Or(w.index(), w.store()); err != nil {
			t.Fatal(err)
		}
		was := hex.EncodeToString(w.out[secMeta])
		if strings.Count(was, c.from) != 1 && c.from != "" {
			t.Errorf("%s: the section is not as expected: %s", c.name, was)
		}
		forged, err := hex.DecodeString(strings.Replace(was, c.from, c.to, 1))
		if err != nil {
			t.Fatal(c.name, err)
		}
		w.out[secMeta] = forged
		_, err = OpenBytes(w.file())
		damagedAs(t, c.name, err, c.section, c.expected)
		var damage *DamageError
		if errors.As(err, &damage) && c.section == "meta" && damage.Offset > uint64(len(forged)) {
			t.Errorf("%s: damage at %d of %d bytes", c.name, damage.Offset, len(forged))
		}
	}
}

// damagedAs checks that err is a *DamageError for the given section and expectation. If section is empty, err may also
// be nil.
func damagedAs(t *testing.T, name string, err error, section, expected string) {
	t.Helper()
	var damage *DamageError
	if section == "" && err == nil {
		return
	}
	if !errors.As(err, &damage) || damage.Section != section || !strings.Contains(damage.Expected, expected) {
		t.Errorf("%s: the error is %v; expected damage of %q: %s", name, err, section, expected)
	}
}

func TestOpenRejectsForgedHeaders(t *testing.T) {
	le := binary.LittleEndian
	sound := fileOf(t, everything())
	entry := func(sec section) int { return offSectionTab + sectionEntry*int(sec) }
	for _, c := range []struct {
		name, section, expected string
		at                      int
		n                       uint32
	}{
		{"the same number of keys", "", "", offKeys, 9},
		{"fewer sections", "header", "14 sections", offSections, 13},
		{"more keys than the section has records", "keys", "12 records of 64 bytes", offKeys, 12},
		{"more recipes than recipetab has entries", "recipetab", "5 entries of 8 bytes", offRecipes, 4},
		{"fewer recipes than recipetab has entries", "recipetab", "3 entries of 8 bytes", offRecipes, 2},
		{"more levels than section meta has", "meta", "layers, dimensions and levels", offLevels, 5},
		{"fewer levels than section meta has", "meta", "layers, dimensions and levels", offLevels, 3},
		{"a section that begins inside the header", "header", "section tables inside the file", entry(secTables), headerSize - 1},
		{"a section past the end", "header", "section seal inside the file", entry(secSeal), uint32(len(sound)) + 1},
		{"a section that ends past the end", "header", "section seal inside the file", entry(secSeal) + 8, 65},
		{"a section that ends with the file", "", "", entry(secSeal) + 8, 64},
	} {
		b := bytes.Clone(sound)
		le.PutUint32(b[c.at:], c.n)
		_, err := OpenBytes(resum(b))
		damagedAs(t, c.name, err, c.section, c.expected)
	}
	b := append(bytes.Clone(sound), 0)
	_, err := OpenBytes(b)
	damagedAs(t, "a byte past the end", err, "header", "the size of the file, 3137 bytes")
	b = bytes.Clone(sound)
	b[offHeaderSum-1]++
	_, err = OpenBytes(b)
	damagedAs(t, "a reserved byte", err, "header", "the header to match its checksum")
	_, err = OpenBytes(sound[:headerSize-1])
	damagedAs(t, "half a header", err, "header", "a header of 512 bytes")
	le.PutUint64(sound[entry(secMeta)+16:], 0)
	le.PutUint64(sound[offHeaderSum:], xxhash.Sum64(sound[:offHeaderSum]))
	_, err = OpenBytes(sound)
	damagedAs(t, "another checksum of meta", err, "meta", "the section to match its checksum")
}

// Verify rejects dimensions that share one long value, because their strings are longer in total than the section.
func TestVerifyRejectsOverlappingDictionaries(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
		Levels: []Level{{Dimensions: []int{0}, Scopes: []Scope{{Values: []string{strings.Repeat("v", 10_000)}}}}}}
	of := func(c Content, copies int) *Snapshot {
		return forged(t, &c, func(w *writer) {
			levels := bytes.Clone(w.out[secMeta][len(w.out[secMeta])-8*len(c.Levels):]) // 8 bytes per level
			for range copies {
				w.c.Dimensions, w.dicts = append(w.c.Dimensions, w.c.Dimensions[0]), append(w.dicts, w.dicts[0])
			}
			w.meta(levels)
		})
	}
	refuses(t, "many dictionaries that overlap", of(*c, 100), "dicts", "items that do not overlap")
	refuses(t, "two dictionaries that overlap", of(*c, 1), "dicts", "items that do not overlap")
	c.Levels = nil
	refuses(t, "dictionaries of no value that overlap", of(*c, 3), "dicts", "items that do not overlap")
}

// The error for an invalid recipe contains its offset.
func TestVerifyReportsInvalidRecipe(t *testing.T) {
	s := open(t, everything())
	for text, at := range map[string]int{"sealed recipe": 0, "recipe": 13, "contributions": 19} {
		err := s.Verify(func(encoded string) (contributes, alone bool, err error) {
			if encoded == text {
				return false, false, errors.New("none")
			}
			return anyRecipe(encoded)
		})
		want := fmt.Sprintf("snapshot damaged: section recipes, offset %d: expected a recipe: none", at)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
	hidden := open(t, hiddenPair())
	err := hidden.Verify(func(string) (contributes, alone bool, err error) { return false, false, errors.New("none") })
	damagedAs(t, "a hidden recipe that is invalid", err, "origins", "bindings of keys, in order")
	if err == nil {
		t.Error("a hidden invalid recipe is accepted")
	}
}

// A file with several problems is rejected for the first one.
func TestVerifyReportsFirstProblem(t *testing.T) {
	block := func(n int, was, is string) func(w *writer) {
		return reblocked(func(blocks []coldRaw) []coldRaw {
			if !strings.Contains(blocks[n].raw, was) {
				t.Fatalf("block %d is not as expected: %x", n, blocks[n].raw)
			}
			blocks[n].raw = strings.Replace(blocks[n].raw, was, is, 1)
			return blocks
		})
	}
	for _, c := range []struct {
		name, want string
		forge      func(w *writer)
	}{
		{"a scope that does not exist, and a truncated one", "the origins of scopes",
			block(0, "\x01\x01\x04\x01\x02\x03\x01\x01\x04\x01\x03\x03", "\x02\x01\x04\x01\x02\x03\x01\x01\x04\x01\x03")},
		{"an input that does not exist, and an extra key", "bindings of keys", func(w *writer) {
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
		{"no block of keys", "the origins of all scopes and keys",
			reblocked(func(blocks []coldRaw) []coldRaw { return blocks[:4] })},
		{"a block of a level that does not exist", "a level", reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[3].level = 4
			return blocks
		})},
		{"a block without keys", "bindings of keys, in order", func(w *writer) {
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
