package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bindc/origin"
)

// trust is whose snapshots count; without allowed signers, anybody's.
type trust struct {
	allowed, revoked string
	configured       bool // allowed is set by the configuration, not by a flag
}

// called returns the name of an option as the user wrote it: a flag, or a key of the configuration.
func called(flag string, configured bool) string {
	if configured {
		return strings.ReplaceAll(flag, "-", "_")
	}
	return "--" + flag
}

func (t *trust) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.allowed, "allowed-signers", "",
		"`FILE` of keys, as for ssh-keygen: refuse a snapshot that none of them signed")
	cmd.Flags().StringVar(&t.revoked, "revoked", "", "`FILE` of public keys that are no longer allowed")
}

// policy is nil where anybody's snapshots count.
func (t *trust) policy() (*origin.Policy, error) {
	if t.allowed == "" {
		if t.revoked != "" {
			return nil, fmt.Errorf("expected %s FILE beside %s", called("allowed-signers", t.configured),
				called("revoked", t.configured))
		}
		return nil, nil
	}
	p, err := origin.ReadPolicy(t.allowed, t.revoked, time.Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", called("allowed-signers", t.configured), err)
	}
	return p, nil
}

// accept is what bindings.Options takes.
func (t *trust) accept() (func(path string, sum [32]byte) error, error) {
	p, err := t.policy()
	if p == nil {
		return nil, err
	}
	return func(path string, sum [32]byte) error {
		_, err := p.Check(path, sum)
		return err
	}, nil
}
