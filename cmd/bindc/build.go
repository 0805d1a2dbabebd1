package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/internal/identity"
	"bindc/internal/secret/seal"
	"bindc/ship"
	"bindc/snapshot"
)

func (g *bounds) buildCommand() *cobra.Command {
	f := flags{bounds: g}
	var sign signing
	var push pushing
	var out, pushTo, part string
	cmd := &cobra.Command{
		Use:   "build CONFDIR -o FILE",
		Short: "Compile a site into a snapshot",
		Long: "build compiles the site in CONFDIR into the snapshot FILE, and prints one line:\n" +
			"keys, bindings, size, SHA-256, time. FILE is replaced atomically: if the build\n" +
			"fails or is killed, FILE does not change. With -o - the snapshot is written to\n" +
			"standard output, and the line to standard error.\n\n" +
			"Exit status: 0 FILE was written, 1 the site has errors, 2 another error: usage,\n" +
			"CONFDIR is missing, or FILE cannot be written.",
		Example: "  bindc build site -o site.snap --cache cache",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("part") {
				return buildPart(cmd, args[0], out, part, &f)
			}
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
				sign.revision = "" // without a signature, only the artifact records the revision
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
	cli.Needs(cmd, "push", pushFlags...)
	f.addToSnapshots(cmd)
	cmd.Flags().StringVar(&part, "part", "",
		"write a pack of part `I/N` of the data files, for 'bindc link', instead of a snapshot")
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write, or - for standard output")
	return cmd
}

// toStdout is the value of -o that writes the snapshot to standard output.
const toStdout = "-"

// checkOutput rejects an unusable -o before the build begins.
func checkOutput(stdout io.Writer, out string, f *flags, sign *signing) error {
	file, _ := stdout.(*os.File)
	switch {
	case out == "":
		return fmt.Errorf("build: expected -o FILE, the snapshot to write")
	case out != toStdout:
	case file != nil && term.IsTerminal(int(file.Fd())):
		return fmt.Errorf("-o -: a snapshot is binary; write it to a file, or pipe it to a program")
	case sign.keyFile != "":
		return fmt.Errorf("-o -: expected a file with --sign: the signature is written next to it")
	case f.format != "text":
		return fmt.Errorf("-o -: expected a file with --format %s, as diagnostics go to standard output", f.format)
	}
	if err := refuseStored(out); err != nil {
		return fmt.Errorf("-o %w", err)
	}
	return sign.checkFile(out)
}

// refuseStored returns an error if out is a snapshot in a store of bindsync. Writing would follow the store's link.
func refuseStored(out string) error {
	if ship.IsStored(out) {
		return fmt.Errorf("%s: this is a link to a snapshot in the store of bindsync, which must not change; "+
			"write to another file, and publish it for 'bindsync pull'", diag.Visible(out))
	}
	return nil
}

// build compiles the site in dir, encrypts its sensitive values, and writes and signs the snapshot.
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
	if f.parts != nil {
		if err := checkParts(f.parts, dir, c.site.Inputs); err != nil {
			return err
		}
	}
	content := c.content
	doubts, err := sliced(content, f.slice, f.allowEmpty)
	if err != nil {
		return err
	}
	for _, doubt := range doubts {
		fmt.Fprintln(cmd.ErrOrStderr(), "bindc: note: --slice:", diag.Visible(doubt))
	}
	if len(recipients) > 0 {
		if err := encrypt(content, recipients); err != nil {
			return err
		}
	}
	var written snapshot.Written
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("writing the snapshot", 0)
	f.signals.uninterrupted(func() { written, err = publish(cmd, out, content, sign) })
	progress.End()
	if err != nil {
		return err
	}
	success, name := f.success(cmd), diag.Visible(out)
	if out == toStdout {
		success, name = cmd.ErrOrStderr(), "the snapshot"
	}
	if cli.IsTerminal(cmd.ErrOrStderr()) { // on a terminal, suggest 'bindc check --lint'
		sayNearKeys(cmd.ErrOrStderr(), dir, c.site, f.jobs)
	}
	_, err = fmt.Fprintf(success, "%s: %s, %s, %d bytes, sha256 %x, %s\n", name, diag.Count(c.keys(), "key"),
		diag.Count(content.Bindings, "binding"), written.Size, written.Sum, time.Since(start).Round(time.Millisecond))
	return err
}

// encrypt seals the sensitive values with a new key, and encrypts that key for the recipients.
func encrypt(content *snapshot.Content, recipients []age.Recipient) error {
	key := seal.NewKey()
	wrapped, err := identity.Wrap(key, recipients)
	if err != nil {
		return fmt.Errorf("--encrypt-to: %w", err)
	}
	return compile.Seal(content, key, wrapped)
}

// notWritten adds to err that there is no new snapshot, unless there is.
func notWritten(err error) error {
	if fsx.InPlace(err) {
		return err
	}
	return fmt.Errorf("cannot write the snapshot: %w", err)
}

// publish writes the snapshot to out and, if a key is set, a signed statement next to it.
func publish(cmd *cobra.Command, out string, content *snapshot.Content, sign *signing) (snapshot.Written, error) {
	var written snapshot.Written
	var err error
	if out == toStdout {
		written, err = snapshot.WriteTo(cmd.OutOrStdout(), content)
	} else {
		written, err = snapshot.Write(out, content)
	}
	if !fsx.InPlace(err) {
		return written, notWritten(err)
	}
	return written, worst(err, sign.publish(out, written.Sum))
}

// worst returns the error of a build that has written a snapshot. unsynced is nil or fsx.ErrUnsynced, and signed is the
// error of signing. If signing could not sync the directory either, one message is enough. After another error of
// signing, the result is not fsx.ErrUnsynced, but its message contains that of unsynced.
func worst(unsynced, signed error) error {
	switch {
	case fsx.InPlace(signed):
		return cmp.Or(unsynced, signed)
	case unsynced != nil:
		return fmt.Errorf("%w; %v", signed, unsynced)
	}
	return signed
}
