package runtime_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// generation returns a site in which every value contains n: constants of each storage form, and computed values.
func generation(n int) string {
	return fmt.Sprintf(`bindings_version: 1
name: default
bind:
  - {name: number, to: %[1]d}
  - {name: text, to: generation %[1]d}
  - {name: large, to: '%[2]s'}
  - {name: computed, to: "of ${fqdn}: ${lookup('text')}"}
  - {name: chain, to_first_found: [wrong]}
  - {name: wrong, type: Integer, to_first_found: [text]}
  - when: {node: 'n%[3]d.example.org'}
    bind: [{name: text, to: generation %[1]d}]
`, n, strings.Repeat(fmt.Sprintf("generation %d, ", n), 100), n%4)
}

// build compiles bindings and replaces the snapshot at path.
func build(t testing.TB, path, source string) {
	t.Helper()
	buildSite(t, path, map[string]string{"bindings/default.yaml": source})
}

// buildSite writes the snapshot of a site with these files.
func buildSite(t testing.TB, path string, files map[string]string) {
	t.Helper()
	if _, err := snapshot.Write(path, compiled(t, files)); err != nil {
		t.Fatal(err)
	}
}

// compiled returns the content of a site with these files.
func compiled(t testing.TB, files map[string]string) *snapshot.Content {
	t.Helper()
	dir := t.TempDir()
	testmode.WriteFiles(t, dir, files)
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	return content
}

// replace replaces the file at path.
func replace(t testing.TB, path string, content []byte) {
	t.Helper()
	tmp := path + ".new"
	if err := os.WriteFile(tmp, content, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

// watch watches path until the end of the test.
func watch(t testing.TB, path string, opts bindings.WatchOptions) *bindings.Watcher {
	t.Helper()
	w, err := bindings.Watch(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// byHand disables polling, so that tests call Check.
var byHand = bindings.WatchOptions{Interval: -1}

func check(t testing.TB, w *bindings.Watcher, want bool) {
	t.Helper()
	if switched, err := w.Check(); switched != want || err != nil {
		t.Errorf("Check: switched is %v, %v; expected %v", switched, err, want)
	}
}

func nodeFacts(t testing.TB, name string) *bindings.Facts {
	t.Helper()
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: name})
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

func begin(t testing.TB, w *bindings.Watcher) *bindings.Lease {
	t.Helper()
	lease, err := w.Request(nodeFacts(t, "n1.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// checkGeneration fails the test unless all values of l are from generation n.
func checkGeneration(t testing.TB, l *bindings.Lease, n int) {
	t.Helper()
	if got, err := generationOf(l); err != nil || got != n {
		t.Errorf("answers are of generation %d, %v; expected %d", got, err, n)
	}
}

// generationOf returns the generation that all values of l name, or an error if a lookup fails or
// names another.
func generationOf(l *bindings.Lease) (int, error) {
	number, found, err := l.Lookup("number")
	if err != nil || !found {
		return 0, fmt.Errorf("number: found is %v, %w", found, err)
	}
	name := fmt.Sprintf("generation %d", intOf(number))
	node, _ := l.Category("node")
	for key, want := range map[string]string{
		"text":     name,
		"computed": "of " + node + ": " + name,
		"large":    strings.Repeat(name+", ", 100),
	} {
		v, found, err := l.Lookup(key)
		if err != nil || !found || textOf(v) != want {
			return 0, fmt.Errorf("%s of generation %s: found is %v, %.40q, %w", key, name, found, textOf(v), err)
		}
	}
	return int(intOf(number)), nil
}

func TestRequestKeepsItsSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, byHand)
	before := begin(t, w)
	defer before.Close()
	kept, _, err := before.Lookup("large")
	if err != nil {
		t.Fatal(err)
	}
	check(t, w, false)
	build(t, path, generation(2))
	check(t, w, true)
	check(t, w, false)
	after := begin(t, w)
	defer after.Close()
	checkGeneration(t, before, 1)
	checkGeneration(t, after, 2)
	if !strings.HasPrefix(textOf(kept), "generation 1,") {
		t.Errorf("a value of the old snapshot became %.20q", textOf(kept))
	}
}

func TestWatcherFollowsSymbolicLink(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("a link needs a privilege")
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "current")
	for n := range 2 {
		build(t, filepath.Join(dir, fmt.Sprint(n)), generation(n))
	}
	point := func(n int) {
		if err := errors.Join(os.Symlink(fmt.Sprint(n), link+".new"), os.Rename(link+".new", link)); err != nil {
			t.Fatal(err)
		}
	}
	point(0)
	w := watch(t, link, byHand)
	for _, n := range []int{1, 0} {
		point(n)
		check(t, w, true)
		lease := begin(t, w)
		checkGeneration(t, lease, n)
		lease.Close()
	}
}

func TestWatcherRejectsDamagedFile(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "site.bsnap"), filepath.Join(dir, "next")
	build(t, path, generation(1))
	build(t, next, generation(2))
	good, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) []byte {
		bad := bytes.Clone(good)
		bad[at] ^= 1
		return bad
	}
	w := watch(t, path, byHand)
	for name, bad := range map[string][]byte{
		"version":   flip(8),
		"format":    flip(0),
		"header":    flip(100),
		"body":      flip(len(good) - 100),
		"truncated": good[:len(good)-64],
		"empty":     {},
		"text":      []byte("bindings"),
	} {
		replace(t, path, bad)
		switched, err := w.Check()
		var damage *snapshot.DamageError
		if switched || !errors.Is(err, snapshot.ErrFormat) && !errors.Is(err, snapshot.ErrVersion) && !errors.As(err,
			&damage) {
			t.Errorf("%s: switched is %v, %v", name, switched, err)
		}
		if _, again := w.Check(); again != err {
			t.Errorf("%s: %v the first time, %v the second", name, err, again)
		}
		lease := begin(t, w)
		checkGeneration(t, lease, 1)
		lease.Close()
	}
	replace(t, path, good)
	check(t, w, true)
	lease := begin(t, w)
	defer lease.Close()
	checkGeneration(t, lease, 2)
}

func TestWatcherKeepsSnapshotIfFileIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, byHand)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if switched, err := w.Check(); switched || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("switched is %v, %v", switched, err)
	}
	lease := begin(t, w)
	defer lease.Close()
	checkGeneration(t, lease, 1)
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	check(t, w, true)
}

// If a link moves while Watch opens the file, either file may be open, so the next Check opens the file again.
func TestLinkMovedDuringOpenIsPolledAgain(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("a link needs a privilege")
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "current")
	for n := range 2 {
		build(t, filepath.Join(dir, fmt.Sprint(n)), generation(n))
	}
	point := func(n int) error {
		return errors.Join(os.Symlink(fmt.Sprint(n), link+".new"), os.Rename(link+".new", link))
	}
	if err := point(0); err != nil {
		t.Fatal(err)
	}
	opts, opened := byHand, 0
	opts.Accept = func(string, [32]byte) error {
		if opened++; opened > 1 {
			return nil
		}
		return point(1)
	}
	w := watch(t, link, opts)
	if err := point(0); err != nil {
		t.Fatal(err)
	}
	check(t, w, true)
	check(t, w, false)
	lease := begin(t, w)
	defer lease.Close()
	checkGeneration(t, lease, 0)
}

func TestWatcherRequestAfterClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, bindings.WatchOptions{})
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.Request(nodeFacts(t, "n1")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Request: %v", err)
	}
	if switched, err := w.Check(); switched || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Check: %v, %v", switched, err)
	}
}

func TestErrorOutlivesItsRequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, byHand)
	lease := begin(t, w)
	_, _, err := lease.Lookup("chain")
	lease.Close()
	w.Close()
	var lookupErr *bindings.Error
	if !errors.As(err, &lookupErr) || lookupErr.Key != "wrong" || lookupErr.Code != "type_mismatch" {
		t.Errorf("%v", err)
	}
}

func TestLeaseDoesNotAllocate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	w, facts := watch(t, path, byHand), nodeFacts(t, "n1.example.org")
	plain := testing.AllocsPerRun(100, func() { request(t, snap, facts) })
	leased := testing.AllocsPerRun(100, func() { lease(t, w, facts) })
	if leased != plain {
		t.Errorf("a request of a watcher allocates %v times, one of a snapshot %v times", leased, plain)
	}
}

func request(t testing.TB, snap *bindings.Snapshot, facts *bindings.Facts) {
	if _, err := snap.Request(facts); err != nil {
		t.Fatal(err)
	}
}

func lease(t testing.TB, w *bindings.Watcher, facts *bindings.Facts) {
	lease, err := w.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close()
}

func BenchmarkRequest(b *testing.B) {
	path := filepath.Join(b.TempDir(), "site.bsnap")
	build(b, path, generation(1))
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	w, facts := watch(b, path, bindings.WatchOptions{}), nodeFacts(b, "n1.example.org")
	b.Run("of=snapshot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			request(b, snap, facts)
		}
	})
	b.Run("of=watcher", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lease(b, w, facts)
		}
	})
}

// mapped counts the files below dir that this process has mapped. It runs the garbage collector until at most want
// remain.
func mapped(t *testing.T, dir string, want int) int {
	t.Helper()
	if goruntime.GOOS != "linux" {
		t.Skip("only Linux lists the mapped files of a process")
	}
	for rounds := 1; ; rounds++ {
		goruntime.GC()
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(maps), dir); rounds > 3 && n <= want || rounds == 1000 {
			return n
		}
	}
}

// Requests run while the file is replaced. Each value contains the generation of its file, so a request that mixes
// two files fails the test.
func TestRequestsDuringReplacementsUseOneSnapshot(t *testing.T) {
	t.Parallel()
	const readers = 3
	replacements := testmode.Number(60, 300)
	dir, next := t.TempDir(), filepath.Join(t.TempDir(), "generation")
	for n := range replacements + 1 { // built first, because the readers then use most of the processor time
		build(t, next+fmt.Sprint(n), generation(n))
	}
	path := filepath.Join(dir, "site.bsnap")
	publish := func(n int) {
		if err := os.Rename(next+fmt.Sprint(n), path); err != nil {
			t.Fatal(err)
		}
	}
	publish(0)
	w := watch(t, path, bindings.WatchOptions{Interval: time.Millisecond, Notify: func(err error) {
		if err != nil {
			t.Error(err)
		}
	}})
	var running sync.WaitGroup
	stop := make(chan struct{})
	for i := range readers {
		facts := nodeFacts(t, fmt.Sprintf("n%d.example.org", i))
		running.Go(func() { readUntil(t, stop, w, facts) })
	}
	for n := 1; n <= replacements; n++ {
		publish(n)
		if n%2 == 1 {
			time.Sleep(time.Millisecond) // time for a poll
		} else if _, err := w.Check(); err != nil { // in addition to the polls
			t.Error(err)
		}
	}
	close(stop)
	running.Wait()
	if _, err := w.Check(); err != nil {
		t.Error(err)
	}
	lease := begin(t, w)
	checkGeneration(t, lease, replacements)
	lease.Close()
	if n := mapped(t, dir, 1); n > 1 {
		t.Errorf("%d files are mapped when all requests but those of the last are done", n)
	}
}

// readUntil makes overlapping requests until stop is closed.
func readUntil(t *testing.T, stop <-chan struct{}, w *bindings.Watcher, facts *bindings.Facts) {
	var older *bindings.Lease
	newest, seen := 0, 0
	for {
		select {
		case <-stop:
			older.Close()
			t.Logf("%d requests, the last of generation %d", seen, newest)
			return
		default:
		}
		lease, err := w.Request(facts)
		if err != nil {
			t.Error(err)
			return
		}
		n, err := generationOf(lease)
		if err != nil || n < newest {
			t.Errorf("generation %d after %d: %v", n, newest, err)
		}
		if seen > 0 {
			if n, err := generationOf(older); err != nil || n != newest {
				t.Errorf("a request of generation %d answers from %d: %v", newest, n, err)
			}
		}
		older.Close()
		older, newest, seen = lease, n, seen+1
	}
}

func TestWatcherRejectsUnacceptedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.bsnap")
	build(t, path, generation(1))
	errUnsigned := errors.New("not signed")
	trusted := map[[32]byte]bool{}
	accept := func(at string, sum [32]byte) error {
		if at != path {
			t.Errorf("asked about %s", at)
		}
		if !trusted[sum] {
			return errUnsigned
		}
		return nil
	}
	opts := bindings.WatchOptions{Interval: -1, Options: bindings.Options{Accept: accept}}
	if _, err := bindings.Watch(path, opts); !errors.Is(err, errUnsigned) {
		t.Fatalf("Watch: %v", err)
	}
	if _, err := bindings.Open(path, opts.Options); !errors.Is(err, errUnsigned) {
		t.Fatalf("Open: %v", err)
	}
	sign := func() {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		trusted[sha256.Sum256(src)] = true
	}
	sign()
	w := watch(t, path, opts)
	build(t, path, generation(2))
	if _, err := w.Check(); !errors.Is(err, errUnsigned) {
		t.Errorf("Check: %v", err)
	}
	checkGeneration(t, begin(t, w), 1)
	sign() // as if the signature had been written after the file
	check(t, w, true)
	checkGeneration(t, begin(t, w), 2)
}
