package main

import (
	"fmt"
	"os"
	"strings"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/datafile"
	"bindc/internal/identity"
	"bindc/loader"
)

// flags holds the flags of the verbs that compile a site.
type flags struct {
	*bounds
	modulePath   string
	binderConfig string
	globalHiera  string
	codedir      string
	jobs         int
	cache        string
	extensions   bool
	strictVars   bool
	slice        []string
	encryptTo    []string
	allowEmpty   bool
	strict       strictness
	lenient      bool

	requireParams bool
	entryClasses  []string
	format        string
	all           bool
	allHint       string // hint about diagnostics that are not shown, for a verb without --all
	lint          linting
	policies      policies

	parts   []*datafile.Part // packs to link into one snapshot; nil except in 'bindc link'
	signals signals
	code    datafile.Program
}

func (f *flags) add(cmd *cobra.Command) {
	f.addSite(cmd)
	f.addToAll(cmd)
}

// addSite adds the flags that locate the files of a single site.
func (f *flags) addSite(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.modulePath, "modulepath", "",
		"`DIRS` of modules, separated by ':' (default CONFDIR/modules)")
	cmd.Flags().StringVar(&f.binderConfig, "binder-config", "",
		"`FILE` to read instead of CONFDIR/binder_config.yaml")
}

// seeCheck is the hint about hidden diagnostics for verbs that report diagnostics like check but have no --all.
const seeCheck = "bindc check --all shows them"

// addToAll adds the flags that apply to a single site and to environments.
func (f *flags) addToAll(cmd *cobra.Command) {
	f.addBuild(cmd)
	f.policies.add(cmd)
	cmd.Flags().BoolVar(&f.allowEmpty, "allow-empty", false,
		"accept a site that binds nothing, even if its snapshot replaces one with bindings")
	f.strict.add(cmd)
	cmd.Flags().BoolVar(&f.requireParams, "require-parameters", false,
		"a required parameter of a declared class that has no value for some nodes is an error")
	cmd.Flags().StringArrayVar(&f.entryClasses, "entry-class", nil,
		"`CLASS` that nodes get although no manifest names it, such as 'role::*' (repeatable)")
	cmd.Flags().BoolVar(&f.all, "all", false, "show all diagnostics; by default, text shows the first 100 of "+
		"each code")
	f.format = "text"
	cli.AddFormat(cmd, &f.format, diag.Formats)
}

func (f *flags) addBuild(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.globalHiera, "global-hiera", "", "`FILE` with the hiera.yaml of Hiera 5's global layer")
	f.addCodedir(cmd)
	cmd.Flags().Var(cli.AtLeastOne(&f.jobs), "jobs", "parse `N` files at a time (default: one per processor)")
	cmd.Flags().StringVar(&f.cache, "cache", "", "`DIR` that caches parsed data files between builds")
	cmd.Flags().BoolVar(&f.extensions, "allow-extensions", false,
		"allow the extension programs of binder_config.yaml to run")
	cmd.Flags().BoolVar(&f.lenient, "lenient", false,
		"if a Hiera 5 data file cannot be read, fail only the lookups that reach it")
	cmd.Flags().BoolVar(&f.strictVars, "strict-variables", false,
		"fail lookups that use an unknown variable")
}

func (f *flags) addCodedir(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.codedir, "codedir", loader.DefaultCodedir,
		"Puppet's code `DIR`: in a Hiera 5 hiera.yaml, DIR/environments/%{environment} means CONFDIR")
}

func (f *flags) addToSnapshots(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.encryptTo, "encrypt-to", nil,
		"encrypt sensitive values to `RECIPIENT`, age1..., or to those in a file (repeatable)")
	cmd.Flags().StringArrayVar(&f.slice, "slice", nil,
		"keep only the data that requests with `CATEGORY=VALUE` can reach (repeatable)")
}

func (f *flags) check() error {
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

func (f *flags) recipients() ([]age.Recipient, error) {
	out, err := identity.Recipients(f.encryptTo)
	if err != nil {
		return nil, fmt.Errorf("--encrypt-to: %w", err)
	}
	return out, nil
}
