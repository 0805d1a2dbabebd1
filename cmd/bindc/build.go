package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"bindc/compile"
	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/datafile"
	"bindc/internal/identity"
	"bindc/internal/secret/seal"
	"bindc/internal/slice"
	"bindc/loader"
	"bindc/snapshot"
)

// flags are what build and check have in common.
type flags struct {
	modulePath   string
	binderConfig string
	globalHiera  string
	codedir      string
	jobs         int
	cache        string
	extensions   bool
	strictVars   bool
	effort       int
	slice        []string
	encryptTo    []string
	alternatives int
	allowEmpty   bool
	strict       bool
	lenient      bool
	format       string
	all          bool
	lint         linting

	signals signals
	code    datafile.Program
}

func (f *flags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.modulePath, "modulepath", "",
		"`DIRS` of modules, separated by ':' (default CONFDIR/modules)")
	cmd.Flags().StringVar(&f.binderConfig, "binder-config", "",
		"`FILE` to read in place of CONFDIR/binder_config.yaml")
	f.addToAll(cmd)
}

// addToAll adds what is not about one site.
func (f *flags) addToAll(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.globalHiera, "global-hiera", "", "hiera.yaml, the `FILE` of the global layer of Hiera 5")
	f.addCodedir(cmd)
	cmd.Flags().Var(cli.AtLeastOne(&f.jobs), "jobs", "`N` files parsed at a time (default: one per processor)")
	cmd.Flags().StringVar(&f.cache, "cache", "", "`DIR` that keeps what data files say from one build to the next")
	cmd.Flags().BoolVar(&f.extensions, "allow-extensions", false,
		"let programs run that binder_config.yaml names as extensions")
	cmd.Flags().BoolVar(&f.allowEmpty, "allow-empty", false,
		"let a site bind nothing, and its snapshot replace one that holds bindings")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "take warnings for errors")
	cmd.Flags().BoolVar(&f.lenient, "lenient", false,
		"let a data file of Hiera 5 that cannot be read fail only the lookups that reach it")
	cmd.Flags().BoolVar(&f.strictVars, "strict-variables", false,
		"make the use of an unknown variable an error of the lookup")
	f.effort, f.alternatives = compile.DefaultEffort, loader.DefaultAlternatives
	cmd.Flags().Var(cli.AtLeastOne(&f.effort), "max-effort", "`N` comparisons of bindings, to find conflicts and loops")
	cmd.Flags().Var(cli.AtLeastOne(&f.alternatives), "max-alternatives",
		"`N` alternatives of conditions, over all bindings")
	cmd.Flags().BoolVar(&f.all, "all", false, "show all diagnostics: in text else the first 100 of each code")
	cmd.Flags().StringVar(&f.format, "format", "text", "`FORM` of diagnostics: "+strings.Join(diag.Formats, ", "))
	cli.Words(cmd, "format", diag.Formats)
}

func (f *flags) addCodedir(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.codedir, "codedir", loader.DefaultCodedir,
		"`DIR` of Puppet's environments: DIR/environments/%{environment} in a hiera.yaml of Hiera 5 is CONFDIR")
}

// addToSnapshots adds what is about the snapshots that are written.
func (f *flags) addToSnapshots(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.encryptTo, "encrypt-to", nil,
		"encrypt sensitive values to `RECIPIENT`, age1..., or to those in a file (repeatable)")
	cmd.Flags().StringArrayVar(&f.slice, "slice", nil,
		"`CATEGORY=VALUE`: leave out what requests with other values can reach only (repeatable)")
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
	if f.globalHiera != "" {
		if _, err := os.Stat(f.globalHiera); err != nil {
			return fmt.Errorf("--global-hiera: %w", err)
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
		Alternatives: f.alternatives, GlobalHiera: f.globalHiera, Codedir: f.codedir, Lenient: f.lenient}
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
	var push pushing
	var out, pushTo string
	cmd := &cobra.Command{
		Use:   "build CONFDIR -o FILE",
		Short: "Compile a site into a snapshot",
		Long: "build compiles the site in CONFDIR into the snapshot FILE, and prints one line:\n" +
			"keys, bindings, size, SHA-256, time. FILE is replaced in one step: after a\n" +
			"failure, or a kill at any moment, it is what it was. With -o - the snapshot goes\n" +
			"to standard output, and that line to standard error.\n\n" +
			"Exit status: 0 FILE is written, 1 errors were found in the site, 2 it could not\n" +
			"be done: usage, CONFDIR is missing, FILE cannot be written.",
		Example: "  bindc build site -o site.bsnap --cache cache",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(cmd.OutOrStdout(), out, &f, &sign); err != nil {
				return err
			}
			if pushTo == "" {
				return build(cmd, args[0], out, &f, &sign)
			}
			to, err := push.open(pushTo, cmd.InOrStdin())
			if err != nil {
				return fmt.Errorf("--push: %w", err)
			}
			revision := sign.revision
			if sign.keyFile == "" {
				sign.revision = "" // it is the artifact's
			}
			if err := build(cmd, args[0], out, &f, &sign); err != nil {
				return err
			}
			return push.push(cmd.Context(), to, out, revision, cmd.OutOrStdout())
		},
	}
	f.add(cmd)
	sign.add(cmd)
	push.add(cmd)
	cmd.Flags().StringVar(&pushTo, "push", "", "push the snapshot to `oci://HOST/REPO:TAG` when it is built")
	f.addToSnapshots(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `FILE` to write, - for standard output")
	return cmd
}

// toStdout stands for standard output as the snapshot to write.
const toStdout = "-"

// checkOutput refuses a place that nothing can be written to, before the work is done.
func checkOutput(stdout io.Writer, out string, f *flags, sign *signing) error {
	file, _ := stdout.(*os.File)
	switch {
	case out == "":
		return fmt.Errorf("build: expected -o FILE, the snapshot to write")
	case out != toStdout:
	case file != nil && term.IsTerminal(int(file.Fd())):
		return fmt.Errorf("-o -: a snapshot is no text for a terminal; write it to a file, or to a program behind '|'")
	case sign.keyFile != "":
		return fmt.Errorf("-o -: expected a file with --sign, whose signature is written beside it")
	case f.format != "text":
		return fmt.Errorf("-o -: expected a file with --format %s, as diagnostics go to standard output", f.format)
	}
	return nil
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
		Example: "  bindc check site --strict --facts-dir facts\n" +
			"  bindc check site --lint --manifests site/modules",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(cmd, args[0], factsDir, &f)
		},
	}
	f.add(cmd)
	f.lint.add(cmd)
	cmd.Flags().StringVar(&factsDir, "facts-dir", "", "`DIR` of a file of facts per node, NAME.json, NAME.yaml or NAME.yml")
	return cmd
}

// check is build up to its report. To that it adds what goes wrong for the nodes of a fleet, if there is one.
func check(cmd *cobra.Command, dir, factsDir string, f *flags) error {
	var nodes []facts.Node
	var wrong diag.List
	whole := true
	if factsDir != "" {
		var err error
		if nodes, whole, err = facts.Check(factsDir, &wrong); err != nil {
			return err
		}
	}
	c, err := compiled(cmd, dir, "", f)
	if err != nil {
		return err
	}
	asked := len(nodes) > 0 && !c.diags.Failed()
	if asked {
		if err := c.checkFleet(cmd, nodes, whole, f.jobs); err != nil {
			return err
		}
	}
	for _, d := range wrong.Sorted() {
		c.diags.Add(d)
	}
	if err := c.report(cmd, f); err != nil || !asked {
		return err
	}
	_, err = fmt.Fprintf(f.success(cmd), "%s for each of %s: no errors\n", diag.Count(c.keys(), "key"),
		diag.Count(len(nodes), "node"))
	return err
}

// success is where it is said that all went well: beside the diagnostics, where programs read these.
func (f *flags) success(cmd *cobra.Command) io.Writer {
	if f.format == "text" {
		return cmd.OutOrStdout()
	}
	return cmd.ErrOrStderr()
}

// build is the whole pipeline: load, compile, encrypt, write, sign.
func build(cmd *cobra.Command, dir, out string, f *flags, sign *signing) error {
	start := time.Now()
	recipients, err := f.recipients()
	if err != nil {
		return err
	}
	if err := sign.begin(); err != nil {
		return err
	}
	defer sign.end()
	c, err := compiled(cmd, dir, out, f)
	if err != nil {
		return err
	}
	if err := c.report(cmd, f); err != nil {
		return err
	}
	content := c.content
	if err := sliced(content, f.slice); err != nil {
		return err
	}
	if len(recipients) > 0 {
		if err := encrypt(content, recipients); err != nil {
			return err
		}
	}
	var written snapshot.Written
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("writing the snapshot", 0)
	f.signals.whole(func() { written, err = publish(cmd, out, content, sign) })
	progress.End()
	if err != nil {
		return err
	}
	success, name := f.success(cmd), diag.Visible(out)
	if out == toStdout {
		success, name = cmd.ErrOrStderr(), "the snapshot"
	}
	fmt.Fprintf(success, "%s: %s, %s, %d bytes, sha256 %x, %s\n", name, diag.Count(c.keys(), "key"),
		diag.Count(content.Bindings, "binding"), written.Size, written.Sum, time.Since(start).Round(time.Millisecond))
	return nil
}

// recipients are those to whom sensitive values are encrypted.
func (f *flags) recipients() ([]age.Recipient, error) {
	out, err := identity.Recipients(f.encryptTo)
	if err != nil {
		return nil, fmt.Errorf("--encrypt-to: %w", err)
	}
	return out, nil
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
func publish(cmd *cobra.Command, out string, content *snapshot.Content, sign *signing) (snapshot.Written, error) {
	var written snapshot.Written
	var err error
	if out == toStdout {
		written, err = snapshot.WriteTo(cmd.OutOrStdout(), content)
	} else {
		written, err = snapshot.Write(out, content)
	}
	if err != nil {
		return written, fmt.Errorf("cannot write the snapshot: %w", err)
	}
	return written, sign.publish(out, written.Sum)
}

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
	if f.cache != "" {
		var err error
		f.signals.whole(func() { options.Cache, err = f.openCache(dir) })
		if err != nil {
			return nil, err
		}
	}
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("reading files", 0)
	options.Parsed = progress.Done
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
	if options.Cache != nil {
		f.signals.whole(func() { unsaved = options.Cache.Save() })
	}
	progress.End()
	if unsaved != nil { // the build is none the worse for it
		fmt.Fprintln(cmd.ErrOrStderr(), "bindc: cannot write the cache:", diag.Visible(unsaved.Error()))
	}
	return c, nil
}

// sliced leaves of content what requests with the given values of categories can reach.
func sliced(content *snapshot.Content, given []string) error {
	if len(given) == 0 {
		return nil
	}
	terms, err := slice.Parse(content.Dimensions, given)
	if err != nil {
		return fmt.Errorf("--slice: %w", err)
	}
	return slice.Cut(content, terms)
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
