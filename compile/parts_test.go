package compile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/testmode"
	"bindc/loader"
)

// If a random site is built in parts and linked, the bytes and the diagnostics are those of a single build.
func TestLinkedPartsEqualOneBuild(t *testing.T) {
	t.Parallel()
	built := 0
	sites := testmode.Number(30, 300)
	for i := range sites {
		s := &changingSite{T: t, dice: rand.New(rand.NewPCG(uint64(i), 2)), dir: t.TempDir(), cache: t.TempDir()}
		s.begin(i%3 == 2)
		for range s.dice.IntN(6) {
			s.edit()
		}
		whole, wholeDiags := s.build(nil)
		linked, diags := s.build(s.link(1 + s.dice.IntN(20)))
		if !slices.Equal(diags, wholeDiags) {
			t.Fatalf("site %d: one build reports\n%s\nand linked parts\n%s", i, wholeDiags, diags)
		}
		if !bytes.Equal(linked, whole) {
			t.Fatalf("site %d: the linked snapshot differs from that of one build", i)
		}
		if whole != nil {
			built++
		}
	}
	if built < sites/2 {
		t.Errorf("%d of %d sites have no errors: expected at least half", built, sites)
	}
}

// link returns the cache of n parts, in random order.
func (s *changingSite) link(n int) *datafile.Cache {
	s.Helper()
	var parts []*datafile.Part
	for _, i := range s.dice.Perm(n) {
		cache, path := datafile.NewCache(datafile.Program{1}), filepath.Join(s.cache, fmt.Sprint(i))
		share := datafile.Share{Part: i + 1, Of: n}
		loader.Load(s.dir, loader.Options{Cache: cache, Share: share}, &diag.List{})
		if err := cache.WritePart(path, datafile.PartHead{Share: share}); err != nil {
			s.Fatal(err)
		}
		part, err := datafile.ReadPart(path, path)
		if err != nil {
			s.Fatal(err)
		}
		parts = append(parts, part)
	}
	cache, err := datafile.Link(parts, datafile.Program{1})
	if err != nil {
		s.Fatal(err)
	}
	return cache
}
