package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/datafile"
	"bindc/origin"
	"bindc/ship"
	"bindc/ship/oci"
	"bindc/snapshot"
)

// pushing holds the flags for access to a registry. It is used to push and to pull.
type pushing struct {
	source, caFile, user     string
	passwordStdin, plainHTTP bool
	stall                    time.Duration
	maxSize                  int64 // maximum size in bytes of a pulled part

	registry *oci.Registry // nil until open is called
}

func (p *pushing) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.source, "source", "", "`URL` of the sources, recorded in the artifact")
	p.addRegistry(cmd)
}

// pushFlags are the flags that add defines.
var pushFlags = []string{"source", "ca-file", "username", "password-stdin", "plain-http", "stall-timeout"}

func (p *pushing) addRegistry(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.caFile, "ca-file", "",
		"`FILE` of CA certificates to trust in addition to the system's")
	cmd.Flags().StringVar(&p.user, "username", "", "`NAME` for the registry (default: docker's credentials)")
	cmd.Flags().BoolVar(&p.passwordStdin, "password-stdin", false, "read the password from standard input")
	cmd.Flags().BoolVar(&p.plainHTTP, "plain-http", false, "connect without TLS (only to a server on this machine)")
	cmd.Flags().DurationVar(&p.stall, "stall-timeout", ship.StallTimeout,
		"abort a transfer that makes no progress for `TIME`")
}

// open returns the repository for target, oci://HOST/REPO:TAG. It does not contact the registry.
func (p *pushing) open(target string, stdin io.Reader) (*oci.Repository, error) {
	if p.registry == nil {
		client, err := ship.Client(p.caFile, p.stall)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		r := &oci.Registry{Client: client, PlainHTTP: p.plainHTTP, User: p.user, Agent: "bindc/" + cli.Version()}
		if p.passwordStdin {
			if r.Password, err = cli.ReadPassword(stdin); err != nil {
				return nil, err
			}
		}
		p.registry = r
	}
	if !strings.HasPrefix(target, oci.Scheme) {
		return nil, fmt.Errorf("expected oci://HOST/REPO:TAG, found '%s'", ship.Redacted(target))
	}
	return p.registry.Open(target)
}

// push pushes the snapshot or part in file with its signed statement, if any, and prints the artifact's name.
func (p *pushing) push(ctx context.Context, to *oci.Repository, file, revision string, out io.Writer) error {
	label := oci.Label{Revision: revision, Source: p.source}
	if os.Getenv("SOURCE_DATE_EPOCH") != "" {
		at, err := now()
		if err != nil {
			return err
		}
		label.Created = at.Format(time.RFC3339)
	}
	var err error
	if label.Signed, err = origin.Read(file); err != nil {
		return err
	}
	where, err := to.Push(ctx, file, label)
	if err != nil {
		return &cli.External{Err: err}
	}
	_, err = fmt.Fprintln(out, where)
	return err
}

func pushCommand() *cobra.Command {
	var p pushing
	var sign signing
	cmd := &cobra.Command{
		Use:   "push FILE oci://HOST/REPO:TAG",
		Short: "Put a snapshot, or a part of a build, into a registry",
		Long: "push puts a snapshot and its signed statement into an OCI registry, as an\n" +
			"artifact of one layer. It prints REPO@sha256:DIGEST. The same snapshot with the\n" +
			"same revision, source and signature is always the same artifact. Its creation\n" +
			"time is SOURCE_DATE_EPOCH, if set; otherwise there is none. With --sign the\n" +
			"snapshot is signed first.\n" +
			"FILE may be a pack that 'bindc build --part' wrote; 'bindc link' fetches it.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindc push site.snap oci://registry.example.com/puppet/site:production",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			to, err := p.open(args[1], cmd.InOrStdin())
			if err != nil {
				return err
			}
			if isPart, err := datafile.IsPart(args[0]); err != nil {
				return err
			} else if isPart {
				return p.pushPart(ctx, to, args[0], &sign, cmd.OutOrStdout())
			}
			sum, err := soundSum(args[0])
			if err != nil {
				return err
			}
			if err := cmp.Or(sign.checkTexts(), sign.checkFile(args[0])); err != nil {
				return err
			}
			revision := sign.revision
			if sign.keyFile == "" {
				sign.revision = "" // without a signature, only the artifact records the revision
			}
			if err := sign.begin(); err != nil {
				return err
			}
			defer sign.end()
			if err := sign.publish(args[0], sum); err != nil {
				return err
			}
			return p.push(ctx, to, args[0], revision, cmd.OutOrStdout())
		},
	}
	p.add(cmd)
	sign.add(cmd)
	return cmd
}

// pushPart pushes a pack that 'bindc build --part' wrote.
func (p *pushing) pushPart(ctx context.Context, to *oci.Repository, file string, sign *signing, out io.Writer) error {
	if sign.keyFile != "" || sign.name != "" {
		return errors.New("--sign, --name: a part is not signed; sign the snapshot that bindc link writes")
	}
	if _, err := datafile.ReadPart(file, file); err != nil {
		return err
	}
	return p.push(ctx, to.OfParts(), file, sign.revision, out)
}

// defaultMaxPart is the default of --max-size, in bytes.
const defaultMaxPart = 4 << 30

// pullPart reads a part from a registry. It stores the download in dir.
func (p *pushing) pullPart(ctx context.Context, source, dir string, stdin io.Reader) (*datafile.Part, error) {
	from, err := p.open(source, stdin)
	if err != nil {
		return nil, err
	}
	offer, err := from.OfParts().Look(ctx, "")
	if err != nil {
		return nil, &cli.External{Err: err}
	}
	defer offer.Close()
	if offer.Size > p.maxSize {
		return nil, fmt.Errorf("%s has %d bytes, expected at most %d; raise --max-size", from, offer.Size, p.maxSize)
	}
	body, err := offer.Body(ctx)
	if err != nil {
		return nil, &cli.External{Err: err}
	}
	defer body.Close()
	f, err := os.CreateTemp(dir, "part-")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(body, offer.Size+1))
	if err != nil {
		return nil, &cli.External{Err: fmt.Errorf("%s: %w", from, err)}
	}
	if n != offer.Size || string(offer.Digest) != hex.EncodeToString(sum.Sum(nil)) {
		return nil, fmt.Errorf("%s: expected %d bytes with the SHA-256 %s, as its manifest says: push this part again",
			from, offer.Size, offer.Digest)
	}
	return datafile.ReadPart(f.Name(), from.String())
}

// soundSum returns the SHA-256 of the snapshot in file. It fails if the snapshot is damaged or changes meanwhile.
func soundSum(file string) (sum [32]byte, err error) {
	f, err := snapshot.Open(file)
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("%s: %w", file, err)
	}
	if err != nil {
		return sum, err
	}
	in, err := os.Open(file)
	if err != nil {
		return sum, err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return sum, err
	}
	if sum = [32]byte(h.Sum(nil)); sum != f.Sum() {
		return sum, fmt.Errorf("%s changed while it was read", file)
	}
	return sum, nil
}
