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

// beforeStep is called before each step that changes a file. Tests set it to interrupt an adoption.
var beforeStep = func(step string) {}

// Switch makes Puppet use a snapshot. It calls write, which must write the snapshot, and then
// replaces hiera.yaml with text. If hiera.yaml or hiera5.yaml has changed since Inspect, Switch
// fails, because the snapshot would not match.
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

// copyHieraFile creates hiera5.yaml. If hiera.yaml is a link, hiera5.yaml becomes a link to the
// same file; otherwise it becomes a copy.
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

// replaceFile atomically replaces the file at path and syncs its directory. The new file gets the
// permissions of like.
func replaceFile(path string, like fs.FileInfo, text []byte) error {
	o := fsx.ReplaceOptions{Limit: 0o777, Synced: true, Like: like, Link: true}
	return fsx.Replace(path, o, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// Undo atomically restores the original hiera.yaml. It reports whether it changed anything.
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
		fsx.ClearFor(e.path(name)) // left behind by a killed adoption
	}
	switch e.State {
	case Native:
		return false, nil
	case Begun:
		return true, os.Remove(e.path(hiera5File))
	}
	return true, os.Rename(e.path(hiera5File), e.path(hieraFile))
}

// Shadow creates a copy of the environment as the directory name in dir, and returns the path of
// the copy. The copy consists of symbolic links, except for hiera.yaml, whose content is hiera, and
// environment.conf.
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

const settings = "environment.conf"

// copySettings copies environment.conf without the setting config_version. Puppet would run the
// command in that setting for every catalog.
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

// MakeDir creates the directory for a snapshot, and missing parents, so that every user can read
// them.
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
	return os.Chmod(dir, 0o755) // the umask may have removed permissions
}

// Original returns the content of the hierarchy that bindc compiles, as Inspect read it.
func (e *Environment) Original() []byte { return e.seen[filepath.Base(e.Source())] }
