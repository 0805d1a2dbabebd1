//go:build unix

package loader_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/testmode"
	"bindc/loader"
	"bindc/snapshot"
)

// everything is a site with each kind of file that the loader searches for. "-> x" is a symbolic link to x.
var everything = map[string]string{
	"binder_config.yaml": "version: 1\ncategories: [[node, '${fqdn}'], [role, '${role}']]\nlayers:\n" +
		"- {name: a, include: ['confdir-hiera:/', 'confdir:/**', 'confdir:/set', 'confdir:/none?optional']}\n" +
		"- {name: b, include: ['module-hiera:/*', 'module:/*::default'], exclude: 'module-hiera:/excluded'}\n",
	"hiera.yaml": "version: 2\nhierarchy: [[node, '${fqdn}', 'data/nodes/${fqdn}'],\n" +
		"  [role, '${role}', 'data/roles/${role}'], [common, 'true', data/common]]\n",
	"data/common.yaml":                                "a: 1\nb: '${fqdn}'\nc: [1, 2]\n",
	"data/nodes/n1.json":                              `{"a": 2}`,
	"data/nodes/n2.yaml":                              "-> ../../n2.txt",
	"n2.txt":                                          "a: 3\n",
	"data/roles/web/front.yaml":                       "a: 4\n",
	"data/roles/again":                                "-> .",
	"data/roles/twin":                                 "-> web",
	"bindings/set.yaml":                               "{bindings_version: 1, name: set, bind: [[d, 5]]}",
	"bindings/below/set.yaml":                         "{bindings_version: 1, name: 'below::set', bind: [[e, 6]]}",
	"modules/m/hiera.yaml":                            "version: 2\n",
	"modules/m/data/common.yaml":                      "f: 7\n",
	"modules/m/bindings/default.yaml":                 "{bindings_version: 1, name: 'm::default', bind: [[g, 8]]}",
	"elsewhere/lib/puppet/bindings/linked/default.rb": "",
	"modules/excluded/hiera.yaml":                     "version: 2\n",
	"modules/linked":                                  "-> ../elsewhere",
	"elsewhere/hiera.yaml":                            "version: 2\n",
	"elsewhere/data/common.yaml":                      "h: 9\n",
	"more/n/bindings/default.yaml":                    "{bindings_version: 1, name: 'n::default', bind: [[i, 10]]}",
}

// withLinks writes the files of a site, including symbolic links, and returns its directory.
func withLinks(t *testing.T, files map[string]string) string {
	t.Helper()
	plain := map[string]string{}
	for name, text := range files {
		if !strings.HasPrefix(text, "-> ") {
			plain[name] = text
		}
	}
	dir := writeSite(t, plain)
	for name, text := range files {
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// faulty builds the same site repeatedly, with a different fault in each build.
type faulty struct {
	dir, out, cache string
}

// build builds the site from the file system d. It returns the snapshot, or the diagnostics.
func (b *faulty) build(t *testing.T, d fsx.Disk) (snap []byte, found []diag.Diagnostic) {
	t.Helper()
	modulePath := []string{filepath.Join(b.dir, "modules"), filepath.Join(b.dir, "more")}
	opts := loader.Options{Jobs: 1, ModulePath: modulePath}.On(d)
	if b.cache != "" {
		cache, err := datafile.OpenCache(b.cache, b.dir, datafile.Program{})
		if err != nil {
			t.Fatal(err)
		}
		opts.Cache = cache
		defer func() {
			if err := cache.Save(); err != nil {
				t.Error(err)
			}
		}()
	}
	var diags diag.List
	content := compile.Compile(loader.Load(b.dir, opts, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		return nil, diags.Sorted()
	}
	if _, err := snapshot.Write(b.out, content); err != nil {
		t.Fatal(err)
	}
	snap, err := os.ReadFile(b.out)
	if err != nil {
		t.Fatal(err)
	}
	return snap, nil
}

// access is one file system call of a build: the nth call of op on path.
type access struct {
	op   fsx.Op
	path string
	nth  int
}

// counted returns a function that numbers the calls of each op and path, and calls f with each. It is safe for
// concurrent use: one goroutine finds files while others read them.
func counted(f func(access) error) func(fsx.Op, string) error {
	var mu sync.Mutex
	seen := map[access]int{}
	return func(op fsx.Op, path string) error {
		mu.Lock()
		defer mu.Unlock()
		a := access{op, path, 0}
		seen[a]++
		a.nth = seen[a]
		return f(a)
	}
}

// Each file system call fails once, with each possible error. The build must produce the same snapshot, or an error
// that names the path.
func TestEveryFaultGivesSameSnapshotOrError(t *testing.T) {
	for _, cache := range []string{"", t.TempDir()} {
		b := &faulty{withLinks(t, everything), filepath.Join(t.TempDir(), "f"), cache}
		var calls []access
		want, found := b.build(t, fsx.Disk{Fault: counted(func(a access) error {
			calls = append(calls, a)
			return nil
		})})
		if len(found) > 0 || len(calls) < 100 {
			t.Fatalf("%d calls, found %v", len(calls), found)
		}
		same := 0
		for i, errno := range []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.ELOOP, syscall.ENOMEM} {
			for j, call := range calls {
				if (i+j)%testmode.Number(10, 1) != 0 {
					continue // by default, each call fails in one of the ways
				}
				got, found := b.build(t, fsx.Disk{Fault: counted(func(a access) error {
					if a == call {
						return errno
					}
					return nil
				})})
				what := fmt.Sprintf("%s %d of %s: %v", call.op, call.nth, call.path, errno)
				same += b.judge(t, what, call.path, got, want, found)
			}
		}
		t.Logf("figures: each of %d calls failed: %d builds gave the same bytes, the others an error",
			len(calls), same)
	}
}

// A file that several layers and entries use is read once. Only two operations are repeated: directories are listed
// again to find unused files, and each layer may read a hiera.yaml to determine its version.
func TestFilesAreReadOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  map[string]int // expected number of calls, by operation and path
	}{
		{"Hiera 2", map[string]string{"binder_config.yaml": "version: 1\nlayers: [{include: 'confdir-hiera:/'}, " +
			"{include: ['confdir-hiera:/', 'confdir:/a']}, {include: 'confdir:/a'}]",
			"hiera.yaml": "version: 2\nhierarchy:\n- [node, '${fqdn}', 'd/${fqdn}']\n- [osfamily, '${osfamily}', " +
				"'e/${osfamily}']\n- [environment, '${environment}', 'd/${environment}']\n",
			"d/x.yaml": "a: 1", "e/x.yaml": "a: 1", "bindings/a.yaml": set("a")},
			map[string]int{"list d": 1, "list e": 1, "open hiera.yaml": 1, "open d/x.yaml": 1,
				"open bindings/a.yaml": 1}},
		{"Hiera 5", map[string]string{"binder_config.yaml": "version: 1\nlayers: [{include: 'hiera:/'}, " +
			"{include: 'hiera:/'}]", "hiera.yaml": "version: 5\nhierarchy: [{name: A, paths: ['d/%{a}.yaml', " +
			"'e/%{a}.yaml', 'd/%{b}.yaml']}]", "data/d/x.yaml": "a: 1", "data/e/x.yaml": "a: 1"},
			map[string]int{"list data/d": 1, "list data/e": 1, "open hiera.yaml": 4, "open data/d/x.yaml": 1}},
	} {
		dir := withLinks(t, c.files)
		got := map[string]int{}
		d := fsx.Disk{Fault: counted(func(a access) error {
			if a.op == fsx.Open || a.op == fsx.List {
				rel, _ := filepath.Rel(dir, a.path)
				if name := fmt.Sprint(a.op, " ", rel); c.want[name] > 0 {
					got[name] = a.nth
				}
			}
			return nil
		})}
		var diags diag.List
		loader.Load(dir, loader.Options{Jobs: 1}.On(d), &diags)
		if !maps.Equal(got, c.want) || !diags.Empty() {
			t.Errorf("%s: found %v, expected %v; %v", c.name, got, c.want, diags.Sorted())
		}
	}
}

// judge checks the result of a build with a fault. It returns 1 if the result is the same as without the fault,
// otherwise 0.
func (b *faulty) judge(t *testing.T, what, path string, got, want []byte, found []diag.Diagnostic) int {
	t.Helper()
	named := func(d diag.Diagnostic) bool { return d.Code == "read" && d.Pos.File == path }
	switch {
	case got != nil && bytes.Equal(got, want):
		return 1
	case got != nil:
		t.Errorf("%s: another snapshot", what)
	case !slices.ContainsFunc(found, named):
		t.Errorf("%s: found %v", what, found)
	}
	return 0
}

// The file system may report a size that differs from the content. A file that arrives in pieces is read completely;
// one that is shorter, longer or empty is rejected.
func TestEveryFileIsReadWholeOrRejected(t *testing.T) {
	filters := map[string]struct {
		filter func(io.Reader) io.Reader
		fine   bool
	}{
		"byte by byte": {iotest.OneByteReader, true},
		"by halves":    {iotest.HalfReader, true},
		"end at once":  {iotest.DataErrReader, true},
		"short":        {func(r io.Reader) io.Reader { return io.LimitReader(r, 3) }, false},
		"empty":        {func(io.Reader) io.Reader { return strings.NewReader("") }, false},
		"long":         {func(r io.Reader) io.Reader { return io.MultiReader(r, strings.NewReader(" ")) }, false},
		"broken":       {func(r io.Reader) io.Reader { return iotest.TimeoutReader(iotest.OneByteReader(r)) }, false},
	}
	for _, cache := range []string{"", t.TempDir()} {
		b := &faulty{withLinks(t, everything), filepath.Join(t.TempDir(), "f"), cache}
		var mu sync.Mutex
		files := map[string]bool{}
		want, found := b.build(t, fsx.Disk{Filter: func(path string, r io.Reader) io.Reader {
			mu.Lock()
			defer mu.Unlock()
			files[path] = true
			return r
		}})
		if len(found) > 0 || len(files) < 10 {
			t.Fatalf("%d files, found %v", len(files), found)
		}
		for name, f := range filters {
			for path := range files {
				read := false // with a cache, the build may not read the file
				got, found := b.build(t, fsx.Disk{Filter: func(p string, r io.Reader) io.Reader {
					if p == path {
						read = true
						return f.filter(r)
					}
					return r
				}})
				if same := b.judge(t, name+": "+path, path, got, want, found) == 1; read && same != f.fine {
					t.Errorf("%s: %s: the same bytes is %v", name, path, same)
				}
			}
		}
	}
}
