package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/datafile"
	"bindc/internal/report/slice"
	"bindc/loader"
	"bindc/snapshot"
)

// compilation is a site, what it compiles to, and all that is wrong with it, which is reported once.
type compilation struct {
	site    *loader.Site
	content *snapshot.Content // of use only if diags has not failed
	diags   diag.List
}

// compiled loads and composes a site, which is to be written to out.
func compiled(cmd *cobra.Command, dir, out string, f *flags) (*compilation, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if _, err := os.ReadDir(dir); err != nil {
		return nil, fmt.Errorf("cannot read the site: %w", err)
	}
	if err := f.lint.begin(); err != nil {
		return nil, err
	}
	f.signals.handle()
	return f.compile(cmd, dir, out, f.options())
}

// compile is compiled, when all else is checked.
func (f *flags) compile(cmd *cobra.Command, dir, out string, options loader.Options) (*compilation, error) {
	options.Context = f.signals.stopped
	keep := f.cache != "" && options.Cache == nil // a cache that the caller has opened is only read
	if keep {
		var err error
		f.signals.whole(func() { options.Cache, err = f.openCache(dir) })
		if err != nil {
			return nil, err
		}
	}
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("reading files", 0)
	options.Found, options.Parsed = progress.Found, progress.Done
	c := &compilation{diags: diag.List{All: f.all || f.format != "text"}}
	load := func() { c.site = loader.Load(dir, options, &c.diags) }
	if f.extensions { // programs that a signal has to stop
		f.signals.whole(load)
	} else {
		load()
	}
	progress.Begin("composing", 0)
	c.content = compile.Compile(c.site, compile.Options{StrictVariables: f.strictVars, Effort: f.effort}, &c.diags)
	f.lint.check(c.site, c.content, f.jobs, &c.diags)
	if !c.diags.Failed() && c.content.Bindings == 0 && !f.allowEmpty && !options.Nothing {
		reportEmpty(&c.diags, dir, out)
	}
	var unsaved error
	if keep {
		f.signals.whole(func() { unsaved = options.Cache.Save() })
	}
	progress.End()
	if unsaved != nil { // the build is none the worse for it
		fmt.Fprintln(cmd.ErrOrStderr(), "bindc: cannot write the cache:", diag.Visible(unsaved.Error()))
	}
	return c, nil
}

// sliced leaves of content what requests with the given values of categories can reach. doubts has values that are
// probably misspelt.
func sliced(content *snapshot.Content, given []string) (doubts []string, err error) {
	if len(given) == 0 {
		return nil, nil
	}
	terms, err := slice.Parse(content.Dimensions, given)
	if err != nil {
		return nil, fmt.Errorf("--slice: %w", err)
	}
	doubts = slice.Misspelt(content, terms)
	return doubts, slice.Cut(content, terms)
}

// openCache opens the cache of the site in dir. It is of use to this very program only: another one may compile the
// same data in another way.
func (f *flags) openCache(dir string) (*datafile.Cache, error) {
	code, err := f.program()
	if err != nil {
		return nil, fmt.Errorf("cannot use a cache: %w", err)
	}
	cache, err := datafile.OpenCache(f.cache, dir, code)
	if err != nil {
		return nil, fmt.Errorf("cannot use the cache: %w", err)
	}
	return cache, nil
}

// program is the SHA-256 of this very program.
func (f *flags) program() (datafile.Program, error) {
	if f.code == (datafile.Program{}) {
		path, err := os.Executable()
		if err != nil {
			return f.code, err
		}
		code, err := os.ReadFile(path)
		if err != nil {
			return f.code, err
		}
		f.code = sha256.Sum256(code)
	}
	return f.code, nil
}

// keys is how many the site binds; those of multibindings are none of its own.
func (c *compilation) keys() int {
	n := 0
	for _, k := range c.content.Keys {
		if !strings.HasPrefix(k.Name, "\x00") {
			n++
		}
	}
	return n
}

// report prints what is wrong with a site; the error says whether it is refused.
func (c *compilation) report(cmd *cobra.Command, f *flags) error {
	return f.report(cmd, c.diags.Sorted(), len(c.site.Inputs))
}

// report prints a list of what is wrong in so many files; the error says whether something is refused.
func (f *flags) report(cmd *cobra.Command, list []diag.Diagnostic, files int) error {
	refused := false
	for i := range list {
		if f.strict && list[i].Severity == diag.Warning {
			list[i].Severity = diag.Error
		}
		refused = refused || list[i].Severity == diag.Error
	}
	wd, _ := os.Getwd()      // where there is none, files have the names they were found by
	out := cmd.OutOrStdout() // what programs read
	if f.format == "text" {
		out = cmd.ErrOrStderr()
	}
	color := cli.Color(os.Stderr)
	if err := diag.Render(out, f.format, list, wd, color); err != nil {
		return err
	}
	if f.format == "text" && len(list) > 0 {
		fmt.Fprintln(out, diag.Summary(list, files, color))
	}
	if refused {
		return errRefused
	}
	return nil
}

// success is where it is said that all went well: beside the diagnostics, where programs read these.
func (f *flags) success(cmd *cobra.Command) io.Writer {
	if f.format == "text" {
		return cmd.OutOrStdout()
	}
	return cmd.ErrOrStderr()
}
