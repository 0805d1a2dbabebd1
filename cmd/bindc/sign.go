package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"bindc/internal/fsx"
	"bindc/origin"
	"bindc/ship"
)

type signing struct {
	keyFile, name, revision string

	key ssh.Signer
	end func() error
}

func (s *signing) add(cmd *cobra.Command) {
	s.addToAll(cmd)
	cmd.Flags().StringVar(&s.name, "name", "", "name of the site in the signed statement (default: the "+
		"name of the snapshot's file)")
}

// addToAll adds the flags that apply to a single site and to environments.
func (s *signing) addToAll(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.keyFile, "sign", "",
		"sign the snapshot with the SSH private key in `FILE`, or with a public key that the SSH agent holds")
	cmd.Flags().StringVar(&s.revision, "revision", "", "revision of the site in the signed statement, "+
		"such as a git commit")
}

// maxSigned is the maximum length in bytes of --name and --revision. Machines that pull a snapshot truncate or reject
// longer texts.
const maxSigned = 1024

// checkTexts rejects a name or a revision that machines would not accept when they pull the snapshot.
func (s *signing) checkTexts() error {
	for _, f := range []struct{ flag, text string }{{"--name", s.name}, {"--revision", s.revision}} {
		if len(f.text) > maxSigned {
			return fmt.Errorf("%s: expected at most %d bytes, found %d", f.flag, maxSigned, len(f.text))
		}
	}
	if s.name == "" {
		return nil
	}
	if err := ship.CheckName(s.name); err != nil {
		return fmt.Errorf("--name: %w", err)
	}
	return nil
}

// begin checks the flags and reads the key, so that a build that cannot be signed does not start. The caller must call
// s.end afterwards.
func (s *signing) begin() error {
	s.end = func() error { return nil }
	if err := s.checkTexts(); err != nil {
		return err
	}
	if s.keyFile == "" {
		if s.name != "" || s.revision != "" {
			return fmt.Errorf("--name and --revision need --sign KEY: they are part of the signed statement")
		}
		return nil
	}
	key, end, err := origin.ReadKey(s.keyFile, os.Getenv("SSH_AUTH_SOCK"))
	if err != nil {
		return fmt.Errorf("--sign: %w", err)
	}
	s.key, s.end = key, end
	return nil
}

// publish writes the signed statement next to the snapshot out, whose SHA-256 is sum. Without a key, it does nothing.
func (s *signing) publish(out string, sum [32]byte) error {
	name := s.name
	if name == "" {
		name = nameOf(out)
	}
	return s.publishAs(name, out, sum)
}

// checkFile rejects a file whose name would become the signed name but is not accepted by servers.
func (s *signing) checkFile(out string) error {
	if s.keyFile == "" || s.name != "" {
		return nil
	}
	if err := ship.CheckName(nameOf(out)); err != nil {
		return fmt.Errorf("%s: the file name is not a site name that servers accept: %w; give one "+
			"with --name NAME", out, err)
	}
	return nil
}

// nameOf returns the default of --name: the name of the snapshot file without its extension.
func nameOf(out string) string { return strings.TrimSuffix(filepath.Base(out), filepath.Ext(out)) }

// publishAs is like publish, but signs the given name.
func (s *signing) publishAs(name, out string, sum [32]byte) error {
	if s.key == nil {
		return nil
	}
	created, err := now()
	if err != nil {
		return err
	}
	signed, err := origin.Sign(origin.Statement{Name: name, SHA256: hex.EncodeToString(sum[:]), Revision: s.revision,
		Created: created}, s.key)
	if err != nil {
		return err
	}
	err = signed.Write(out)
	if !fsx.InPlace(err) {
		return fmt.Errorf("the snapshot was written, but its signature was not: %w", err)
	}
	return err
}

// now returns the current time. For reproducible builds, SOURCE_DATE_EPOCH sets a fixed time.
func now() (time.Time, error) {
	given := os.Getenv("SOURCE_DATE_EPOCH")
	if given == "" {
		return time.Now().UTC().Truncate(time.Second), nil
	}
	seconds, err := strconv.ParseInt(given, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: expected seconds since 1970, found '%s'", given)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
