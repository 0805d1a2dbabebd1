//go:build unix

package loader_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/loader"
)

// A set of bindings is named after its path below the directory bindings. In a module, the name of the module comes
// first.
func TestSetsAreNamedAfterTheirPath(t *testing.T) {
	dir := writeSite(t, map[string]string{
		"site/modules/x": "", "site/alone/metadata.json": "{}", "site/other/x": "", "site/broken/metadata.json/x": "",
		"listed/environment.conf": "modulepath = mine:/elsewhere:", "listed/modules/x": "", "listed/mine/x": "",
		"based/environment.conf": "modulepath = $basemodulepath", "looped/metadata.json": "-> metadata.json",
		"looped/x":                "",
		"silent/environment.conf": "manifest = x", "loop/environment.conf": "-> environment.conf", "loop/x": ""})
	conf := "modulepath = $basemodulepath::" + filepath.Join(dir, "absolute/mine") + "\nmodulepath\n"
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "absolute"), 0o777),
		os.WriteFile(filepath.Join(dir, "absolute/environment.conf"), []byte(conf), 0o666)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"absolute/mine/m/bindings/a.yaml":         "m::a a",
		"absolute/modules/m/bindings/a.yaml":      "a",
		"based/modules/m/bindings/a.yaml":         "m::a a",
		"looped/bindings/a.yaml":                  "error",
		"site/bindings/default.yaml":              "default",
		"site/bindings/a/b.yaml":                  "a::b",
		"site/bindings/a.b/c.d.pp":                "a.b::c.d",
		"site/modules/m/bindings/default.yaml":    "m::default default",
		"site/modules/m/bindings/a/b.pp":          "m::a::b a::b",
		"site/other/m/bindings/default.yaml":      "default",
		"site/alone/bindings/a.yaml":              "alone::a a",
		"site/broken/bindings/a.yaml":             "error",
		"site/bindings/bindings/a.yaml":           "a",
		"site/modules/m/bindings/bindings/a.yaml": "m::bindings::a bindings::a",
		"site/modules/m/bindings/bindings/b/a.pp": "m::bindings::b::a bindings::b::a",
		"site/modules/m/default.yaml":             "",
		"site/modules/m/mybindings/default.yaml":  "",
		"listed/mine/m/bindings/a.yaml":           "m::a a",
		"listed/modules/m/bindings/a.yaml":        "a",
		"silent/modules/m/bindings/a.yaml":        "m::a a",
		"loop/modules/m/bindings/a.yaml":          "error",
		"loop/modules/m/lib/bindings/x/y/a.yaml":  "x::y::a",
	} {
		t.Chdir(dir)
		for _, path := range []string{path, filepath.Join(dir, path)} {
			names, err := loader.NamesOfSet(fsx.Disk{}, path)
			got := strings.Join(names, " ")
			if err != nil {
				got = "error"
			}
			if got != want {
				t.Errorf("%s is %s (%v), expected %s", path, got, err, want)
			}
		}
	}
}

// A relative path below a working directory that has been removed gives no names.
func TestSetsInRemovedDirectoryHaveNoNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if names, err := loader.NamesOfSet(fsx.Disk{}, "bindings/a.yaml"); err == nil {
		t.Errorf("found %q", names)
	}
}

// A backend gets the absolute path of the hierarchy even if the path of the site is relative, because a program runs in
// another directory. Loading fails if the current directory does not exist.
func TestBackendGetsAbsolutePath(t *testing.T) {
	dir := writeSite(t, map[string]string{"site/hiera.yaml": "{version: 2, backends: [echo], hierarchy: " +
		"[[common, 'true', c]]}", "gone/x": ""})
	var diags diag.List
	var asked []string
	opts := loader.Options{Jobs: 1, Backends: map[string]loader.Backend{"echo": func(in, name string) ([]byte, error) {
		asked = append(asked, in+" "+name)
		return []byte("{}"), nil
	}}}
	t.Chdir(dir)
	loader.Load("site", opts, &diags)
	if want := filepath.Join(dir, "site") + " c"; fmt.Sprint(asked) != "["+want+"]" || !diags.Empty() {
		t.Errorf("asked is %q, expected %s; %v", asked, want, diags.Sorted())
	}
	asked = nil
	t.Chdir(filepath.Join(dir, "gone"))
	if err := os.RemoveAll(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	loader.Load("../site", opts, &diags) // some systems find the site even so
	if asked != nil || !diags.Failed() {
		t.Errorf("from a directory that is gone, asked is %q", asked)
	}
}

// With a limit of 100,000 jobs, the loader still starts no more goroutines than there are files.
func TestNumberOfGoroutinesIsLimitedByFiles(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "{version: 2, backends: [count], hierarchy: [[common, 'true', c]]}"})
	running := 0
	load(t, dir, loader.Options{Jobs: 100_000, Backends: map[string]loader.Backend{
		"count": func(string, string) ([]byte, error) {
			running = goruntime.NumGoroutine()
			return []byte("{}"), nil
		}}})
	if running == 0 || running > 1000 {
		t.Errorf("%d goroutines run while the only data file is read", running)
	}
}

// With a cache, the entries of data files are kept for the next build.
func TestCacheKeepsDataFileEntries(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 2", "data/common.yaml": "key::of::data: 1",
		"bindings/default.yaml": set("default")})
	kept := t.TempDir()
	cache, err := datafile.OpenCache(kept, dir, datafile.Program{})
	if err != nil {
		t.Fatal(err)
	}
	var diags diag.List
	loader.Load(dir, loader.Options{Cache: cache}, &diags)
	if err := cache.Save(); err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(kept, "*"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("kept is %q; %v, %v", packs, err, diags.Sorted())
	}
	pack, err := os.ReadFile(packs[0])
	if err != nil || !strings.Contains(string(pack), "key::of::data") {
		t.Errorf("%d bytes are kept, without the key of the data; %v", len(pack), err)
	}
}
