package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/adopt"
	"bindc/internal/fsx"
	"bindc/internal/hieraconfig"
	"bindc/loader"
	"bindc/snapshot"
)

// adoption is the state of one run of 'bindc adopt'.
type adoption struct {
	flags
	cmd *cobra.Command

	out         string
	environment string
	given       []string // --option flags, as NAME=TEXT
	keep        []string // names of the hiera.yaml levels to leave to Puppet
	keys        []string // paths of hiera-eyaml private keys
	factsDir    string
	nodes       int
	seconds     time.Duration
	undo        bool
	dryRun      bool
	force       bool
	noCompare   bool

	dir     string // directory of the environment to adopt
	env     *adopt.Environment
	options hieraconfig.Options

	lookupKey string // why hiera.yaml cannot use bindc::data_hash, "" if it can
	text      []byte
	site      *compilation
	tmp       string
	puppet    *adopt.Puppet
	probe     *adopt.Probe
}

func (g *bounds) adoptCommand() *cobra.Command {
	a := adoption{flags: flags{bounds: g}}
	cmd := &cobra.Command{
		Use:   "adopt DIR",
		Short: "Switch a Puppet environment to a snapshot, safely",
		Long: "adopt compiles the environment in DIR, a Hiera 5 control repository, and\n" +
			"switches Puppet to the snapshot. If Puppet is installed, adopt first looks up\n" +
			"all keys with and without the snapshot: for the nodes in --facts-dir, the nodes\n" +
			"that the server knows, or this machine. If any answer differs, adopt does not\n" +
			"switch.\n\n" +
			"hiera.yaml becomes hiera5.yaml, which bindc compiles from then on, and a new\n" +
			"hiera.yaml takes its place in one final step: a running server sees the old file\n" +
			"or the new one. If a run is killed, the next one repairs the environment. If the\n" +
			"environment is already adopted, adopt rebuilds the snapshot and hiera.yaml.\n\n" +
			"Exit status: 0 adopted, 1 refused because of errors, differences or unexpected\n" +
			"files, 2 adopt itself failed.",
		Example: "  bindc adopt /etc/puppetlabs/code/environments/production --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.cmd, a.dir = cmd, args[0]
			return a.run()
		},
	}
	a.add(cmd)
	cmd.Flags().StringVarP(&a.out, "output", "o", "", "write the snapshot to `FILE` (default "+
		"/var/lib/bindc/ENVIRONMENT.snap)")
	cmd.Flags().StringVar(&a.environment, "environment", "", "`NAME` of the environment (default: the name of "+
		"DIR)")
	cmd.Flags().StringArrayVar(&a.given, "option", nil,
		"set an option of the entry in hiera.yaml, `NAME=TEXT`, such as command=/opt/bin/bindq (repeatable)")
	cmd.Flags().StringArrayVar(&a.keep, "keep", nil,
		"leave the hiera.yaml level named `LEVEL` to Puppet (repeatable; levels that only Puppet can look up "+
			"stay anyway)")
	cmd.Flags().StringArrayVar(&a.keys, "eyaml-key", nil,
		"`FILE` with a hiera-eyaml private key (repeatable; default: the keys that hiera.yaml names)")
	cmd.Flags().StringVar(&a.factsDir, "facts-dir", "", "compare for the nodes in `DIR`, which has one facts "+
		"file per node")
	cmd.Flags().IntVar(&a.nodes, "nodes", 20, "compare for at most `N` nodes")
	cmd.Flags().DurationVar(&a.seconds, "compare-time", time.Minute, "stop comparing after `TIME`")
	cmd.Flags().BoolVar(&a.noCompare, "no-compare", false, "do not compare with Puppet")
	cmd.Flags().BoolVar(&a.force, "force", false,
		"switch even if answers differ or cannot be compared, or programs or modules are missing")
	cmd.Flags().BoolVar(&a.undo, "undo", false, "restore the original hiera.yaml, in one step")
	cmd.Flags().BoolVar(&a.dryRun, "dry-run", false, "check and compare, print the plan, and change nothing")
	return cmd
}

func (a *adoption) run() error {
	if a.undo && a.dryRun {
		return errors.New("expected one of --undo and --dry-run")
	}
	env, err := adopt.Inspect(a.dir)
	if err != nil {
		return a.refused(err)
	}
	a.env = env
	if a.undo {
		return a.restore()
	}
	if err := a.prepare(); err != nil {
		return a.refused(err)
	}
	if a.site, err = compiled(a.cmd, a.dir, a.out, &a.flags); err != nil {
		return err
	}
	if err := a.site.report(a.cmd, &a.flags); err != nil {
		return err
	}
	a.sayUnreadableKeys()
	sayNearKeys(a.cmd.ErrOrStderr(), a.dir, a.site.site, a.jobs)
	if err := a.leave(); err != nil {
		return a.refused(err)
	}
	tmp, remove, err := fsx.Scratch("bindc-adopt-")
	if err != nil {
		return err
	}
	defer remove()
	a.tmp = tmp
	a.signals.last = remove
	if err := a.draft(); err != nil {
		return a.refused(err)
	}
	if err := a.check(); err != nil {
		return a.refused(err)
	}
	if a.dryRun {
		return a.plan()
	}
	return a.refused(a.carryOut())
}

// refused prints err if it is an Obstacle, and then returns errRefused. Otherwise, it returns err.
func (a *adoption) refused(err error) error {
	var refusal *adopt.Obstacle
	if !errors.As(err, &refusal) {
		return err
	}
	fmt.Fprintln(a.cmd.ErrOrStderr(), "bindc:", diag.Visible(refusal.Reason))
	if refusal.Hint != "" {
		fmt.Fprintln(a.cmd.ErrOrStderr(), "  hint:", diag.Visible(refusal.Hint))
	}
	return errRefused
}

func (a *adoption) say(format string, args ...any) {
	fmt.Fprintln(a.success(a.cmd), diag.Visible(fmt.Sprintf(format, args...)))
}

// prepare sets the defaults of the flags and computes the new hiera.yaml. It fails if this user cannot write the files.
func (a *adoption) prepare() error {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return err
	}
	a.environment = cmp.Or(a.environment, filepath.Base(dir))
	if parent := filepath.Dir(dir); !a.cmd.Flags().Changed("codedir") && filepath.Base(parent) == "environments" {
		a.codedir = filepath.Dir(parent)
	}
	given, err := hieraconfig.ParseOptions(a.given)
	if err != nil {
		return fmt.Errorf("--option: %w", err)
	}
	a.options = given.Over(a.env.Asks.Without("entries"))
	if a.out = cmp.Or(a.out, a.options.Snapshot(a.environment)); a.out == "" {
		a.out = filepath.Join("/var/lib/bindc", a.environment+".snap")
	}
	if a.out, err = filepath.Abs(a.out); err != nil {
		return err
	}
	if !a.options.Has("socket") {
		a.options = a.options.With("snapshot", snapshotOption(a.out, a.environment))
	}
	keys, err := a.eyamlKeys()
	if err != nil {
		return err
	}
	a.options = a.options.WithKeys(keys)
	for _, level := range a.keep {
		if !a.env.Config.KeepNamed(level) {
			return fmt.Errorf("--keep: %s has no level '%s'", a.env.Source(), level)
		}
	}
	if err := a.render(); err != nil {
		return err
	}
	return a.env.Check(a.out)
}

// leave computes hiera.yaml again, so that Puppet keeps the levels that a snapshot cannot answer.
func (a *adoption) leave() error {
	for _, l := range compile.ForeignLookups(a.site.site) {
		if l.Part != loader.HieraEnvironment || a.env.Config.Keeps(l.Entry) {
			continue
		}
		why := "only Puppet knows '" + l.Key + "', which it looks up"
		if l.Method != "" {
			why = "a value in it is encrypted with " + l.Method + ", and bindq decrypts only PKCS7"
		}
		a.say("note: %s: Puppet keeps the level '%s': %s", l.Pos, a.env.Config.Keep(l.Entry), why)
	}
	if a.env.Config.KeepsAll() {
		return &adopt.Obstacle{Reason: "the snapshot would not serve any level",
			Hint: "move the values that only Puppet knows to a level of their own, or look them up in manifests"}
	}
	return a.render()
}

// render sets a.text to the new hiera.yaml.
func (a *adoption) render() (err error) {
	a.text, err = a.env.Config.WithForeign(a.entry(a.options))
	return err
}

// entry returns the hiera.yaml entry through which Puppet looks up keys in the snapshot.
func (a *adoption) entry(options hieraconfig.Options) hieraconfig.Entry {
	return hieraconfig.Entry{Name: "bindc", Options: options, LookupKey: a.lookupKey}
}

// snapshotOption returns the path to write as the snapshot option of the hiera.yaml entry. If the file is named after
// its environment, the path contains %{::environment} instead, so that it is valid for all environments.
func snapshotOption(path, environment string) string {
	if filepath.Base(path) == environment+".snap" {
		return filepath.Join(filepath.Dir(path), "%{::environment}.snap")
	}
	return path
}

func (a *adoption) eyamlKeys() ([]string, error) {
	if len(a.keys) == 0 {
		return a.env.Config.EyamlKeys(), nil
	}
	var out []string
	for _, file := range a.keys {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("--eyaml-key: %w", err)
		}
		out = append(out, path)
	}
	return out, nil
}

// sayUnreadableKeys warns about private keys that hiera.yaml names but this user cannot read. Lookups of values
// encrypted for them fail.
func (a *adoption) sayUnreadableKeys() {
	if len(a.keys) > 0 {
		return // eyamlKeys has checked these files
	}
	for _, file := range a.env.Config.EyamlKeys() {
		if strings.Contains(file, "%{") {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			a.say("warning: %s: pkcs7_private_key: %v; lookups of encrypted values fail: put the key there, "+
				"or name it with "+
				"--eyaml-key FILE", a.env.Source(), err)
			continue
		}
		f.Close()
	}
}

// restore implements --undo: it puts the original hiera.yaml back.
func (a *adoption) restore() error {
	changed, err := a.env.Undo()
	if refusal := (*adopt.Obstacle)(nil); errors.As(err, &refusal) {
		return a.refused(err)
	}
	if err != nil {
		return fmt.Errorf("cannot restore hiera.yaml: %w", err)
	}
	if !changed {
		a.say("%s: not adopted; nothing to undo", a.dir)
		return nil
	}
	a.say("%s: hiera.yaml is the original again; the next catalog uses it", a.dir)
	return nil
}

// plan implements --dry-run: it prints the steps that adopt would take next.
func (a *adoption) plan() error {
	a.say("plan for %s", a.dir)
	for i, line := range a.env.Plan(a.out, a.text) {
		first, more, _ := strings.Cut(line, "\n")
		a.say("  %d. %s", i+1, first)
		for part := range strings.Lines(more) {
			a.say("%s", strings.TrimSuffix(part, "\n"))
		}
	}
	a.notes()
	a.say("nothing was changed (--dry-run)")
	return nil
}

// carryOut writes the snapshot and switches hiera.yaml to it. A signal takes effect only after the switch.
func (a *adoption) carryOut() (err error) {
	a.signals.uninterrupted(func() {
		err = a.env.Switch(a.text, a.write)
	})
	if err != nil {
		return err
	}
	if a.env.State == adopt.Native {
		a.say("hiera5.yaml: the original, which bindc compiles from now on")
	}
	a.say("hiera.yaml: uses the snapshot, from the next catalog on")
	if path := a.unusualPath(); path != "" {
		a.say("note: the command is %s; unless the server's PATH contains its directory, lookups fail: "+
			"adopt again with --option command=%s", path, path)
	}
	a.notes()
	a.say("to undo: bindc adopt --undo %s", a.dir)
	return nil
}

// write writes the snapshot and makes it readable for Puppet's group.
func (a *adoption) write() error {
	if err := adopt.MakeDir(filepath.Dir(a.out)); err != nil {
		return err
	}
	written, err := snapshot.Write(a.out, a.site.content)
	if err != nil {
		return notWritten(err)
	}
	a.say("%s: %s, %s, %d bytes, sha256 %x", a.out, diag.Count(a.site.keys(), "key"),
		diag.Count(a.site.content.Bindings, "binding"), written.Size, written.Sum)
	group := "puppet"
	if a.probe != nil {
		group = cmp.Or(a.probe.Group, group)
	}
	shared, err := adopt.Share(a.out, group)
	if shared {
		a.say("%s: readable by the group %s", a.out, group)
	}
	return err
}

// notes warns about a later deployment that undoes the switch and about a server that caches environments.
func (a *adoption) notes() {
	if a.env.Deployed() {
		a.say("note: the next deployment of this environment brings the old hiera.yaml back, which works too; " +
			"commit hiera.yaml and hiera5.yaml to stay with the snapshot")
	}
	if a.probe != nil && a.probe.Timeout != "0" {
		a.say("note: the server caches environments (environment_timeout = %s): if the module bindc was "+
			"installed after it "+
			"started, flush its environment cache before the switch", a.probe.Timeout)
	}
}
