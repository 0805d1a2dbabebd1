package snapshot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testmode"
	"bindc/internal/value"
)

// The version is checked before anything else, and the error says how to fix it.
func TestOpenRejectsOtherVersionsAndUnknownFeatures(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"version 2, this program reads 3": func(b []byte) { b[offVersion] = 2 },
		"features 0x80":                   func(b []byte) { b[offFeatures] = 0x80 },
	} {
		b := fileOf(t, small())
		change(b)
		_, err := OpenBytes(resum(b))
		if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), "build it again") {
			t.Errorf("%s: Open returned %v", name, err)
		}
	}
}

// forged returns a snapshot of c whose sections were changed before the checksums were computed.
func forged(t *testing.T, c *Content, forge func(w *writer)) *Snapshot {
	t.Helper()
	w := newWriter(c, 1)
	if err := cmp.Or(w.index(), w.store()); err != nil {
		t.Fatal(err)
	}
	forge(w)
	s, err := OpenBytes(w.file())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Verify rejects these files, because lookups in them report damage.
func TestVerifyRejectsInvalidContributions(t *testing.T) {
	constant := stored(value.FromInt(1))[0]
	contributions := Stored{Computed: true, Bytes: "contributions"}
	unconditional := Level{Scopes: []Scope{{Entries: []Entry{{0, 0}}}}}
	for _, c := range []struct {
		name, key, section string
		value              Stored
		inDefault          bool
	}{
		{"a multibinding with a constant", "\x00m", "keys", constant, false},
		{"a multibinding with another recipe", "\x00m", "keys", Stored{Computed: true, Bytes: "lookup"}, false},
		{"contributions as the default of another key", "k", "keys", contributions, true},
		{"contributions in a scope of another key", "k", "keys", contributions, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := &Content{Layers: []string{"l"}, Keys: []Key{{Name: c.key, Default: -1}},
				Values: []Stored{c.value}}
			if c.inDefault {
				content.Keys[0].Default = 0
			} else {
				content.Levels = []Level{unconditional}
			}
			s, err := OpenBytes(fileOf(t, content))
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

// The bit listHidden of a key and its record in section origins must agree. Otherwise a candidate could be missing
// without an error.
func TestVerifyChecksHiddenBitOfKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		cold []Cold
	}{
		{"the bit is set without a hidden candidate", nil},
		{"the bit is not set despite a hidden candidate", []Cold{{}, {Value: 0}}},
	} {
		content := &Content{Layers: []string{"l"}, Values: stored(value.FromInt(1)),
			Inputs: []Input{{Path: "a"}}, Keys: []Key{{Name: "k", Cold: c.cold}}}
		s := forged(t, content, func(w *writer) { w.out[secKeys][recList] ^= listHidden })
		if err := s.Verify(anyRecipe); err == nil || !strings.Contains(err.Error(), "bindings of keys") {
			t.Errorf("%s: Verify returned %v", c.name, err)
		}
	}
}

func TestMissingOriginsReportDamage(t *testing.T) {
	s := forged(t, small(), func(w *writer) { w.out[secOriginTab] = nil })
	for key := range s.Keys() {
		if _, err := s.Bindings(key); !errors.As(err, new(*DamageError)) {
			t.Errorf("bindings of %q: %v", key, err)
		}
	}
	at := scopes(s, "n01", "a")
	for _, err := range s.Candidates("a", numbers(s, []string{"n01", "a"}), at) {
		if err == nil {
			t.Error("a key with hidden candidates has some without a block")
		}
	}
}

// The loop may end before the reader finds damage in the block that it has decoded.
func TestAllRecipesStopsWithLoopDespiteDamage(t *testing.T) {
	content := &Content{Layers: []string{"l"}, Values: []Stored{{Computed: true, Bytes: "recipe"}},
		Inputs: []Input{{Path: "a"}}, Keys: []Key{{Name: "k", Cold: []Cold{{}, {Value: 0}}}}}
	s := forged(t, content, func(w *writer) {
		entry := w.out[secOriginTab]
		packed, length, _ := frameOf(string(entry), string(w.out[secOrigins]))
		raw, _ := decompress(packed, length)
		table, frames := appendFrame(nil, nil, []byte(raw+"\x01"))
		w.out[secOriginTab], w.out[secOrigins] = append(table, entry[blockEntry:]...), frames
	})
	for last := range 4 {
		var found []string
		for text, err := range s.AllRecipes() {
			if err != nil {
				text = "damage"
			}
			if found = append(found, text); len(found) == last {
				break
			}
		}
		if all := []string{"recipe", "recipe", "damage"}; last > 0 && !slices.Equal(found, all[:last]) {
			t.Errorf("expected %q, found %q", all[:last], found)
		}
	}
}

// A small forged file cannot make the reader allocate much memory.
func TestForgedFilesAllocateInProportionToSize(t *testing.T) {
	testmode.SkipUnderRace(t)
	const (
		proportion = 1000    // total bytes allocated per byte of the file
		base       = 8 << 20 // bytes allocated for any file, mostly by zstd
		many       = 1 << 22
	)
	zeros := make([]byte, many)
	frame := func(b []byte) []byte { return encoder().EncodeAll(b, nil) } // does not pad, unlike compress
	block := func(w *writer, raw []byte, length int, level, first uint32) {
		packed, le := frame(raw), binary.LittleEndian
		tab := le.AppendUint64(nil, 0)
		tab = le.AppendUint32(le.AppendUint32(tab, uint32(len(packed))), uint32(length))
		w.out[secOriginTab] = le.AppendUint32(le.AppendUint32(tab, level), first)
		w.out[secOrigins] = packed
	}
	for name, forge := range map[string]func(w *writer){
		"origins of many entries": func(w *writer) {
			raw := append(appendNumbers(nil, 1, many/4, 0), zeros...)
			block(w, raw, len(raw), 0, 1)
		},
		"origins of entries that no bytes are for": func(w *writer) {
			raw := append(appendNumbers(nil, 1, math.MaxInt32, 0), zeros[:100]...)
			block(w, raw, len(raw), 0, 1)
		},
		"keys of many bindings": func(w *writer) {
			block(w, append(appendNumbers(nil, many/8), zeros...), many+4, coldKeys, 0)
		},
		"many inputs": func(w *writer) {
			raw := append(appendNumbers(nil, many/10), zeros...)
			w.out[secInputs] = append(binary.LittleEndian.AppendUint32(nil, uint32(len(raw))), frame(raw)...)
		},
		"entries of one block": func(w *writer) {
			w.out[secOriginTab] = []byte(strings.Repeat(string(w.out[secOriginTab][:coldEntry]), 1000))
		},
		"levels of one directory": func(w *writer) {
			const many = 2000
			level := bytes.Clone(w.out[secMeta][len(w.out[secMeta])-9:]) // one-byte numbers, except for the slots
			for range many {
				w.c.Levels = append(w.c.Levels, w.c.Levels[0])
			}
			w.out[secMeta] = append(w.out[secMeta], bytes.Repeat(level, many)...)
		},
		"many references to one long array": func(w *writer) {
			long := value.Append(nil, value.Strings(make([]string, 1<<16)...))
			at := refCell | uint32(len(w.out[secKeys])/cellUnit)
			w.out[secKeys] = append(w.out[secKeys], long...)
			tab := binary.LittleEndian.AppendUint32(w.out[secTables], 1<<14)
			for range 1 << 14 {
				tab = append(tab, 0, 0)
			}
			for range 1 << 14 {
				tab = binary.LittleEndian.AppendUint32(tab, at)
			}
			w.out[secTables] = tab
		},
		"a dimension of a long name, in many slots": func(w *writer) {
			w.c.Dimensions[0].Name = strings.Repeat("name", 1<<14)
			levels := w.out[secMeta][len(w.out[secMeta])-9:]
			w.meta(levels)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := manyNodes(300)
			c.Inputs = []Input{{Path: "a.yaml"}}
			s := forged(t, c, forge)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s.Verify(anyRecipe)
			s.Inputs()
			s.Bindings("000001")
			s.Bindings(c.Keys[len(c.Keys)-1].Name)
			written := counter(0)
			s.Dump(&written, quotedRecipe, quoted)
			runtime.ReadMemStats(&after)
			if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(base+proportion*len(s.data)); got > limit {
				t.Errorf("%d bytes were allocated for a file of %d", got, len(s.data))
			}
			if int(written) > proportion*len(s.data) {
				t.Errorf("a dump of %d bytes for a file of %d", written, len(s.data))
			}
		})
	}
}

// Each four-byte number in a file is replaced by one that is far too large, and the checksums are corrected.
// Allocations must stay in proportion to the size of the file. If Verify accepts a file, so must every lookup and
// dump.
func TestForgedNumbersAllocateInProportionToSize(t *testing.T) {
	testmode.SkipUnderRace(t)
	const (
		proportion = 1000
		base       = 8 << 20
	)
	sound := fileOf(t, small())
	for i := 0; i+4 <= len(sound); i += 4 {
		forged := bytes.Clone(sound)
		binary.LittleEndian.PutUint32(forged[i:], []uint32{math.MaxUint32, math.MaxInt32, 1 << 20, 1 << 16}[i/4%4])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if s := harmless(t, resum(forged)); s != nil {
			_, err := s.Inputs()
			sound := s.Verify(anyRecipe) == nil
			if sound || i%28 == 0 {
				err = cmp.Or(err, s.Dump(io.Discard, quotedRecipe, quoted))
			}
			if sound && err != nil {
				t.Errorf("Verify finds nothing, and then: %v", err)
			}
		}
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(base+proportion*len(sound)); got > limit {
			t.Errorf("%d bytes were allocated for a file of %d", got, len(sound))
		}
		if t.Failed() {
			t.Fatalf("the number at %d was changed", i)
		}
	}
}

// counter counts the bytes written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

var _ io.Writer = new(counter)

// compress pads frames of highly compressible data, because decompress rejects a frame that expands too much.
func TestCompressPadsShortFrames(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 10_000, 1 << 20, 5 << 20} {
		raw := make([]byte, n)
		packed := compress(raw)
		if len(packed)*maxExpansion < n {
			t.Errorf("%d bytes are packed to %d", n, len(packed))
		}
		if got, ok := decompress(string(packed), uint64(n)); !ok || got != string(raw) {
			t.Errorf("%d bytes packed to %d do not come back", n, len(packed))
		}
	}
}

// The candidates of a merged key are all in scopes, so that listing them decompresses nothing. The file has no section
// origins.
func TestCandidatesOfMergedKeyNeedNoOrigins(t *testing.T) {
	const levels = 8
	c := &Content{Layers: []string{"site", "modules"}, Keys: []Key{{Name: "merged", Default: -1}}}
	for i := range levels {
		c.Values = append(c.Values, stored(value.FromInt(int64(i)))...)
		l := Level{Layer: i / 4, Entry: i / 2, Scopes: []Scope{{Entries: []Entry{{0, uint32(i)}}}}}
		if i%4 < 3 {
			c.Dimensions = append(c.Dimensions, Dimension{Name: fmt.Sprint("c", i), Category: -1})
			l.Dimensions, l.Scopes[0].Values = []int{len(c.Dimensions) - 1}, []string{"yes"}
		}
		c.Levels = append(c.Levels, l)
	}
	s := forged(t, c, func(w *writer) { w.out[secOrigins] = nil })
	values := []string{"yes", "", "yes", "yes", "yes", ""}
	at, ns := scopes(s, values...), numbers(s, values)
	var got []string
	for c, err := range s.Candidates("merged", ns, at) {
		v, valueErr := s.Value(c.Ref)
		if err := cmp.Or(err, valueErr); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(v.Int(), s.Level(c.Level)))
	}
	want := "[0 {0 0} 2 {0 1} 3 {0 1} 4 {1 2} 5 {1 2} 7 {1 3}]"
	if fmt.Sprint(got) != want {
		t.Errorf("candidates are %v, want %s", got, want)
	}
	if v, ok := find(t, s, "merged", at); !ok || v.Int() != 0 {
		t.Errorf("Find finds %v, %t", v.Int(), ok)
	}
}

func BenchmarkCandidates(b *testing.B) {
	c := &Content{Layers: []string{"l"}, Keys: []Key{{Name: "a::merged::key::of::usual::length", Default: -1}}}
	for i := range 8 {
		c.Values = append(c.Values, stored(value.FromInt(int64(i)))...)
		c.Levels = append(c.Levels, Level{Scopes: []Scope{{Entries: []Entry{{0, uint32(i)}}}}})
	}
	s := open(b, c)
	at := scopes(s)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range s.Candidates(c.Keys[0].Name, nil, at) {
			if err == nil {
				n++
			}
		}
		if n != 8 {
			b.Fatal(n)
		}
	}
}

// A scope without bindings has an empty table. A file without that table is damaged.
func TestMissingTableReportsDamage(t *testing.T) {
	s := forged(t, everything(), func(w *writer) { w.out[secTables] = w.out[secTables][:len(w.out[secTables])-4] })
	if err := s.Verify(anyRecipe); !errors.As(err, new(*DamageError)) {
		t.Errorf("Verify returned %v", err)
	}
	if _, err := s.AllBindings(); !errors.As(err, new(*DamageError)) {
		t.Errorf("Book says %v", err)
	}
}
