// Package built keeps generated sites and their snapshots between runs, in the directory
// bindc-bench of the user's cache. It generates a site only once. It builds the snapshot again if
// bindc or the generator has changed.
package built

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"bindc/bench/gen"
	"bindc/bench/peer"
	bindings "bindc/runtime"
)

// Site is a generated site whose files and snapshot are in the cache.
type Site struct {
	*gen.Site
	Dir      string // directory of the YAML files
	Snapshot string // path of the snapshot
	Took     *Cost  // cost of building the snapshot; nil if it was in the cache
}

// Cost describes the resources that a process used.
type Cost struct {
	Wall, CPU time.Duration
	Peak      int64 // maximum resident memory, in bytes
}

// Get returns the site of c. It generates the files and builds the snapshot if they are not in the
// cache.
func Get(c gen.Config) (*Site, error) {
	g, err := gen.New(c)
	if err != nil {
		return nil, err
	}
	home, err := directory(c)
	if err != nil {
		return nil, err
	}
	s := &Site{Site: g, Dir: filepath.Join(home, "site"), Snapshot: filepath.Join(home, "site.bsnap")}
	if err := once(s.Dir, func(tmp string) error { _, err := gen.Write(tmp, c); return err }); err != nil {
		return nil, err
	}
	return s, s.build(home)
}

// Hiera5 writes the site as a Hiera 5 control repository and builds it. It returns the path of the
// snapshot and the cost of building it.
func (s *Site) Hiera5() (snapshot string, took *Cost, err error) {
	dir := filepath.Join(filepath.Dir(s.Dir), "hiera5")
	snapshot = dir + ".bsnap"
	if err := once(dir, s.writeHiera5); err != nil {
		return "", nil, err
	}
	program, _, err := bindc()
	if err != nil {
		return "", nil, err
	}
	took, err = Run(program, "build", dir, "-o", snapshot)
	return snapshot, took, err
}

// Again builds the snapshot once more, even if it is up to date, and returns the cost.
func (s *Site) Again() (*Cost, error) {
	program, _, err := bindc()
	if err != nil {
		return nil, err
	}
	return Run(program, "build", s.Dir, "-o", s.Snapshot)
}

func (s *Site) writeHiera5(dir string) error {
	for name, text := range s.Site.Hiera5() {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Bolt returns the path of a bbolt file with the same bindings as the site.
func (s *Site) Bolt() (string, error) {
	path := filepath.Join(filepath.Dir(s.Dir), "site.bolt")
	return path, once(path, func(tmp string) error { return peer.BuildBolt(tmp, s.Site) })
}

// directory returns the cache directory for the site of c. The name includes a digest of a small
// generated site, so that a changed generator uses another directory.
func directory(c gen.Config) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	small, err := gen.New(gen.Config{Nodes: 20, Keys: 200, Modules: 4, Overrides: 10, Seed: 1})
	if err != nil {
		return "", err
	}
	digest := fnv.New32a()
	for i := range small.Files() {
		path, data, _ := small.File(i, nil)
		fmt.Fprintf(digest, "%s\n%s\n", path, data)
	}
	name := fmt.Sprintf("%dn-%dk-%dm-%do-%ds-%08x", c.Nodes, c.Keys, c.Modules, c.Overrides, c.Seed, digest.Sum32())
	dir := filepath.Join(cache, "bindc-bench", name)
	return dir, os.MkdirAll(dir, 0o755)
}

// once creates path unless it exists. It calls create with a temporary path and renames the result,
// so that an interrupted run leaves nothing incomplete at path.
func once(path string, create func(tmp string) error) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	tmp := path + ".tmp"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := create(tmp); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// build builds the snapshot, unless it was built by the same bindc.
func (s *Site) build(home string) error {
	program, digest, err := bindc()
	if err != nil {
		return err
	}
	stamp := filepath.Join(home, "built-by")
	if old, err := os.ReadFile(stamp); err == nil && string(old) == digest {
		if _, err := os.Stat(s.Snapshot); err == nil {
			return nil
		}
	}
	if s.Took, err = Run(program, "build", s.Dir, "-o", s.Snapshot); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(digest), 0o644)
}

// bindc compiles bindc from this tree and returns the path and the digest of the program.
func bindc() (program, digest string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", err
	}
	program = filepath.Join(cache, "bindc-bench", "bindc")
	if err := Bindc(program); err != nil {
		return "", "", err
	}
	code, err := os.ReadFile(program)
	return program, fmt.Sprintf("%x", sha256.Sum256(code)), err
}

// Snapshot builds a site with a single file in dir and opens the snapshot. The caller may then
// remove dir.
func Snapshot(dir, name, text string) (*bindings.Snapshot, error) {
	program, _, err := bindc()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "site", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "site.bsnap")
	if _, err := Run(program, "build", filepath.Join(dir, "site"), "-o", out); err != nil {
		return nil, err
	}
	return bindings.Open(out, bindings.Options{})
}

// Bindc compiles bindc from this tree to the path program.
func Bindc(program string) error { return Program("bindc", "./cmd/bindc", program) }

// Program compiles a command of a module in this tree to the path program. It disables cgo, as
// README.md recommends for installation. It omits -trimpath, which would make Go recompile every
// package.
func Program(module, command, program string) error {
	source, err := output("go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	_, err = output("go", "build", "-C", source, "-buildvcs=false", "-o", program, command)
	return err
}

func output(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// Run runs a program and waits for it. If it fails, the error contains its output.
func Run(program string, args ...string) (*Cost, error) {
	cmd, start := exec.Command(program, args...), time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	cost := CostOf(cmd.ProcessState)
	cost.Wall = time.Since(start)
	return cost, nil
}

// CostOf returns the cost of a finished process. Wall is not set.
func CostOf(state *os.ProcessState) *Cost {
	cost := &Cost{CPU: state.UserTime() + state.SystemTime()}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		cost.Peak = usage.Maxrss * 1024 // Linux reports KiB
	}
	return cost
}
