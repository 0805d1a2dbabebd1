package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/fix"
	"bindc/internal/fsx"
)

// fixing holds the flags --fix and --dry-run of 'bindc check'.
type fixing struct {
	on, dry bool

	before map[string]bool // hashes of the files' earlier contents, to detect corrections that undo each other
}

func (x *fixing) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&x.on, "fix", false, "correct the files where a hint names the replacement, "+
		"and report what is left")
	cmd.Flags().BoolVar(&x.dry, "dry-run", false, "with --fix: print the corrections as a diff, and change nothing")
}

// A checkMore function adds diagnostics to a compilation.
type checkMore func(c *compilation, disk fsx.Disk) error

// compiled compiles the site in dir. With --fix, it corrects the site first.
func (x *fixing) compiled(cmd *cobra.Command, dir string, f *flags, more checkMore) (*compilation, error) {
	if x.dry && !x.on {
		return nil, errors.New("--dry-run needs --fix")
	}
	if err := f.begin(dir); err != nil {
		return nil, err
	}
	switch {
	case x.dry:
		return x.planned(cmd, dir, f, more)
	case x.on:
		return x.fixed(cmd, dir, f, more)
	}
	return f.compileFrom(cmd, dir, fsx.Disk{}, more)
}

// compileFrom compiles the site in dir, reading it from disk, and calls more to add diagnostics.
func (f *flags) compileFrom(cmd *cobra.Command, dir string, disk fsx.Disk, more checkMore) (*compilation, error) {
	options := f.options()
	options.Disk, options.Seen = disk, disk.Seen
	options.MayBeEmpty = declaresEnvironments(dir)
	c, err := f.compile(cmd, dir, "", options)
	if err == nil {
		err = more(c, disk)
	}
	return c, err
}

// maxFixed limits the rounds of --fix. More than one is needed because a correction can reveal another mistake.
const maxFixed = 10

type fixRound struct {
	*compilation
	fixer   *fix.Fixer
	changes []fix.Change
	refused error // why some corrections are not made
}

// round compiles the site in dir, with texts in place of some of its files, and finds the changes that correct it.
func (x *fixing) round(cmd *cobra.Command, dir string, f *flags, texts map[string][]byte, more checkMore) (
	*fixRound, error) {
	disk := fsx.Disk{Overlay: fsx.NewOverlay(texts), Seen: &fsx.Seen{}}
	c, err := f.compileFrom(cmd, dir, disk, more)
	if err != nil {
		return nil, err
	}
	fixer, err := fix.New(dir, disk)
	if err != nil {
		return nil, err
	}
	list := c.diags.Sorted()
	changes, refused := fixer.Plan(list)
	check := func(changes []fix.Change) ([]diag.Diagnostic, error) {
		over := fsx.NewOverlay(withChanges(texts, changes))
		corrected, err := f.compileFrom(cmd, dir, fsx.Disk{Overlay: over, Seen: &fsx.Seen{}}, more)
		if err != nil {
			return nil, err
		}
		return corrected.diags.Sorted(), nil
	}
	changes, rejected, err := fix.Accept(x.progress(changes), list, check)
	for _, edit := range rejected {
		refused = errors.Join(refused, edit)
	}
	return &fixRound{c, fixer, changes, refused}, err
}

// withChanges returns a copy of texts, which is keyed by file name, with changes applied.
func withChanges(texts map[string][]byte, changes []fix.Change) map[string][]byte {
	texts = maps.Clone(texts)
	if texts == nil {
		texts = map[string][]byte{}
	}
	for _, c := range changes {
		texts[c.File] = c.New
	}
	return texts
}

// fixed compiles and corrects the site in dir until there is nothing more to correct. It returns the last compilation.
func (x *fixing) fixed(cmd *cobra.Command, dir string, f *flags, more checkMore) (*compilation, error) {
	x.before = map[string]bool{}
	for n := 0; ; n++ {
		r, err := x.round(cmd, dir, f, nil, more)
		if err != nil {
			return nil, err
		}
		if len(r.changes) == 0 || n == maxFixed {
			return r.compilation, errors.Join(sayStopped(cmd, r.changes), sayRefused(cmd, r.refused))
		}
		for _, change := range r.changes {
			f.signals.uninterrupted(func() { err = r.fixer.Write(change) })
			if err != nil {
				return nil, err
			}
			_, err := fmt.Fprintf(f.success(cmd), "%s: corrected in %s\n", diag.Visible(shown(change.File)),
				diag.Count(len(change.Edits), "place"))
			if err != nil {
				return nil, err
			}
		}
	}
}

// planned implements --fix --dry-run: it makes all corrections in memory and prints them as a diff. It returns the
// compilation of the uncorrected site.
func (x *fixing) planned(cmd *cobra.Command, dir string, f *flags, more checkMore) (*compilation, error) {
	x.before = map[string]bool{}
	var first *compilation
	all, texts := map[string]*fix.Change{}, map[string][]byte{}
	for n := 0; ; n++ {
		r, err := x.round(cmd, dir, f, texts, more)
		if err != nil {
			return nil, err
		}
		first = cmp.Or(first, r.compilation)
		if len(r.changes) == 0 || n == maxFixed {
			return first, errors.Join(show(cmd, all), sayStopped(cmd, r.changes), sayRefused(cmd, r.refused))
		}
		for _, change := range r.changes {
			if before := all[change.File]; before != nil {
				change.Old = before.Old
				maps.Copy(change.Secret, before.Secret)
			}
			all[change.File], texts[change.File] = &change, change.New
		}
	}
}

// progress returns the changes that do not restore earlier content of a file.
func (x *fixing) progress(changes []fix.Change) (out []fix.Change) {
	id := func(file string, text []byte) string { return fmt.Sprintf("%s\x00%x", file, xxhash.Sum64(text)) }
	for _, c := range changes {
		x.before[id(c.File, c.Old)] = true
		if !x.before[id(c.File, c.New)] {
			out = append(out, c)
		}
	}
	return out
}

func show(cmd *cobra.Command, changes map[string]*fix.Change) error {
	for _, file := range slices.Sorted(maps.Keys(changes)) {
		if err := changes[file].Diff(cmd.OutOrStdout(), diag.Visible(shown(file))); err != nil {
			return err
		}
	}
	return nil
}

func sayStopped(cmd *cobra.Command, changes []fix.Change) error {
	if len(changes) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "bindc: --fix stopped after %d rounds; run it again\n", maxFixed)
	return err
}

// sayRefused prints why --fix did not make some corrections.
func sayRefused(cmd *cobra.Command, refused error) error {
	if refused == nil {
		return nil
	}
	for line := range strings.SplitSeq(refused.Error(), "\n") {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "bindc: --fix: %s\n", diag.Visible(line)); err != nil {
			return err
		}
	}
	return nil
}

// shown returns the name of a file relative to the working directory. A file outside that directory keeps its name.
func shown(file string) string {
	wd, _ := os.Getwd()
	abs, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	rel, err := filepath.Rel(wd, abs)
	if err != nil || strings.HasPrefix(rel, "..") {
		return file
	}
	return filepath.ToSlash(rel)
}
