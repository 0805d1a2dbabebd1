package snapshot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/testmode"
	"bindc/internal/value"
)

// Open or Verify rejects every truncation and every changed byte, and no lookup in such a file panics.
func TestOpenOrVerifyRejectsEveryDamagedByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, fleet(3)); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(path)
	for n := 0; n < len(whole); n += 1 + n/200 {
		if _, err := OpenBytes(whole[:n]); err == nil {
			t.Fatalf("a file truncated to %d of %d bytes opens", n, len(whole))
		}
	}
	for i := 0; i < len(whole); i += 1 + i/300 {
		damaged := slices.Clone(whole)
		damaged[i] ^= 0x41
		s, err := OpenBytes(damaged)
		if err != nil {
			continue
		}
		exercise(s)
		if err := s.Verify(anyRecipe); err == nil {
			t.Fatalf("Verify accepts a changed byte %d", i)
		}
	}
}

// exercise looks up every key. It must not panic or hang.
func exercise(s *Snapshot) {
	for _, node := range []string{"", "node1"} {
		at := scopes(s, node, "production")
		for _, key := range []string{"key0000", "key0001", "key0002", "zz::hot", "absent", strings.Repeat("z", 300)} {
			if ref, ok, err := s.Find(key, at); ok && err == nil {
				s.Value(ref)
			}
		}
	}
}

// small is a site with a few keys and one of each item that a file with at most 64 columns can contain.
func small() *Content {
	c := &Content{
		Layers: []string{"l"},
		Dimensions: []Dimension{{Name: "node", Category: -1, Program: []byte("p")},
			{Name: "env", Category: -1, Exact: true}, {Name: "g", Guard: true, Category: 1}},
		Keys: []Key{{Name: "\x00m", Default: -1}, {Name: "a", Default: 0}, {Name: "of_the_usual_length", Default: 1},
			{Name: "of_the_usual_length_too", Default: 4},
			{Name: strings.Repeat("z", 50), Default: 2}},
		Values: append(stored(value.FromString("default"), value.Strings("x", "y"),
			value.FromString(strings.Repeat("large ", 100)), value.FromInt(7)), Stored{Computed: true, Bytes: "recipe"},
			Stored{Computed: true, Bytes: "contributions"}),
		Inputs: []Input{{Path: "a.yaml", Size: 3}},
	}
	nodes := Level{Dimensions: []int{0}}
	for i := range maxColumns {
		nodes.Scopes = append(nodes.Scopes, Scope{Values: []string{fmt.Sprintf("n%02d", i)},
			Entries: []Entry{bind(i % 5)}})
	}
	env := Level{Dimensions: []int{1}, Scopes: []Scope{{Values: []string{"a"}, Entries: []Entry{{0, 5}, {2, 3}}},
		{Values: []string{"b"}, Entries: []Entry{{2, 0}}}}}
	both := Level{Dimensions: []int{0, 1}, Scopes: []Scope{{Values: []string{"n01", "a"},
		Entries: []Entry{{1, 1}, {4, 0}}}}}
	c.Levels = []Level{both, nodes, env, {Entry: 3, Scopes: []Scope{{Entries: []Entry{{3, 1}}}}}}
	c.Keys[1].Cold = []Cold{{Above: 4, Origin: Origin{0, 1, 1}}, {Above: 4, Terms: []Term{{1, "c"}}, Value: 4}}
	return c
}

// bind binds a key of small to the value with the same number, except for the internal key.
func bind(key int) Entry {
	if key == 0 {
		return Entry{0, 5} // an internal key
	}
	return Entry{uint32(key), uint32(key)}
}

// manyLevels is small with more than 64 columns.
func manyLevels() *Content {
	c := small()
	for range maxColumns {
		c.Levels = append(c.Levels, c.Levels[0])
	}
	c.Levels[1].Scopes = c.Levels[1].Scopes[:2]
	return c
}

// After a byte is changed and the checksums are corrected, lookups neither panic nor hang.
func TestForgedBytesAreHarmless(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	const dumped = 7 // every seventh file is dumped, because a dump takes fifty times as long as the rest
	step := 1
	if !testmode.Thorough() {
		step = 17
	}
	for _, c := range []*Content{small(), manyLevels()} {
		sound := fileOf(t, c)
		for i := 0; i < len(sound); i += step {
			flip := byte(1) << (i * 5 % 8)
			sound[i] ^= flip
			s := harmless(t, resum(sound))
			if s != nil && i%dumped == 0 {
				s.Dump(io.Discard, quotedRecipe, quoted)
			}
			sound[i] ^= flip
			if t.Failed() {
				t.Fatalf("byte %d changed", i)
			}
		}
	}
}

// With -fuzzminimizetime 50x this runs thousands of executions per second. Without it, minimizing each input takes a
// minute.
func FuzzOpen(f *testing.F) {
	f.Add(fileOf(f, small()))
	f.Add(fileOf(f, manyLevels()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s := harmless(t, resum(b)); s != nil {
			s.Dump(io.Discard, quotedRecipe, quoted)
		}
	})
}

// harmless checks that lookups in a file never panic or hang and only fail with a DamageError. If Verify accepts the
// file, no lookup may fail. It returns the snapshot, or nil if it does not open.
func harmless(t *testing.T, file []byte) *Snapshot {
	t.Helper()
	s, err := OpenBytes(file)
	if err != nil {
		return nil
	}
	sound := s.Verify(anyRecipe) == nil
	var damage *DamageError
	check := func(err error) {
		if err != nil && (sound || !errors.As(err, &damage)) {
			t.Errorf("sound is %t, and a lookup fails: %v", sound, err)
		}
	}
	names := append(slices.Collect(s.Keys()), "\x00m", "absent", "absent_but_of_the_usual_length")
	var at Scopes
	for _, values := range [][]string{{}, {"n01", "a", "a"}, {"n02", "b"}, {"other", "a"}} {
		numbers := make([]uint32, len(s.Dimensions()))
		for i := range numbers {
			numbers[i] = None
			if i < len(values) {
				numbers[i] = s.ValueNumber(i, values[i])
			}
		}
		check(s.Resolve(numbers, &at))
		for _, name := range names[max(0, len(names)-20):] {
			ref, ok, err := s.Find(name, &at)
			check(err)
			if ok {
				check(constant(s, ref))
			}
			for c, err := range s.Candidates(name, numbers, &at) {
				check(err)
				if err == nil && !c.Hidden {
					check(constant(s, c.Ref))
				}
				if err == nil {
					_, err = s.Binding(name, c)
					check(err)
				}
			}
		}
	}
	check(s.Survey(func(b Bound) error { return nil }))
	_, err = s.Depths()
	check(err)
	book, err := s.AllBindings()
	check(err)
	for _, name := range names[max(0, len(names)-5):] {
		_, err := s.Bindings(name)
		check(err)
		if book != nil {
			_, err = book.Bindings(name)
			check(err)
		}
	}
	return s
}

// constant reads the value or the recipe that ref refers to.
func constant(s *Snapshot, ref Ref) error {
	if n, ok := ref.Recipe(); ok {
		_, err := s.Recipe(n)
		return err
	}
	v, err := s.Value(ref)
	if err == nil && !value.Sound(v) {
		err = &DamageError{}
	}
	return err
}

// resum corrects the checksums and the size in b, so that a fuzzer gets past them.
func resum(b []byte) []byte {
	if len(b) < headerSize {
		return b
	}
	b = slices.Clone(b)
	le := binary.LittleEndian
	le.PutUint64(b[offSize:], uint64(len(b)))
	for i := range sectionCount {
		entry := b[offSectionTab+sectionEntry*int(i):]
		if off, length := le.Uint64(entry), le.Uint64(entry[8:]); off <= uint64(len(b)) &&
			length <= uint64(len(b))-off {
			le.PutUint64(entry[16:], xxhash.Sum64(b[off:][:length]))
		}
	}
	digest := sha256.Sum256(b[headerSize:])
	copy(b[offDigest:], digest[:])
	le.PutUint64(b[offHeaderSum:], xxhash.Sum64(b[:offHeaderSum]))
	return b
}

// Parts of a forged file can overlap, and Verify could then read the same bytes for hours. It stops once the parts it
// has read are longer in total than the section.
func TestVerifyWorkIsBoundedByFileSize(t *testing.T) {
	testmode.SkipUnderRace(t)
	const many = 20_000
	level := func(w *writer) []byte { // in section meta: seven one-byte numbers, and the slots, which take three bytes
		return bytes.Clone(w.out[secMeta][len(w.out[secMeta])-10:])
	}
	for _, c := range []struct {
		name, section string
		forge         func(w *writer)
	}{
		{"levels that share a directory", "scopes", func(w *writer) {
			for range maxColumns - 1 {
				w.c.Levels = append(w.c.Levels, w.c.Levels[0])
				w.out[secMeta] = append(w.out[secMeta], level(w)...)
			}
		}},
		{"dimensions that share a dictionary", "dicts", func(w *writer) {
			for range many {
				w.c.Dimensions, w.dicts = append(w.c.Dimensions, w.c.Dimensions[0]), append(w.dicts, w.dicts[0])
			}
			w.meta(level(w))
		}},
		{"scopes that share a table", "tables", func(w *writer) {
			all := Scope{Entries: allKeys(w.c)}
			big := w.table(all, w.inOrder(all)) + 1
			for at := 0; at < len(w.out[secScopes]); at += 4 {
				binary.LittleEndian.PutUint32(w.out[secScopes][at:], big)
			}
			for at := 0; at < keyRecord*len(w.c.Keys); at += keyRecord {
				w.out[secKeys][at] = 1
			}
		}},
		{"blocks that share a frame", "blocks", func(w *writer) {
			tab := w.out[secBlockTab]
			n := int(binary.LittleEndian.Uint32(tab))
			w.out[secBlocks] = w.out[secBlocks][:binary.LittleEndian.Uint32(tab[12:])]
			for i := range n {
				copy(tab[4+blockEntry*i:], tab[4:4+blockEntry])
				value := tab[4+blockEntry*n+blockValueEntry*i:]
				binary.LittleEndian.PutUint32(value, uint32(i))
				binary.LittleEndian.PutUint32(value[4:], 0)
			}
		}},
		{"values that alternate between two blocks", "blocktab", func(w *writer) {
			tab := w.out[secBlockTab]
			first := 4 + blockEntry*int(binary.LittleEndian.Uint32(tab))
			for i, at := 0, first; at < len(tab); i, at = i+1, at+blockValueEntry {
				binary.LittleEndian.PutUint32(tab[at:], uint32(i%2))
				binary.LittleEndian.PutUint32(tab[at+4:], 0)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWriter(manyNodes(many), 1)
			if err := cmp.Or(w.index(), w.store()); err != nil {
				t.Fatal(err)
			}
			c.forge(w)
			s, err := OpenBytes(w.file())
			if err != nil {
				t.Fatal(err)
			}
			var damage *DamageError
			if err := s.Verify(anyRecipe); !errors.As(err, &damage) || damage.Section != c.section {
				t.Errorf("Verify returned %v", err)
			}
		})
	}
}

// hollow is a zstd frame that claims half a gigabyte and contains nothing.
const hollow = "\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x20\x00\x00\x00\x00\x01\x00\x00"

// The decoder does not allocate memory for the size that a frame declares.
func TestDecoderIgnoresDeclaredFrameSize(t *testing.T) {
	for name, forge := range map[string]func(w *writer){
		"the frame of a block": func(w *writer) {
			w.out[secBlocks] = []byte(hollow)
			binary.LittleEndian.PutUint32(w.out[secBlockTab][12:], uint32(len(hollow)))
		},
		"the frame of a block and its length": func(w *writer) {
			w.out[secBlocks] = []byte(hollow)
			binary.LittleEndian.PutUint32(w.out[secBlockTab][12:], uint32(len(hollow)))
			binary.LittleEndian.PutUint32(w.out[secBlockTab][16:], uint32(len(hollow)*maxExpansion))
		},
		"a second frame": func(w *writer) {
			w.out[secBlocks] = append(w.out[secBlocks], hollow...)
			binary.LittleEndian.PutUint32(w.out[secBlockTab][12:], uint32(len(w.out[secBlocks])))
		},
		"the frame of the inputs": func(w *writer) {
			head := binary.LittleEndian.AppendUint32(nil, uint32(len(hollow)*maxExpansion))
			w.out[secInputs] = append(head, hollow...)
		},
		"a frame after that of the inputs": func(w *writer) { w.out[secInputs] = append(w.out[secInputs], hollow...) },
	} {
		t.Run(name, func(t *testing.T) {
			c := manyNodes(1)
			c.Inputs = []Input{{Path: "a.yaml"}}
			w := newWriter(c, 1)
			if err := cmp.Or(w.index(), w.store()); err != nil {
				t.Fatal(err)
			}
			forge(w)
			s, err := OpenBytes(w.file())
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var damage *DamageError
			if err := s.Verify(anyRecipe); !errors.As(err, &damage) {
				t.Errorf("Verify returned %v", err)
			}
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
				t.Errorf("Verify allocates %d bytes", got)
			}
		})
	}
}

// In a site with this many columns all keys share one empty mask. Here each key has a separate mask, which begins one
// word after the previous one.
func TestVerifyRejectsOverlappingMasks(t *testing.T) {
	testmode.SkipUnderRace(t)
	for keys, levels := range map[int]int{5000: 30_000, 50: 640} {
		c := manyNodes(keys)
		for range levels {
			c.Levels = append(c.Levels, Level{Dimensions: []int{0}})
		}
		c.Levels[0].Scopes = nil
		s := forged(t, c, func(w *writer) {
			first := len(w.out[secKeys])
			for i := range c.Keys {
				binary.LittleEndian.PutUint32(w.out[secKeys][keyRecord*i+recList:], uint32(first+8*i))
			}
			w.out[secKeys] = append(w.out[secKeys], make([]byte, 8*(w.words+len(c.Keys)))...)
		})
		if err := s.Verify(anyRecipe); err == nil || !strings.Contains(err.Error(), "do not overlap") {
			t.Errorf("%d keys: Verify returned %v", keys, err)
		}
	}
}

// The long keys are overlapping parts of one text, and each has the number that its hash leads to.
func TestVerifyRejectsOverlappingLongKeys(t *testing.T) {
	const length, keys = 20_000, 1000
	var text strings.Builder
	for i := 0; text.Len() < length+cellUnit*keys; i++ {
		fmt.Fprint(&text, i, " ")
	}
	c := &Content{Layers: []string{"l"}}
	for i := range keys {
		c.Keys = append(c.Keys, Key{Name: text.String()[cellUnit*i:][:length], Default: -1})
	}
	w := newWriter(c, 1)
	if err := w.index(); err != nil {
		t.Fatal(err)
	}
	for i := range c.Keys {
		c.Keys[i].Name = ""
	}
	if err := w.store(); err != nil {
		t.Fatal(err)
	}
	records := w.out[secKeys]
	for i, n := range w.numbers {
		r := records[keyRecord*int(n):]
		r[recLength] = longKey
		binary.LittleEndian.PutUint32(r[recLongLen:], length)
		binary.LittleEndian.PutUint32(r[recLongCell:], uint32(len(records)/cellUnit+i))
	}
	w.out[secKeys] = append(records, text.String()...)
	s, err := OpenBytes(w.file())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.keyNumber(text.String()[10*cellUnit:][:length]); !ok {
		t.Fatal("the file is not as expected")
	}
	if err := s.Verify(anyRecipe); err == nil || !strings.Contains(err.Error(), "do not overlap") {
		t.Errorf("Verify returned %v", err)
	}
}

// Find does not find a short key that is stored as a long one, so Verify must reject such a record.
func TestVerifyRejectsShortKeyInLongRecord(t *testing.T) {
	for _, key := range []string{"of_the_usual_length", strings.Repeat("k", maxInlineKey)} {
		s := forged(t, &Content{Layers: []string{"l"}, Keys: []Key{{Name: key, Default: -1}}}, func(w *writer) {
			record := w.out[secKeys]
			record[recLength] = longKey
			binary.LittleEndian.PutUint32(record[recLongLen:], uint32(len(key)))
			binary.LittleEndian.PutUint32(record[recLongCell:], keyRecord/cellUnit)
			w.out[secKeys] = append(record, key...)
		})
		absent(t, s, key)
		if err := s.Verify(anyRecipe); err == nil {
			t.Errorf("Verify accepts a key of %d bytes", len(key))
		}
	}
}

func allKeys(c *Content) (out []Entry) {
	for i := range c.Keys {
		out = append(out, Entry{Key: uint32(i)})
	}
	return out
}

// manyNodes is a site of n keys, n nodes that bind one key each, and n large values.
func manyNodes(n int) *Content {
	c := &Content{Layers: []string{"l"}, Dimensions: []Dimension{{Name: "node", Category: -1}},
		Levels: []Level{{Dimensions: []int{0}}}}
	for i := range n {
		text := fmt.Sprintf("%06d", i)
		c.Keys = append(c.Keys, Key{Name: text, Default: i})
		c.Values = append(c.Values, stored(value.FromString(strings.Repeat(text, blockFrom/4)))...)
		c.Levels[0].Scopes = append(c.Levels[0].Scopes, Scope{Values: []string{text},
			Entries: []Entry{{uint32(i), uint32(i)}}})
	}
	return c
}
