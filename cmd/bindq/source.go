package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"bindc/facts"
	"bindc/internal/secret/eyaml"
	bindings "bindc/runtime"
)

type source struct {
	*globals
	factsFile   string
	facts       []string
	trustedFile string
	node        string
	environment string
	factsDir    string
	fleet       *facts.Fleet // the facts directory; nil before its first use
	saidUnread  bool         // sayUnread has printed its notes
	inFile      facts.Node   // the node in the file of --facts or in the facts directory
	strict      bool         // treat doubts about the request as errors

	contradictions []string // what flags contradict one another in; doubts about the request
	noUnknown      bool     // treat an unknown variable as an error
	lateEyaml      bool     // read the eyaml keys only when a value needs them
	variables      []string
}

func (s *source) addRequest(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.factsFile, "facts", "",
		"`FILE` of facts from facter, Puppet or PuppetDB, - for standard input")
	s.addFactsDir(cmd)
	cmd.MarkFlagsMutuallyExclusive("facts", "facts-dir")
	cmd.Flags().StringArrayVar(&s.facts, "fact", nil,
		"one fact, `NAME=TEXT` or NAME:=JSON; os.family=Debian sets a nested fact (repeatable)")
	cmd.Flags().StringVar(&s.trustedFile, "trusted", "", "`FILE` of trusted facts, JSON or YAML, - for standard input")
	cmd.Flags().StringVar(&s.node, "node", "",
		"certname, the `NAME` of the node: sets fqdn, clientcert and trusted, or selects a node in the facts directory")
	cmd.Flags().StringArrayVar(&s.variables, "var", nil,
		"a variable that is not a fact, `NAME=TEXT` or NAME:=JSON (repeatable)")
	cmd.Flags().StringVar(&s.environment, "environment", "",
		"`NAME` of the environment (default: the fact 'environment', or production)")
	s.completeFlag(cmd, "node", s.nodesFrom)
	s.completeFlag(cmd, "fact", s.factsFrom)
	s.completeFlag(cmd, "var", s.factsFrom)
	s.addStrict(cmd)
	s.addStrictVariables(cmd)
}

func (s *source) addFactsDir(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.factsDir, "facts-dir", "",
		"`DIR` with one facts file per node (default $BINDQ_FACTS_DIR)")
}

func (s *source) addStrictVariables(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.noUnknown, "strict-variables", false, "fail lookups that use an unknown variable")
}

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

// decrypt returns a function that decrypts hiera-eyaml strings, or nil if no key is given.
func (s *source) decrypt() (func(text string) (string, error), error) {
	files, option := filesOf("--eyaml-key", s.eyamlKeys, "BINDQ_EYAML_KEY")
	if len(files) == 0 {
		return nil, nil
	}
	if s.lateEyaml {
		return (&eyaml.Late{Files: files}).Decrypt, nil
	}
	keys, err := eyaml.Read(files)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	return keys.Decrypt, nil
}
