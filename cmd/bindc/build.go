package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"bindc/compile"
	"bindc/internal/cli"
	"bindc/internal/datafile"
	"bindc/internal/diag"
	"bindc/internal/identity"
	"bindc/internal/seal"
	"bindc/loader"
	"bindc/snapshot"
)

// flags are what build and check have in common.
type flags struct {
	modulePath   string
	binderConfig string
	jobs         int
	cache        string
	extensions   bool
	strictVars   bool
	effort       int
	alternatives int
	allowEmpty   bool
	strict       bool
	format       string
	all          bool
	lint         linting

	signals signals
}

func (f *flags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.modulePath, "modulepath", "", "directories of modules, separated by ':' (default CONFDIR/modules)")
	cmd.Flags().StringVar(&f.binderConfig, "binder-config", "", "file to read in place of CONFDIR/binder_config.yaml")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "files parsed at a time (default: one per processor)")
	cmd.Flags().StringVar(&f.cache, "cache", "", "directory that keeps what data files say from one build to the next")
	cmd.Flags().BoolVar(&f.extensions, "allow-extensions", false, "let programs run that binder_config.yaml names as extensions")
	cmd.Flags().BoolVar(&f.allowEmpty, "allow-empty", false,
		"let a site bind nothing, and its snapshot replace one that holds bindings")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "take warnings for errors")
	cmd.Flags().BoolVar(&f.strictVars, "strict-variables", false, "make the use of an unknown variable an error of the lookup")
	cmd.Flags().IntVar(&f.effort, "max-effort", compile.DefaultEffort,
		"`N` comparisons of bindings, to find conflicts and loops")
	cmd.Flags().IntVar(&f.alternatives, "max-alternatives", loader.DefaultAlternatives,
		"`N` alternatives of conditions, over all bindings")
	cmd.Flags().BoolVar(&f.all, "all", false, "show all diagnostics: in text else the first 100 of each code")
	cmd.Flags().StringVar(&f.format, "format", "text", "of diagnostics: "+strings.Join(diag.Formats, ", "))
}

func (f *flags) check() error {
	if !slices.Contains(diag.Formats, f.format) {
		return fmt.Errorf("--format: expected one of %s, found '%s'", strings.Join(diag.Formats, ", "), f.format)
	}
	if f.binderConfig != "" {
		if _, err := os.Stat(f.binderConfig); err != nil {
			return fmt.Errorf("--binder-config: %w", err)
		}
	}
	for _, dir := range f.options().ModulePath {
		if _, err := os.ReadDir(dir); err != nil {
			return fmt.Errorf("--modulepath: %w", err)
		}
	}
	return nil
}

func (f *flags) options() loader.Options {
	o := loader.Options{BinderConfig: f.binderConfig, Jobs: f.jobs, AllowExtensions: f.extensions,
		Alternatives: f.alternatives}
	for _, dir := range strings.Split(f.modulePath, ":") {
		if dir != "" {
			o.ModulePath = append(o.ModulePath, dir)
		}
	}
	return o
}

func buildCommand() *cobra.Command {
	var f flags
	var sign signing
	var out string
	var encryptTo []string
	cmd := &cobra.Command{
		Use:     "build CONFDIR -o FILE",
		Short:   "Compile a site into a snapshot",
		Example: "  bindc build /etc/puppet/site -o /var/cache/site.bsnap --modulepath /etc/puppet/modules:/opt/modules",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return fmt.Errorf("build: expected -o FILE, the snapshot to write")
			}
			return build(cmd, args[0], out, &f, encryptTo, &sign)
		},
	}
	f.add(cmd)
	sign.add(cmd)
	cmd.Flags().StringArrayVar(&encryptTo, "encrypt-to", nil,
		"encrypt sensitive values to `RECIPIENT`, age1..., or to those in a file (repeatable)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the snapshot to write")
	return cmd
}

func checkCommand() *cobra.Command {
	var f flags
	var factsDir string
	cmd := &cobra.Command{
		Use:   "check CONFDIR",
		Short: "Check a site as build does, without writing a snapshot",
		Long: "check finds what build finds, and writes no snapshot. With --facts-dir it looks\n" +
			"every key up for each node of a fleet too, and prints each error once with the\n" +
			"nodes it hits. With --lint it gives advice too, on what is no error: each kind\n" +
			"has a code, and --lint=-CODE or a comment '# bindc: ignore CODE' on the line\n" +
			"before leaves it out.\n\n" +
			"Exit status: 0 no errors, 1 errors were found, 2 it could not be checked.",
		Example: "  bindc check /etc/puppet/site --strict --facts-dir /var/lib/facts\n" +
			"  bindc check /etc/puppet/site --lint --manifests /etc/puppet/modules",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := compiled(cmd, args[0], "", &f)
			if err != nil || factsDir == "" {
				return err
			}
			return checkFleet(cmd, content, factsDir, f.jobs)
		},
	}
	f.add(cmd)
	f.lint.add(cmd)
	cmd.Flags().StringVar(&factsDir, "facts-dir", "", "`DIR` of a file of facts per node, NAME.json or NAME.yaml")
	return cmd
}

// build is the whole pipeline: load, compile, encrypt, write, sign.
func build(cmd *cobra.Command, dir, out string, f *flags, encryptTo []string, sign *signing) error {
	start := time.Now()
	recipients, err := identity.Recipients(encryptTo)
	if err != nil {
		return fmt.Errorf("--encrypt-to: %w", err)
	}
	if err := sign.begin(); err != nil {
		return err
	}
	defer sign.end()
	content, err := compiled(cmd, dir, out, f)
	if err != nil {
		return err
	}
	if len(recipients) > 0 {
		if err := encrypt(content, recipients); err != nil {
			return err
		}
	}
	var written snapshot.Written
	f.signals.whole(func() { written, err = publish(out, content, sign) })
	if err != nil {
		return err
	}
	keys := 0
	for _, k := range content.Keys {
		if !strings.HasPrefix(k.Name, "\x00") {
			keys++
		}
	}
	success := cmd.OutOrStdout()
	if f.format != "text" { // there are the diagnostics
		success = cmd.ErrOrStderr()
	}
	fmt.Fprintf(success, "%s: %d keys, %d bindings, %d bytes, sha256 %s, %s\n", diag.Visible(out), keys,
		content.Bindings, written.Size, written.Digest, time.Since(start).Round(time.Millisecond))
	return nil
}

// encrypt seals the sensitive values with a key of their own, and that to recipients.
func encrypt(content *snapshot.Content, recipients []age.Recipient) error {
	key := seal.NewKey()
	wrapped, err := identity.Wrap(key, recipients)
	if err != nil {
		return fmt.Errorf("--encrypt-to: %w", err)
	}
	return compile.Seal(content, key, wrapped)
}

// publish writes the snapshot, and what is signed beside it.
func publish(out string, content *snapshot.Content, sign *signing) (snapshot.Written, error) {
	written, err := snapshot.Write(out, content)
	if err != nil {
		return written, fmt.Errorf("cannot write the snapshot: %w", err)
	}
	return written, sign.publish(out, written.Sum)
}

// compiled loads and composes a site, which is to be written to out, and prints what is wrong with it.
func compiled(cmd *cobra.Command, dir, out string, f *flags) (*snapshot.Content, error) {
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
	options := f.options()
	options.Context = f.signals.stopped
	if f.cache != "" {
		var err error
		f.signals.whole(func() { options.Cache, err = openCache(f.cache, dir) })
		if err != nil {
			return nil, err
		}
	}
	diags := diag.List{All: f.all || f.format != "text"}
	var site *loader.Site
	load := func() { site = loader.Load(dir, options, &diags) }
	if f.extensions { // programs that a signal has to stop
		f.signals.whole(load)
	} else {
		load()
	}
	content := compile.Compile(site, compile.Options{StrictVariables: f.strictVars, Effort: f.effort}, &diags)
	f.lint.check(site, content, f.jobs, &diags)
	if !diags.Failed() && content.Bindings == 0 && !f.allowEmpty {
		reportEmpty(&diags, dir, out)
	}
	if options.Cache != nil {
		var err error
		f.signals.whole(func() { err = options.Cache.Save() })
		if err != nil { // the build is none the worse for it
			fmt.Fprintln(cmd.ErrOrStderr(), "bindc: cannot write the cache:", diag.Visible(err.Error()))
		}
	}
	return content, report(cmd, &diags, len(site.Inputs), f)
}

// openCache opens the cache of the site in dir. It is of use to this very program only: another one may compile the same
// data in another way.
func openCache(cacheDir, dir string) (*datafile.Cache, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot use a cache: %w", err)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot use a cache: %w", err)
	}
	cache, err := datafile.OpenCache(cacheDir, dir, sha256.Sum256(code))
	if err != nil {
		return nil, fmt.Errorf("cannot use the cache: %w", err)
	}
	return cache, nil
}

// report prints what is wrong with a site, of which so many files were read; the error says whether it is refused.
func report(cmd *cobra.Command, diags *diag.List, files int, f *flags) error {
	list := diags.Sorted()
	refused := diags.Failed()
	for i := range list {
		if f.strict && list[i].Severity == diag.Warning {
			list[i].Severity, refused = diag.Error, true
		}
	}
	wd, _ := os.Getwd()      // where there is none, files have the names they were found by
	out := cmd.OutOrStdout() // what programs read
	if f.format == "text" {
		out = cmd.ErrOrStderr()
	}
	if err := diag.Render(out, f.format, list, wd, cli.Color(os.Stderr)); err != nil {
		return err
	}
	if f.format == "text" && len(list) > 0 {
		fmt.Fprintln(out, diag.Summary(list, files))
	}
	if refused {
		return errRefused
	}
	return nil
}
