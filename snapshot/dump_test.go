package snapshot

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func TestDumpKnowsEveryByte(t *testing.T) {
	for _, c := range []*Content{{}, fleet(3), wide(), small(), manyLevels()} {
		var out strings.Builder
		if err := open(t, c).Dump(&out, quotedRecipe, quoted); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			for _, bad := range []string{"damaged", "not referred to", "no such", "of no scope"} {
				if strings.Contains(line, bad) {
					t.Errorf("a sound file of %d keys: %s", len(c.Keys), line)
				}
			}
		}
	}
}

func TestDumpOfADamagedFileEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, wide()); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := 5
	if testing.Short() {
		step = 37
	}
	for at := headerSize; at < len(sound); at += step {
		flip := byte(1) << (at % 8)
		sound[at] ^= flip
		if s, err := openBytes(sound); err == nil {
			if err := s.Dump(io.Discard, quotedRecipe, quoted); err != nil {
				t.Fatal(err)
			}
		}
		sound[at] ^= flip
	}
}
