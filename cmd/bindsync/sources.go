package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/ship"
	"bindc/ship/oci"
)

type sources struct {
	caFile, user  string
	passwordStdin bool
	plainHTTP     bool
	plainOption   string // name of the option for plainHTTP in messages; --plain-http by default
	password      string
	stall         time.Duration
}

func (s *sources) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.caFile, "ca-file", "",
		"`FILE` of CA certificates to trust in addition to the system's")
	cmd.Flags().StringVar(&s.user, "username", "", "`NAME` for the registry (default: docker's credentials)")
	cmd.Flags().BoolVar(&s.passwordStdin, "password-stdin", false, "read the password from standard input")
	cmd.Flags().BoolVar(&s.plainHTTP, "plain-http", false, "connect without TLS (only to a server on this machine)")
	cmd.Flags().DurationVar(&s.stall, "stall-timeout", ship.StallTimeout,
		"abort a transfer that makes no progress for `TIME`")
}

func (s *sources) open(text string, stdin io.Reader) (ship.Source, error) {
	if path, ok := strings.CutPrefix(text, "file:"); ok && path != "" {
		return ship.File{Path: strings.TrimPrefix(path, "//")}, nil
	}
	if s.passwordStdin && s.password == "" {
		var err error
		if s.password, err = cli.ReadPassword(stdin); err != nil {
			return nil, err
		}
	}
	client, err := ship.Client(s.caFile, s.stall)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	if strings.HasPrefix(text, oci.Scheme) {
		r := oci.Registry{Client: client, PlainHTTP: s.plainHTTP, User: s.user, Password: s.password,
			Agent: "bindsync/" + cli.Version()}
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

// mayAsk returns an error if the scheme of u contradicts --plain-http, or if u is not encrypted and not on this
// machine.
func (s *sources) mayAsk(u *url.URL) error {
	option := cmp.Or(s.plainOption, "--plain-http")
	shown := ship.Redacted(u.String())
	switch {
	case u.Scheme == "https" && s.plainHTTP:
		return fmt.Errorf("%s and %s contradict each other: write http:// for a server on this machine "+
			"without TLS, or "+
			"remove %s", shown, option, option)
	case u.Scheme == "http" && !s.plainHTTP:
		return fmt.Errorf("%s is not encrypted: expected https://, or %s for a server on this machine", shown, option)
	case u.Scheme == "http" && !oci.Loopback(u.Host):
		return fmt.Errorf("%s: only servers on this machine may be used without TLS (localhost, 127.0.0.1, "+
			"[::1])", shown)
	}
	return nil
}
