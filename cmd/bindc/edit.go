package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/internal/secret/eyaml"
)

func editCommand() *cobra.Command {
	var e editing
	cmd := &cobra.Command{
		Use:   "edit FILE",
		Short: "Edit a file and encrypt its marked values",
		Long: "edit opens a copy of FILE in the editor $VISUAL or $EDITOR (default vi).\n" +
			"Encrypted values are shown unchanged, as ENC[...]. Write a new value as\n" +
			"DEC::PKCS7[text]!: the text is encrypted when the editor exits. FILE is then\n" +
			"replaced in one step, if the text changed and nobody else changed FILE.\n\n" +
			"Only you can read the copy. It is in memory if /dev/shm exists, and is removed.\n" +
			"If FILE cannot be replaced, the copy stays and the message names it.\n\n" +
			"Exit status: 0 done, 1 a marked value cannot be encrypted, 2 usage error,\n" +
			"input, output or the editor.",
		Example: "  EDITOR=true bindc eyaml edit control/data/common.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e.cmd, e.file = cmd, args[0]
			return e.run()
		},
	}
	e.key.add(cmd)
	return cmd
}

// editing is the state of one run of 'bindc eyaml edit'.
type editing struct {
	key  publicKey
	file string

	cmd     *cobra.Command
	to      *eyaml.PublicKey
	signals signals
	copy    string // path of the copy that the editor opens
	keep    bool   // do not remove the copy
}

func (e *editing) run() (err error) {
	if e.to, err = e.key.read(); err != nil {
		return err
	}
	old, err := os.ReadFile(e.file)
	if err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // ignore Ctrl-C, which the terminal also sends to the editor
	e.signals.handleSignals(syscall.SIGHUP, syscall.SIGTERM)
	e.signals.uninterrupted(func() { err = e.edit(string(old)) })
	return err
}

// edit opens a copy of old in the editor and saves the result. The copy is in a new directory, which edit removes
// unless e.keep is set.
func (e *editing) edit(old string) (err error) {
	dir, err := os.MkdirTemp("/dev/shm", "bindc-eyaml-")
	if err != nil {
		dir, err = os.MkdirTemp("", "bindc-eyaml-")
	}
	if err != nil {
		return err
	}
	defer func() {
		if !e.keep {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	e.copy = filepath.Join(dir, filepath.Base(e.file))
	if err := os.WriteFile(e.copy, []byte(old), 0o600); err != nil {
		return err
	}
	if err := e.open(); err != nil {
		return &cli.External{Err: fmt.Errorf("%s was not changed: the editor failed: %w", e.file, err)}
	}
	edited, err := os.ReadFile(e.copy)
	if err != nil {
		return fmt.Errorf("%s was not changed: the editor removed its copy: %w", e.file, err)
	}
	return e.save(old, string(edited))
}

// open runs the editor until it exits or a signal ends it. A shell splits the command line, and exec replaces the shell
// by the editor, so that the editor receives the signal.
func (e *editing) open() error {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	cmd := exec.CommandContext(e.signals.stopped, "sh", "-c", "exec "+editor+` "$1"`, "sh", e.copy)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd.Run()
}

// save encrypts the marked values in the edited text, and replaces the file with the result.
func (e *editing) save(old, edited string) error {
	text, n, err := e.to.EncryptMarked(edited)
	var wrong *eyaml.MarkError
	switch {
	case errors.As(err, &wrong):
		return e.refuse(wrong)
	case err != nil:
		e.keep = true
		return &cli.External{Err: fmt.Errorf("%s was not changed: %w; your text is in %s, not encrypted; "+
			"remove that file when "+
			"you no longer need it", e.file, err, e.copy)}
	case text == old:
		_, err := fmt.Fprintf(e.cmd.OutOrStdout(), "%s: nothing changed\n", diag.Visible(e.file))
		return err
	}
	if err := e.replace(old, text); err != nil {
		return e.rescue(text, err)
	}
	values := diag.Count(n, "value")
	_, err = fmt.Fprintf(e.cmd.OutOrStdout(), "%s: changed, %s encrypted\n", diag.Visible(e.file), values)
	return err
}

// refuse reports a malformed mark at its position in the copy, and keeps the copy for the user to correct.
func (e *editing) refuse(wrong *eyaml.MarkError) error {
	e.keep = true
	at := diag.Pos{File: e.copy, Line: wrong.Line, Col: wrong.Col}
	report := []diag.Diagnostic{{Pos: at, Code: "eyaml", Secret: true,
		Message: "this cannot be encrypted: " + wrong.Problem,
		Hint: e.file + " was not changed; your text is in this copy, not encrypted; remove the copy when you no " +
			"longer need it"}}
	if err := diag.Render(e.cmd.ErrOrStderr(), "text", report, "", cli.Color(os.Stderr)); err != nil {
		return err
	}
	return errRefused
}

// replace writes text to the file. It fails if the file no longer contains old.
func (e *editing) replace(old, text string) error {
	now, err := os.ReadFile(e.file)
	if err != nil {
		return err
	}
	if string(now) != old {
		return fmt.Errorf("%s was not replaced: somebody else changed it in the meantime", e.file)
	}
	return fsx.Replace(e.file, fsx.ReplaceOptions{Limit: fs.ModePerm, Synced: true}, func(to *os.File) error {
		_, err := to.WriteString(text)
		return err
	})
}

// rescue keeps the user's text if err prevented saving: it replaces the plaintext copy with the encrypted text.
func (e *editing) rescue(text string, err error) error {
	e.keep = true
	dir := filepath.Dir(e.copy)
	kept := cmp.Or(os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.WriteFile(e.copy, []byte(text), 0o600))
	if kept != nil {
		return &cli.External{Err: fmt.Errorf("%w; your text is lost: %w", err, kept)}
	}
	return &cli.External{Err: fmt.Errorf("%w; your text is in %s, encrypted", err, e.copy)}
}
