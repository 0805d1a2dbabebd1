//go:build linux

package faults

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bindc/internal/testmode"
	"bindc/internal/testprograms"
)

var long = flag.Duration("long", 0, "how long each test runs, instead of a fixed number of rounds")

// TestMain builds the programs once and adds them to the PATH. It is also the main function of readerProcess.
func TestMain(m *testing.M) {
	if path := os.Getenv(readerVariable); path != "" {
		os.Exit(readerProcess(path))
	}
	flag.Parse()
	testmode.TempInMemory()
	os.Exit(testprograms.Run(m.Run))
}

// A result of these tests is only cached as long as the sources of the programs do not change.
func TestSourcesOfProgramsAreNoted(t *testing.T) { testprograms.NoteSources(t) }

// rounds counts the rounds of a test: the given number, or in the long form as many as there is time for.
func rounds(short int) iter.Seq[int] {
	end := time.Now().Add(*long)
	return func(yield func(int) bool) {
		for i := 0; *long == 0 && i < short || *long > 0 && time.Now().Before(end); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// figures prints the figures of a test, which faults/long collects.
func figures(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Logf("figures: "+format, args...)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// newSite writes a site with a number of nodes. All its values contain the generation, and each file has two values.
func newSite(t testing.TB, generation, nodes int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	write(t, filepath.Join(dir, "hiera.yaml"), "version: 2\nhierarchy: [[node, '${fqdn}', 'data/nodes/${fqdn}'], "+
		"[common, 'true', data/common]]\n")
	write(t, filepath.Join(dir, "binder_config.yaml"), "version: 1\n"+
		"layers: [{name: site, include: ['confdir-hiera:/', 'confdir:/*']}, "+
		"{name: modules, include: ['module-hiera:/*', 'module:/*::default']}]\n")
	write(t, filepath.Join(dir, "data/common.yaml"), values(generation, ""))
	write(t, filepath.Join(dir, "bindings/default.yaml"), fmt.Sprintf("{bindings_version: 1, name: default, bind: "+
		"[{name: computed, to: 'of ${fqdn}: generation %d'}]}\n", generation))
	write(t, filepath.Join(dir, "modules/m/hiera.yaml"), "version: 2\n")
	write(t, filepath.Join(dir, "modules/m/data/common.yaml"), values(generation, "m::"))
	for i := range nodes {
		write(t, filepath.Join(dir, fmt.Sprintf("data/nodes/n%d.yaml", i)), values(generation, ""))
	}
	return dir
}

// values returns a data file with two keys that are far apart, so that a read during a change sees a mixture.
func values(generation int, prefix string) string {
	return fmt.Sprintf("%[1]sfirst: generation %[2]d\n# %[3]s\n%[1]ssecond: generation %[2]d\n", prefix, generation,
		strings.Repeat("-", 1000))
}

// empty removes all entries of a directory.
func empty(t testing.TB, dir string) {
	t.Helper()
	for _, name := range names(t, dir) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// result is the result of running a program.
type result struct {
	status int // exit status as in a shell, or -1 if there is none
	signal syscall.Signal
	stderr string
}

func outcome(t testing.TB, cmd *exec.Cmd, err error) result {
	t.Helper()
	r := result{stderr: cmd.Stderr.(*bytes.Buffer).String()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", cmd, err)
	}
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		r.status, r.signal = -1, s.Signal()
	} else {
		r.status = s.ExitStatus()
	}
	return r
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Stderr = &bytes.Buffer{}
	return cmd
}

func run(t testing.TB, name string, args ...string) result {
	t.Helper()
	cmd := command(name, args...)
	return outcome(t, cmd, cmd.Run())
}

// succeed runs a program that must succeed.
func succeed(t testing.TB, name string, args ...string) {
	t.Helper()
	if r := run(t, name, args...); r.status != 0 {
		t.Fatalf("%s %q: status %d: %s", name, args, r.status, r.stderr)
	}
}

func digest(t testing.TB, path string) [sha256.Size]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

// built builds a site without faults and returns the digest of the snapshot.
func built(t testing.TB, site string) [sha256.Size]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	succeed(t, "bindc", "build", site, "-o", path)
	succeed(t, "bindq", "verify", path)
	return digest(t, path)
}

// names lists the entries of a directory, except the given ones.
func names(t testing.TB, dir string, but ...string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
next:
	for _, e := range entries {
		for _, pattern := range but {
			if ok, _ := filepath.Match(pattern, e.Name()); ok {
				continue next
			}
		}
		found = append(found, e.Name())
	}
	return found
}

// crashed reports whether a Go program crashed.
func crashed(r result) bool {
	return strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "fatal error:")
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount file systems and take the part of others")
	}
}
