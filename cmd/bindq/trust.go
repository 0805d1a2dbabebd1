package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"bindc/origin"
)

// trust is whose snapshots count; without allowed signers, anybody's.
type trust struct{ allowed, revoked string }

func (t *trust) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.allowed, "allowed-signers", "",
		"`FILE` of keys, as for ssh-keygen: refuse a snapshot that none of them signed")
	cmd.Flags().StringVar(&t.revoked, "revoked", "", "`FILE` of public keys that are no longer allowed")
}

// policy is nil where anybody's snapshots count.
func (t *trust) policy() (*origin.Policy, error) {
	if t.allowed == "" {
		if t.revoked != "" {
			return nil, fmt.Errorf("expected --allowed-signers FILE beside --revoked")
		}
		return nil, nil
	}
	p, err := origin.ReadPolicy(t.allowed, t.revoked, time.Now)
	if err != nil {
		return nil, fmt.Errorf("--allowed-signers: %w", err)
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
