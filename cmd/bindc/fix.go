package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/fix"
	"bindc/internal/fsx"
)

// fixing holds the flags of check for corrections.
type fixing struct {
	on, dry bool

	before map[string]bool // earlier contents of the files, to detect corrections that undo each other
}

func (x *fixing) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&x.on, "fix", false, "correct the files where a hint names the replacement, "+
		"and report what is left")
	cmd.Flags().BoolVar(&x.dry, "dry-run", false, "with --fix: print the corrections as a diff, and change nothing")
}

// checkMore adds diagnostics to a compilation.
type checkMore func(*compilation) error

// compiled compiles the site in dir, after correcting it if that is requested.
func (x *fixing) compiled(cmd *cobra.Command, dir string, f *flags, more checkMore) (*compilation, error) {
	if x.dry && !x.on {
		return nil, errors.New("--dry-run needs --fix")
	}
	if err := f.begin(dir); err != nil {
		return nil, err
	}
	if x.on {
		return x.fixed(cmd, dir, f, more)
	}
	c, err := f.compile(cmd, dir, "", f.options())
	if err != nil {
		return nil, err
	}
	return c, more(c)
}

// maxFixed limits how often a site is compiled and corrected. One correction can show the next mistake.
const maxFixed = 10

// fixed compiles the site in dir, and corrects it until there is nothing more to correct. It returns the last
// compilation.
func (x *fixing) fixed(cmd *cobra.Command, dir string, f *flags, more checkMore) (*compilation, error) {
	x.before = map[string]bool{}
	for round := 0; ; round++ {
		options := f.options()
		options.Seen = &fsx.Seen{}
		c, err := f.compile(cmd, dir, "", options)
		if err == nil {
			err = more(c)
		}
		if err != nil {
			return nil, err
		}
		fixer, err := fix.New(dir, options.Seen)
		if err != nil {
			return nil, err
		}
		changes, refused := fixer.Plan(c.diags.Sorted())
		if changes = x.progress(changes); len(changes) == 0 || x.dry || round == maxFixed {
			return c, errors.Join(x.show(cmd, changes), x.say(cmd, refused))
		}
		for _, change := range changes {
			f.signals.uninterrupted(func() { err = fixer.Write(change) })
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

// progress returns the changes, without those that restore an earlier content of a file.
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

// show prints the changes as a diff in a dry run. Otherwise, if changes remain, it prints that there were too many
// rounds.
func (x *fixing) show(cmd *cobra.Command, changes []fix.Change) error {
	if !x.dry && len(changes) > 0 {
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "bindc: --fix stopped after %d rounds; run it again\n", maxFixed)
		return err
	}
	for _, c := range changes {
		if err := c.Diff(cmd.OutOrStdout(), diag.Visible(shown(c.File))); err != nil {
			return err
		}
	}
	return nil
}

// say prints why some files were not changed.
func (x *fixing) say(cmd *cobra.Command, refused error) error {
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

// shown returns the name of a file relative to the working directory, if it is below.
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
