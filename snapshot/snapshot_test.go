package snapshot

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testmode"
	"bindc/internal/value"
)

// stored encodes values.
func stored(vs ...value.Value) []Stored {
	out := make([]Stored, len(vs))
	for i, v := range vs {
		out[i] = Stored{Bytes: string(value.Append(nil, v))}
	}
	return out
}

// fleet returns a site of n nodes, each of which binds "hot" and one other key. A thousand keys have a default. The
// last key is long, has no default, and is bound only for node1 in production.
func fleet(n int) *Content {
	c := &Content{
		Layers:     []string{"site"},
		Dimensions: []Dimension{{Name: "node", Category: -1}, {Name: "environment", Category: -1}},
		Values: stored(value.FromString("default"), value.FromInt(1<<40),
			value.FromString(strings.Repeat("large ", 1000))),
	}
	for i := range 1000 {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("key%04d", i), Default: i % 3})
	}
	c.Keys = append(c.Keys, Key{Name: "zz::hot", Default: 0}, Key{Name: strings.Repeat("z", 300), Default: -1})
	nodes := Level{Dimensions: []int{0}}
	for i := range n {
		c.Values = append(c.Values, stored(value.FromString(fmt.Sprintf("hot on %d", i)))...)
		nodes.Scopes = append(nodes.Scopes, Scope{Values: []string{fmt.Sprintf("node%d", i)},
			Entries: []Entry{{uint32(i % 1000), 1}, {1000, uint32(3 + i)}}})
	}
	both := Level{Dimensions: []int{0, 1}, Scopes: []Scope{{Values: []string{"node1", "production"},
		Entries: []Entry{{1000, 1}, {1001, 0}}}}}
	c.Levels = []Level{both, nodes}
	return c
}

func open(t testing.TB, c *Content) *Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, c); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// anyRecipe is a RecipeCheck that accepts any text. The recipe contributes if the text begins with "contributions", and
// is alone unless it begins with "merged".
func anyRecipe(encoded string) (contributes, alone bool, err error) {
	contributes = strings.HasPrefix(encoded, "contributions")
	return contributes, !contributes && !strings.HasPrefix(encoded, "merged"), nil
}

// fileOf returns the bytes of the file that Write would create from c.
func fileOf(t testing.TB, c *Content) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := WriteTo(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// file returns the bytes of the file that w would write. A test may have forged its sections.
func (w *writer) file() []byte { return bytes.Join(append([][]byte{w.header()}, w.out[:]...), nil) }

func scopes(s *Snapshot, values ...string) *Scopes {
	numbers := make([]uint32, len(s.Dimensions()))
	for i := range numbers {
		numbers[i] = None
		if i < len(values) && values[i] != "" {
			numbers[i] = s.ValueNumber(i, values[i])
		}
	}
	at := &Scopes{}
	s.Resolve(numbers, at) // only fails for a damaged file
	return at
}

func find(t testing.TB, s *Snapshot, key string, at *Scopes) (value.Value, bool) {
	t.Helper()
	ref, ok, err := s.Find(key, at)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return value.Value{}, false
	}
	v, err := s.Value(ref)
	if err != nil {
		t.Fatal(err)
	}
	return v, true
}

func TestFindReturnsHighestScope(t *testing.T) {
	s := open(t, fleet(300))
	for _, c := range []struct {
		node, env, key string
		want           value.Value
		found          bool
	}{
		{"node7", "test", "zz::hot", value.FromString("hot on 7"), true},
		{"node1", "test", "zz::hot", value.FromString("hot on 1"), true},
		{"node1", "production", "zz::hot", value.FromInt(1 << 40), true},
		{"unknown", "production", "zz::hot", value.FromString("default"), true},
		{"", "", "key0002", value.FromString(strings.Repeat("large ", 1000)), true},
		{"node1", "production", strings.Repeat("z", 300), value.FromString("default"), true},
		{"node2", "production", strings.Repeat("z", 300), value.Value{}, false},
		{"node1", "production", "absent", value.Value{}, false},
		{"node1", "production", "", value.Value{}, false},
	} {
		got, ok := find(t, s, c.key, scopes(s, c.node, c.env))
		if ok != c.found || !value.Identical(got, c.want) {
			t.Errorf("%s for node %q in %q: got %v %v, want %v %v", c.key, c.node, c.env, got, ok, c.want, c.found)
		}
	}
}

func TestEveryKeyIsFound(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 7, 100, 5000, 200_000}
	if !testmode.Thorough() {
		sizes = sizes[:len(sizes)-1]
	}
	for _, n := range sizes {
		c := &Content{Layers: []string{"l"}, Values: stored(value.FromInt(1))}
		for i := range n {
			c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("module%d::param%d", i%10, i)})
		}
		slices.SortFunc(c.Keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
		s := open(t, c)
		for _, k := range c.Keys {
			if _, ok := find(t, s, k.Name, scopes(s)); !ok {
				t.Fatalf("of %d keys %s is not found", n, k.Name)
			}
		}
		if len(slices.Collect(s.Keys())) != n {
			t.Errorf("Keys does not list %d keys", n)
		}
	}
}

// A real site has 136 categories. Here each of 200 levels binds the key, and each request is in exactly one level.
func TestFindReturnsValueOfEachOf200Levels(t *testing.T) {
	const levels = 200
	c := &Content{Layers: []string{"l"}, Keys: []Key{{Name: "k", Default: 0}},
		Values: stored(value.FromString("default"))}
	for i := range levels {
		c.Dimensions = append(c.Dimensions, Dimension{Name: fmt.Sprintf("c%d", i), Category: -1})
		c.Values = append(c.Values, stored(value.FromInt(int64(i)))...)
		c.Levels = append(c.Levels, Level{Dimensions: []int{i},
			Scopes: []Scope{{Values: []string{"yes"}, Entries: []Entry{{0, uint32(i + 1)}}}}})
	}
	s := open(t, c)
	for i := range levels {
		values := make([]string, levels)
		values[i], values[levels-1] = "yes", "yes"
		if got, _ := find(t, s, "k", scopes(s, values...)); got.Int() != int64(i) {
			t.Fatalf("level %d: got %v", i, got.Int())
		}
	}
	if got, _ := find(t, s, "k", scopes(s)); got.Text() != "default" {
		t.Errorf("outside every scope: got %v", got)
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	da, _ := Write(a, fleet(100))
	db, _ := Write(b, fleet(100))
	x, _ := os.ReadFile(a)
	y, _ := os.ReadFile(b)
	if da != db || !bytes.Equal(x, y) {
		t.Error("two writes of one content differ")
	}
}

func TestFailedWriteKeepsOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.bsnap")
	os.WriteFile(path, []byte("old"), 0o644)
	c := fleet(1)
	c.Keys = append(c.Keys, c.Keys[0]) // Write rejects a duplicate key
	if _, err := Write(path, c); err == nil {
		t.Fatal("a duplicate key was written")
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the file now holds %q", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("temporary files remain: %v", entries)
	}
}

// Update does not replace a file that already has the same bytes.
func TestUpdateReplacesOnlyDifferentContent(t *testing.T) {
	site, other := fleet(1), fleet(1)
	other.Keys[0].Default++ // the same length, but another content
	same := string(fileOf(t, site))
	for _, c := range []struct {
		name  string
		there func(path string) error
		news  bool
	}{
		{"no file", func(string) error { return nil }, true},
		{"the same bytes", func(path string) error { return os.WriteFile(path, []byte(same), 0o644) }, false},
		{"another site", func(path string) error { return os.WriteFile(path, fileOf(t, other), 0o644) }, true},
		{"more bytes", func(path string) error { return os.WriteFile(path, []byte(same+"x"), 0o644) }, true},
		{"fewer bytes", func(path string) error { return os.WriteFile(path, []byte(same[:len(same)-1]), 0o644) }, true},
	} {
		path := filepath.Join(t.TempDir(), "s.bsnap")
		if err := c.there(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Stat(path)
		w, news, err := Update(path, site)
		if err != nil || news != c.news || w.Size != int64(len(same)) || w.Sum != sha256.Sum256([]byte(same)) {
			t.Errorf("over %s: news %t, %+v, %v", c.name, news, w, err)
		}
		if got, _ := os.ReadFile(path); string(got) != same {
			t.Errorf("over %s: the file has %d bytes, expected %d of the site", c.name, len(got), len(same))
		}
		if after, err := os.Stat(path); err != nil || before != nil && os.SameFile(before, after) == c.news {
			t.Errorf("over %s: the file is the one that was there: %t, %v", c.name, !c.news, err)
		}
	}
}

func TestFailedUpdateReportsNoNewFile(t *testing.T) {
	dir := t.TempDir()
	twice := fleet(1)
	twice.Keys = append(twice.Keys, twice.Keys[0])
	for path, c := range map[string]*Content{filepath.Join(dir, "none", "s.bsnap"): fleet(1),
		filepath.Join(dir, "twice.bsnap"): twice, dir: fleet(1)} {
		if _, news, err := Update(path, c); err == nil || news {
			t.Errorf("%s: news %t, %v", path, news, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("there are %v", entries)
	}
}

// Values from one bit to megabytes are stored in the reference, next to the key, in a cell, in a shared block or in a
// separate block.
func TestValuesOfEverySizeAreReadBack(t *testing.T) {
	testmode.SkipUnderRace(t)
	c := &Content{Layers: []string{"l"}, Values: stored(value.FromBool(true), value.FromInt(-1), value.Value{})}
	for _, size := range []int{0, 1, 20, 46, 47, 48, 127, 128, blockFrom - 4, blockFrom, blockSize - 1, blockSize,
		1 << 20, 5 << 20} {
		text := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		c.Values = append(c.Values, stored(value.FromString(text), value.Strings(text, "and", text))...)
	}
	for i := range c.Values {
		c.Keys = append(c.Keys, Key{Name: fmt.Sprintf("key%02d", i), Default: i})
	}
	s := open(t, c)
	sound(t, s)
	for i, k := range c.Keys {
		got, ok := find(t, s, k.Name, scopes(s))
		if want := c.Values[i].Bytes; !ok || string(value.Append(nil, got)) != want {
			t.Errorf("%s: a value of %d bytes is found as %s", k.Name, len(want), got.Kind())
		}
	}
}
