// Package built keeps generated sites and their snapshots between runs, in bindc-bench below the user's cache
// directory. A site is generated once; its snapshot is built again when the bindc of this tree, or the generator, has
// changed.
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

// Site is a generated site with what was made of it.
type Site struct {
	*gen.Site
	Dir      string // the YAML
	Snapshot string // the file that bindc built
	Took     *Cost  // what building the snapshot took; nil if it was there already
}

// Cost is what a process took.
type Cost struct {
	Wall, CPU time.Duration
	Peak      int64 // bytes resident
}

// Get is the site of c and its snapshot, made now if need be.
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

// Hiera5 is the snapshot of the site's twin, a control repository of Hiera 5, and what building it took this time.
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

// Again builds the snapshot once more, and is what that took.
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

// Bolt is the file of the same bindings in bbolt.
func (s *Site) Bolt() (string, error) {
	path := filepath.Join(filepath.Dir(s.Dir), "site.bolt")
	return path, once(path, func(tmp string) error { return peer.BuildBolt(tmp, s.Site) })
}

// directory is named after the configuration and a digest of what the generator makes of a small one, so that sites of
// another generator are not taken for those of this one.
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

// once makes path under another name and then renames it, so that a run that was interrupted leaves nothing half done.
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

// build runs this tree's bindc unless the snapshot is the work of that very program.
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

// bindc compiles the command of this tree for the sites that are kept.
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

// Snapshot builds a site of one file in dir and opens what becomes of it. The directory may be removed then.
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

// Bindc compiles the command of this tree to the file program.
func Bindc(program string) error { return Program("bindc", "./cmd/bindc", program) }

// Program compiles a command of a module of this tree to the file program, without C, as README.md says to install it.
// Go's own cache makes that cheap; its builds are reproducible.
func Program(module, command, program string) error {
	source, err := output("go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	_, err = output("go", "build", "-C", source, "-trimpath", "-buildvcs=false", "-o", program, command)
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

// Run runs a program to its end.
func Run(program string, args ...string) (*Cost, error) {
	cmd, start := exec.Command(program, args...), time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	cost := CostOf(cmd.ProcessState)
	cost.Wall = time.Since(start)
	return cost, nil
}

// CostOf is what a process took that has ended, but for the time by the clock.
func CostOf(state *os.ProcessState) *Cost {
	cost := &Cost{CPU: state.UserTime() + state.SystemTime()}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		cost.Peak = usage.Maxrss * 1024 // Linux counts KiB
	}
	return cost
}
