package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/gate"
	"bindc/internal/lookup"
	"bindc/internal/snapfile"
	"bindc/origin"
	bindings "bindc/runtime"
	"bindc/ship"
	"bindc/snapshot"
)

// gates describes the checks that a snapshot has to pass before it becomes active.
type gates struct {
	signers   snapfile.Signers
	signedAs  string
	checkKeys string
	maxChange string
	policies  []string // policies that must have been proven

	// set by the configuration, not by a flag
	signedConfigured, keysConfigured, changeConfigured, policiesConfigured bool
}

func (g *gates) add(cmd *cobra.Command) {
	g.signers.AddFlags(cmd.Flags())
	cmd.Flags().StringVar(&g.signedAs, "signed-as", "", "`NAME` that the signed statement must contain "+
		"(default: NAME)")
	cmd.Flags().StringVar(&g.checkKeys, "check-keys", "",
		"`FILE` of queries for 'bindq batch': every key must be found")
	cmd.Flags().StringVar(&g.maxChange, "max-change", "", "allow at most `PERCENT` of the bindings to change, "+
		"such as 20%")
	cmd.Flags().StringArrayVar(&g.policies, "require-policy", nil, "a policy that was proven for the snapshot, `NAME` "+
		"or NAME@sha256:DIGEST of its file (repeatable)")
}

// checks validates the settings, and returns the functions that check a snapshot.
func (g *gates) checks() (ship.Checks, error) {
	c := ship.Checks{Inspect: snapfile.Inspect}
	if _, err := g.signers.Policy(); err != nil {
		return c, err
	}
	if g.signers.Allowed != "" {
		c.Origin = func(what string, signed origin.Signed, sum [32]byte) (origin.Origin, error) {
			p, err := g.signers.Policy() // read each time, because keys may be revoked while follow runs
			if err != nil {
				return origin.Origin{}, err
			}
			return p.CheckSigned(what, signed, sum)
		}
	}
	if g.signedAs != "" && g.signers.Allowed == "" {
		return c, fmt.Errorf("%s needs %s FILE", snapfile.OptionName("signed-as", g.signedConfigured),
			snapfile.OptionName("allowed-signers", g.signedConfigured))
	}
	if err := gate.ParsePolicies(g.policies); err != nil {
		return c, fmt.Errorf("%s: %w", snapfile.OptionName("require-policy", g.policiesConfigured), err)
	}
	share, err := percent(g.maxChange)
	if err != nil {
		return c, fmt.Errorf("%s: %w", snapfile.OptionName("max-change", g.changeConfigured), err)
	}
	if g.checkKeys != "" {
		text, err := os.ReadFile(g.checkKeys)
		if err != nil {
			return c, fmt.Errorf("%s: %w", snapfile.OptionName("check-keys", g.keysConfigured), err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			return c, g.keys().NoQueries()
		}
	}
	c.Rules = g.rules
	c.Gate = func(path, active string) error {
		proven := func(f *snapshot.Snapshot) error { return gate.CheckPolicies(f, g.policies) }
		if err := snapfile.Use(path, proven); err != nil {
			return err
		}
		if err := g.keysFound(path); err != nil {
			return err
		}
		return changesLittle(active, path, share)
	}
	return c, nil
}

func (g *gates) keys() *gate.Keys {
	return &gate.Keys{Option: "--check-keys", File: g.checkKeys, Node: nodeInDir()}
}

// nodeInDir returns a function that reads the facts of a node from $BINDQ_FACTS_DIR, if that is set.
func nodeInDir() func(name string) (facts.Node, error) {
	dir := os.Getenv("BINDQ_FACTS_DIR")
	if dir == "" {
		return func(string) (facts.Node, error) { return facts.Node{}, nil }
	}
	return facts.NewFleet(dir).Node
}

// keysFound returns an error unless all queries of --check-keys find their keys in the snapshot at path.
func (g *gates) keysFound(path string) error {
	if g.checkKeys == "" {
		return nil
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		return err
	}
	defer snap.Close()
	return snapfile.InFile(path, snap.Protect(func() error { return g.keys().Check((*lookup.Snapshot)(snap)) }))
}

// changesLittle returns an error if more than the given share of the bindings in the active snapshot differs from the
// snapshot at path.
func changesLittle(active, path string, share float64) error {
	if active == "" || share >= 1 {
		return nil
	}
	return snapfile.Use(active, func(before *snapshot.Snapshot) error {
		return snapfile.Use(path, func(after *snapshot.Snapshot) error {
			return gate.CheckChanges(before, after, share)
		})
	})
}

// rules returns a string that changes when the gates may decide differently: with the program's version, the limit, the
// queries, their facts, and the policies.
func (g *gates) rules() string {
	queries := ""
	if g.checkKeys != "" {
		text, err := os.ReadFile(g.checkKeys)
		queries = fmt.Sprintf(", queries %x, %v", sha256.Sum256(text), err) + factsRules()
	}
	policies := ""
	if len(g.policies) > 0 {
		policies = fmt.Sprintf(", policies %q", g.policies)
	}
	return cli.Version() + ", max_change " + cmp.Or(g.maxChange, "100%") + queries + policies
}

// factsRules returns a string that changes when the files in $BINDQ_FACTS_DIR change. It is "" if the variable is not
// set.
func factsRules() string {
	dir := os.Getenv("BINDQ_FACTS_DIR")
	if dir == "" {
		return ""
	}
	files := sha256.New()
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name())) // a file may be a symbolic link
		if err == nil {
			fmt.Fprintf(files, "%q %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf(", facts %s %x, %v", dir, files.Sum(nil), err)
}

// percent parses a percentage and returns it as a fraction. The empty string means 100%.
func percent(text string) (float64, error) {
	if text == "" {
		return 1, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(n >= 0 && n <= 100) {
		return 0, fmt.Errorf("expected a percentage from 0%% to 100%%, found '%s'", text)
	}
	return n / 100, nil
}

// inherit copies the gates of the policy, except those that a flag sets.
func (g *gates) inherit(p gates, flags *pflag.FlagSet) {
	for name, text := range map[string][2]*string{
		"allowed-signers": {&g.signers.Allowed, &p.signers.Allowed},
		"revoked":         {&g.signers.Revoked, &p.signers.Revoked},
		"signed-as":       {&g.signedAs, &p.signedAs},
		"check-keys":      {&g.checkKeys, &p.checkKeys},
		"max-change":      {&g.maxChange, &p.maxChange},
	} {
		if !flags.Changed(name) {
			*text[0] = *text[1]
		}
	}
	if !flags.Changed("require-policy") {
		g.policies = p.policies
	}
	g.policiesConfigured = p.policiesConfigured && !flags.Changed("require-policy")
	g.signers.Configured = p.signers.Configured && !flags.Changed("allowed-signers")
	g.signedConfigured = p.signedConfigured && !flags.Changed("signed-as")
	g.keysConfigured = p.keysConfigured && !flags.Changed("check-keys")
	g.changeConfigured = p.changeConfigured && !flags.Changed("max-change")
}
