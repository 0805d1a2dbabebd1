package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
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
	"bindc/ship/oci"
	"bindc/snapshot"
)

// gates are the checks that a snapshot has to pass before it becomes active.
type gates struct {
	trust     trust
	signedAs  string
	checkKeys string
	maxChange string

	keysConfigured, changeConfigured bool // set by the configuration, not by a flag
}

func (g *gates) add(cmd *cobra.Command) {
	g.trust.add(cmd)
	cmd.Flags().StringVar(&g.signedAs, "signed-as", "", "`NAME` that the signed statement has to give (default: NAME)")
	cmd.Flags().StringVar(&g.checkKeys, "check-keys", "",
		"`FILE` of queries as batch reads them: every key must be found")
	cmd.Flags().StringVar(&g.maxChange, "max-change", "", "`PERCENT` of the bindings may change at most, as 20%")
}

// checks are the gates as functions.
func (g *gates) checks() (ship.Checks, error) {
	c := ship.Checks{Inspect: inspect}
	if _, err := g.trust.policy(); err != nil {
		return c, err
	}
	if g.trust.allowed != "" {
		c.Origin = func(what string, signed origin.Signed, sum [32]byte) (origin.Origin, error) {
			p, err := g.trust.policy() // each time: keys are revoked while follow runs
			if err != nil {
				return origin.Origin{}, err
			}
			return p.CheckSigned(what, signed, sum)
		}
	}
	share, err := percent(g.maxChange)
	if err != nil {
		return c, fmt.Errorf("%s: %w", called("max-change", g.changeConfigured), err)
	}
	if g.checkKeys != "" {
		text, err := os.ReadFile(g.checkKeys)
		if err != nil {
			return c, fmt.Errorf("%s: %w", called("check-keys", g.keysConfigured), err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			return c, noQueries(g.checkKeys)
		}
	}
	c.Rules = g.rules
	c.Gate = func(path, active string) error {
		if err := keysFound(g.checkKeys, path); err != nil {
			return err
		}
		return changesLittle(active, path, share)
	}
	return c, nil
}

// rules returns a text that changes whenever the gates may decide differently.
func (g *gates) rules() string {
	queries := ""
	if g.checkKeys != "" {
		text, err := os.ReadFile(g.checkKeys)
		queries = fmt.Sprintf(", queries %x, %v", sha256.Sum256(text), err)
	}
	return cli.Version() + ", max_change " + cmp.Or(g.maxChange, "100%") + queries
}

// inspect reads the snapshot at path from end to end.
func inspect(path string) (isSensitive bool, err error) {
	err = (&trust{}).report(path, func(f *snapshot.Snapshot) error {
		if err := verify(f); err != nil {
			return err
		}
		n, _, err := sensitiveValues(f)
		isSensitive = n > 0
		return err
	})
	return isSensitive, err
}

// percent reads a share of a hundred; 1 for "".
func percent(text string) (float64, error) {
	if text == "" {
		return 1, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(n >= 0 && n <= 100) {
		return 0, fmt.Errorf("expected a number from 0%% to 100%%, found '%s'", text)
	}
	return n / 100, nil
}

// sources says how sources are reached.
type sources struct {
	caFile, user  string
	passwordStdin bool
	plainHTTP     bool
	plainOption   string // how the user writes plainHTTP; --plain-http by default
	password      string
	stall         time.Duration
}

func (s *sources) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.caFile, "ca-file", "",
		"`FILE` of certificates that servers may be signed by, beside the system's")
	cmd.Flags().StringVar(&s.user, "username", "", "`NAME` for the registry (default: docker's credentials)")
	cmd.Flags().BoolVar(&s.passwordStdin, "password-stdin", false, "read the password from standard input")
	cmd.Flags().BoolVar(&s.plainHTTP, "plain-http", false, "ask without TLS; on this machine only")
	cmd.Flags().DurationVar(&s.stall, "stall-timeout", ship.StallTimeout,
		"abort a transfer that makes no progress for `TIME`")
}

// open reads a SOURCE.
func (s *sources) open(text string, stdin io.Reader) (ship.Source, error) {
	if path, ok := strings.CutPrefix(text, "file:"); ok && path != "" {
		return ship.File{Path: strings.TrimPrefix(path, "//")}, nil
	}
	if s.passwordStdin && s.password == "" {
		line, err := bufio.NewReader(io.LimitReader(stdin, 4096)).ReadString('\n')
		if s.password = strings.TrimRight(line, "\r\n"); s.password == "" {
			return nil, fmt.Errorf("--password-stdin: expected a password: %w", err)
		}
	}
	client, err := ship.Client(s.caFile, s.stall)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	if strings.HasPrefix(text, oci.Scheme) {
		r := oci.Registry{Client: client, PlainHTTP: s.plainHTTP, User: s.user, Password: s.password,
			Agent: "bindq/" + cli.Version()}
		return r.Open(text)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("expected oci://HOST/REPO:TAG, https://HOST/PATH or file:PATH, found '%s'",
			ship.Redacted(text))
	}
	if err := s.mayAsk(u); err != nil {
		return nil, err
	}
	return &ship.HTTP{URL: u, Client: client}, nil
}

// mayAsk checks the scheme of a URL against --plain-http. Without TLS, only servers on this machine are allowed.
func (s *sources) mayAsk(u *url.URL) error {
	option := cmp.Or(s.plainOption, "--plain-http")
	shown := ship.Redacted(u.String())
	switch {
	case u.Scheme == "https" && s.plainHTTP:
		return fmt.Errorf("%s and %s contradict each other: write http:// for a server on this machine without TLS, or "+
			"remove %s", shown, option, option)
	case u.Scheme == "http" && !s.plainHTTP:
		return fmt.Errorf("%s asks without TLS: expected https://, or %s for a server on this machine", shown, option)
	case u.Scheme == "http" && !oci.Loopback(u.Host):
		return fmt.Errorf("%s: only servers on this machine may be asked without TLS (localhost, 127.0.0.1, [::1])", shown)
	}
	return nil
}

// defaultMaxSize is the default of --max-size.
const defaultMaxSize = 1 << 30

func pullCommand() *cobra.Command {
	var store storeFlag
	var g gates
	var from sources
	var name string
	var hold bool
	var maxSize int64
	var timeout time.Duration
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
		Example: "  bindq pull file:site.bsnap --name production",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := ship.CheckName(name); err != nil {
				return fmt.Errorf("--name: %w", err)
			}
			source, err := from.open(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			st, p, err := store.open(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			g.obey(p.of(name), cmd.Flags())
			checks, err := g.checks()
			if err != nil {
				return err
			}
			if near := misspelt(st, p, name); near != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "bindq: '%s' is a new name; %s\n", name, near)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			if timeout > 0 {
				ctx, stop = context.WithTimeoutCause(ctx, timeout, tookTooLong(timeout))
				defer stop()
			}
			pull := ship.Pull{Store: st, Name: name, Source: source, Checks: checks, SignedAs: g.signedAs,
				MaxBytes: maxSize,
				Hold:     hold, By: byWhom(), Now: time.Now}
			r, err := pull.Run(ctx)
			if err != nil {
				return &elsewhere{err}
			}
			said := outcomeOf(name, r)
			if r.Digest != "" {
				said += ": " + diag.Visible(st.Path(r.Digest))
			}
			fmt.Fprintln(cmd.OutOrStdout(), said)
			return nil
		},
	}
	store.add(cmd)
	g.add(cmd)
	from.add(cmd)
	cmd.Flags().StringVar(&name, "name", "", "`NAME` that the snapshot answers for, mostly an environment")
	cmd.Flags().BoolVar(&hold, "no-activate", false, "store the snapshot, and do not have it answer")
	cmd.Flags().DurationVar(&timeout, "timeout", pollTimeout, "`TIME` that the pull may take; 0 for no limit")
	cmd.Flags().Int64Var(&maxSize, "max-size", defaultMaxSize, "`N` bytes in a snapshot at most")
	return cmd
}

// tookTooLong is the error of a pull that --timeout ended.
func tookTooLong(timeout time.Duration) error {
	return fmt.Errorf("the pull took longer than %v; raise --timeout if the source is only slow", timeout)
}

// elsewhere is an error that is not of how the program was called.
type elsewhere struct{ error }

func (e *elsewhere) Unwrap() error { return e.error }

// outcomeOf says what came of a pull, in a line.
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
		return what + "answers now"
	case r.Digest == "":
		what += "nothing new"
	case r.Already:
		what += "answers already"
	default:
		what += "is stored"
	}
	if r.Pinned {
		what += "; the name is pinned by hand until 'bindq follow --resume " + name + "'"
	}
	return what
}

// byWhom is who asks, for the history.
func byWhom() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// isRefused tells whether there is something that may not answer, rather than nothing that can be had.
func isRefused(err error) bool {
	var ours *ship.Refusal
	var signature *origin.Refusal
	var damage *bindings.DamageError
	return errors.As(err, &ours) || errors.As(err, &signature) || errors.As(err, &damage) ||
		errors.Is(err, snapshot.ErrFormat) || errors.Is(err, snapshot.ErrVersion)
}
