package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	bindings "bindc/runtime"
	"bindc/ship"
)

// way is a temporary directory with the built programs, a running registry and all files of a run.
type way struct {
	dir, target string
	at          string // address of the registry
	registry    *exec.Cmd
}

// begin builds the programs and starts the registry. The caller must call end.
func begin() (*way, error) {
	for _, program := range []string{"docker-registry", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, errors.New("expected docker-registry and ssh-keygen: apt-get install docker-registry openssh-client")
		}
	}
	dir, err := os.MkdirTemp("", "bindc-deploy-")
	if err != nil {
		return nil, err
	}
	w := &way{dir: dir}
	if err := w.start(); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

func (w *way) start() error {
	build := exec.Command("go", "build", "-o", w.dir, "./cmd/bindc", "./cmd/bindq", "./cmd/bindsync")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for _, name := range []string{"deploy", "other"} {
		args := []string{"-q", "-t", "ed25519", "-N", "", "-C", name, "-f", w.path(name)}
		if _, err := w.run(nil, "ssh-keygen", args...); err != nil {
			return err
		}
	}
	if err := w.certificate(); err != nil {
		return err
	}
	public, err := os.ReadFile(w.path("deploy.pub"))
	if err != nil {
		return err
	}
	if err := w.write("allowed_signers", "deploy "+string(public)); err != nil {
		return err
	}
	if w.at, err = freeAddress(); err != nil {
		return err
	}
	w.target = "oci://" + w.at + "/puppet/site"
	if err := w.write("registry.yml", fmt.Sprintf("version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"+
		"storage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %s}\n", w.path("registry"), w.at)); err != nil {
		return err
	}
	w.registry = exec.Command("docker-registry", "serve", w.path("registry.yml"))
	if err := w.registry.Start(); err != nil {
		return err
	}
	return listens(w.at)
}

func (w *way) end() {
	stop(w.registry)
	os.RemoveAll(w.dir)
}

func stop(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func listens(at string) error {
	return eventually(at+" answers", func() (bool, error) {
		c, err := net.Dial("tcp", at)
		if err != nil {
			return false, nil
		}
		return true, c.Close()
	})
}

// eventually calls is until it returns true, for up to a minute. what describes the condition in
// the error.
func eventually(what string, is func() (bool, error)) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if ok, err := is(); ok || err != nil {
			return err
		}
	}
	return errors.New("after a minute, this is still not the case: " + what)
}

func (w *way) path(name string) string { return filepath.Join(w.dir, name) }

func (w *way) write(name, text string) error {
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// run runs a program and returns the time it took. It adds env to the environment. Names that start
// with bind are programs of this project, in the directory of w.
func (w *way) run(env []string, program string, args ...string) (time.Duration, error) {
	if strings.HasPrefix(program, "bind") {
		program = w.path(program)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return time.Since(start), nil
}

func (w *way) push(snapshot, tag string) (time.Duration, error) {
	return w.run(nil, "bindc", "push", snapshot, w.target+":"+tag, "--plain-http")
}

// master is a store that bindsync follow updates, and a reader of its snapshot.
type master struct {
	w      *way
	store  string
	follow *exec.Cmd
	reader *bindings.Watcher
}

// master starts bindsync follow for a source that is polled at interval. more is YAML text that is
// added to the configuration of the name.
func (w *way) master(name, source, interval, more string) (*master, error) {
	m := &master{w: w, store: w.path(name)}
	config := fmt.Sprintf("store: %s\ninterval: %s\nplain_http: true\nallowed_signers: %s\nca_file: %s\n"+
		"names:\n  production:\n    source: %s\n%s", m.store, interval, w.path("allowed_signers"), w.path("deploy.crt"), source,
		more)
	if err := w.write(name+".yaml", config); err != nil {
		return nil, err
	}
	log, err := os.Create(w.path(name + ".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	m.follow = exec.Command(w.path("bindsync"), "follow", "-c", w.path(name+".yaml"))
	m.follow.Stderr = log
	if err := m.follow.Start(); err != nil {
		return nil, err
	}
	if err := eventually(name+" has an active release", func() (bool, error) {
		_, err := os.Stat(m.snapshot())
		return err == nil, nil
	}); err != nil {
		return nil, errors.Join(err, m.end())
	}
	m.reader, err = bindings.Watch(m.snapshot(), bindings.WatchOptions{Interval: 10 * time.Millisecond})
	return m, err
}

func (m *master) end() error {
	stop(m.follow)
	if m.reader == nil {
		return nil
	}
	return m.reader.Close()
}

func (m *master) snapshot() string { return filepath.Join(m.store, "production.snap") }

// look makes bindsync follow poll immediately.
func (m *master) look() error { return m.follow.Process.Signal(syscall.SIGHUP) }

func (m *master) state() (ship.State, error) {
	s, err := ship.FindStore(m.store)
	if err != nil {
		return ship.State{}, err
	}
	return s.State("production")
}

// answers waits until lookups on the master return the value of a release.
func (m *master) answers(release int64) error {
	return eventually(fmt.Sprintf("release %d is active in %s", release, m.store), func() (bool, error) {
		a, _, err := both(m.reader)
		return a == release, err
	})
}

// both looks up release and again in a single request. A release binds both keys to the same value.
func both(w *bindings.Watcher) (a, b int64, err error) {
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{})
	if err != nil {
		return 0, 0, err
	}
	r, err := w.Request(facts)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	x, _, err := r.Lookup("release")
	if err != nil {
		return 0, 0, err
	}
	y, _, err := r.Lookup("again")
	if err != nil {
		return 0, 0, err
	}
	first, err := x.Int()
	if err != nil {
		return 0, 0, err
	}
	second, err := y.Int()
	return first, second, err
}
