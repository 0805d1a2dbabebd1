package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/identity"
	"bindc/internal/report/decision"
	"bindc/internal/secret/seal"
	"bindc/internal/snapfile"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

type globals struct {
	snapshot   string
	signers    snapfile.Signers
	identities []string
	eyamlKeys  []string
	maxFacts   int
}

// defaultMaxFacts is the default of --max-facts, in bytes. The facts of one machine take some ten thousand bytes.
const defaultMaxFacts = 16 << 20

func (g *globals) add(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVarP(&g.snapshot, "snapshot", "s", "", "`FILE` of the snapshot (default $BINDQ_SNAPSHOT)")
	g.signers.AddFlags(flags)
	flags.StringArrayVar(&g.identities, "identity", nil,
		"`FILE` of age identities that decrypt sensitive values (repeatable; default $BINDQ_IDENTITY)")
	flags.StringArrayVar(&g.eyamlKeys, "eyaml-key", nil,
		"`FILE` with a hiera-eyaml private key (repeatable; default $BINDQ_EYAML_KEY)")
	g.maxFacts = defaultMaxFacts
	flags.Var(cli.AtLeastOne(&g.maxFacts), "max-facts", "read at most `N` bytes of facts, and of trusted facts")
}

// pathOrArgument returns the path of the snapshot, which may be the only argument of the verb.
func (g *globals) pathOrArgument(args []string) (string, error) {
	switch {
	case len(args) == 0:
		return g.path()
	case g.snapshot != "":
		return "", fmt.Errorf("expected one snapshot, found '%s' in addition to -s '%s'", args[0], g.snapshot)
	}
	g.snapshot = args[0] // path returns the argument from now on
	return args[0], nil
}

// path returns the path of the snapshot, from --snapshot or $BINDQ_SNAPSHOT.
func (g *globals) path() (string, error) {
	if g.snapshot != "" {
		return g.snapshot, nil
	}
	if path := os.Getenv("BINDQ_SNAPSHOT"); path != "" {
		return path, nil
	}
	return "", errors.New("expected -s FILE, the snapshot, or BINDQ_SNAPSHOT in the environment")
}

// unseal returns a function that decrypts the key of a snapshot with the given identities. It returns nil without
// identities.
func (g *globals) unseal() (func(sealed []byte) (key []byte, err error), error) {
	files, option := filesOf("--identity", g.identities, "BINDQ_IDENTITY")
	if len(files) == 0 {
		return nil, nil
	}
	unseal, err := identity.Unwrap(files)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	return unseal, nil
}

// filesOf returns the files that a flag gives or, without the flag, the file in an environment variable. option is the
// name of where they come from, for messages.
func filesOf(flag string, given []string, variable string) (files []string, option string) {
	if file := os.Getenv(variable); len(given) == 0 && file != "" {
		return []string{file}, variable
	}
	return given, flag
}

// tables returns the decision tables of f, decrypted if identities are given. Call it inside snapfile.Use, which
// handles a truncated file.
func (g *globals) tables(f *snapshot.Snapshot, whole bool) (*decision.Tables, error) {
	box, err := g.sealBox(f)
	if err != nil {
		return nil, err
	}
	return decision.NewTables(f, whole, box)
}

// sealBox opens the sealed values of f. It returns nil if f has none, or if no identities are given.
func (g *globals) sealBox(f *snapshot.Snapshot) (*seal.Box, error) {
	unseal, err := g.unseal()
	sealed, isSealed := f.Seal()
	if err != nil || unseal == nil || !isSealed {
		return nil, err
	}
	key, err := unseal([]byte(sealed))
	var box *seal.Box
	if err == nil {
		box, err = seal.New(key)
	}
	if err != nil {
		message := "cannot decrypt the sensitive values: " + err.Error()
		return nil, &bindings.Error{Code: bindings.CodeEncrypted, Message: message, Err: err}
	}
	return box, nil
}
