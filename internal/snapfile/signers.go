// Package snapfile opens snapshot files for the programs. It checks who signed a file, turns truncation of a mapped
// file into an error, and adds the name of the file to errors.
package snapfile

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"bindc/origin"
)

// Signers holds the flags that decide whose snapshots are accepted. Without allowed signers, all snapshots are
// accepted.
type Signers struct {
	Allowed, Revoked string // paths of the files
	Configured       bool   // Allowed comes from a configuration file, not from a flag
}

// OptionName returns the name of an option as the user wrote it: a flag, or a key of a configuration.
func OptionName(flag string, configured bool) string {
	if configured {
		return strings.ReplaceAll(flag, "-", "_")
	}
	return "--" + flag
}

// AddFlags adds --allowed-signers and --revoked.
func (s *Signers) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.Allowed, "allowed-signers", "",
		"`FILE` of allowed signers, as for ssh-keygen; reject snapshots that none of them signed")
	flags.StringVar(&s.Revoked, "revoked", "", "`FILE` of public keys that are no longer allowed")
}

// Policy reads the files. It returns nil if all snapshots are accepted.
func (s *Signers) Policy() (*origin.Policy, error) {
	allowed := OptionName("allowed-signers", s.Configured)
	if s.Allowed == "" {
		if s.Revoked != "" {
			return nil, fmt.Errorf("%s needs %s FILE", OptionName("revoked", s.Configured), allowed)
		}
		return nil, nil
	}
	p, err := origin.ReadPolicy(s.Allowed, s.Revoked, time.Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", allowed, err)
	}
	return p, nil
}

// Accept returns the check of signatures that bindings.Options takes, or nil if all snapshots are accepted.
func (s *Signers) Accept() (func(path string, sum [32]byte) error, error) {
	p, err := s.Policy()
	if p == nil {
		return nil, err
	}
	return func(path string, sum [32]byte) error {
		_, err := p.Check(path, sum)
		return err
	}, nil
}
