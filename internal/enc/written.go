package enc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
)

// writtenFile is the name of a file that lists the files this package has written. Only these may
// be removed. It has the format of sha256sum: a SHA-256 and a certname on each line.
const writtenFile = ".written"

// written maps the certnames of nodes whose files this package has written to the files' checksums.
type written map[string]string

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func readWritten(dir string) (written, error) {
	path := filepath.Join(dir, writtenFile)
	out := written{}
	src, err := fsx.Disk{}.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(src)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || len(sum) != hex.EncodedLen(sha256.Size) || !isCertname(name) {
			return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf(
				"expected lines with a SHA-256, two spaces and a certname, found '%s'; "+
					"if you delete this file, no files of former nodes are removed", strings.TrimSpace(line))}
		}
		out[name] = sum
	}
	return out, nil
}

func (w written) write(dir string, before written) error {
	if maps.Equal(w, before) {
		return nil
	}
	return fsx.Replace(filepath.Join(dir, writtenFile), fsx.ReplaceOptions{Limit: fs.ModePerm}, func(f *os.File) error {
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if _, err := fmt.Fprintf(f, "%s  %s\n", w[name], name); err != nil {
				return err
			}
		}
		return nil
	})
}

// prune removes files of nodes that are not listed. It keeps files that were not written by this
// package or have been changed since. If no listed node has a file, the list is probably wrong, so
// it removes nothing.
func (w written) prune(dir string, listed []Node, diags *diag.List) (removed int, err error) {
	gone := maps.Clone(w)
	for _, n := range listed {
		delete(gone, n.Name)
	}
	if len(gone) == 0 {
		return 0, nil
	}
	names := slices.Sorted(maps.Keys(gone))
	if len(gone) == len(w) {
		diags.Add(diag.Diagnostic{Pos: diag.Pos{File: dir}, Code: "enc",
			Message: "none of the nodes that have a file here is in the list: " + diag.Quoted(names) + "; their files are kept",
			Hint:    "the list may belong to another site; otherwise remove the files"})
		return 0, nil
	}
	for _, name := range names {
		path := filepath.Join(dir, name+datafile.ClassifiedExt)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			delete(w, name)
			continue
		}
		var content []byte
		if err == nil && info.Mode().IsRegular() {
			content, err = fsx.Disk{}.ReadFile(path)
		}
		switch {
		case err != nil:
			return removed, err
		case sumOf(content) != w[name]:
			diags.Warnf(diag.Pos{File: path}, "enc",
				"the node is not listed, but its file was changed by somebody else, so it is kept")
		default:
			if err := os.Remove(path); err != nil {
				return removed, err
			}
			removed++
		}
		delete(w, name)
	}
	return removed, nil
}
