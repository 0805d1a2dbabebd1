// Package fix applies the edits of diagnostics to the files of a site. It replaces files as a whole. It never changes a
// file outside the site, or a file that has changed since the check.
package fix

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"bindc/diag"
	"bindc/internal/fsx"
)

// Fixer plans and applies edits below one directory.
type Fixer struct {
	root  string            // the directory of the site, without symbolic links
	over  *fsx.Overlay      // results of earlier corrections that are not written; may be nil
	sums  map[string]uint64 // hash of each file that was read
	texts map[string][]byte // current contents of the files with edits
	wrong map[string]error  // files that cannot be changed
}

// New returns a Fixer for the site in dir. disk is the Disk with which the site was read; it must have a Seen.
func New(dir string, disk fsx.Disk) (*Fixer, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, err
	}
	f := &Fixer{root, disk.Overlay, map[string]uint64{}, map[string][]byte{}, map[string]error{}}
	for _, look := range disk.Seen.Looks() {
		if look.Op == fsx.Read {
			f.sums[look.Path] = look.Sum
		}
	}
	return f, nil
}

// Change is a file with its edits.
type Change struct {
	File     string
	Old, New []byte
	Edits    []diag.Edit  // sorted; they do not overlap
	Secret   map[int]bool // numbers of changed lines that must not be shown
}

// Plan returns the changes that the edits of list make, sorted by file. If edits overlap, it uses the first of them.
// The error names the files that have edits but cannot be changed.
func (f *Fixer) Plan(list []diag.Diagnostic) ([]Change, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool {
		return d.Fix.IsNone() && len(d.Edits) == 0
	})
	diag.Locate(list, f.read)
	changes := map[string]*Change{}
	for _, d := range list {
		for _, e := range d.Edits {
			c := changes[e.Pos.File]
			if c == nil {
				c = &Change{File: e.Pos.File, Old: f.texts[e.Pos.File], Secret: map[int]bool{}}
				changes[e.Pos.File] = c
			}
			c.Edits = append(c.Edits, e)
			c.Secret[e.Pos.Line] = c.Secret[e.Pos.Line] || d.Secret
		}
	}
	var out []Change
	for _, file := range slices.Sorted(maps.Keys(changes)) {
		c := changes[file]
		c.Edits = withoutOverlaps(c.Edits)
		c.New = Apply(c.Old, c.Edits)
		out = append(out, *c)
	}
	var wrong []error
	for _, file := range slices.Sorted(maps.Keys(f.wrong)) {
		wrong = append(wrong, fmt.Errorf("%s is not changed: %w", file, f.wrong[file]))
	}
	return out, errors.Join(wrong...)
}

func withoutOverlaps(edits []diag.Edit) []diag.Edit {
	slices.SortStableFunc(edits, func(a, b diag.Edit) int { return cmp.Or(a.Pos.Compare(b.Pos), a.End.Compare(b.End)) })
	var out []diag.Edit
	for _, e := range edits {
		if n := len(out); n == 0 || out[n-1].End.Compare(e.Pos) < 0 || out[n-1].End == e.Pos && e.Pos != e.End {
			out = append(out, e)
		}
	}
	return out
}

var (
	errOutside = errors.New("it is not in the site")
	errUnread  = errors.New("the site does not read it")
	errChanged = errors.New("it changed while the site was read; try again")
)

// read returns the text of a file. It fails if the Fixer must not change the file.
func (f *Fixer) read(file string) ([]byte, error) {
	text, err := f.check(file)
	if err != nil {
		f.wrong[file] = err
		return nil, err
	}
	f.texts[file] = text
	return text, nil
}

func (f *Fixer) check(file string) ([]byte, error) {
	if text, ok := f.over.Text(file); ok {
		return text, nil
	}
	sum, known := f.sums[file]
	if !known {
		return nil, errUnread
	}
	if !f.inside(file) {
		return nil, errOutside
	}
	text, err := fsx.Disk{}.ReadFile(file)
	if err == nil && xxhash.Sum64(text) != sum {
		err = errChanged
	}
	return text, err
}

// inside reports whether a file is in the site after all symbolic links are followed.
func (f *Fixer) inside(file string) bool {
	path, err := filepath.EvalSymlinks(file)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	return err == nil && strings.HasPrefix(path, strings.TrimSuffix(f.root, "/")+string(filepath.Separator))
}

// Write replaces the file of a change in one step. It fails if the file has changed since Plan read it.
func (f *Fixer) Write(c Change) error {
	if _, err := f.check(c.File); err != nil {
		return fmt.Errorf("%s is not changed: %w", c.File, err)
	}
	return fsx.Replace(c.File, fsx.ReplaceOptions{Limit: fs.ModePerm}, func(to *os.File) error {
		_, err := to.Write(c.New)
		return err
	})
}
