//go:build linux && !purego

package runtime_test

import (
	"path/filepath"
	"testing"
)

func TestFileIsUnmappedAfterItsLastRequest(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, byHand)
	expect := func(want int, when string) {
		t.Helper()
		if got := mapped(t, dir, want); got != want {
			t.Errorf("%d files are mapped %s, expected %d", got, when, want)
		}
	}
	expect(1, "when it is opened")
	first, second := begin(t, w), begin(t, w)
	build(t, path, generation(2))
	check(t, w, true)
	first.Close()
	first.Close()
	expect(2, "while a request of the old file goes on")
	second.Close()
	expect(1, "when the last request is closed")
	build(t, path, generation(3))
	check(t, w, true)
	expect(1, "when a file without requests is replaced")
	replace(t, path, []byte("not a snapshot"))
	w.Check()
	expect(1, "when a file is refused")
	last := begin(t, w)
	w.Close()
	checkGeneration(t, last, 3)
	last.Close()
	expect(0, "when the watcher and its last request are closed")
}

// After closing the environments, only files of open requests stay mapped.
func TestClosedEnvironmentsAreUnmapped(t *testing.T) {
	dir := t.TempDir()
	environment(t, dir, "a", "a")
	environment(t, dir, "b", "b")
	all := openEnvironments(t, dir, byHand)
	for _, name := range []string{"a", "b"} {
		if got := environmentOf(t, all, asking(t, name, `{}`)); got != name+" "+name {
			t.Errorf("%s is %s", name, got)
		}
	}
	lease, err := all.Request(asking(t, "a", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	all.Close()
	if n := mapped(t, dir, 1); n != 1 {
		t.Errorf("%d files are mapped while one request goes on", n)
	}
	lease.Close()
	if n := mapped(t, dir, 0); n != 0 {
		t.Errorf("%d files are mapped after the last request", n)
	}
}
