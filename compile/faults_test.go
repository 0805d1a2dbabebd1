//go:build unix

package compile_test

import (
	"bytes"
	"fmt"
	"io"
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

// faulty builds the same site repeatedly, with a different fault in each build.
type faulty struct {
	dir, out, cache string
}

func newFaulty(t *testing.T, cache string) *faulty {
	t.Helper()
	b := &faulty{t.TempDir(), filepath.Join(t.TempDir(), "f"), cache}
	testmode.WriteFiles(t, b.dir, everything)
	return b
}

// build builds the site from the file system d. It returns the snapshot, or the diagnostics.
func (b *faulty) build(t *testing.T, d fsx.Disk) (snap []byte, found []diag.Diagnostic) {
	t.Helper()
	modulePath := []string{filepath.Join(b.dir, "modules"), filepath.Join(b.dir, "more")}
	opts := loader.Options{Jobs: 1, ModulePath: modulePath, Disk: d}
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

// Each file system call fails once, with each possible error. The build must produce the same snapshot, or an error
// that names the path.
func TestEveryFaultGivesSameSnapshotOrError(t *testing.T) {
	for _, cache := range []string{"", t.TempDir()} {
		b := newFaulty(t, cache)
		var calls []testmode.Access
		want, found := b.build(t, fsx.Disk{Fault: testmode.NumberCalls(func(a testmode.Access) error {
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
				got, found := b.build(t, fsx.Disk{Fault: testmode.NumberCalls(func(a testmode.Access) error {
					if a == call {
						return errno
					}
					return nil
				})})
				what := fmt.Sprintf("%s %d of %s: %v", call.Op, call.Nth, call.Path, errno)
				same += b.judge(t, what, call.Path, got, want, found)
			}
		}
		t.Logf("figures: each of %d calls failed: %d builds gave the same bytes, the others an error",
			len(calls), same)
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
		b := newFaulty(t, cache)
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
