package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bindc/diag"
	"bindc/internal/envfile"
	"bindc/internal/fsx"
	"bindc/loader"
	"bindc/origin"
)

// built records the inputs of a snapshot. As long as the inputs do not change, the snapshot is up to date.
type built struct {
	Fingerprint string
	Snapshot    string // state of the snapshot file, see stateOf
	Looks       []fsx.Look
	Diagnostics []diag.Diagnostic
	Inputs      int
}

// stateOf returns the size, modification time and identity of a file as text, or "" if it does not exist.
func stateOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	id, _ := fsx.FileIDAt(path)
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano(), " ", id)
}

// readBuilt reads the record at path. ok is false if the record is missing or invalid.
func readBuilt(path string) (out built, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return built{}, false
	}
	defer f.Close()
	err = gob.NewDecoder(bufio.NewReader(f)).Decode(&out)
	return out, err == nil && out.Snapshot != ""
}

func (m *built) write(path string) error {
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(m); err != nil {
		return err
	}
	return write(path, 0o600, content.Bytes())
}

// isCurrent reports whether the snapshot of the environment called name is certainly up to date. If it is, isCurrent
// adds the diagnostics of the earlier build.
func (b *environments) isCurrent(name, of string) bool {
	before, ok := readBuilt(b.builtFile(name))
	out := b.snapshot(name)
	if !ok || before.Fingerprint != of || before.Snapshot != stateOf(out) || !b.isSigned(out) ||
		!fsx.Unchanged(before.Looks) {
		return false
	}
	b.counts.stayed++
	b.written[name] = true
	b.addDiagnostics(&before)
	return true
}

func (b *environments) snapshot(name string) string {
	return filepath.Join(b.dir, name+envfile.Extension)
}

// builtFile returns the path of the file that records the inputs of a snapshot.
func (b *environments) builtFile(name string) string { return filepath.Join(b.dir, "."+name+".built") }

// fingerprint identifies the inputs of an environment that are not files: the bindc executable and its flags.
func (b *environments) fingerprint(e loader.Environment) (string, error) {
	program, err := b.program()
	return fmt.Sprintf("%x %q %q %t %q %q %q %t %t %q %t %t %t %d %d %q %s %q %q", program, e.Dir, e.Bindings,
		e.ModulePath == nil, e.ModulePath, b.globalHiera, b.codedir, e.Declared, e.Implied || b.allowEmpty,
		b.strict.String(), b.strictVars, b.lenient, b.requireParams, b.effort, b.alternatives, b.slice, b.to,
		b.policies.files, b.entryClasses), err
}

// departed lists the environments that no longer exist but still have a snapshot.
type departed struct{ removed, kept []string }

// findDeparted finds the snapshots of environments that no longer exist. If all environments with a snapshot are gone,
// it adds an error and keeps their snapshots.
func (b *environments) findDeparted(existing map[string]bool) departed {
	var out departed
	left := false
	for _, name := range b.before {
		if _, err := os.Lstat(b.snapshot(name)); err != nil {
			continue
		}
		if left = left || existing[name]; !existing[name] {
			out.removed = append(out.removed, name)
		}
	}
	if len(out.removed) > 0 && !left {
		b.diagnostics.Add(diag.Diagnostic{Pos: diag.Pos{File: b.dir}, Code: "environments",
			Message: "all environments that have a snapshot here are gone: " + diag.Quoted(out.removed) + "; they stay",
			Hint: "check ROOT; if the environments were removed on purpose, run this again, or remove the " +
				"files"})
		out.kept, out.removed = out.removed, nil
	}
	return out
}

// remove removes the snapshot of an environment, its signature and its record.
func (b *environments) remove(name string) error {
	var err error
	b.signals.uninterrupted(func() {
		out := b.snapshot(name)
		for _, path := range []string{out, out + origin.StatementSuffix, out + origin.SignatureSuffix,
			b.builtFile(name)} {
			if failed := os.Remove(path); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
				err = cmp.Or(err, failed)
			}
		}
	})
	return err
}

// writeChoice writes the file from which bindq chooses the environment of a request. An unchanged file is not written.
func (b *environments) writeChoice(c *envfile.Choice) error {
	path, content := filepath.Join(b.dir, envfile.File), envfile.Encode(c)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) && b.isSigned(path) {
		return nil
	}
	var err error
	b.signals.uninterrupted(func() {
		if err = write(path, fs.ModePerm, content); err == nil {
			err = b.sign.publishAs("environments", path, sha256.Sum256(content))
		}
	})
	return err
}

// write atomically replaces the content of the file at path.
func write(path string, limit fs.FileMode, content []byte) error {
	return fsx.Replace(path, fsx.ReplaceOptions{Limit: limit, Synced: true}, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}
