package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bindc/internal/cli"
	"bindc/internal/gate"
	"bindc/origin"
	"bindc/ship"
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
			return c, g.keys().NoQueries()
		}
	}
	c.Rules = g.rules
	c.Gate = func(path, active string) error {
		if err := g.keysFound(path); err != nil {
			return err
		}
		return changesLittle(active, path, share)
	}
	return c, nil
}

func (g *gates) keys() *gate.Keys {
	return &gate.Keys{Option: "--check-keys", File: g.checkKeys, Node: (&source{}).nodeOfDir}
}

// keysFound refuses the snapshot at path if it lacks a key of the queries.
func (g *gates) keysFound(path string) error {
	if g.checkKeys == "" {
		return nil
	}
	return (&source{}).ask(path, g.keys().Found)
}

// changesLittle refuses the snapshot at path if more than a share of its bindings differs from those of the active one.
func changesLittle(active, path string, share float64) error {
	if active == "" || share >= 1 {
		return nil
	}
	var anybody trust
	return anybody.report(active, func(before *snapshot.Snapshot) error {
		return anybody.report(path, func(after *snapshot.Snapshot) error {
			return gate.ChangesLittle(before, after, share)
		})
	})
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

// obey sets the gates that no flag sets from those of the policy.
func (g *gates) obey(p gates, flags *pflag.FlagSet) {
	for name, text := range map[string][2]*string{
		"allowed-signers": {&g.trust.allowed, &p.trust.allowed},
		"revoked":         {&g.trust.revoked, &p.trust.revoked},
		"signed-as":       {&g.signedAs, &p.signedAs},
		"check-keys":      {&g.checkKeys, &p.checkKeys},
		"max-change":      {&g.maxChange, &p.maxChange},
	} {
		if !flags.Changed(name) {
			*text[0] = *text[1]
		}
	}
	g.trust.configured = p.trust.configured && !flags.Changed("allowed-signers")
	g.keysConfigured = p.keysConfigured && !flags.Changed("check-keys")
	g.changeConfigured = p.changeConfigured && !flags.Changed("max-change")
}

// inspect reads the snapshot at path from end to end.
func inspect(path string) (isSensitive bool, err error) {
	err = (&trust{}).report(path, func(f *snapshot.Snapshot) error {
		isSensitive, err = gate.Inspect(f)
		return err
	})
	return isSensitive, err
}
