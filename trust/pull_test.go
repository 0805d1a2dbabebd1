//go:build linux

package trust

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A pull is killed at each call by which it stores, switches and notes: the name leads to the old snapshot or to the
// new one, whole, and the next pull has the new one answer and leaves nothing in store/tmp that is not removed in time.
func TestKilledAtEachCallOfAPull(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("there is no strace to send signals by")
	}
	old, now := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "now")
	succeed(t, "bindc", "build", newSite(t, 1, 3), "-o", old)
	succeed(t, "bindc", "build", newSite(t, 2, 3), "-o", now)
	sums := map[[32]byte]string{digest(t, old): "old", digest(t, now): "now"}
	killed, saw := 0, map[string]int{}
	calls := []string{"write", "fsync", "renameat", "symlinkat", "mkdirat", "unlinkat", "flock"}
	if testing.Short() {
		calls = []string{"renameat", "symlinkat"}
	}
	for _, call := range calls {
		for n := 1; ; n++ {
			store := filepath.Join(t.TempDir(), "store")
			succeed(t, "bindq", "pull", "file:"+old, "--name", "n", "--store", store)
			r := run(t, "strace", "-f", "-qqq", "-o", os.DevNull, "-e", "signal=none",
				"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n),
				"bindq", "pull", "file:"+now, "--name", "n", "--store", store)
			if r.status == 0 && r.signal == 0 {
				break // there are no more such calls
			}
			killed++
			what := fmt.Sprintf("killed at %s %d", call, n)
			link := filepath.Join(store, "n.snap")
			which := sums[digest(t, link)]
			if which == "" {
				t.Fatalf("%s: %s leads to something else", what, link)
			}
			saw[which]++
			succeed(t, "bindq", "verify", link)
			succeed(t, "bindq", "status", "--store", store)
			succeed(t, "bindq", "pull", "file:"+now, "--name", "n", "--store", store)
			if sums[digest(t, link)] != "now" {
				t.Errorf("%s: the next pull does not end with the new snapshot", what)
			}
		}
	}
	// strace counts calls by thread, so that of few kills none may be behind the switch.
	if killed == 0 || !testing.Short() && (saw["old"] == 0 || saw["now"] == 0) {
		t.Errorf("%d kills: %d saw the old snapshot, %d the new one", killed, saw["old"], saw["now"])
	}
	figures(t, "%d pulls were killed: %d names stayed, %d led to the new snapshot", killed, saw["old"], saw["now"])
}
