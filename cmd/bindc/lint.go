package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/lint"
	"bindc/loader"
	"bindc/snapshot"
)

// linting holds the flags that select lints, and what begin and choose derive from them.
type linting struct {
	words     []string
	used      []string
	manifests []string

	codes   []diag.Code
	lookups *lint.Lookups
}

// allCodes is the argument of --lint and --strict that selects all codes.
const allCodes = "all"

func (l *linting) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&l.words, "lint", nil,
		"also report lints: all, or only those in `CODES`; -CODE reports all except that one")
	cmd.Flags().Lookup("lint").NoOptDefVal = allCodes
	words := []string{allCodes}
	for _, code := range lint.Codes() {
		words = append(words, string(code), "-"+string(code))
	}
	cli.Words(cmd, "lint", words)
	cmd.Flags().StringArrayVar(&l.used, "used", nil,
		"`FILE` that lists the keys that are looked up, one per line (repeatable)")
	cmd.Flags().StringArrayVar(&l.manifests, "manifests", nil,
		"`DIR` of manifests to search for lookups (repeatable)")
}

// begin validates the flags, and reads the keys that --used and --manifests name.
func (l *linting) begin() error {
	if err := l.choose(); err != nil {
		return err
	}
	if len(l.used)+len(l.manifests) == 0 {
		return nil
	}
	if len(l.words) == 0 {
		return errors.New("--used and --manifests need --lint")
	}
	l.lookups = &lint.Lookups{}
	for _, path := range l.used {
		if err := l.lookups.AddKeys(path); err != nil {
			return fmt.Errorf("--used: %w", err)
		}
	}
	for _, dir := range l.manifests {
		if err := l.lookups.AddManifests(dir); err != nil {
			return fmt.Errorf("--manifests: %w", err)
		}
	}
	return nil
}

// choose sets l.codes from the arguments of --lint.
func (l *linting) choose() error {
	known := []string{allCodes}
	for _, code := range lint.Codes() {
		known = append(known, string(code))
	}
	only, without := []diag.Code(nil), []diag.Code(nil)
	for _, word := range l.words {
		name, not := strings.CutPrefix(word, "-")
		switch {
		case !slices.Contains(known, name) || not && name == allCodes:
			return fmt.Errorf("--lint: expected one of %s, or '-' and a code, found '%s'", diag.Quoted(known), word)
		case not:
			without = append(without, diag.Code(name))
		case name == allCodes:
			only = append(only, lint.Codes()...)
		default:
			only = append(only, diag.Code(name))
		}
	}
	if len(only) == 0 && len(without) > 0 {
		only = lint.Codes()
	}
	l.codes = slices.DeleteFunc(only, func(c diag.Code) bool { return slices.Contains(without, c) })
	return nil
}

func (l *linting) wants(code diag.Code) bool { return slices.Contains(l.codes, code) }

func sayNearKeys(errs io.Writer, dir string, site *loader.Site, jobs int) {
	n := lint.NearKeys(site, lint.Options{Jobs: jobs})
	if n == 0 {
		return
	}
	is := "is"
	if n > 1 {
		is = "are"
	}
	fmt.Fprintf(errs, "bindc: note: %s %s nearly the same as another key; 'bindc check %s --lint' shows which\n",
		diag.Count(n, "key"), is, diag.Visible(dir))
}

// check adds the selected lints to diags. If the site has errors, it skips the lints that need its compiled content.
func (l *linting) check(site *loader.Site, content *snapshot.Content, opts lint.Options, diags *diag.List) {
	if len(l.codes) == 0 {
		return
	}
	if diags.Failed() {
		content = nil
	}
	opts.Codes, opts.Lookups = l.codes, l.lookups
	lint.Check(site, content, opts, diags)
}
