//go:build unix

package site

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/testmode"
)

// writeSite writes files, given by their paths, and returns their directory.
func writeSite(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	testmode.WriteFiles(t, dir, files)
	return dir
}

func TestListsFilesOfTreeUpToDepth(t *testing.T) {
	dir := writeSite(t, map[string]string{
		"data/a.yaml": "", "data/.hidden.yaml": "", "data/sub/b.yaml": "", "data/sub/deep/c.yaml": "",
		"data/sub/metadata.json": "", "deep/1/2/3/4/5/6/7/8/9/10/x.yaml": "",
		// directories that contain themselves by a link
		"data/self1": "-> .", "data/self2": "-> ../data", "data/sub/up": "-> ../..",
		"data/alias": "-> sub/deep", "data/sub/deep/other": "-> ../../peer", "data/peer/d.yaml": "",
		"data/peer/back": "-> ../sub/deep",
		"hiera.yaml":     "", "metadata.json": "", "checksums.json": "", "hiera5.yaml": "",
		"modules/m/hiera.yaml": "", "modules/m/x.json": "",
	})
	tests := []struct {
		dir   string
		depth int
		want  []string
	}{
		{"data/", 0, []string{"data/a.yaml"}},
		{"data/", 1, []string{"data/a.yaml", "data/alias/c.yaml", "data/peer/d.yaml", "data/sub/b.yaml",
			"data/sub/metadata.json"}},
		{"data/", -1, []string{"data/a.yaml", "data/alias/c.yaml", "data/alias/other/d.yaml", "data/peer/back/c.yaml",
			"data/peer/d.yaml", "data/sub/b.yaml", "data/sub/deep/c.yaml", "data/sub/deep/other/d.yaml",
			"data/sub/metadata.json"}},
		{"data/self1/", 0, []string{"data/self1/a.yaml"}},
		{"deep/", -1, []string{"deep/1/2/3/4/5/6/7/8/9/10/x.yaml"}},
		{"nowhere/", -1, nil},
		{"", 0, nil},
		{"modules/", -1, []string{"modules/m/x.json"}},
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	var diags diag.List
	tree := Tree{Files: Files{Diags: &diags}, Dir: dir, Real: real}
	tree.Roots = map[string]bool{filepath.Join(real, "modules/m"): true}
	for _, test := range tests {
		var got []string
		for _, f := range tree.Below(test.dir, test.depth, false) {
			if f.Outside {
				t.Errorf("%s is outside", f.Path)
			}
			if f.Err == nil {
				got = append(got, f.Path)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q, %d deep: %q, expected %q", test.dir, test.depth, got, test.want)
		}
	}
	for _, d := range diags.Sorted() {
		t.Errorf("%s: %s", d.Pos, d.Message)
	}
}

// Files below links in directories outside the tree are listed, too. The tree knows which directories are links.
func TestListsFilesBelowLinksOutsideTree(t *testing.T) {
	dir := writeSite(t, map[string]string{"data/nodes": "-> ../far/nodes", "far/nodes/a.yaml": "",
		"far/nodes/more": "-> ../more", "far/more/sub/b.yaml": "", "far/more/up": "-> .."})
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	var diags diag.List
	tree := Tree{Files: Files{Diags: &diags}, Dir: filepath.Join(dir, "data"), Real: real}
	var got []string
	for _, f := range tree.Below("", -1, false) {
		if f.Err == nil && f.Outside {
			got = append(got, f.Path)
		}
	}
	if want := []string{"nodes/a.yaml", "nodes/more/sub/b.yaml"}; !slices.Equal(got, want) || !diags.Empty() {
		t.Errorf("found %q, want %q; %v", got, want, diags.Sorted())
	}
	for path, want := range map[string]bool{"nodes": true, "nodes/more": true, "nodes/more/sub": false} {
		if tree.IsLink(path) != want {
			t.Errorf("%s is a link: %t", path, !want)
		}
	}
}

// A data directory may link to itself, for example to have a second name. Files below the link are listed once, in a
// data directory of Hiera 5 only: other trees also contain modules, whose links are no data.
func TestListsFilesBelowLinkToParentOnce(t *testing.T) {
	dir := writeSite(t, map[string]string{"data/common.yaml": "", "data/production": "-> .", "data/nodes/up": "-> ..",
		"data/nodes/a.yaml": "", "data/root": "-> ..", "data/system": "-> /"})
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		forData bool
		want    []string
	}{
		{true, []string{"common.yaml", "nodes/a.yaml", "nodes/up/common.yaml", "nodes/up/nodes/a.yaml",
			"production/common.yaml", "production/nodes/a.yaml"}},
		{false, []string{"common.yaml", "nodes/a.yaml"}},
	} {
		var diags diag.List
		tree := Tree{Files: Files{Diags: &diags}, Dir: filepath.Join(dir, "data"), Real: real, ForData: c.forData}
		var got []string
		for _, f := range tree.Below("", -1, false) {
			if f.Err == nil {
				got = append(got, f.Path)
			}
		}
		if !slices.Equal(got, c.want) || !diags.Empty() {
			t.Errorf("data: %t: found %q, expected %q; %v", c.forData, got, c.want, diags.Sorted())
		}
	}
}

// Each link to a parent directory lists that directory again, so only a few are followed, and a warning says so.
func TestManyLinksToParentsAreNotFollowed(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("data/n%02d/a.yaml", i)] = ""
		files[fmt.Sprintf("data/n%02d/up", i)] = "-> .."
	}
	dir := writeSite(t, files)
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	var diags diag.List
	tree := Tree{Files: Files{Diags: &diags}, Dir: filepath.Join(dir, "data"), Real: real, ForData: true}
	found := 0
	for _, f := range tree.Below("", -1, false) {
		if f.Err == nil {
			found++
		}
	}
	if want := 100 + maxAgain*100; found != want {
		t.Errorf("%d files are listed, expected %d", found, want)
	}
	all := diags.Sorted()
	if len(all) != 1 || diags.Failed() || !strings.HasSuffix(all[0].Pos.File, "n08/up") {
		t.Errorf("expected a warning about n08/up, found %v", all)
	}
}

// In a data directory, directories that link to each other take little time, too.
func TestLinksToEachOtherInDataAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 14 {
		for j := range 14 {
			files[fmt.Sprintf("data/d%d/l%d", i, j)] = fmt.Sprintf("-> ../d%d", j)
		}
	}
	dir := writeSite(t, files)
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	var diags diag.List
	tree := Tree{Files: Files{Diags: &diags}, Dir: filepath.Join(dir, "data"), Real: real, ForData: true,
		Dangling: true}
	if found := tree.Below("", -1, true); len(found) > 3*15*maxLinked {
		t.Errorf("%d files are listed", len(found))
	}
	if diags.Empty() {
		t.Error("nothing is reported")
	}
}

// Directories that all link to each other are entered until the limit is reached.
func TestCyclicLinksStopAtLimitWithError(t *testing.T) {
	testmode.SkipUnderRace(t)
	dir, n := t.TempDir(), 8
	for i := range n {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint("d", i)), 0o777); err != nil {
			t.Fatal(err)
		}
		for j := range n {
			from := filepath.Join(dir, fmt.Sprint("d", i), fmt.Sprint("l", j))
			if err := os.Symlink(fmt.Sprint("../d", j), from); err != nil {
				t.Fatal(err)
			}
		}
	}
	var diags diag.List
	tree := Tree{Files: Files{Diags: &diags}, Dir: dir, Real: dir}
	if found := tree.Below("", -1, false); len(found) > n*(maxLinked+n+1) {
		t.Errorf("%d files are listed", len(found))
	}
	if !diags.Failed() {
		t.Error("nothing is reported")
	}
}

// Any number of links may be next to each other, because they are not nested.
func TestParallelLinksAreNotLimited(t *testing.T) {
	all := map[string]string{}
	for i := range maxLinks + 2 {
		all[fmt.Sprintf("far/d%d/x.yaml", i)] = ""
		all[fmt.Sprintf("data/l%d", i)] = fmt.Sprintf("-> ../far/d%d", i)
	}
	dir := writeSite(t, all)
	var diags diag.List
	tree := Tree{Files: Files{Diags: &diags}, Dir: dir, Real: dir}
	found := slices.DeleteFunc(tree.Below("data/", -1, false), func(f Listed) bool { return f.Err != nil })
	if len(found) != maxLinks+2 || !diags.Empty() {
		t.Errorf("found %v; %v", found, diags.Sorted())
	}
}

// A link that is removed while its directory is being read is ignored.
func TestIgnoresLinkRemovedDuringListing(t *testing.T) {
	dir := writeSite(t, map[string]string{"data/a.yaml": "", "data/b.yaml": "-> a.yaml"})
	remove := func(op fsx.Op, path string) error {
		if op == fsx.Stat && filepath.Base(path) == "b.yaml" {
			return os.Remove(path)
		}
		return nil
	}
	var diags diag.List
	tree := Tree{Files: Files{Disk: fsx.Disk{Fault: remove}, Diags: &diags}, Dir: dir, Real: dir}
	found := tree.Below("data/", -1, false)
	if len(found) != 1 || found[0].Path != "data/a.yaml" || !diags.Empty() {
		t.Errorf("found %v; %v", found, diags.Sorted())
	}
}

// Links may be nested up to the limit.
func TestTooDeeplyNestedLinksAreAnError(t *testing.T) {
	all := map[string]string{}
	for i := range maxLinks + 2 {
		all[fmt.Sprintf("d%d/x.yaml", i)] = ""
		all[fmt.Sprintf("d%d/n", i)] = fmt.Sprintf("-> ../d%d", i+1)
	}
	delete(all, fmt.Sprintf("d%d/n", maxLinks+1))
	dir := writeSite(t, all)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from string
		most int // expected depth of nested links
		ends string
	}{{"d0/", maxLinks, "d0" + strings.Repeat("/n", maxLinks+1)}, {"d1/", maxLinks, ""}, {"d2/", maxLinks - 1, ""}} {
		var diags diag.List
		tree := Tree{Files: Files{Diags: &diags}, Dir: dir, Real: real}
		deepest := 0
		for _, f := range tree.Below(c.from, -1, false) {
			if f.Err == nil {
				deepest = max(deepest, strings.Count(f.Path, "/n"))
			}
		}
		ends := ""
		for _, d := range diags.Sorted() {
			ends, _ = Below(dir, d.Pos.File)
		}
		if deepest != c.most || ends != c.ends {
			t.Errorf("below %s it is %d links to the last file, and an error at '%s'; expected %d, '%s'", c.from, deepest,
				ends, c.most, c.ends)
		}
	}
}
