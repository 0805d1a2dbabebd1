package main

import (
	"bufio"
	"cmp"
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

	"bindc/internal/cli"
	"bindc/internal/diag"
	"bindc/internal/oci"
	"bindc/origin"
	bindings "bindc/runtime"
	"bindc/ship"
	"bindc/snapshot"
)

// defaultStore is where snapshots are kept on a master.
const defaultStore = "/var/lib/bindc"

// storeFlag is the store that a verb works on.
type storeFlag struct{ dir string }

func (s *storeFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.dir, "store", "",
		"`DIR` of snapshots and their names (default $BINDQ_STORE, else "+defaultStore+")")
}

func (s *storeFlag) path() string { return cmp.Or(s.dir, os.Getenv("BINDQ_STORE"), defaultStore) }

// open makes the store, if it is not there yet; find does not.
func (s *storeFlag) open() (*ship.Store, error) { return ship.OpenStore(s.path()) }
func (s *storeFlag) find() (*ship.Store, error) { return ship.FindStore(s.path()) }

// gates are what a snapshot has to pass before it answers.
type gates struct {
	trust     trust
	signedAs  string
	checkKeys string
	maxChange string
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
		c.Origin = func(path string, sum [32]byte) (origin.Origin, error) {
			p, err := g.trust.policy() // each time: keys are revoked while follow runs
			if err != nil {
				return origin.Origin{}, err
			}
			return p.Check(path, sum)
		}
	}
	share, err := percent(g.maxChange)
	if err != nil {
		return c, fmt.Errorf("--max-change: %w", err)
	}
	if g.checkKeys != "" {
		if _, err := os.Stat(g.checkKeys); err != nil {
			return c, fmt.Errorf("--check-keys: %w", err)
		}
	}
	c.Gate = func(path, active string) error {
		if err := keysFound(g.checkKeys, path); err != nil {
			return err
		}
		return changesLittle(active, path, share)
	}
	return c, nil
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
	password      string
}

func (s *sources) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.caFile, "ca-file", "",
		"`FILE` of certificates that servers may be signed by, beside the system's")
	cmd.Flags().StringVar(&s.user, "username", "", "`NAME` for the registry (default: docker's credentials)")
	cmd.Flags().BoolVar(&s.passwordStdin, "password-stdin", false, "read the password from standard input")
	cmd.Flags().BoolVar(&s.plainHTTP, "plain-http", false, "ask without TLS; on this machine only")
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
	client, err := ship.Client(s.caFile)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	if strings.HasPrefix(text, oci.Scheme) {
		r := oci.Registry{Client: client, PlainHTTP: s.plainHTTP, User: s.user, Password: s.password,
			Agent: "bindq/" + cli.Version()}
		return r.Open(text)
	}
	u, err := url.Parse(text)
	if err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && s.plainHTTP &&
		oci.Loopback(u.Host)) {
		return &ship.HTTP{URL: u, Client: client}, nil
	}
	return nil, fmt.Errorf("expected oci://HOST/REPO:TAG, https://HOST/PATH or file:PATH, found '%s'", text)
}

// defaultMaxSize is how large a snapshot may be, unless somebody asks for more.
const defaultMaxSize = 1 << 30

func pullCommand() *cobra.Command {
	var store storeFlag
	var g gates
	var from sources
	var name string
	var hold bool
	var maxSize int64
	cmd := &cobra.Command{
		Use:   "pull SOURCE --name NAME",
		Short: "Fetch a snapshot, check it, and have it answer",
		Long: "pull asks SOURCE once: oci://HOST/REPO:TAG or @sha256:DIGEST, https://HOST/PATH\n" +
			"or file:PATH. What it has is stored whole, checked from end to end, held to\n" +
			"the signature and the gates that are asked for, and only then the link\n" +
			"NAME.snap in the store is switched to it, in one step. After a rollback it is\n" +
			"stored only, until somebody resumes.\n\n" +
			"Exit status: 0 NAME has what SOURCE has, 1 it is refused, 2 it cannot be had.",
		Example: "  bindq pull file:site.bsnap --name production",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := ship.CheckName(name); err != nil {
				return fmt.Errorf("--name: %w", err)
			}
			checks, err := g.checks()
			if err != nil {
				return err
			}
			source, err := from.open(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			st, err := store.open()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			p := ship.Pull{Store: st, Name: name, Source: source, Checks: checks, SignedAs: g.signedAs,
				MaxBytes: maxSize,
				Hold:     hold, By: byWhom(), Now: time.Now}
			r, err := p.Run(ctx)
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
	cmd.Flags().Int64Var(&maxSize, "max-size", defaultMaxSize, "`N` bytes in a snapshot at most")
	return cmd
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
	case r.Pinned:
		return what + "is stored; it will not answer before 'bindq follow --resume " + name +
			"', as there was a rollback"
	case r.Digest == "":
		return what + "nothing new"
	}
	return what + "is stored"
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
