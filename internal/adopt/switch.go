package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bindc/internal/fsx"
)

// before is called before each step that changes something; tests stop the program there.
var before = func(step string) {}

// Switch makes Puppet use the snapshot. write writes the snapshot; then text becomes hiera.yaml, as the last step.
// Switch rejects an environment whose files have changed since Inspect, because the snapshot would not match its
// hierarchy.
func (e *Environment) Switch(text []byte, write func() error) error {
	unlock, err := lock(e.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := e.unchanged(); err != nil {
		return err
	}
	before("snapshot")
	if err := write(); err != nil {
		return err
	}
	if e.State == Native {
		before("copy")
		if err := e.copy(); err != nil {
			return fmt.Errorf("cannot write %s: %w", bindcs, err)
		}
	}
	if e.State == Adopted && e.holds(text) {
		return nil
	}
	before("switch")
	like, err := os.Stat(e.Source())
	if err != nil {
		return err
	}
	return put(e.path(puppets), like, text)
}

// copy makes hiera5.yaml a copy of hiera.yaml: a link to the same file, or a file with the same content and
// permissions.
func (e *Environment) copy() error {
	from, to := e.path(puppets), e.path(bindcs)
	if isLink(from) {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return put(to, info, e.seen[puppets])
}

// unchanged returns an error if hiera.yaml or hiera5.yaml has changed since Inspect.
func (e *Environment) unchanged() error {
	for name, seen := range e.seen {
		there, err := os.ReadFile(e.path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(there, seen) || (there == nil) != (seen == nil) {
			return refuse("run bindc adopt again", "%s was changed by another program in the meantime", e.path(name))
		}
	}
	return nil
}

// put replaces a file in one step and syncs its directory.
func put(path string, like fs.FileInfo, text []byte) error {
	o := fsx.ReplaceOptions{Limit: 0o777, Synced: true, Like: like, Link: true}
	return fsx.Replace(path, o, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// Undo restores the original hiera.yaml in one step, and reports whether there was anything to undo.
func (e *Environment) Undo() (bool, error) {
	unlock, err := lock(e.Dir)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := e.unchanged(); err != nil {
		return false, err
	}
	before("undo")
	for _, name := range []string{puppets, bindcs} {
		fsx.ClearBeside(e.path(name)) // left by a killed adoption
	}
	switch e.State {
	case Native:
		return false, nil
	case Begun:
		return true, os.Remove(e.path(bindcs))
	}
	return true, os.Rename(e.path(bindcs), e.path(puppets))
}

// Shadow makes a copy of the environment below dir, as the environment name, and returns the directory that it is in.
// All but the configuration of Hiera is links. hiera is what Puppet reads there.
func (e *Environment) Shadow(dir, name string, hiera []byte) (string, error) {
	root, err := filepath.Abs(e.Dir)
	if err != nil {
		return "", err
	}
	there, err := os.ReadDir(root)
	if err != nil {
		return "", err
	}
	shadow := filepath.Join(dir, name)
	if err := os.MkdirAll(shadow, 0o700); err != nil {
		return "", err
	}
	for _, entry := range there {
		if entry.Name() == puppets || entry.Name() == bindcs {
			continue
		}
		if entry.Name() == settings {
			if err := copySettings(filepath.Join(root, settings), filepath.Join(shadow, settings)); err != nil {
				return "", err
			}
			continue
		}
		if err := os.Symlink(filepath.Join(root, entry.Name()), filepath.Join(shadow, entry.Name())); err != nil {
			return "", err
		}
	}
	return dir, os.WriteFile(filepath.Join(shadow, puppets), hiera, 0o600)
}

// settings is the name of the file with the settings of an environment.
const settings = "environment.conf"

// copySettings copies the settings without config_version, which is a program that Puppet would run for every
// catalog.
func copySettings(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if name, _, _ := strings.Cut(line, "="); strings.TrimSpace(name) != "config_version" {
			kept.WriteString(line)
		}
	}
	return os.WriteFile(to, []byte(kept.String()), 0o600)
}

// MakeDir creates the directory of a snapshot, and its missing parents, so that every user can enter them.
func MakeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := MakeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755) // whatever the umask is
}

// Original returns the content of the hierarchy that is compiled.
func (e *Environment) Original() []byte { return e.seen[filepath.Base(e.Source())] }
