package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/identity"
	"bindc/internal/report/decision"
	"bindc/internal/secret/eyaml"
	"bindc/internal/secret/seal"
	"bindc/internal/snapfile"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// source is where answers come from: the snapshot, and the flags that say for which node.
type source struct {
	snapshot    string
	factsFile   string
	facts       []string
	trustedFile string
	node        string
	environment string
	factsDir    string
	fleet       *facts.Fleet // the directory of facts, once it was asked
	inFile      facts.Node   // the node in the file of facts
	strict      bool         // doubts about the request are errors
	noUnknown   bool         // an unknown variable is an error
	maxFacts    int
	identities  []string
	eyamlKeys   []string
	late        bool // keys of eyaml are read when something needs them
	variables   []string
	signers     snapfile.Signers
}

func (s *source) addSnapshot(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.snapshot, "snapshot", "s", "", "`FILE` of the snapshot (default $BINDQ_SNAPSHOT)")
	s.signers.AddFlags(cmd)
}

func (s *source) addRequest(cmd *cobra.Command) {
	s.addSnapshot(cmd)
	cmd.Flags().StringVar(&s.factsFile, "facts", "",
		"`FILE` of facts, of facter, Puppet or PuppetDB, - for standard input")
	s.addFactsDir(cmd)
	cmd.MarkFlagsMutuallyExclusive("facts", "facts-dir")
	cmd.Flags().StringArrayVar(&s.facts, "fact", nil,
		"one fact, `NAME=TEXT` or NAME:=JSON; os.family=Debian sets a nested one (repeatable)")
	cmd.Flags().StringVar(&s.trustedFile, "trusted", "", "`FILE` of trusted facts, JSON or YAML, - for standard input")
	cmd.Flags().StringVar(&s.node, "node", "",
		"certname, the `NAME` of the node: sets fqdn, clientcert and trusted")
	cmd.Flags().StringArrayVar(&s.variables, "var", nil,
		"a variable that is no fact, as --fact gives one: `NAME=TEXT` or NAME:=JSON")
	cmd.Flags().StringVar(&s.environment, "environment", "",
		"`NAME` of the environment (default: the fact, else production)")
	s.maxFacts = maxFacts
	cmd.Flags().Var(cli.AtLeastOne(&s.maxFacts), "max-facts", "`N` bytes of facts, and of trusted facts, at most")
	s.addStrict(cmd)
	s.addAnswers(cmd)
}

// addFactsDir adds --facts-dir.
func (s *source) addFactsDir(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.factsDir, "facts-dir", "",
		"`DIR` with one file of facts per node (default $BINDQ_FACTS_DIR)")
}

// maxFacts is how many bytes of facts are read, unless somebody asks for more. Those of a machine are ten thousands.
const maxFacts = 16 << 20

// addAnswers adds what is asked of whatever answers.
func (s *source) addAnswers(cmd *cobra.Command) {
	s.addIdentity(cmd)
	cmd.Flags().StringArrayVar(&s.eyamlKeys, "eyaml-key", nil,
		"`FILE` of a private key of hiera-eyaml (repeatable; default $BINDQ_EYAML_KEY)")
	cmd.Flags().BoolVar(&s.noUnknown, "strict-variables", false, "make the use of an unknown variable an error")
}

func (s *source) addIdentity(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.identities, "identity", nil,
		"`FILE` of age identities that decrypt sensitive values (repeatable; default $BINDQ_IDENTITY)")
}

// only is where the snapshot is, for a verb whose only argument may say so.
func (s *source) only(args []string) (string, error) {
	switch {
	case len(args) == 0:
		return s.path()
	case s.snapshot != "":
		return "", fmt.Errorf("expected one snapshot, found '%s' beside -s '%s'", args[0], s.snapshot)
	}
	s.snapshot = args[0] // for all that ask for the path
	return args[0], nil
}

// path is where the snapshot is.
func (s *source) path() (string, error) {
	if s.snapshot != "" {
		return s.snapshot, nil
	}
	if path := os.Getenv("BINDQ_SNAPSHOT"); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("expected -s FILE, the snapshot, or BINDQ_SNAPSHOT in the environment")
}

// options say how the snapshot is opened.
func (s *source) options() (bindings.Options, error) {
	accept, err := s.signers.Accept()
	if err != nil {
		return bindings.Options{}, err
	}
	unseal, err := s.unseal()
	if err != nil {
		return bindings.Options{}, err
	}
	decrypt, err := s.decrypt()
	if err != nil {
		return bindings.Options{}, err
	}
	return bindings.Options{StrictVariables: s.noUnknown, Accept: accept, Unseal: unseal, Decrypt: decrypt}, nil
}

// decrypt decrypts texts of hiera-eyaml; nil if no key is given.
func (s *source) decrypt() (func(text string) (string, error), error) {
	files := s.eyamlKeys
	if given := os.Getenv("BINDQ_EYAML_KEY"); len(files) == 0 && given != "" {
		files = []string{given}
	}
	if len(files) == 0 {
		return nil, nil
	}
	if s.late {
		return (&eyaml.Late{Files: files}).Decrypt, nil
	}
	keys, err := eyaml.Read(files)
	if err != nil {
		return nil, fmt.Errorf("--eyaml-key: %w", err)
	}
	return keys.Decrypt, nil
}

// unseal decrypts the key of a snapshot with the identities that are given; nil if none are.
func (s *source) unseal() (func(sealed []byte) (key []byte, err error), error) {
	files := s.identities
	if given := os.Getenv("BINDQ_IDENTITY"); len(files) == 0 && given != "" {
		files = []string{given}
	}
	if len(files) == 0 {
		return nil, nil
	}
	unseal, err := identity.Unwrap(files)
	if err != nil {
		return nil, fmt.Errorf("--identity: %w", err)
	}
	return unseal, nil
}

// book is the decision tables of f, decrypted if identities are given. It is called where f is guarded.
func (s *source) book(f *snapshot.Snapshot, whole bool) (*decision.Tables, error) {
	box, err := s.box(f)
	if err != nil {
		return nil, err
	}
	return decision.NewTables(f, whole, box)
}

// box opens what is sealed in f; nil where nothing is, or no identities are given.
func (s *source) box(f *snapshot.Snapshot) (*seal.Box, error) {
	unseal, err := s.unseal()
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
