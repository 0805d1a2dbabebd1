package compile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/testmode"
	"bindc/loader"
)

// If a random site is built in parts and linked, the bytes and the diagnostics are those of a single build.
func TestLinkedPartsEqualOneBuild(t *testing.T) {
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

// link takes data files without diagnostics from the parts, and does not even open them.
func TestLinkDoesNotReadDataFiles(t *testing.T) {
	s := &changingSite{T: t, dice: rand.New(rand.NewPCG(1, 2)), dir: t.TempDir(), cache: t.TempDir(),
		files: map[string]bool{}}
	s.write("hiera.yaml", "version: 2\nhierarchy:\n  - [node, '${fqdn}', 'data/node/${fqdn}']\n"+
		"  - [common, 'true', data/common]\n")
	for i := range 5 {
		s.write(fmt.Sprintf("data/node/n%d.yaml", i), fmt.Sprintf("k: %d\n", i))
	}
	s.write("data/common.yaml", "k: '${fqdn}'\n")
	cache := s.link(3)
	var opened []string
	disk := fsx.Disk{Fault: func(op fsx.Op, path string) error {
		if op == fsx.Open && strings.Contains(path, "/data/") {
			opened = append(opened, path)
		}
		return nil
	}}
	var diags diag.List
	loader.Load(s.dir, loader.Options{Cache: cache, Disk: disk, Jobs: 1}, &diags)
	if len(opened) > 0 || diags.Failed() {
		t.Errorf("link opens %q and reports %v", opened, diags.Sorted())
	}
	loader.Load(s.dir, loader.Options{Disk: disk, Jobs: 1}, &diags)
	if len(opened) == 0 {
		t.Error("a build without parts opens no data file: this test is wrong")
	}
}
