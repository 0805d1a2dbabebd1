package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/spf13/cobra"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/lint"
	"bindc/internal/proof/params"
	"bindc/internal/proof/policy"
	"bindc/internal/report/slice"
	"bindc/loader"
	"bindc/snapshot"
)

type compilation struct {
	site    *loader.Site
	content *snapshot.Content // valid only if diags has no error
	params  *params.Checker   // nil if the site has errors
	diags   diag.List
	proofs  *policy.Result // nil if the site has errors
}

// compiled checks the flags and compiles the site in dir. out is the path at which the snapshot will be written, or "".
func compiled(cmd *cobra.Command, dir, out string, f *flags) (*compilation, error) {
	if err := f.begin(dir); err != nil {
		return nil, err
	}
	options := f.options()
	if f.parts != nil {
		if err := f.linked(&options); err != nil {
			return nil, err
		}
	}
	return f.compile(cmd, dir, out, options)
}

// begin validates the flags, checks that dir is readable, and starts to handle signals.
func (f *flags) begin(dir string) error {
	if err := f.check(); err != nil {
		return err
	}
	if _, err := os.ReadDir(dir); err != nil {
		return fmt.Errorf("cannot read the site: %w", err)
	}
	if err := f.lint.begin(); err != nil {
		return err
	}
	f.signals.handle()
	return nil
}

// compile compiles the site in dir with the given options. The caller must have checked the flags and called
// signals.handle.
func (f *flags) compile(cmd *cobra.Command, dir, out string, options loader.Options) (*compilation, error) {
	options.Context = f.signals.stopped
	keep := f.cache != "" && options.Cache == nil // a cache from the caller is only read
	if keep {
		var err error
		f.signals.uninterrupted(func() { options.Cache, err = f.openCache(dir) })
		if err != nil {
			return nil, err
		}
	}
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("reading files", 0)
	options.Found, options.Parsed = progress.Found, progress.Done
	c := &compilation{diags: diag.List{All: f.all || f.format != "text", AllHint: f.allHint}}
	load := func() { c.site = loader.Load(dir, options, &c.diags) }
	if f.extensions { // the extension programs must end before bindc does
		f.signals.uninterrupted(load)
	} else {
		load()
	}
	progress.Begin("composing", 0)
	disk := fsx.Disk{Seen: options.Seen, Overlay: options.Disk.Overlay}
	isParameter := params.Receives(c.site, disk)
	c.content = compile.Compile(c.site, compile.Options{StrictVariables: f.strictVars, Effort: f.effort,
		IsParameter: isParameter}, &c.diags)
	f.lint.check(c.site, c.content, lint.Options{Disk: fsx.Disk{Overlay: disk.Overlay}, Jobs: f.jobs,
		IsParameter: isParameter}, &c.diags)
	unchecked := c.prove(f, dir, disk)
	if !c.diags.Failed() && c.content.Bindings == 0 && !f.allowEmpty && !options.MayBeEmpty {
		reportEmpty(&c.diags, dir, out)
	}
	var unsaved error
	if keep {
		f.signals.uninterrupted(func() { unsaved = options.Cache.Save() })
	}
	progress.End()
	if unchecked != nil {
		return nil, unchecked
	}
	if unsaved != nil { // without a cache, the next build is only slower
		fmt.Fprintln(cmd.ErrOrStderr(), "bindc: cannot write the cache:", diag.Visible(unsaved.Error()))
	}
	return c, nil
}

// sliced removes from content the data that no request with the given category values can reach. doubts describes
// values that are probably misspelt.
func sliced(content *snapshot.Content, given []string, allowEmpty bool) (doubts []string, err error) {
	if len(given) == 0 {
		return nil, nil
	}
	terms, err := slice.Parse(content.Dimensions, given)
	if err != nil {
		return nil, fmt.Errorf("--slice: %w", err)
	}
	doubts = slice.Misspelt(content, terms)
	before := content.Bindings
	if err := slice.Cut(content, terms); err != nil {
		return nil, err
	}
	if before > 0 && content.Bindings == 0 && !allowEmpty {
		return nil, fmt.Errorf("--slice %s: the snapshot would have no bindings; if that is meant, use --allow-empty",
			strings.Join(given, " --slice "))
	}
	return doubts, nil
}

// openCache opens the cache of the site in dir. Its entries are valid only for this bindc executable, because another
// one may compile the same data differently.
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

// program returns the xxhash64 of the running executable. It reads the file only once. The hash needs to tell versions
// apart, but not to resist attacks: an attacker who can change the executable or the cache can change the data anyway.
func (f *flags) program() (datafile.Program, error) {
	if f.code == (datafile.Program{}) {
		path, err := os.Executable()
		if err != nil {
			return f.code, err
		}
		file, err := os.Open(path)
		if err != nil {
			return f.code, err
		}
		defer file.Close()
		sum := xxhash.New()
		if _, err := io.Copy(sum, file); err != nil {
			return f.code, err
		}
		f.code = datafile.Program(sum.Sum(nil))
	}
	return f.code, nil
}

// keys returns the number of keys that the site binds, without the internal keys of multibindings.
func (c *compilation) keys() int {
	n := 0
	for _, k := range c.content.Keys {
		if !strings.HasPrefix(k.Name, "\x00") {
			n++
		}
	}
	return n
}

// report prints c's diagnostics. It returns errRefused if there are errors.
func (c *compilation) report(cmd *cobra.Command, f *flags) error {
	return f.report(cmd, c.diags.Sorted(), len(c.site.Inputs))
}

// report prints list. In text format, it adds a summary that mentions the number of files. It returns errRefused if
// there are errors, including the warnings that --strict selects.
func (f *flags) report(cmd *cobra.Command, list []diag.Diagnostic, files int) error {
	refused := false
	for i := range list {
		if f.strict.refuses(list[i]) {
			list[i].Severity = diag.Error
		}
		refused = refused || list[i].Severity == diag.Error
	}
	wd, _ := os.Getwd()      // if Getwd fails, paths stay absolute
	out := cmd.OutOrStdout() // formats for programs go to standard output
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

// success returns the writer for messages about success: standard output, or standard error if the diagnostics go to
// standard output.
func (f *flags) success(cmd *cobra.Command) io.Writer {
	if f.format == "text" {
		return cmd.OutOrStdout()
	}
	return cmd.ErrOrStderr()
}
