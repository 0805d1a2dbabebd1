//go:build linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"bindc/internal/testmode"
)

// adopted is a Puppet environment that bindc adopt switches to a snapshot.
type adopted struct {
	dir, snapshot string
	files         map[string]string // the original files
}

func newAdopted(t *testing.T) *adopted {
	t.Helper()
	root := t.TempDir()
	a := &adopted{filepath.Join(root, "production"), filepath.Join(root, "production.snap"), map[string]string{
		"hiera.yaml":       "# Puppet reads this.\nversion: 5\nhierarchy: [{name: Common, path: common.yaml}]\n",
		"data/common.yaml": "key: value\n",
		"modules/bindc/lib/puppet/functions/bindc/lookup_key.rb": "",
	}}
	for name, text := range a.files {
		write(t, filepath.Join(a.dir, name), text)
	}
	return a
}

func (a *adopted) args() []string { return []string{"adopt", a.dir, "-o", a.snapshot, "--no-compare"} }

func (a *adopted) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// works checks that the files in use are complete, and reports whether Puppet uses the snapshot.
func (a *adopted) works(t *testing.T, what, asking string) bool {
	t.Helper()
	if copied := a.read(t, "hiera5.yaml"); copied != "" && copied != a.files["hiera.yaml"] {
		t.Errorf("%s: hiera5.yaml is %q", what, copied)
	}
	switch a.read(t, "hiera.yaml") {
	case a.files["hiera.yaml"]:
		return false
	case asking:
		if a.read(t, "hiera5.yaml") == "" {
			t.Errorf("%s: the snapshot answers, and hiera5.yaml is not there", what)
		}
		succeed(t, "bindq", "verify", a.snapshot)
		return true
	}
	t.Errorf("%s: hiera.yaml is %q", what, a.read(t, "hiera.yaml"))
	return false
}

// If bindc adopt is killed at any of its system calls, Puppet uses either its own data or the whole snapshot. The next
// run completes the work. Undo restores the original files and leaves no others.
func TestAdoptKilledAtEachCallLeavesOldOrNewData(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	a := newAdopted(t)
	most := needStrace(t, a.args()...)
	asking := a.read(t, "hiera.yaml")
	succeed(t, "bindc", "adopt", "--undo", a.dir)
	killed, kept, switched := 0, 0, 0
	for _, call := range []string{"write", "fchown", "fchmod", "flock", "fsync", "renameat", "mkdirat"} {
		for n := 1; n <= most[call]; n += testmode.Number(19, 1) {
			trace := []string{"-f", "-qqq", "-o", os.DevNull, "-e", "signal=none",
				"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), "bindc"}
			r := run(t, "strace", append(trace, a.args()...)...)
			what := fmt.Sprintf("%s %d: status %d, %v: %s", call, n, r.status, r.signal, r.stderr)
			if r.signal == syscall.SIGKILL {
				killed++
			} else if r.status != 0 {
				t.Error(what)
			}
			if a.works(t, what, asking) {
				switched++
			} else {
				kept++
			}
			succeed(t, "bindc", a.args()...)
			if !a.works(t, what+", again", asking) {
				t.Errorf("%s: the next run does not complete it", what)
			}
			succeed(t, "bindc", "adopt", "--undo", a.dir)
			if a.works(t, what+", undone", asking) {
				t.Errorf("%s: undo leaves the snapshot", what)
			}
			if left := names(t, a.dir, "hiera.yaml", "data", "modules"); len(left) > 0 {
				t.Errorf("%s: %q is left behind", what, left)
			}
		}
	}
	// strace counts the calls of each thread. On a loaded machine, the calls after the switch may be made by another
	// thread, so that no run is killed there.
	if killed == 0 || kept == 0 {
		t.Errorf("%d runs were killed, %d environments stayed, %d were switched", killed, kept, switched)
	}
	figures(t, "%d kills at calls of adopting: %d environments stayed, %d were switched whole", killed, kept, switched)
}
