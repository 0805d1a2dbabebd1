package runtime_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	bindings "bindc/runtime"
)

// open builds a site of one file and opens its snapshot until the end of the test.
func open(t testing.TB, source string, opts bindings.Options) *bindings.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, source)
	snap, err := bindings.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	return snap
}

func TestMethodsFailAfterClose(t *testing.T) {
	snap := open(t, generation(1), bindings.Options{})
	facts := nodeFacts(t, "n1.example.org")
	req, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	if _, found, err := req.Lookup("computed"); !found || err != nil {
		t.Fatal(found, err)
	}
	for range 2 {
		if err := snap.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	goruntime.GC()
	for _, key := range []string{"number", "large", "computed", "chain", "absent"} {
		if v, found, err := req.Lookup(key); found || !v.IsUndef() || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Lookup of %s: %v, %v, %v", key, v, found, err)
		}
	}
	if err := req.Reset(facts); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Reset: %v", err)
	}
	if name, ok := req.Category("node"); ok {
		t.Errorf("Category: %s", name)
	}
	if _, err := snap.Request(facts); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Request: %v", err)
	}
	if err := snap.Verify(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Verify: %v", err)
	}
	for key := range snap.Keys() {
		t.Errorf("Keys: %s", key)
	}
}

func TestLeaseFailsAfterClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, byHand)
	first, second := begin(t, w), begin(t, w)
	first.Close()
	first.Close()
	var none *bindings.Lease
	none.Close()
	if _, _, err := first.Lookup("text"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed lease: %v", err)
	}
	checkGeneration(t, second, 1)
	build(t, path, generation(2))
	check(t, w, true)
	checkGeneration(t, second, 1)
	second.Close()
	if err := second.Reset(nodeFacts(t, "n1")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Reset of a closed lease: %v", err)
	}
}

// A lookup that runs while the snapshot is closed returns its normal result. It must not read unmapped memory.
func TestLookupsDuringCloseHaveNormalResult(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(3))
	for range 20 {
		snap, err := bindings.Open(path, bindings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var running, begun sync.WaitGroup
		for range 4 {
			req, err := snap.Request(nodeFacts(t, "n1.example.org"))
			if err != nil {
				t.Fatal(err)
			}
			begun.Add(1)
			running.Go(func() {
				untilClosed(t, req, begun.Done)
			})
		}
		begun.Wait()
		snap.Close()
		goruntime.GC()
		running.Wait()
	}
}

// untilClosed looks keys up until the request is closed. It calls begun after the first result.
func untilClosed(t *testing.T, req *bindings.Request, begun func()) {
	begun = sync.OnceFunc(begun)
	defer begun()
	for {
		for key, want := range map[string]string{"large": strings.Repeat("generation 3, ", 100),
			"text": "generation 3"} {
			v, found, err := req.Lookup(key)
			if errors.Is(err, fs.ErrClosed) {
				return
			}
			if got := textOf(v); err != nil || !found || got != want {
				t.Errorf("%s is %.20q, %v, %v", key, got, found, err)
				return
			}
			goruntime.KeepAlive(req)
		}
		begun()
	}
}

func TestRequestWithoutFactsFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, byHand)
	_, leased := w.Request(nil)
	snap := open(t, generation(1), bindings.Options{})
	_, plain := snap.Request(nil)
	req, err := snap.Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{leased, plain, req.Reset(nil)} {
		var e *bindings.Error
		if !errors.As(err, &e) || e.Code != bindings.CodeFacts {
			t.Errorf("%v", err)
		}
	}
}

func TestOpenErrorsContainPath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "site.bsnap")
	for content, want := range map[string]error{"no snapshot": bindings.ErrFormat, "": bindings.ErrFormat} {
		replace(t, path, []byte(content))
		if _, err := bindings.Open(path, bindings.Options{}); !errors.Is(err, want) || !strings.Contains(err.Error(),
			path) {
			t.Errorf("%q: %v", content, err)
		}
		if _, err := bindings.Watch(path, byHand); !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q, watched: %v", content, err)
		}
	}
	absent := filepath.Join(dir, "absent")
	if _, err := bindings.Open(absent, bindings.Options{}); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), absent) {
		t.Error(err)
	}
	if _, err := bindings.Open(dir, bindings.Options{}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
}
