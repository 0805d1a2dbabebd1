package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/envfile"
	"bindc/internal/fsx"
	"bindc/loader"
	"bindc/origin"
	"bindc/ship/oci"
	"bindc/snapshot"
)

func (g *bounds) environmentsCommand() *cobra.Command {
	b := environments{flags: flags{bounds: g}}
	cmd := &cobra.Command{
		Use:   "environments ROOT -o DIR",
		Short: "Compile all environments of a site",
		Long: "environments compiles each environment that ROOT/environments.pp declares, or\n" +
			"each directory in ROOT/environments, into DIR/NAME.snap, and writes\n" +
			"DIR/.environments, from which bindq and the Go runtime choose the environment of\n" +
			"a request. Unchanged environments are not built again, and unchanged files are\n" +
			"not written. An environment with errors keeps its old file. Files of removed\n" +
			"environments are removed, but never all files. With --push each snapshot is\n" +
			"pushed, with the tag NAME.\n\n" +
			"Exit status: 0 all environments are compiled, 1 errors were found, 2 an error:\n" +
			"usage, ROOT is missing, or DIR cannot be written.",
		Example: "  bindc environments root -o snapshots --cache cache",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.dir == "" {
				return errors.New("environments: expected -o DIR, the directory of snapshots to write")
			}
			b.cmd = cmd
			return b.run(args[0])
		},
	}
	b.addToAll(cmd)
	b.sign.addToAll(cmd)
	b.addToSnapshots(cmd)
	b.push.add(cmd)
	cmd.Flags().StringVar(&b.pushTo, "push", "", "push the snapshots to `oci://HOST/REPO`, each under the tag NAME")
	cli.Needs(cmd, "push", pushFlags...)
	cmd.Flags().StringVarP(&b.dir, "output", "o", "", "the `DIR` to write snapshots to")
	return cmd
}

// environments is the state of one run of 'bindc environments'.
type environments struct {
	flags
	sign   signing
	push   pushing
	pushTo string
	dir    string

	to          []age.Recipient
	cmd         *cobra.Command
	began       int64 // start of the build in Unix nanoseconds, by the clock of dir's file system
	diagnostics diag.List
	inputs      int
	counts      struct{ changed, stayed, failed, removed int }
	before      []string        // environments with a snapshot from an earlier build
	written     map[string]bool // environments that have a snapshot, from this build or an earlier one
}

func (b *environments) run(root string) error {
	start := time.Now()
	b.diagnostics.All = b.all || b.format != "text"
	b.all = true // collect all diagnostics; b.diagnostics drops the excess
	root, err := b.prepare(root)
	if err != nil {
		return err
	}
	revision, err := b.beginSigning()
	if err != nil {
		return err
	}
	defer b.sign.end()
	b.signals.handle()
	all := loader.ReadEnvironments(fsx.Disk{}, root, &b.diagnostics)
	if b.diagnostics.Failed() {
		return b.report(b.cmd, b.diagnostics.Sorted(), 1)
	}
	if b.pushTo != "" && all.File != "" {
		b.diagnostics.Add(diag.Diagnostic{Pos: diag.Pos{File: all.File}, Severity: diag.Warning, Code: "environments",
			Message: "this file's choice of environments is not pushed: with pulled snapshots, each request is " +
				"answered in the environment that it names",
			Hint: "copy " + filepath.Join(b.dir, envfile.File) + " next to the pulled snapshots"})
	}
	sound, err := b.build(all)
	if err != nil {
		return err
	}
	refused := b.report(b.cmd, b.diagnostics.Sorted(), b.inputs)
	if refused != nil && !errors.Is(refused, errRefused) {
		return refused
	}
	fmt.Fprintf(b.success(b.cmd), "%s: %d changed, %d unchanged, %d failed, %d removed, %s\n",
		diag.Count(len(all.All), "environment"), b.counts.changed, b.counts.stayed, b.counts.failed, b.counts.removed,
		time.Since(start).Round(time.Millisecond))
	if err := b.pushAll(sound, revision); err != nil {
		return err
	}
	return refused
}

// sliceOf applies --slice to the content of an environment. It adds errors to the environment's diagnostics, because
// each environment has its own categories.
func (b *environments) sliceOf(e loader.Environment, site *compilation) {
	at := diag.Pos{File: e.Dir}
	doubts, err := sliced(site.content, b.slice, b.allowEmpty)
	if err != nil {
		site.diags.Errorf(at, "environments", "%v", err)
	}
	for _, doubt := range doubts {
		site.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Info, Code: "environments",
			Message: "--slice: " + doubt})
	}
}

// beginSigning reads the signing key and returns the revision. Without a key, only pushed artifacts record the
// revision.
func (b *environments) beginSigning() (revision string, err error) {
	if err := b.sign.checkTexts(); err != nil {
		return "", err
	}
	revision = b.sign.revision
	if b.pushTo != "" && b.sign.keyFile == "" {
		b.sign.revision = ""
	}
	return revision, b.sign.begin()
}

// pushAll pushes the snapshots of the named environments, even unchanged ones, because an earlier push may have failed.
// Data that the registry already has is not uploaded again.
func (b *environments) pushAll(names []string, revision string) error {
	if b.pushTo == "" {
		return nil
	}
	for _, name := range names {
		to, err := b.repository(name)
		if err == nil {
			err = b.push.push(b.cmd.Context(), to, b.snapshot(name), revision, b.success(b.cmd))
		}
		if err != nil {
			return fmt.Errorf("--push: the environment '%s': %w", name, err)
		}
	}
	return nil
}

func (b *environments) repository(name string) (*oci.Repository, error) {
	return b.push.open(b.pushTo+":"+name, b.cmd.InOrStdin())
}

// prepare checks the flags and finds the snapshots of earlier builds. It returns the absolute path of root.
func (b *environments) prepare(root string) (string, error) {
	if err := b.check(); err != nil {
		return "", err
	}
	if _, err := os.ReadDir(root); err != nil {
		return "", fmt.Errorf("cannot read the environments: %w", err)
	}
	var err error
	if b.to, err = b.recipients(); err != nil {
		return "", err
	}
	if b.pushTo != "" {
		if _, err := b.repository(envfile.Production); err != nil {
			return "", fmt.Errorf("--push: expected oci://HOST/REPO: %w", err)
		}
	}
	if err := os.MkdirAll(b.dir, 0o775); err != nil {
		return "", err
	}
	root, err = filepath.Abs(root)
	if err == nil {
		b.began, err = fsx.Clock(b.dir, ".clock.*.tmp")
	}
	if err != nil {
		return "", err
	}
	b.written = map[string]bool{}
	old, err := envfile.Read(filepath.Join(b.dir, envfile.File), nil)
	var damage *snapshot.DamageError
	switch {
	case err == nil:
		for _, e := range old.Environments {
			if b.written[e.Name] = e.Written; e.Written {
				b.before = append(b.before, e.Name)
			}
		}
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &damage): // writeChoice writes the file again
	default:
		return "", fmt.Errorf("%s: %w", filepath.Join(b.dir, envfile.File), err)
	}
	return root, nil
}

// build builds the environments that have changed, and removes the snapshots of those that no longer exist. It returns
// the names of the environments without errors.
func (b *environments) build(all *loader.Environments) (sound []string, err error) {
	c := envfile.Choice{Program: all.Program}
	existing := map[string]bool{}
	for _, e := range all.All {
		failed := b.counts.failed
		if err := b.buildOne(e); err != nil {
			return nil, err
		}
		if b.counts.failed == failed {
			sound = append(sound, e.Name)
		}
		existing[e.Name] = true
		c.Environments = append(c.Environments, envfile.Environment{Name: e.Name, Written: b.written[e.Name]})
	}
	gone := b.findDeparted(existing)
	for _, name := range gone.kept {
		c.Environments = append(c.Environments, envfile.Environment{Name: name, Written: true})
	}
	if err := b.writeChoice(&c); err != nil {
		return nil, err
	}
	for _, name := range gone.removed {
		if err := b.remove(name); err != nil {
			return nil, err
		}
		b.counts.removed++
	}
	return sound, nil
}

func (b *environments) buildOne(e loader.Environment) error {
	of, err := b.fingerprint(e)
	if err != nil || !b.extensions && b.isCurrent(e.Name, of) {
		return err
	}
	seen := &fsx.Seen{Began: b.began}
	options := b.options()
	options.ModulePath, options.Bindings, options.Seen = e.ModulePath, e.Bindings, seen
	options.IsSite, options.MayBeEmpty = e.Declared, e.Implied
	site, err := b.compile(b.cmd, e.Dir, b.snapshot(e.Name), options)
	if err != nil {
		return err
	}
	if !site.diags.Failed() {
		b.sliceOf(e, site)
	}
	made := built{Fingerprint: of, Looks: seen.Looks(), Diagnostics: site.diags.Sorted(), Inputs: len(site.site.Inputs)}
	b.addDiagnostics(&made)
	if site.diags.Failed() || slices.ContainsFunc(made.Diagnostics, b.strict.refuses) {
		b.counts.failed++
		return nil
	}
	if len(b.to) > 0 {
		if err := encrypt(site.content, b.to); err != nil {
			return err
		}
	}
	return b.write(e.Name, site, &made)
}

// write writes the snapshot of an environment if it has changed, and a record of its inputs.
func (b *environments) write(name string, site *compilation, made *built) error {
	out := b.snapshot(name)
	if err := refuseStored(out); err != nil {
		return err
	}
	var news bool
	var written snapshot.Written
	var err error
	b.signals.uninterrupted(func() {
		written, news, err = snapshot.Update(out, site.content)
		if !fsx.InPlace(err) {
			err = notWritten(err)
			return
		}
		if news || !b.isSigned(out) {
			err = worst(err, b.sign.publishAs(name, out, written.Sum))
		}
		if err == nil && !b.extensions { // extension programs may return something else next time
			made.Snapshot = stateOf(out)
			err = made.write(b.builtFile(name))
		}
	})
	if err != nil {
		return err
	}
	b.written[name] = true
	if !news {
		b.counts.stayed++
		return nil
	}
	b.counts.changed++
	fmt.Fprintf(b.success(b.cmd), "%s: %s, %s, %d bytes, sha256 %x\n", diag.Visible(out),
		diag.Count(site.keys(), "key"), diag.Count(site.content.Bindings, "binding"), written.Size, written.Sum)
	return nil
}

func (b *environments) addDiagnostics(made *built) {
	for _, d := range made.Diagnostics {
		b.diagnostics.Add(d)
	}
	b.inputs += made.Inputs
}

// isSigned reports whether the file at path has a signature, or needs none because --sign is not set.
func (b *environments) isSigned(path string) bool {
	if b.sign.key == nil {
		return true
	}
	signed, err := origin.Read(path)
	return err == nil && signed != nil
}
