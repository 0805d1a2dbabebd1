package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"bindc/internal/value"
)

// Two hidden bindings cannot both be effective if their conditions name the same dimensions with different values.
func TestHiddenDepthCountsCompatibleBindings(t *testing.T) {
	of := func(layer, above uint32, terms ...coldTerm) *coldBinding {
		return &coldBinding{layer: layer, above: above, terms: terms}
	}
	for name, c := range map[string]struct {
		bindings []*coldBinding
		want     int
	}{
		"one binding":                      {[]*coldBinding{of(0, 0)}, 1},
		"two layers":                       {[]*coldBinding{of(0, 3), of(1, 3)}, 2},
		"four layers with distant numbers": {[]*coldBinding{of(0, 3), of(256, 3), of(1<<16, 3), of(1<<24, 3)}, 4},
		"three precedences":                {[]*coldBinding{of(0, 3), of(0, 4), of(0, 3+256)}, 3},
		"two bindings with one condition":  {[]*coldBinding{of(0, 3, coldTerm{0, 7}), of(0, 3, coldTerm{0, 7})}, 2},
		"two values of one dimension":      {[]*coldBinding{of(0, 3, coldTerm{0, 7}), of(0, 3, coldTerm{0, 8})}, 1},
		"two dimensions":                   {[]*coldBinding{of(0, 3, coldTerm{0, 7}), of(0, 3, coldTerm{1, 7})}, 2},
		"two values with distant numbers":  {[]*coldBinding{of(0, 3, coldTerm{0, 1}), of(0, 3, coldTerm{0, 257})}, 1},
		"three values, one of them twice": {[]*coldBinding{of(0, 3, coldTerm{0, 1}), of(0, 3, coldTerm{0, 2}),
			of(0, 3, coldTerm{0, 2}), of(0, 3, coldTerm{0, 3}), of(0, 3, coldTerm{0, 3})}, 2},
		"one value twice, then another three times": {[]*coldBinding{of(0, 3, coldTerm{0, 1}), of(0, 3, coldTerm{0, 1}),
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

// Depths counts the default, each level that binds the key, and hidden bindings.
func TestDepthsIncludeDefaultsLevelsAndHiddenBindings(t *testing.T) {
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

// Of hidden bindings whose conditions name different values of one dimension, a request has at most one. The numbers in
// origins are limited to 32 bits.
func TestDepthsCountOneHiddenBindingPerDimension(t *testing.T) {
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

// Survey stops at the first error, whether the file or the callback causes it.
func TestSurveyStopsAtFirstError(t *testing.T) {
	all, stop := 0, errors.New("enough")
	s := open(t, everything())
	if err := s.Survey(func(Bound) error { all++; return nil }); err != nil {
		t.Fatal(err)
	}
	if want := 8 + 6 + 3 + 2; all != want { // defaults, values in narrow columns, values in tables, hidden values
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

func TestSurveyOfForgedFilesReturnsDamage(t *testing.T) {
	survey := func(s *Snapshot) error { return s.Survey(func(Bound) error { return nil }) }
	depths := func(s *Snapshot) error { _, err := s.Depths(); return err }
	recipes := func(s *Snapshot) (last error) {
		for _, last = range s.AllRecipes() {
		}
		return last
	}
	book := func(s *Snapshot) error { _, err := s.AllBindings(); return err }
	content := func(s *Snapshot) error { _, err := s.Content(); return err }
	verify := func(s *Snapshot) error { return s.Verify(anyRecipe) }
	bindings := func(key string) func(s *Snapshot) error {
		return func(s *Snapshot) error { _, err := s.Bindings(key); return err }
	}
	le := binary.LittleEndian
	overlap := func(w *writer) { // makes the second block of keys begin one byte before the end of the first
		le.PutUint64(w.out[secOriginTab][coldEntry:], uint64(le.Uint32(w.out[secOriginTab][8:]))-1)
	}
	badFrame := func(block int) func(w *writer) {
		return func(w *writer) { w.out[secOrigins][le.Uint64(w.out[secOriginTab][coldEntry*block:])]++ }
	}
	oneTable := func(w *writer) { // gives all scopes the table of three keys
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
			"section origins, offset %d: expected a block after the previous one"},
		{"blocks that overlap", keyBlocks(), overlap, depths,
			"section origins, offset %d: expected a block after the previous one"},
		{"a block of keys that is not a zstd frame", keyBlocks(), badFrame(1), survey,
			"section origins, offset %d: expected a zstd frame"},
		{"a block of keys that is not a zstd frame", keyBlocks(), badFrame(1), depths,
			"section origins, offset %d: expected a zstd frame"},
		{"a block of keys that is not a zstd frame", everything(), badFrame(4), recipes,
			"section origins, offset 116: expected a zstd frame"},
		{"a block out of bounds", everything(), func(w *writer) { w.out[secOriginTab][4*coldEntry+4] = 1 }, survey,
			"section origintab, offset 96: expected a block inside section origins"},
		{"a table out of bounds", everything(), func(w *writer) { w.out[secScopes][0x118] = 0x27 }, survey,
			"section tables, offset 152: expected a table"},
		{"scopes that share a table", everything(), oneTable, survey,
			"section tables, offset 16: expected a separate table for each scope"},
		{"a few scopes that share a table", everything(), sevenScopes, survey,
			"section tables, offset 16: expected a separate table for each scope"},
		{"a table with an unknown key number", everything(), func(w *writer) { w.out[secTables][0x18] = 9 }, survey,
			"section tables, offset 0: expected valid key numbers"},
		{"a table with an unknown key number", everything(), func(w *writer) { w.out[secTables][0x18] = 9 }, book,
			"section tables, offset 16: expected valid key numbers"},
		{"a list out of bounds", everything(), outside, survey, "section keys, offset 140: expected a list inside the section"},
		{"a mask out of bounds", wide(), outside, survey, ""}, // the site has no narrow columns
		{"a mask out of bounds", wide(), outside, depths, "section keys, offset 12: expected a mask inside the section"},
		{"a mask out of bounds", wide(), outside, verify, "section keys, offset 12: expected a mask inside the section"},
		{"a mask out of bounds", wide(), outside, bindings("a"), "section keys, offset 76: expected a mask inside the section"},
		{"a folded mask that disagrees with the exact one", wide(),
			func(w *writer) { w.out[secKeys][keyRecord+recMask] ^= 4 }, verify,
			"section keys, offset 64: expected a mask of 70 columns"},
		{"a table with a value that does not exist", everything(), func(w *writer) { w.out[secTables][0x24] = 2 },
			verify,
			"section tables, offset 16: expected a block value number below 2"},
		{"a table with an unknown key number", everything(), func(w *writer) { w.out[secTables][0x18] = 9 }, verify,
			"section tables, offset 16: expected ascending key numbers below 9"},
		{"a table with a key that its column does not bind", everything(),
			func(w *writer) { w.out[secTables][0x14] = 1 }, verify,
			"section tables, offset 16: expected keys that column 35 binds"},
		{"scopes that share a table", everything(), oneTable, verify,
			"section tables, offset 16: expected items that do not overlap"},
		{"a default with a missing recipe", everything(),
			func(w *writer) { w.out[secKeys][3*keyRecord+recDefault] = 3 }, verify,
			"section keys, offset 200: expected a recipe number below 3"},
		{"a key with an invalid length", everything(),
			func(w *writer) { w.out[secKeys][keyRecord+recLength] = 254 }, content,
			"section keys, offset 64: expected a key name"},
		{"a scope with an unknown value number", everything(), func(w *writer) { w.out[secScopes][0x34] = 9 }, verify,
			"section scopes, offset 48: expected a value number of path below 1"},
		{"blocks of keys before blocks of scopes", everything(), reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[3], blocks[4] = blocks[4], blocks[3]
			return blocks
		}), verify, "section origins, offset 151: expected a block after the previous one"},
		{"a block of the second level before the first level", everything(),
			reblocked(func(blocks []coldRaw) []coldRaw {
				blocks[0], blocks[1] = blocks[1], blocks[0]
				return blocks
			}), verify, "section origins, offset %d: expected a block after the previous one"},
		{"a recipe out of bounds", everything(), func(w *writer) { w.out[secRecipeTab][16] = 99 }, recipes,
			"section recipetab, offset 8: expected a recipe inside section recipes"},
		{"a scope whose place is zero", everything(), reblocked(func(blocks []coldRaw) []coldRaw {
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
