//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bindc/internal/testmode"
	bindings "bindc/runtime"
)

// If a site changes during a build, the build uses the old or the new content of each file, never a mixture, or
// reports which file it could not read.
func TestBuildOfChangingSiteUsesWholeFiles(t *testing.T) {
	const nodes = 40
	site, dir, cache := newSite(t, 0, nodes), t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "site.bsnap")
	var running sync.WaitGroup
	stop := make(chan struct{})
	running.Go(func() { churn(site, nodes, stop) })
	compiled, refused := 0, 0
	for range rounds(12) {
		args := []string{"build", site, "-o", path}
		if compiled%2 == 0 {
			args = append(args, "--cache", cache)
		}
		switch r := run(t, "bindc", args...); {
		case r.status == 0:
			compiled++
			unmixed(t, path, nodes)
		case r.status == 1 && strings.Contains(r.stderr, "[read]") && !crashed(r):
			refused++
		default:
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
	}
	close(stop)
	running.Wait()
	if compiled == 0 {
		t.Error("no build succeeded")
	}
	figures(t, "%d builds of a site that changes: %d compiled, %d refused", compiled+refused, compiled, refused)
}

// churn replaces, removes, moves and overwrites files and directories of a site until stop is closed.
func churn(site string, nodes int, stop <-chan struct{}) {
	data := filepath.Join(site, "data/nodes")
	for generation := 1; ; generation++ {
		select {
		case <-stop:
			return
		default:
		}
		path := filepath.Join(data, fmt.Sprintf("n%d.yaml", rand.IntN(nodes)))
		text := []byte(values(generation%10, ""))
		switch rand.IntN(16) {
		case 0:
			os.Remove(path)
		case 1:
			if os.Rename(data, data+".away") == nil {
				os.Rename(data+".away", data)
			}
		case 2, 3, 4: // overwrites the file in one write of the same length, so that readers see no mixture
			if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				f.WriteAt(text, 0)
				f.Close()
			}
		default:
			if os.WriteFile(path+".tmp", text, 0o666) == nil {
				os.Rename(path+".tmp", path)
			}
		}
	}
}

// unmixed fails the test if the two values of a file are from different generations.
func unmixed(t *testing.T, path string, nodes int) {
	t.Helper()
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for i := range nodes {
		node := fmt.Sprintf("n%d", i)
		facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: node})
		if err != nil {
			t.Fatal(err)
		}
		r, err := snap.Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		first, found, err := r.Lookup("first")
		second, alsoFound, alsoErr := r.Lookup("second")
		if !found || !alsoFound || err != nil || alsoErr != nil || first.String() != second.String() {
			t.Errorf("%s: %q (%v) and %q (%v)", node, first, err, second, alsoErr)
		}
	}
}

// A cache that is damaged, truncated or not a file does not change the snapshot.
func TestDamagedCacheDoesNotChangeTheSnapshot(t *testing.T) {
	site, cache := newSite(t, 1, 20), t.TempDir()
	want, path := built(t, site), filepath.Join(t.TempDir(), "site.bsnap")
	args := []string{"build", site, "-o", path, "--cache", cache}
	succeed(t, "bindc", args...)
	pack := filepath.Join(cache, names(t, cache)[0])
	sound, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for range rounds(testmode.Number(6, 30)) {
		bad := append([]byte(nil), sound...)
		for range 1 + rand.IntN(3) {
			bad[rand.IntN(len(bad))] ^= byte(1 + rand.IntN(255))
		}
		bad = bad[:len(bad)-rand.IntN(2)*rand.IntN(len(bad))]
		if err := os.WriteFile(pack, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if r := run(t, "bindc", args...); r.status != 0 || r.stderr != "" || digest(t, path) != want {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
		damaged++
	}
	for name, put := range map[string]func() error{
		"FIFO":      func() error { return exec.Command("mkfifo", pack).Run() },
		"directory": func() error { return os.Mkdir(pack, 0o777) },
		"device":    func() error { return os.Symlink("/dev/zero", pack) },
		"nowhere":   func() error { return os.Symlink("nowhere", pack) },
		"loop":      func() error { return os.Symlink(pack, pack) },
	} {
		if err := os.RemoveAll(pack); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		r := run(t, "bindc", args...)
		status := 2
		if name == "nowhere" { // the directory of the cache is missing
			status = 0
		}
		if r.status != status || digest(t, path) != want || !strings.Contains(r.stderr, pack) {
			t.Errorf("%s: status %d: %s", name, r.status, r.stderr)
		}
	}
	figures(t, "%d damaged caches", damaged)
}
