package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bindc/internal/value"
)

// Reports and lookups return an error if they read the forged part of a file, and none otherwise. An expected "" means
// no error.
func TestReportsAndLookupsOfForgedFilesReturnDamage(t *testing.T) {
	le := binary.LittleEndian
	raw := func(block int, level uint32, change func(raw string) string) func(w *writer) {
		return reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[block].raw = change(blocks[block].raw)
			if level > 0 {
				blocks[block].level = level
			}
			return blocks
		})
	}
	cut := func(n int) func(string) string { return func(s string) string { return s[:len(s)-n] } }
	book := func(s *Snapshot, _ *Scopes, _ []uint32) error {
		_, err := s.AllBindings()
		return err
	}
	content := func(s *Snapshot, _ *Scopes, _ []uint32) error {
		_, err := s.Content()
		return err
	}
	bindings := func(key string) func(s *Snapshot, _ *Scopes, _ []uint32) error {
		return func(s *Snapshot, _ *Scopes, _ []uint32) error {
			_, err := s.Bindings(key)
			return err
		}
	}
	candidates := func(key string) func(s *Snapshot, at *Scopes, numbers []uint32) error {
		return func(s *Snapshot, at *Scopes, numbers []uint32) error {
			for c, err := range s.Candidates(key, numbers, at) {
				if err == nil {
					_, err = s.Binding(key, c)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	find := func(key string) func(s *Snapshot, at *Scopes, _ []uint32) error {
		return func(s *Snapshot, at *Scopes, _ []uint32) error {
			ref, _, err := s.Find(key, at)
			if err == nil {
				_, err = s.Value(ref)
			}
			return err
		}
	}
	resolve := func(s *Snapshot, at *Scopes, numbers []uint32) error { return s.Resolve(numbers, at) }
	all := func(s *Snapshot, at *Scopes, numbers []uint32) error {
		return errors.Join(book(s, at, numbers), bindings("a")(s, at, numbers), candidates("a")(s, at, numbers),
			find("array")(s, at, numbers), resolve(s, at, numbers))
	}
	nothing := func(*writer) {}
	badFrame := func(block int) func(w *writer) {
		return func(w *writer) { w.out[secOrigins][le.Uint64(w.out[secOriginTab][coldEntry*block:])]++ }
	}
	badTable := func(w *writer) { w.out[secScopes][0x118] = 0x27 } // moves the table of node n04 out of bounds
	for _, c := range []struct {
		name              string
		forge             func(w *writer)
		ask               func(s *Snapshot, at *Scopes, numbers []uint32) error
		section, expected string
	}{
		{"nothing is forged", nothing, all, "", ""},
		{"the key does not exist", nothing, bindings("absent"), "", ""},
		{"a block that is not a zstd frame", badFrame(1), book, "origins", "a zstd frame"},
		{"a block that is not a zstd frame", badFrame(1), bindings("a"), "origins", "a zstd frame"},
		{"a block of keys that is not a zstd frame", badFrame(4), book, "origins", "a zstd frame"},
		{"a block of keys that is not a zstd frame", badFrame(4), bindings("a"), "origins", "a zstd frame"},
		{"a block of keys that is not a zstd frame", badFrame(4), candidates("a"), "origins", "a zstd frame"},
		{"a block of keys that is not a zstd frame", badFrame(4), candidates("array"), "origins", "a zstd frame"},
		{"a block of keys that no lookup reads", badFrame(4), find("a"), "", ""},
		{"a block of a level that does not exist", raw(3, 9, cut(0)), book, "origins", "a level"},
		{"scopes that do not exist in the level", raw(3, 0, func(string) string { return "\x02\x01\x06\x01\x0a\x02" }), book,
			"origins", "the origins of a scope of its level"},
		{"a key that does not exist", raw(3, 0, func(string) string { return "\x01\x01\x09\x01\x0a\x02" }), book,
			"origins", "valid key numbers"},
		{"a truncated record of a scope", raw(3, 0, cut(1)), book, "origins", "the origins of scopes"},
		{"a truncated record of a scope", raw(3, 0, cut(1)), bindings("\x00m"), "origins", "the origins of scopes"},
		{"a truncated record of a key", raw(4, 0, cut(1)), book, "origins", "bindings of keys"},
		{"a truncated record of a scope", raw(3, 0, cut(1)), candidates("\x00m"), "origins", "the origins of scopes"},
		{"a block of the level after the last", raw(3, 4, cut(0)), book, "origins", "a level"},
		{"a missing record of a scope", raw(3, 0, cut(6)), bindings("\x00m"), "origins", "the origins of 1 more bindings in level 3"},
		{"a missing record of a scope", raw(3, 0, cut(6)), candidates("\x00m"), "origins", "the origin of a binding in level 3"},
		{"a missing record of a key", raw(4, 0, func(s string) string { return s[:5] }), bindings("a"), "origins",
			"the bindings of a key"},
		{"blocks that overlap", func(w *writer) { w.out[secOriginTab][2*coldEntry] = 1 }, book, "origins",
			"a block after the previous one"},
		{"blocks that overlap", func(w *writer) { w.out[secOriginTab][2*coldEntry] = 1 }, bindings("a"), "origins",
			"a block after the previous one"},
		{"a block out of bounds", func(w *writer) { w.out[secOriginTab][coldEntry+4] = 1 }, bindings("a"), "origins",
			"a block after the previous one"},
		{"a block of keys out of bounds", func(w *writer) { w.out[secOriginTab][4*coldEntry+4] = 1 }, candidates("a"),
			"origintab", "a block inside section origins"},
		{"a place that is a column of the next level", func(w *writer) {
			w.out[secScopes][0x3c] = 3
			raw(0, 0, func(s string) string { return s[:6] + "\x02" + s[7:] })(w)
		}, book, "scopes", "a place among the columns of its level"},
		{"a block out of bounds", func(w *writer) { w.out[secOriginTab][coldEntry+4] = 1 }, book, "origintab",
			"a block inside section origins"},
		{"fewer origins than entries", raw(2, 0, func(s string) string {
			return strings.Replace(s, "\x01\x03\x03\x09", "\x01\x02\x03\x09", 1)
		}), book, "origins", "an origin for each of 3 bindings"},
		{"fewer origins than entries", raw(2, 0, func(s string) string {
			return strings.Replace(s, "\x01\x03\x03\x09", "\x01\x02\x03\x09", 1)
		}), bindings("a"), "origins", "the origins of 1 more bindings in level 2"},
		{"a table with an unknown key number", func(w *writer) { w.out[secTables][0x18] = 9 }, book, "tables",
			"valid key numbers"},
		{"a place that is not a column", func(w *writer) { w.out[secScopes][0x40] = 34 }, book, "origins",
			"the origins of a scope of its level"},
		{"a list out of bounds", func(w *writer) { le.PutUint32(w.out[secKeys][8*keyRecord+recList:], 1<<20) }, book,
			"keys",
			"a list inside the section"},
		{"a list out of bounds", func(w *writer) { le.PutUint32(w.out[secKeys][8*keyRecord+recList:], 1<<20) },
			bindings("a"),
			"keys", "a list inside the section"},
		{"a list out of bounds", func(w *writer) { le.PutUint32(w.out[secKeys][6*keyRecord+recList:], 1<<20) },
			candidates("\x00m"), "keys", "a list inside the section"},
		{"a list out of bounds", func(w *writer) { le.PutUint32(w.out[secKeys][6*keyRecord+recList:], 1<<20) },
			find("\x00m"), "keys", "a list inside the section"},
		{"a table out of bounds", badTable, resolve, "tables", "a table"},
		{"a table out of bounds", badTable, bindings("a"), "tables", "a table"},
		{"a value that is invalid", func(w *writer) { w.out[secKeys][0x270] = 0x0b },
			find(strings.Repeat("text", 11) + "end"), "keys", "a value"},
		{"nothing is forged", nothing, content, "", ""},
		{"a block that is not a zstd frame", badFrame(1), content, "origins", "a zstd frame"},
		{"inputs that are not a zstd frame", func(w *writer) { w.out[secInputs][0]++ }, content, "inputs",
			"a zstd frame"},
		{"a default that is not a value", func(w *writer) { w.out[secKeys][0x16] = 0x0b }, content, "keys", "a value"},
		{"a default past the end", func(w *writer) { le.PutUint32(w.out[secKeys][recDefault:], 362) }, content,
			"keys", "a value"},
		{"a default with a missing recipe", func(w *writer) { w.out[secKeys][3*keyRecord+recDefault] = 3 },
			content, "recipetab", "a recipe number below 3"},
		{"a key with an invalid length", func(w *writer) { w.out[secKeys][keyRecord+recLength] = 254 }, content,
			"keys", "a key name"},
		{"a list with a value that does not exist", func(w *writer) { w.out[secKeys][0x2d3] = 0xc0 }, content,
			"blocktab",
			"the place of value"},
		{"a scope in an input that does not exist", raw(0, 0, func(s string) string {
			return strings.Replace(s, "\x01\x01\x04\x01\x02\x03", "\x01\x01\x04\x05\x02\x03", 1)
		}), content, "origins", "an input number below 2"},
		{"a hidden binding in an input that does not exist", raw(4, 0, func(s string) string {
			return strings.Replace(s, "\x01\x03\x01\x01\x04\x05", "\x01\x03\x01\x02\x04\x05", 1)
		}), content, "origins", "an input number below 2"},
		{"a hidden binding on line 1 of an input that does not exist", raw(4, 0, func(s string) string {
			return strings.Replace(s, "\x01\x03\x01\x01\x04\x05", "\x01\x03\x01\x02\x01\x05", 1)
		}), content, "origins", "an input number below 2"},
		{"a binding below more levels than the site has", raw(4, 0, func(s string) string {
			return strings.Replace(s, "\x01\x02\x04\x01\x00\x09\x01", "\x01\x02\x05\x01\x00\x09\x01", 1)
		}), content, "origins", "a binding below at most 4 levels"},
		{"a default in the cold record only", raw(4, 0, func(s string) string {
			return strings.Replace(s, "\x01\x02\x04\x01\x00\x09\x01", "\x01\x00\x04\x01\x00\x09\x01", 1)
		}), content, "origins", "a binding below at most 4 levels"},
		{"a condition on a value that does not exist", func(w *writer) { w.out[secScopes][4] = 1 }, content, "scopes",
			"values of path"},
		{"a condition on a value whose text is out of bounds", func(w *writer) { w.out[secDicts][0x120] = 255 },
			content, "dicts",
			"a value of path"},
		{"a condition on a value that does not exist", func(w *writer) { w.out[secScopes][4] = 1 },
			bindings(strings.Repeat("text", 11) + "end"), "scopes", "values of path"},
		{"a condition on a value whose text is out of bounds", func(w *writer) { w.out[secDicts][0x120] = 255 },
			bindings(strings.Repeat("text", 11) + "end"), "dicts", "a value of path"},
	} {
		s := forged(t, everything(), c.forge)
		values := []string{"n04"}
		at, ns := &Scopes{}, numbers(s, values)
		if err := s.Resolve(ns, at); err != nil && c.expected == "" {
			t.Fatal(c.name, err)
		}
		damagedAs(t, c.name, c.ask(s, at, ns), c.section, c.expected)
	}
}

// The error for a damaged value gives its offset in the section.
func TestErrorForDamagedValueHasItsOffset(t *testing.T) {
	s := open(t, everything())
	for _, c := range []struct {
		ref     Ref
		section string
		offset  uint64
	}{
		{Ref(len(s.keys) / cellUnit), "keys", uint64(len(s.keys))}, {1 << 20, "keys", 1 << 21},
		{refBlock | 2, "blocktab", 4 + blockEntry + 2*blockValueEntry}, {refRecipe | 3, "recipes", 0},
	} {
		var damage *DamageError
		v, err := s.Value(c.ref)
		if !errors.As(err, &damage) || damage.Section != c.section || damage.Offset != c.offset || !v.IsUndef() {
			t.Errorf("%#x: %v, %v; expected damage of %s at %d", uint32(c.ref), v, err, c.section, c.offset)
		}
	}
	var damage *DamageError
	if _, err := s.Recipe(3); !errors.As(err, &damage) || damage.Section != "recipetab" || damage.Offset != 24 {
		t.Errorf("recipe 3: %v", err)
	}
}

// A value that just fits into the key record is stored there. A value that is one byte longer is stored after the
// records.
func TestValuesThatFitAreStoredInTheRecord(t *testing.T) {
	for _, c := range []struct{ key, value, at int }{
		{1, 45, 9 * cellUnit}, {1, 46, keyRecord}, {2, 43, 10 * cellUnit}, {2, 44, keyRecord}, {46, -1, keyRecord},
		{45, 1, 31 * cellUnit}, {45, 2, keyRecord},
	} {
		content := &Content{Keys: []Key{{Name: strings.Repeat("k", c.key), Default: 0}},
			Values: stored(value.FromString(strings.Repeat("v", max(0, c.value))))}
		if c.value < 0 {
			content.Values = stored(value.FromInt(1<<40), value.FromInt(1))
		}
		s := open(t, content)
		ref, _, err := s.Find(content.Keys[0].Name, &Scopes{})
		if err != nil || int(ref)*cellUnit != c.at {
			t.Errorf("a key of %d bytes, a value of %d: at %d, expected %d", c.key, c.value, int(ref)*cellUnit, c.at)
		}
	}
	for length, at := range map[int]int{43: 60, 44: keyRecord, 3: 20} {
		s := open(t, &Content{Layers: []string{"l"}, Keys: []Key{{Name: strings.Repeat("k", length), Default: -1}},
			Values: stored(value.FromInt(1)), Levels: []Level{{Scopes: []Scope{{Entries: []Entry{{0, 0}}}}}}})
		if got := s.list(0); got != uint64(at) {
			t.Errorf("the list of a key of %d bytes is at %d, expected %d", length, got, at)
		}
	}
}

// compress only pads a frame if necessary, and then by at least a minimal skippable frame.
func TestCompressPadsOnlyIfNeeded(t *testing.T) {
	missing := map[int]int{}
	for n := range 6000 {
		raw := make([]byte, n/2)
		copy(raw, "zeros behind"[:n%2*12])
		plain, packed := len(encoder().EncodeAll(raw, nil)), len(compress(raw))
		want, least := plain, (len(raw)+maxExpansion-1)/maxExpansion
		if least > plain {
			want = max(least, plain+skippableHead)
		}
		missing[least-plain]++
		if packed != want {
			t.Fatalf("%d bytes are packed to %d, expected %d", len(raw), packed, want)
		}
	}
	if missing[0] == 0 || missing[1] == 0 || missing[skippableHead+1] == 0 {
		t.Errorf("by how many bytes frames are too short: %v", missing)
	}
}

// AllRecipes includes the recipes of hidden bindings and stops when the caller breaks out of the loop.
func TestAllRecipesIncludesHiddenOnesAndStopsOnBreak(t *testing.T) {
	s := open(t, everything())
	for most, want := range map[int]string{9: "sealed recipe recipe contributions recipe", 1: "sealed recipe",
		3: "sealed recipe recipe contributions"} {
		var got []string
		for text, err := range s.AllRecipes() {
			if got = append(got, text); err != nil || len(got) == most {
				break
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("recipes are %q, expected %s", got, want)
		}
	}
	for want, forge := range map[string]func(w *writer){
		"recipetab": func(w *writer) { w.out[secRecipeTab][16] = 99 },
		"origins": reblocked(func(blocks []coldRaw) []coldRaw {
			blocks[4].raw = blocks[4].raw[:9]
			return blocks
		}),
	} {
		var last error
		errs := 0
		for _, err := range forged(t, everything(), forge).AllRecipes() {
			if last = err; err != nil {
				errs++
			}
		}
		damagedAs(t, want, last, want, "")
		if errs != 1 {
			t.Errorf("%s: %d errors", want, errs)
		}
	}
}

// The sequence ends when the caller breaks out of the loop, or after an error.
func TestCandidatesStopOnBreakOrError(t *testing.T) {
	s := open(t, everything())
	ns := numbers(s, []string{"n01", "", "linux"})
	at := scopes(s, "n01", "", "linux")
	for most, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 4, 9: 4} {
		n := 0
		for range s.Candidates("a", ns, at) {
			if n++; n == most {
				break
			}
		}
		if n != want {
			t.Errorf("%d candidates, expected %d of at most %d", n, want, most)
		}
	}
	broken := forged(t, everything(), func(w *writer) {
		binary.LittleEndian.PutUint32(w.out[secKeys][4*keyRecord+recList:], 1<<20)
	})
	long, after := strings.Repeat("text", 11)+"end", 0
	for _, err := range broken.Candidates(long, numbers(s, []string{"n01", "Data", "linux"}),
		scopes(broken, "n01", "Data", "linux")) {
		if after++; err == nil {
			t.Error("a candidate of a list that is outside")
		}
	}
	if after != 1 {
		t.Errorf("%d errors", after)
	}
}

// CandidatesAfter returns the bindings in the levels after the given one, followed by the default, even if a level
// always hides the default.
func TestCandidatesAfterReturnsLowerLevelsAndDefault(t *testing.T) {
	site := &Content{Layers: []string{"l"},
		Dimensions: []Dimension{{Name: "a", Category: -1}, {Name: "b", Category: -1}},
		Values:     stored(value.FromInt(0), value.FromInt(1), value.FromInt(2), value.FromInt(3)),
		Keys:       []Key{{Name: "j", Default: -1}, {Name: "k", Default: 3}},
		Levels: []Level{
			{Dimensions: []int{0, 1}, Scopes: []Scope{{Values: []string{"x", "y"}, Entries: []Entry{{1, 0}}}}},
			{Dimensions: []int{0}, Scopes: []Scope{{Values: []string{"x"}, Entries: []Entry{{0, 1}, {1, 1}}},
				{Values: []string{"z"}, Entries: []Entry{{1, 1}}}}},
			{Dimensions: []int{1}, Scopes: []Scope{{Values: []string{"y"}, Entries: []Entry{{0, 2}, {1, 2}}}}}}}
	s := open(t, site)
	for _, c := range []struct {
		key         string
		level, most int
		values      []string
		want        string
	}{
		{"k", -1, 9, []string{"x", "y"}, " 0:0 1:1 2:2 -1:3"},
		{"k", 0, 9, []string{"x", "y"}, " 1:1 2:2 -1:3"},
		{"k", 1, 9, []string{"x", "y"}, " 2:2 -1:3"},
		{"k", 2, 9, []string{"x", "y"}, " -1:3"},
		{"k", 0, 9, []string{"z", ""}, " 1:1 -1:3"},
		{"k", 0, 1, []string{"x", "y"}, " 1:1"},
		{"k", 0, 2, []string{"x", "y"}, " 1:1 2:2"},
		{"k", 0, 3, []string{"x", "y"}, " 1:1 2:2 -1:3"},
		{"j", 1, 9, []string{"x", "y"}, " 2:2"},
		{"j", 2, 9, []string{"x", "y"}, ""},
		{"none", -1, 9, []string{"x", "y"}, ""},
	} {
		got, n := "", 0
		at := scopes(s, c.values...)
		for b, err := range s.CandidatesAfter(c.key, c.level, at) {
			v, of := s.Value(b.Ref)
			if err != nil || of != nil {
				t.Fatal(err, of)
			}
			got += fmt.Sprintf(" %d:%d", b.Level, v.Int())
			if where, err := s.Binding(c.key, b); err != nil || len(where.Terms) == 0 != (b.Level < 0) {
				t.Errorf("%s in level %d: %v, %v", c.key, b.Level, where, err)
			}
			if n++; n == c.most {
				break
			}
		}
		if got != c.want {
			t.Errorf("behind level %d of %v stands%s, expected%s", c.level, c, got, c.want)
		}
	}
}

// The error for a list out of bounds ends the iteration, whatever the level after which CandidatesAfter begins.
func TestCandidatesAfterStopsAtDamagedList(t *testing.T) {
	s := forged(t, everything(), func(w *writer) {
		binary.LittleEndian.PutUint32(w.out[secKeys][4*keyRecord+recList:], 1<<20)
	})
	for _, level := range []int{-1, 0, 99} {
		errs := 0
		key, at := strings.Repeat("text", 11)+"end", scopes(s, "n01", "Data", "linux")
		for _, err := range s.CandidatesAfter(key, level, at) {
			if errs++; !errors.As(err, new(*DamageError)) {
				t.Errorf("behind %d: %v", level, err)
			}
		}
		if errs != 1 {
			t.Errorf("behind %d: %d errors", level, errs)
		}
	}
}

func TestByPrecedenceOrdersLevelsAndOtherBindings(t *testing.T) {
	inScope, below := Binding{above: 1, inScope: true}, Binding{above: 2, inScope: true}
	alone := Binding{above: 1}
	for _, c := range []struct {
		a, b Binding
		less bool
	}{{alone, inScope, true}, {inScope, alone, false}, {inScope, below, true}, {below, inScope, false},
		{below, alone, false}, {alone, below, true}, {alone, Binding{above: 2}, true},
		{inScope, Binding{above: 2}, true}, {Binding{above: 2}, inScope, false}} {
		if got := ByPrecedence(c.a, c.b); (got < 0) != c.less || got == 0 {
			t.Errorf("%+v and %+v: %d", c.a, c.b, got)
		}
	}
	if inScope.Level() != 1 || below.Level() != 2 || alone.Level() != -1 {
		t.Errorf("the levels are %d, %d and %d", inScope.Level(), below.Level(), alone.Level())
	}
	if ByPrecedence(alone, alone) != 0 || ByPrecedence(inScope, inScope) != 0 {
		t.Error("bindings that no condition distinguishes are not equal")
	}
}

// OpenCopy returns the same answers and the same errors as Open.
func TestOpenCopyWorksLikeOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.bsnap")
	if _, err := Write(path, everything()); err != nil {
		t.Fatal(err)
	}
	s, err := OpenCopy(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	sound(t, s)
	if v, ok := find(t, s, "array", scopes(s)); !ok || v.Len() != 2 {
		t.Errorf("array is %v, %t", v, ok)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OpenCopy(path); !errors.Is(err, ErrFormat) {
		t.Errorf("an empty file: %v", err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "absent")} {
		var at *os.PathError
		if s, err := OpenCopy(path); !errors.As(err, &at) || at.Path != path || s != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Keys with equal masks share the bytes of the mask. Verify counts these bytes once.
func TestVerifyAcceptsKeysThatShareAMask(t *testing.T) { sound(t, open(t, oneMask())) }

func oneMask() *Content {
	c := &Content{Layers: []string{"l"}, Values: stored(value.FromInt(1))}
	for i := range 20 {
		c.Keys = append(c.Keys, Key{Name: string(rune('a' + i)), Default: 0})
	}
	for range 1000 {
		c.Levels = append(c.Levels, Level{})
	}
	return c
}

func TestReleaseUnmaps(t *testing.T) {
	file := string(fileOf(t, small()))
	unmapped := make(chan bool, 1)
	s, err := newSnapshot(file, file, func() error {
		unmapped <- true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Release()
	if len(unmapped) > 0 {
		t.Error("unmapped while in use")
	}
	runtime.KeepAlive(s)
	for s = nil; ; {
		runtime.GC()
		select {
		case <-unmapped:
			return
		default:
		}
	}
}
