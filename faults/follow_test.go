//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bindc/internal/testmode"
)

// follower is a running bindsync follow with a configuration that the test can change.
type follower struct {
	*testing.T
	dir    string
	cmd    *exec.Cmd
	log    lockedBuffer
	notify *net.UnixConn
}

// lockedBuffer is a buffer that one goroutine writes while others read it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newFollower creates a directory for a follower. $DIR in its configuration is replaced by the directory.
func newFollower(t *testing.T) *follower {
	f := &follower{T: t, dir: t.TempDir()}
	var err error
	f.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(f.dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.notify.Close() })
	return f
}

func (f *follower) configure(text string) {
	f.Helper()
	write(f, f.path("follow.yaml"), strings.ReplaceAll(text, "$DIR", f.dir))
}

func (f *follower) path(name string) string { return filepath.Join(f.dir, name) }

func (f *follower) start() {
	f.Helper()
	f.cmd = command("bindsync", "follow", "-c", f.path("follow.yaml"))
	f.cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+f.path("notify"))
	f.cmd.Stderr = &f.log
	if err := f.cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		f.signal(syscall.SIGTERM)
		if err := f.cmd.Wait(); err != nil {
			f.Errorf("follow ended with %v: %s", err, &f.log)
		}
	})
}

func (f *follower) signal(s syscall.Signal) {
	if err := f.cmd.Process.Signal(s); err != nil {
		f.Error(err)
	}
}

// ready waits until the program notifies systemd that it is ready.
func (f *follower) ready() {
	f.Helper()
	b := make([]byte, 100)
	f.notify.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := f.notify.Read(b)
	if err != nil || string(b[:n]) != "READY=1" {
		f.Fatalf("systemd is told '%s', %v; log: %s", b[:n], err, &f.log)
	}
}

// until waits for a condition, which what describes.
func (f *follower) until(what string, happened func() bool) {
	f.Helper()
	for end := time.Now().Add(time.Minute); !happened(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("timed out waiting until %s; log: %s", what, &f.log)
		}
	}
}

func (f *follower) answers(name string) bool {
	_, err := os.Stat(f.path("store/" + name + ".snap"))
	return err == nil
}

// The program notifies systemd once it has read the configuration. Otherwise a hanging source would make systemd
// restart the service again and again.
func TestFollowIsReadyBeforeItsSourcesAnswer(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	f := newFollower(t)
	f.configure(fmt.Sprintf("{store: $DIR/store, plain_http: true, interval: 10ms, names: {n: {source: '%s/x'}}}", s.URL))
	f.start()
	f.ready()
}

// On SIGHUP, the program reads the configuration again. If the new configuration is invalid, the old one stays in
// force.
func TestFollowReloadsConfigurationOnSIGHUP(t *testing.T) {
	t.Parallel() // it mostly waits
	f := newFollower(t)
	succeed(t, "bindc", "build", newSite(t, 1, 3), "-o", f.path("site.snap"))
	const first = "{store: $DIR/store, interval: 1h, textfile: $DIR/bindc.prom, names: {n: {source: 'file:$DIR/site.snap'}"
	f.configure(first + "}}")
	f.start()
	f.ready()
	f.signal(syscall.SIGHUP)
	f.until("n answers, as a signal has it polled at once", func() bool { return f.answers("n") })

	f.configure("{names: {m: {sorce: x}}}")
	f.signal(syscall.SIGHUP)
	f.until("the mistake is in the log", func() bool {
		return strings.Contains(f.log.String(), "the old configuration stays in force") &&
			strings.Contains(f.log.String(), "unknown key 'sorce'")
	})
	f.configure(first + ", m: {source: 'file:$DIR/site.snap'}}}")
	f.signal(syscall.SIGHUP)
	f.until("m answers", func() bool { return f.answers("m") })
	f.until("m is in the textfile", func() bool {
		text, err := os.ReadFile(f.path("bindc.prom"))
		return err == nil && strings.Contains(string(text), `bindc_activations_total{name="m"} 1`)
	})
}

// If many names have a new release, the program downloads and checks only a few at a time, and needs little more memory
// than for one.
func TestFollowNeedsLittleMemoryForManyNames(t *testing.T) {
	f := newFollower(t)
	succeed(t, "bindc", "build", newSite(t, 1, 20000), "-o", f.path("site.snap"))
	n := 150
	if !testmode.Thorough() {
		n = 20
	}
	var config strings.Builder
	config.WriteString("{store: $DIR/store, interval: 1h, names: {")
	for i := range n {
		fmt.Fprintf(&config, "n%d: {source: 'file:$DIR/site.snap'}, ", i)
	}
	f.configure(config.String() + "}}")
	f.start()
	f.ready()
	f.signal(syscall.SIGHUP)
	f.until("all names answer", func() bool {
		links, err := filepath.Glob(f.path("store/*.snap"))
		return err == nil && len(links) == n
	})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int
	fmt.Sscan(peak, &kilobytes)
	figures(t, "%d names: %d MB at most", n, kilobytes>>10)
	if kilobytes == 0 || kilobytes > 120<<10 {
		t.Errorf("%d names took %d kB", n, kilobytes)
	}
}
