package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/origin"
	bindings "bindc/runtime"
	"bindc/ship"
	"bindc/snapshot"
)

// defaultMaxSize is the default of --max-size, in bytes.
const defaultMaxSize = 1 << 30

type pullFlags struct {
	store   *storeFlag
	gates   gates
	from    sources
	name    string
	hold    bool
	maxSize int64
	timeout time.Duration
}

func (store *storeFlag) pullCommand() *cobra.Command {
	f := pullFlags{store: store}
	cmd := &cobra.Command{
		Use:   "pull SOURCE --name NAME",
		Short: "Fetch, verify and activate a snapshot",
		Long: "pull polls SOURCE once: oci://HOST/REPO:TAG or @sha256:DIGEST, https://HOST/PATH\n" +
			"or file:PATH. It stores the snapshot, reads it from end to end, and checks its\n" +
			"signature and the gates. Then it switches the link NAME.snap in the store, in\n" +
			"one step. While NAME is pinned by rollback or activate, pull only stores the\n" +
			"snapshot.\n\n" +
			"Exit status: 0 NAME is up to date or pinned, 1 the snapshot is refused, 2 it is\n" +
			"unavailable.",
		Example: "  bindsync pull file:site.snap --name production",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.gates.add(cmd)
	f.from.add(cmd)
	cmd.Flags().StringVar(&f.name, "name", "", "`NAME` to activate the snapshot under, usually an environment")
	cmd.Flags().BoolVar(&f.hold, "no-activate", false, "store the snapshot without activating it")
	cmd.Flags().DurationVar(&f.timeout, "timeout", pollTimeout, "abort the pull after `TIME`; 0 for no limit")
	cmd.Flags().Int64Var(&f.maxSize, "max-size", defaultMaxSize, "allow at most `N` bytes in a snapshot")
	return cmd
}

func (f *pullFlags) run(cmd *cobra.Command, source string) error {
	pull, err := f.pull(cmd, source)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if f.timeout > 0 {
		ctx, stop = context.WithTimeoutCause(ctx, f.timeout, tookTooLong(f.timeout))
		defer stop()
	}
	r, err := pull.Run(ctx)
	if err == nil && !r.Pinned && !r.Activated && (r.Digest == "" || r.Already) {
		err = pull.Vet()
	}
	if err != nil {
		return &cli.External{Err: err}
	}
	line := outcomeOf(f.name, r)
	if r.Digest != "" {
		line += ": " + diag.Visible(pull.Store.Path(r.Digest))
	}
	fmt.Fprintln(cmd.OutOrStdout(), line)
	return nil
}

// pull checks the flags and opens the source and the store.
func (f *pullFlags) pull(cmd *cobra.Command, source string) (*ship.Pull, error) {
	if err := ship.CheckName(f.name); err != nil {
		return nil, fmt.Errorf("--name: %w", err)
	}
	for _, flag := range []string{"ca-file", "username", "password-stdin", "plain-http", "stall-timeout"} {
		if strings.HasPrefix(source, "file:") && cmd.Flags().Changed(flag) {
			return nil, fmt.Errorf("--%s has no effect on %s, which needs no connection", flag, source)
		}
	}
	from, err := f.from.open(source, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	st, p, err := f.store.open(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	f.gates.inherit(p.gatesOf(f.name), cmd.Flags())
	checks, err := f.gates.checks()
	if err != nil {
		return nil, err
	}
	if near := misspelt(st, p, f.name); near != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "bindsync: '%s' is a new name; %s\n", f.name, near)
	}
	return &ship.Pull{Store: st, Name: f.name, Source: from, Checks: checks, SignedAs: f.gates.signedAs,
		MaxBytes: f.maxSize, Hold: f.hold, By: byWhom(), Now: time.Now}, nil
}

func tookTooLong(timeout time.Duration) error {
	return fmt.Errorf("the pull took longer than %v; raise --timeout if the source is only slow", timeout)
}

func outcomeOf(name string, r ship.Result) string {
	what := diag.Visible(name) + ": "
	if r.Digest != "" {
		what += r.Digest.Short()
		if r.Revision != "" {
			what += " (revision " + diag.Visible(r.Revision) + ")"
		}
		what += " "
	}
	switch {
	case r.Activated:
		return what + "is active now"
	case r.Digest == "":
		what += "nothing new"
	case r.Already:
		what += "answers already"
	default:
		what += "is stored"
	}
	if r.Pinned {
		what += "; the name is pinned by hand until 'bindsync follow --resume " + name + "'"
	}
	return what
}

// byWhom returns the user to record in the history, as a name or, without one, as a number.
func byWhom() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// isRefused reports whether err means that a release was rejected, not that its source could not be read.
func isRefused(err error) bool {
	var ours *ship.Refusal
	var signature *origin.Rejection
	var damage *bindings.DamageError
	return errors.As(err, &ours) || errors.As(err, &signature) || errors.As(err, &damage) ||
		errors.Is(err, snapshot.ErrFormat) || errors.Is(err, snapshot.ErrVersion)
}
