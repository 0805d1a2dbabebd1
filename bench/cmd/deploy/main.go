// Command deploy runs the whole way from a built snapshot to the answer of a master: push to a registry on this
// machine, pull, activate, roll back, switch under load; and prints what each step takes, beside copying and renaming
// the file.
//
// It needs docker-registry (apt-get install docker-registry).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bindc/bench/built"
	"bindc/bench/gen"
	bindings "bindc/runtime"
)

func main() {
	releases := flag.Int("releases", 100, "how many releases are followed")
	switches := flag.Int("switches", 1000, "how many switches readers live through")
	flag.Parse()
	if err := run(*releases, *switches); err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

func run(releases, switches int) error {
	dir, err := os.MkdirTemp("", "bindc-deploy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := &way{dir: dir, env: append(os.Environ(), "BINDQ_STORE="+filepath.Join(dir, "master"))}
	if err := w.begin(); err != nil {
		return err
	}
	defer w.end()
	fmt.Printf("| what | M | L |\n|---|---|---|\n")
	var columns [2][]time.Duration
	for i, size := range []string{"M", "L"} {
		if columns[i], err = w.site(size); err != nil {
			return err
		}
	}
	for i, step := range steps {
		fmt.Printf("| %s | %s | %s |\n", step, round(columns[0][i]), round(columns[1][i]))
	}
	if err := w.follow(releases); err != nil {
		return err
	}
	return w.load(switches)
}

var steps = []string{"copy, sync and rename (yardstick)", "push", "push again, nothing new",
	"pull: fetch, check, switch",
	"idle look", "rollback", "activate"}

func round(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

// way is a registry, the programs and a master, in one directory.
type way struct {
	dir, target string
	env         []string
	registry    *exec.Cmd
}

// begin builds the programs and starts the registry.
func (w *way) begin() error {
	if _, err := exec.LookPath("docker-registry"); err != nil {
		return errors.New("expected docker-registry: apt-get install docker-registry")
	}
	build := exec.Command("go", "build", "-o", w.dir, "./cmd/bindc", "./cmd/bindq")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	at := l.Addr().String()
	l.Close()
	config := filepath.Join(w.dir, "registry.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"+
		"storage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %s}\n", filepath.Join(w.dir, "registry"), at)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	w.registry = exec.Command("docker-registry", "serve", config)
	if err := w.registry.Start(); err != nil {
		return err
	}
	w.target = "oci://" + at + "/puppet/site:production"
	for range 200 {
		if c, err := net.Dial("tcp", at); err == nil {
			return c.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("the registry does not answer")
}

func (w *way) end() {
	w.registry.Process.Kill()
	w.registry.Wait()
}

// tool runs one of the programs, and returns what it took.
func (w *way) tool(args ...string) (time.Duration, error) {
	cmd := exec.Command(filepath.Join(w.dir, args[0]), args[1:]...)
	cmd.Env = w.env
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return time.Since(start), nil
}

// site is the medians of five rounds of the steps, with a snapshot of a size.
func (w *way) site(size string) ([]time.Duration, error) {
	s, err := built.Get(gen.Sizes[size])
	if err != nil {
		return nil, err
	}
	var rounds [][]time.Duration
	for range 5 {
		took, err := w.round(s.Snapshot)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, took)
	}
	var medians []time.Duration
	for i := range steps {
		var all []time.Duration
		for _, r := range rounds {
			all = append(all, r[i])
		}
		slices.Sort(all)
		medians = append(medians, all[len(all)/2])
	}
	return medians, nil
}

func (w *way) round(snapshot string) (took []time.Duration, err error) {
	for _, name := range []string{"master", "registry"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	if err := copied(snapshot, filepath.Join(w.dir, "copy")); err != nil {
		return nil, err
	}
	took = append(took, time.Since(start))
	first, err := w.release(0)
	if err != nil {
		return nil, err
	}
	pull := []string{"bindq", "pull", w.target, "--name", "production", "--plain-http"}
	push := []string{"bindc", "push", snapshot, w.target, "--plain-http"}
	before := [][]string{{"bindc", "push", first, w.target, "--plain-http"}, pull}
	for _, args := range append(before, push, push, pull, pull) {
		d, err := w.tool(args...)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	took = append(took[:1], took[3:]...) // those before do not count
	old, now, err := w.digests()
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"bindq", "rollback", "production", "--to", old},
		{"bindq", "activate", "production", now}} {
		d, err := w.tool(args...)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return took, nil
}

// digests are those of the two snapshots in the store, that which answers second.
func (w *way) digests() (old, now string, err error) {
	target, err := os.Readlink(filepath.Join(w.dir, "master", "production.snap"))
	if err != nil {
		return "", "", err
	}
	now = filepath.Base(filepath.Dir(target))
	all, err := os.ReadDir(filepath.Join(w.dir, "master", "store", "sha256"))
	for _, e := range all {
		if e.Name() != now {
			old = e.Name()
		}
	}
	return old, now, err
}

func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to + ".new")
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return errors.Join(out.Sync(), out.Close(), os.Rename(to+".new", to))
}

// release builds a small site whose key 'release' is n.
func (w *way) release(n int) (string, error) {
	site := filepath.Join(w.dir, "site")
	if err := os.MkdirAll(filepath.Join(site, "data"), 0o755); err != nil {
		return "", err
	}
	err := errors.Join(
		os.WriteFile(filepath.Join(site, "hiera.yaml"),
			[]byte("version: 2\nhierarchy: [[common, 'true', data/common]]\n"), 0o644),
		os.WriteFile(filepath.Join(site, "data", "common.yaml"), fmt.Appendf(nil, "release: %d\nagain: %d\n", n, n),
			0o644))
	if err != nil {
		return "", err
	}
	path := filepath.Join(w.dir, "site.snap")
	_, err = w.tool("bindc", "build", site, "-o", path)
	return path, err
}

// follow says how long it takes from a push to the first new answer, on two masters that look every second.
func (w *way) follow(releases int) error {
	var watchers []*bindings.Watcher
	for _, master := range []string{"one", "two"} {
		dir := filepath.Join(w.dir, master)
		config := filepath.Join(w.dir, master+".yaml")
		text := fmt.Sprintf("store: %s\ninterval: 1s\nplain_http: true\nnames: {production: {source: '%s'}}\n", dir,
			w.target)
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			return err
		}
		path, err := w.release(0)
		if err != nil {
			return err
		}
		if _, err := w.tool("bindc", "push", path, w.target, "--plain-http"); err != nil {
			return err
		}
		_, err = w.tool("bindq", "pull", w.target, "--plain-http", "--name", "production", "--store", dir)
		if err != nil {
			return err
		}
		cmd := exec.Command(filepath.Join(w.dir, "bindq"), "follow", "-c", config)
		if err := cmd.Start(); err != nil {
			return err
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		defer func() { fmt.Printf("follow on master %s has %s resident\n", master, resident(cmd.Process.Pid)) }()
		reader, err := bindings.Watch(filepath.Join(dir, "production.snap"),
			bindings.WatchOptions{Interval: 10 * time.Millisecond})
		if err != nil {
			return err
		}
		defer reader.Close()
		watchers = append(watchers, reader)
	}
	var took []time.Duration
	for n := 1; n <= releases; n++ {
		path, err := w.release(n)
		if err != nil {
			return err
		}
		start := time.Now()
		if _, err := w.tool("bindc", "push", path, w.target, "--plain-http"); err != nil {
			return err
		}
		for _, reader := range watchers {
			if err := until(reader, int64(n)); err != nil {
				return err
			}
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	fmt.Printf("\nfrom push to the first new answer, followed every 0.5 to 1.5 s, %d releases to two masters: "+
		"p50 %s, p99 %s\n", releases,
		round(took[len(took)/2]), round(took[len(took)*99/100]))
	return nil
}

func resident(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "?"
}

func until(w *bindings.Watcher, n int64) error {
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		a, _, err := both(w)
		if err != nil {
			return err
		}
		if a == n {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("release %d does not answer after a minute", n)
}

// both asks one request for two keys that are the same in every release.
func both(w *bindings.Watcher) (a, b int64, err error) {
	facts, err := bindings.ParseFacts([]byte("{}"), bindings.FactsOptions{})
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
	return x.Int(), y.Int(), err
}

// load switches a name under readers: none gets an error, and none an answer that mixes two releases.
func (w *way) load(switches int) error {
	dir := filepath.Join(w.dir, "load")
	var digests []string
	for n := range 2 {
		path, err := w.release(n)
		if err != nil {
			return err
		}
		args := []string{"bindq", "pull", "file:" + path, "--name", "n" + strconv.Itoa(n), "--store", dir}
		if _, err := w.tool(args...); err != nil {
			return err
		}
		target, err := os.Readlink(filepath.Join(dir, "n"+strconv.Itoa(n)+".snap"))
		if err != nil {
			return err
		}
		digests = append(digests, filepath.Base(filepath.Dir(target)))
	}
	reader, err := bindings.Watch(filepath.Join(dir, "n0.snap"), bindings.WatchOptions{Interval: time.Millisecond})
	if err != nil {
		return err
	}
	defer reader.Close()
	ctx, cancel := context.WithCancel(context.Background())
	var asked, failed, mixed atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				a, b, err := both(reader)
				asked.Add(1)
				if err != nil {
					failed.Add(1)
				}
				if a != b {
					mixed.Add(1)
				}
			}
		})
	}
	for n := range switches {
		if _, err := w.tool("bindq", "activate", "n0", digests[n%2], "--store", dir); err != nil {
			cancel()
			return err
		}
	}
	cancel()
	all.Wait()
	fmt.Printf("%d switches under load: %d requests, %d errors, %d mixed answers\n", switches, asked.Load(),
		failed.Load(),
		mixed.Load())
	return nil
}
