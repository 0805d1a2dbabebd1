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

// beforeStep is called before each step that changes a file. Tests end the program in it.
var beforeStep = func(step string) {}

// Switch makes Puppet use the snapshot: it calls write to write the snapshot, and then replaces hiera.yaml by text. It
// fails if the files have changed since Inspect, because the snapshot would then have another hierarchy.
func (e *Environment) Switch(text []byte, write func() error) error {
	unlock, err := lock(e.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := e.unchanged(); err != nil {
		return err
	}
	beforeStep("snapshot")
	if err := write(); err != nil {
		return err
	}
	if e.State == Native {
		beforeStep("copy")
		if err := e.copyHieraFile(); err != nil {
			return fmt.Errorf("cannot write %s: %w", hiera5File, err)
		}
	}
	if e.State == Adopted && e.isHieraFile(text) {
		return nil
	}
	beforeStep("switch")
	like, err := os.Stat(e.Source())
	if err != nil {
		return err
	}
	return replaceFile(e.path(hieraFile), like, text)
}

// copyHieraFile makes hiera5.yaml like hiera.yaml: a link to the same file, or a file with the same content and
// permissions.
func (e *Environment) copyHieraFile() error {
	from, to := e.path(hieraFile), e.path(hiera5File)
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
	return replaceFile(to, info, e.seen[hieraFile])
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

// replaceFile atomically replaces the file at path, and syncs its directory.
func replaceFile(path string, like fs.FileInfo, text []byte) error {
	o := fsx.ReplaceOptions{Limit: 0o777, Synced: true, Like: like, Link: true}
	return fsx.Replace(path, o, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// Undo atomically restores the original hiera.yaml. It reports whether there was anything to undo.
func (e *Environment) Undo() (bool, error) {
	unlock, err := lock(e.Dir)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := e.unchanged(); err != nil {
		return false, err
	}
	beforeStep("undo")
	for _, name := range []string{hieraFile, hiera5File} {
		fsx.ClearBeside(e.path(name)) // left by an adoption that was killed
	}
	switch e.State {
	case Native:
		return false, nil
	case Begun:
		return true, os.Remove(e.path(hiera5File))
	}
	return true, os.Rename(e.path(hiera5File), e.path(hieraFile))
}

// Shadow creates a copy of the environment below dir, under another name, and returns the
// directory of the copy. The copy consists of links, except for the Hiera configuration, whose
// content is hiera.
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
		if entry.Name() == hieraFile || entry.Name() == hiera5File {
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
	return dir, os.WriteFile(filepath.Join(shadow, hieraFile), hiera, 0o600)
}

// settings is the name of the file with an environment's settings.
const settings = "environment.conf"

// copySettings copies environment.conf without config_version, which names a program that Puppet would run for every
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

// MakeDir creates the directory of a snapshot and its parents, accessible to every user.
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
	return os.Chmod(dir, 0o755) // independent of the umask
}

// Original returns the content of the hierarchy that bindc compiles.
func (e *Environment) Original() []byte { return e.seen[filepath.Base(e.Source())] }
