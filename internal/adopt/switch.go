package adopt

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bindc/internal/replace"
)

// before is called ahead of each step that changes something; tests end the program there.
var before = func(step string) {}

// Switch has Puppet ask the snapshot, which write puts into its place: text becomes hiera.yaml. That is the last step.
func (e *Environment) Switch(text []byte, write func() error) error {
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

// copy makes hiera5.yaml what hiera.yaml is: a link to the same file, or a file of the same content and permissions.
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
	src, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return put(to, info, src)
}

// put puts a file into its place in one step, and its directory onto the disk.
func put(path string, like fs.FileInfo, text []byte) error {
	o := replace.Options{Limit: 0o777, Synced: true, Like: like, Link: true}
	return replace.File(path, o, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// Undo puts the original hiera.yaml back, in one step, and reports whether there was something to undo.
func (e *Environment) Undo() (bool, error) {
	before("undo")
	for _, name := range []string{puppets, bindcs} {
		replace.Sweep(e.path(name)) // of an adoption that was killed
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
		if err := os.Symlink(filepath.Join(root, entry.Name()), filepath.Join(shadow, entry.Name())); err != nil {
			return "", err
		}
	}
	return dir, os.WriteFile(filepath.Join(shadow, puppets), hiera, 0o600)
}

// Original returns the content of the hierarchy that is compiled.
func (e *Environment) Original() ([]byte, error) { return os.ReadFile(e.Source()) }
