package snapshot

import (
	"bufio"
	"encoding/binary"
	flags "flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testmode"
	"bindc/internal/value"
)

// wide is a small site with everything a file can hold: more than 64 levels, long keys, block values and recipes.
func wide() *Content {
	c := &Content{
		Layers: []string{"site"},
		Dimensions: []Dimension{{Name: "node", Category: -1, Program: []byte("p")},
			{Name: "node.os", Guard: true, Category: 0}},
		Keys: []Key{{Name: "a", Default: 0}, {Name: strings.Repeat("b", 60), Default: 1},
			{Name: "c", Default: 2}, {Name: "d", Default: -1}},
		Values: append(stored(value.FromString("default"), value.FromString(strings.Repeat("large ", 200))),
			Stored{Computed: true, Bytes: "r"}),
		Inputs: []Input{{Path: "data/common.yaml", Size: 7}},
	}
	for i := range 70 {
		c.Levels = append(c.Levels, Level{Dimensions: []int{0, 1},
			Scopes: []Scope{{Values: []string{fmt.Sprintf("n%d", i), "linux"}, Entries: []Entry{{uint32(i % 4), 0}}}}})
	}
	return c
}

func quoted(encoded string) string { return fmt.Sprintf("%q", encoded) }

func quotedRecipe(encoded string) (string, bool) { return quoted(encoded), false }

func TestDumpExplainsEveryByte(t *testing.T) {
	for _, c := range []*Content{{}, fleet(3), fleet(100), wide(), small(), manyLevels(), oneMask()} {
		var out strings.Builder
		if err := open(t, c).Dump(&out, quotedRecipe, quoted); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			for _, bad := range []string{"damaged", "unreferenced", "no such", "unused table"} {
				if strings.Contains(line, bad) {
					t.Errorf("a sound file of %d keys: %s", len(c.Keys), line)
				}
			}
		}
	}
}

func TestDumpOfDamagedFilesTerminates(t *testing.T) {
	testmode.SkipUnderRace(t)
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, wide()); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := 5
	if !testmode.Thorough() {
		step = 37
	}
	for at := headerSize; at < len(sound); at += step {
		flip := byte(1) << (at % 8)
		sound[at] ^= flip
		if s, err := OpenBytes(sound); err == nil {
			if err := s.Dump(io.Discard, quotedRecipe, quoted); err != nil {
				t.Fatal(err)
			}
		}
		sound[at] ^= flip
	}
}

var update = flags.Bool("update", false, "overwrite the golden files")

// everything returns a minimal site that contains each kind of item once.
func everything() *Content {
	recipe := func(text string) Stored { return Stored{Computed: true, Bytes: text} }
	c := &Content{
		Layers: []string{"site", "modules"},
		Dimensions: []Dimension{{Name: "node", Category: -1, Program: []byte("p")},
			{Name: "path", Category: -1, Exact: true, Program: []byte("qq")},
			{Name: "node.os", Guard: true, Category: 0}},
		Keys: []Key{{Name: "", Default: 0}, {Name: "\x00m", Default: -1}, {Name: "a", Default: 1},
			{Name: "array", Default: 2}, {Name: "encrypted", Default: 9}, {Name: "large", Default: 3},
			{Name: "larger", Default: 4}, {Name: strings.Repeat("long", 12), Default: 5},
			{Name: strings.Repeat("text", 11) + "end", Default: 6}},
		Values: append(stored(value.Value{}, value.FromInt(-1<<27-1), value.Strings("x", "y"),
			value.FromString(strings.Repeat("large", 110)), value.FromString(strings.Repeat("larger", 100)),
			value.TheDefault(), value.FromString(strings.Repeat("v", 90)), value.FromInt(7)),
			recipe("recipe"), recipe("sealed recipe"), recipe("contributions")),
		Inputs:   []Input{{"a.yaml", 3, 1}, {"data/b.yaml", 300, 1<<64 - 1}},
		Strict:   true,
		Bindings: 12,
		Seal:     []byte("a key, encrypted"),
	}
	narrow, wide := Level{Layer: 0, Entry: 1, Dimensions: []int{0}}, Level{Layer: 1, Entry: 300, Dimensions: []int{0}}
	for i := range 33 {
		of := Scope{Values: []string{fmt.Sprintf("n%02d", i)}}
		narrow.Scopes, wide.Scopes = append(narrow.Scopes, of), append(wide.Scopes, of)
	}
	narrow.Scopes[1].Entries = []Entry{{2, 7}, {7, 6}}
	narrow.Scopes[1].Origins = []Origin{{0, 5, 1}, {1, 6, 1}}
	narrow.Scopes[2].Entries = []Entry{{2, 8}}
	narrow.Scopes[2].Origins = []Origin{{1, 7, 2}}
	wide.Scopes[4].Entries = []Entry{{2, 3}, {3, 7}, {5, 6}}
	wide.Scopes[4].Origins = []Origin{{1, 8, 3}, {1, 8, 3}, {1, 8, 3}}
	c.Levels = []Level{
		{Layer: 0, Dimensions: []int{0, 1, 2}, Scopes: []Scope{
			{Values: []string{"n01", "Data", "linux"}, Entries: []Entry{{8, 8}}, Origins: []Origin{{0, 1, 2}}},
			{Values: []string{"n40", "Data", ""}, Entries: []Entry{{8, 7}}, Origins: []Origin{{0, 2, 2}}}}},
		narrow, wide,
		{Layer: 1, Scopes: []Scope{{Entries: []Entry{{1, 10}}, Origins: []Origin{{0, 9, 1}}}}},
	}
	c.Keys[1].Cold = []Cold{{Above: 4, Layer: 1, Origin: Origin{0, 9, 1}, Contribution: true}}
	c.Keys[2].Cold = []Cold{{Above: 3, Layer: 0, Origin: Origin{0, 3, 1}}, {Above: 3, Layer: 1,
		Terms: []Term{{0, "n01"}, {2, "linux"}}, Origin: Origin{1, 4, 5}, Value: 7},
		{Above: 4, Layer: 1, Origin: Origin{1, 5, 5}, Value: 8}}
	return c
}

// The golden file describes every byte. It was checked by hand against format.md.
func TestDumpMatchesGoldenFile(t *testing.T) {
	const golden = "testdata/everything.dump"
	var out strings.Builder
	secret := func(encoded string) (string, bool) { return quoted(encoded), strings.HasPrefix(encoded, "sealed") }
	s := open(t, everything())
	sound(t, s)
	if err := s.Dump(&out, secret, quoted); err != nil {
		t.Fatal(err)
	}
	got := strings.SplitAfter(out.String(), "\n")
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.SplitAfter(string(text), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s:%d: expected %q, found %q (if intended, run go test ./snapshot -run Dump -update)", golden,
				i+1, want[min(i, len(want)):min(i+1, len(want))], got[min(i, len(got)):min(i+1, len(got))])
		}
	}
}

// Larger sites have items that the golden file does not contain.
func TestDumpShowsItemsOfLargerSites(t *testing.T) {
	long := manyNodes(100)
	long.Dimensions[0].Name = strings.Repeat("x", maxText-1) + "ü" // one byte too long
	for i := range 22 {
		long.Levels[0].Scopes[1].Entries = append(long.Levels[0].Scopes[1].Entries[:i], Entry{uint32(i), 0})
		long.Levels[0].Scopes[1].Origins = append(long.Levels[0].Scopes[1].Origins, Origin{0, 3, uint32(i)})
	}
	for _, c := range []struct {
		content *Content
		lines   []string
	}{
		{oneMask(), []string{"exact mask: columns none\n"}},
		{wide(), []string{"exact mask: columns 0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68\n",
			"key 2: mask, columns 2 6 10 14 ", `  text of key 0: "bbbbb`,
			`level 69, node "n69", node.os "linux": table`}},
		{long, []string{`level 0, ` + strings.Repeat("x", maxText-1) + `.. "000099": table`, "place 4: 2 more\n",
			"place 4, entry 19: input 0, line 3, column ", "block 1: offset", "value 20: block 0, offset ",
			"block 1: a zstd frame of"}},
	} {
		var out strings.Builder
		if err := open(t, c.content).Dump(&out, quotedRecipe, quoted); err != nil {
			t.Fatal(err)
		}
		for _, line := range c.lines {
			if !strings.Contains(out.String(), line) {
				t.Errorf("the dump of %d keys does not contain %q", len(c.content.Keys), line)
			}
		}
	}
}

// A dump marks damage where it is and continues with the next section.
func TestDumpMarksDamage(t *testing.T) {
	le := binary.LittleEndian
	for _, c := range []struct {
		name, line string
		forge      func(w *writer)
	}{
		{"a byte that nothing refers to", "00000594  01" + strings.Repeat(" ", 47) + "unreferenced\n",
			func(w *writer) { w.out[secKeys] = append(w.out[secKeys], 1) }},
		{"a default that is not a cell", "default: cell 200002be: damaged\n",
			func(w *writer) { le.PutUint32(w.out[secKeys][recDefault:], 1<<28-1) }},
		{"a default that is not a value", "000002d6  0b 05 02 81 78 81 79 00 00 00 00 00 00 00 00 ..  unreferenced\n",
			func(w *writer) { w.out[secKeys][0x16] = 0x0b }},
		{"a value that begins inside another", "000002dd  damaged\n",
			func(w *writer) { le.PutUint32(w.out[secKeys][keyRecord+recDefault:], 12) }},
		{"a list out of bounds", "  list at 400002be\n",
			func(w *writer) { le.PutUint32(w.out[secKeys][2*keyRecord+recList:], 1<<30-2) }},
		{"a dictionary that begins inside another", "000006d2  damaged\n",
			func(w *writer) { w.dicts[1].at -= 4; w.meta(levelsOf(w)) }},
		{"a value that ends before it begins", "0000066c  damaged\n",
			func(w *writer) { w.out[secDicts][0x20] = 5 }},
		{"a slot with an unknown value number", `level 0, node "n01", path "no such value", node.os "linux": column 0`,
			func(w *writer) { w.out[secScopes][4] = 9 }},
		{"a slot whose value is damaged", `level 0, node "n01", path "no such value", node.os "linux": column 0`,
			func(w *writer) { w.out[secDicts][0x120] = 255 }},
		{"a table with an unknown key number", `key 9 "no such key"`, func(w *writer) { w.out[secTables][0x18] = 9 }},
		{"a table that no scope refers to", "00000958  00 00 00 00                                      unused table: 0 entries\n",
			func(w *writer) { w.out[secTables] = append(w.out[secTables], 0, 0, 0, 0) }},
		{"a truncated table", "00000958  damaged\n",
			func(w *writer) { w.out[secTables] = append(w.out[secTables], 1, 0, 0, 0, 1, 0) }},
		{"a block count that does not fit", "000009a4  damaged\n", func(w *writer) { w.out[secBlockTab][0] = 3 }},
		{"a block count that is one too large", "00000994  damaged\n", func(w *writer) {
			w.out[secBlockTab] = w.out[secBlockTab][:4+blockEntry+blockValueEntry]
			w.out[secBlockTab][0] = 2
		}},
		{"a truncated block count", "00000980  damaged\n", func(w *writer) { w.out[secBlockTab] = make([]byte, 3) }},
		{"a value that begins inside the previous one", "0000099c  damaged\n",
			func(w *writer) { le.PutUint32(w.out[secBlockTab][32:], 602) }},
		{"a value past the end of its block", "value 1: block 0, offset 1156: damaged\n",
			func(w *writer) { le.PutUint32(w.out[secBlockTab][32:], 1156) }},
		{"a value in a block that does not exist", "value 1: block 1, offset 0: damaged\n",
			func(w *writer) { copy(w.out[secBlockTab][28:], "\x01\x00\x00\x00\x00\x00\x00\x00") }},
		{"a block out of bounds", "000009c0  damaged\n", func(w *writer) { w.out[secBlockTab][4] = 1 }},
		{"a block without values", "  block 0: a zstd frame of 1156 bytes\n",
			func(w *writer) { w.out[secBlockTab] = w.out[secBlockTab][:4+blockEntry] }},
		{"a block without an entry", "000009e7  damaged\n", func(w *writer) {
			w.out[secBlockTab], w.out[secBlocks] = w.out[secBlockTab][:4+blockEntry], append(w.out[secBlocks], 0)
			w.out[secBlockTab][0] = 2
		}},
		{"a byte before the first recipe", "00000a40  73" + strings.Repeat(" ", 47) + "unreferenced\n",
			func(w *writer) { w.out[secRecipeTab][0] = 1 }},
		{"a first recipe that ends before it begins", "00000a40  damaged\n",
			func(w *writer) { w.out[secRecipeTab][0] = 14 }},
		{"a recipe out of bounds", "00000a40  damaged\n", func(w *writer) { w.out[secRecipeTab][8] = 33 }},
		{"a recipe that ends before it begins", "recipe 0: \"sealed recipe\"\n00000a4d  damaged\n",
			func(w *writer) { w.out[secRecipeTab][16] = 3 }},
		{"inputs that are not a zstd frame", "00000a80  damaged\n", func(w *writer) { w.out[secInputs][5] = 0 }},
		{"a block of origins out of bounds", "00000b40  damaged\n", func(w *writer) { w.out[secOriginTab][4] = 1 }},
		{"a block of origins that declares too many bytes", "00000b40  damaged\n",
			func(w *writer) { le.PutUint32(w.out[secOriginTab][12:], 1<<30) }},
		{"a block that declares too many bytes", "000009c0  damaged\n",
			func(w *writer) { le.PutUint32(w.out[secBlockTab][16:], 1<<30) }},
		{"bytes before the first directory", "00000740  01 00 00 00" + strings.Repeat(" ", 38) + "unreferenced\n",
			func(w *writer) {
				w.out[secTables], w.cold = nil, coldWriter{}
				w.out[secScopes] = []byte{1, 0, 0, 0}
				w.meta(w.directories())
			}},
		{"a block of origins that comes before another", "00000b59  damaged\n",
			func(w *writer) { w.out[secOriginTab][coldEntry] = 0 }},
		{"a block of origins with two entries", "00000b59  damaged\n",
			func(w *writer) { copy(w.out[secOriginTab][coldEntry:][:16], w.out[secOriginTab]) }},
		{"a truncated entry of a block of origins", "00000b38  damaged\n",
			func(w *writer) { w.out[secOriginTab] = append(w.out[secOriginTab], 0, 0, 0, 0) }},
	} {
		var out strings.Builder
		if err := forged(t, everything(), c.forge).Dump(&out, quotedRecipe, quoted); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.line) {
			t.Errorf("%s: the dump does not contain %q", c.name, c.line)
		}
		if strings.Contains(out.String(), "a zstd frame of 0 bytes") {
			t.Errorf("%s: the dump shows a frame that does not exist", c.name)
		}
		if !strings.HasSuffix(out.String(), "  encrypted key of the sealed recipes\n") {
			t.Errorf("%s: the dump ends before the last section", c.name)
		}
	}
}

// After a damaged table, Dump recognizes neither tables nor the values that they refer to.
func TestDumpRecognizesNoTablesAfterDamage(t *testing.T) {
	c := manyNodes(100)
	for i := range c.Keys {
		c.Keys[i].Default = -1
		c.Values[i] = stored(value.FromString(fmt.Sprintf("the text of node %02d, in a cell of its own", i)))[0]
	}
	dump := func(forge func(w *writer)) string {
		var out strings.Builder
		if err := forged(t, c, forge).Dump(&out, quotedRecipe, quoted); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const of = "String \"the text of node 50,"
	if !strings.Contains(dump(func(*writer) {}), of) {
		t.Error("the cell of a table is not shown")
	}
	if strings.Contains(dump(func(w *writer) { w.out[secTables][2] = 1 }), of) {
		t.Error("the cell of a table after a damaged one is shown")
	}
	empty := func(w *writer) { copy(w.out[secTables], "\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00") }
	if strings.Contains(dump(empty), of) {
		t.Error("the cell of a table after a damaged one and two empty ones is shown")
	}
}

// A dump of a damaged block of origins shows the records before the damage and then stops.
func TestDumpStopsAtDamagedOrigins(t *testing.T) {
	for name, c := range map[string]struct {
		last, unsaid string // the last line shown, and a string that must not follow
		change       func(blocks []coldRaw)
	}{
		"a truncated scope": {"place 1, entry 0 of key 4: input 0, line 1, column 2", "place 2, ",
			func(blocks []coldRaw) { blocks[0].raw = blocks[0].raw[:len(blocks[0].raw)-1] }},
		"a binding of an unknown kind": {"key 6: contribution, below 4 levels", "  key 8: ",
			func(blocks []coldRaw) {
				blocks[4].raw = strings.Replace(blocks[4].raw, "\x03\x00\x03\x00", "\x03\x03\x03\x00", 1)
			}},
	} {
		var out strings.Builder
		s := forged(t, everything(), reblocked(func(blocks []coldRaw) []coldRaw { c.change(blocks); return blocks }))
		if err := s.Dump(&out, quotedRecipe, quoted); err != nil {
			t.Fatal(err)
		}
		_, origins, _ := strings.Cut(out.String(), "\nsection origins,")
		origins, _, _ = strings.Cut(origins, "\n\nsection ")
		lines := strings.Split(origins, "\n")
		if !strings.HasSuffix(origins, "  damaged") || !strings.Contains(lines[len(lines)-2], c.last) ||
			strings.Contains(origins, c.unsaid) {
			t.Errorf("%s: the section is shown as%s", name, origins)
		}
	}
}

// Numbers after the last one of a dictionary are no values, even if the bytes that follow look like one.
func TestDumpRejectsValueNumbersOutOfRange(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}, {Name: "e", Category: -1}},
		Levels: []Level{{Dimensions: []int{0}, Scopes: []Scope{{Values: []string{"\x08\x00\x00\x00"}}}}}}
	d := &dumper{Snapshot: open(t, c)}
	for n, want := range []string{"\x08\x00\x00\x00", "no such value", "no such value"} {
		if got := d.dictValue(0, uint32(n)); got != want {
			t.Errorf("value %d is %q, expected %q", n, got, want)
		}
	}
}

// A block without a valid value is shown as damaged.
func TestDumpMarksBlockWithoutValue(t *testing.T) {
	c := &Content{Keys: []Key{{Name: "k", Default: 0}}, Values: stored(value.FromString(strings.Repeat("\x0b", 600)))}
	var out strings.Builder
	s := forged(t, c, func(w *writer) { w.out[secBlockTab][24] = 10 })
	if err := s.Dump(&out, quotedRecipe, quoted); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "value 0: block 0, offset 10: damaged\n") {
		t.Error("the dump shows it as a value")
	}
}

// In a site with more keys than 16 bits can number, key numbers in tables take four bytes.
func TestDumpShowsFourByteKeyNumbers(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "d", Category: -1}},
		Values: stored(value.FromInt(1)), Levels: []Level{{Dimensions: []int{0}}}}
	for i := range maxShortKeys + 1 {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("%05x", i), Default: -1})
	}
	for i := range maxColumns + 1 {
		c.Levels[0].Scopes = append(c.Levels[0].Scopes, Scope{Values: []string{fmt.Sprint(i)},
			Entries: []Entry{{uint32(i), 0}, {maxShortKeys, 0}}})
	}
	var out strings.Builder
	d := &dumper{Snapshot: open(t, c), out: bufio.NewWriter(&out)}
	d.section(secTables, d.scopeTables)
	d.out.Flush()
	got := out.String()
	if n := strings.Count(got, "2 entries\n"); n != maxColumns+1 || strings.Contains(got, "damaged") ||
		strings.Contains(got, "unreferenced") || strings.Count(got, " \"10000\"\n") != n {
		t.Errorf("%d tables are shown as %.400s", n, got)
	}
}

// levelsOf returns the levels in the encoding of section meta.
func levelsOf(w *writer) []byte {
	w.out[secScopes], w.out[secTables], w.cold = nil, nil, coldWriter{}
	return w.directories()
}

func TestDumpReturnsWriteError(t *testing.T) {
	if err := open(t, everything()).Dump(failing{}, quotedRecipe, quoted); err != io.ErrShortWrite {
		t.Errorf("Dump returns %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A string is shown in full up to a limit. A longer one is cut, but not within a character.
func TestDumpTruncatesLongStrings(t *testing.T) {
	all := strings.Repeat("x", maxText)
	for text, want := range map[string]string{all: all, all + "y": all + "..", all[1:] + "ü": all[1:] + ".."} {
		if got := cut(text); got != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}

// A dump does not read past the end of a file that ends with a section.
func TestDumpStopsAtEndOfFile(t *testing.T) {
	sound := fileOf(t, everything())
	for sec := range sectionCount {
		for _, length := range []int{0, 1, 3, 4, 7, 11, 15, 23, 63} {
			b := slices.Clone(sound)
			entry := b[offSectionTab+sectionEntry*int(sec):]
			binary.LittleEndian.PutUint64(entry, uint64(len(b)-length))
			binary.LittleEndian.PutUint64(entry[8:], uint64(length))
			s, err := OpenBytes(resum(b))
			if err != nil {
				continue // Open checks the section
			}
			if err := s.Dump(io.Discard, quotedRecipe, quoted); err != nil {
				t.Errorf("section %s of %d bytes: %v", sec, length, err)
			}
		}
	}
}

// A value in an earlier block than the previous value is damage, and the block is not decoded again.
func TestDumpMarksValuesOutOfOrder(t *testing.T) {
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

// Blocks that overlap are damage from the second one on, and later blocks are not shown.
func TestDumpMarksOverlappingBlocks(t *testing.T) {
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
