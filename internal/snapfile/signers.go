// Package snapfile opens snapshot files for programs. It checks who signed a file, returns an error if a mapped file is
// truncated, and adds the path to errors.
package snapfile

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"bindc/origin"
)

// Signers configures whose snapshots are accepted. The zero Signers accepts all snapshots.
type Signers struct {
	Allowed, Revoked string // paths of files; "" for none
	Configured       bool   // the paths come from a configuration file, not from flags
}

// OptionName returns the name of a flag as the user wrote it. If configured is true, that is a key in a configuration
// file.
func OptionName(flag string, configured bool) string {
	if configured {
		return strings.ReplaceAll(flag, "-", "_")
	}
	return "--" + flag
}

// AddFlags defines the flags --allowed-signers and --revoked, which set the paths.
func (s *Signers) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.Allowed, "allowed-signers", "",
		"`FILE` of allowed signers, as for ssh-keygen; reject snapshots that none of them signed")
	flags.StringVar(&s.Revoked, "revoked", "", "`FILE` of public keys that are no longer allowed")
}

// Policy reads the files at the paths. It returns nil if all snapshots are accepted.
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

// Accept returns a function for the field Accept of runtime.Options, or nil if all snapshots are accepted.
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
