// Package fix applies the edits that diagnostics suggest to the files of a site. It replaces each file atomically. It
// never changes a file outside the site, or a file that has changed since the site was checked.
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

// Fixer plans and applies edits to the files of one site.
type Fixer struct {
	root  string            // directory of the site, with symbolic links resolved
	over  *fsx.Overlay      // results of earlier edits that are not yet on disk; may be nil
	sums  map[string]uint64 // hash of each file, as the check read it
	texts map[string][]byte // contents of the files to edit
	wrong map[string]error  // errors of files that cannot be edited
}

// New returns a Fixer for the site in dir. disk must be the Disk with which the site was read, and its Seen must not be
// nil.
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

// Change is a file with the edits to make in it.
type Change struct {
	File     string
	Old, New []byte
	Edits    []diag.Edit  // sorted by position, without overlaps
	Secret   map[int]bool // numbers of changed lines that may be sensitive
}

// Plan returns the edits that diagnostics in list suggest, by file. If edits overlap, it uses only the first. If files
// with suggested edits cannot be changed, the error names them.
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

// read returns the contents of a file that may be edited. It returns an error if the file is not in the site or has
// changed.
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

// inside reports whether a file is in the site once all symbolic links are resolved.
func (f *Fixer) inside(file string) bool {
	path, err := filepath.EvalSymlinks(file)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	return err == nil && strings.HasPrefix(path, strings.TrimSuffix(f.root, "/")+string(filepath.Separator))
}

// Write atomically replaces the file of c. It returns an error if the file has changed since Plan.
func (f *Fixer) Write(c Change) error {
	if _, err := f.check(c.File); err != nil {
		return fmt.Errorf("%s is not changed: %w", c.File, err)
	}
	return fsx.Replace(c.File, fsx.ReplaceOptions{Limit: fs.ModePerm}, func(to *os.File) error {
		_, err := to.Write(c.New)
		return err
	})
}
