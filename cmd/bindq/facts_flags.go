package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/facts"
	bindings "bindc/runtime"
)

func (s *source) readFacts(stdin io.Reader) (*bindings.Facts, error) {
	if s.factsFile == "-" && s.trustedFile == "-" {
		return nil, factsError("--facts and --trusted cannot both be read from standard input")
	}
	node, err := s.nodeOfFile(stdin)
	if err != nil {
		return nil, err
	}
	s.inFile = node
	given, err := s.trusted(stdin)
	if err != nil {
		return nil, err
	}
	if !given.IsUndef() {
		node.Trusted = given
	}
	if node, err = node.WithFacts("--fact", s.facts); err != nil {
		return nil, err
	}
	isCertname := func(fact string) bool { return strings.HasPrefix(fact, "trusted.certname") }
	if s.trustedFile != "" || slices.ContainsFunc(s.facts, isCertname) { // --node replaces the certname in a facts file
		s.noteContradiction(facts.CheckName(s.node, node.Trusted))
	}
	opts := bindings.FactsOptions{Node: s.node, Environment: s.environment}
	if node.Vars, err = facts.With("--var", node.Vars, s.variables); err != nil {
		return nil, err
	}
	_, twice := facts.With("--fact or --var", bindings.Value{}, slices.Concat(s.facts, s.variables))
	s.noteContradiction(twice) // a fact and a variable have the same name and different values
	return facts.Variables(node, opts)
}

// noteContradiction remembers that two flags contradict each other, for checkDoubts. err may be nil.
func (s *source) noteContradiction(err error) {
	if err != nil {
		s.contradictions = append(s.contradictions, err.Error())
	}
}

// nodeOfFile returns the node in the file of --facts, or the facts of --node from the facts directory.
func (s *source) nodeOfFile(stdin io.Reader) (facts.Node, error) {
	if s.factsFile == "" {
		if s.factsDir != "" && s.node == "" {
			return facts.Node{}, factsError("--facts-dir %s: expected --node NAME", s.factsDir)
		}
		return s.nodeInDir(s.node)
	}
	src, err := s.readAll("facts", s.factsFile, stdin)
	if err != nil {
		return facts.Node{}, err
	}
	nodes, err := facts.Parse(inputName(s.factsFile), src)
	if err != nil {
		return facts.Node{}, err
	}
	return facts.Choose(nodes, s.node)
}

// nodeInDir reads the facts of a node from the facts directory. Without a directory or a name, the node has no facts.
func (s *source) nodeInDir(name string) (facts.Node, error) {
	dir := s.dirOfFacts()
	if dir == "" || name == "" {
		return facts.Node{}, nil
	}
	if s.fleet == nil {
		s.fleet = facts.NewFleet(dir)
	}
	return s.fleet.Node(name)
}

// sayUnread prints notes about unreadable facts files, once. Any of these files may be the node's, so with --strict
// they are an error.
func (s *source) sayUnread(cmd *cobra.Command) error {
	if s.fleet == nil || s.saidUnread {
		return nil
	}
	s.saidUnread = true
	wrong := s.fleet.Wrong()
	if s.strict {
		return facts.Join(wrong)
	}
	for _, err := range wrong {
		note(cmd, err.Error()+"; it may name this node too")
	}
	return nil
}

// dirOfFacts returns the facts directory, or "" if neither --facts-dir nor $BINDQ_FACTS_DIR is set.
func (s *source) dirOfFacts() string { return cmp.Or(s.factsDir, os.Getenv("BINDQ_FACTS_DIR")) }

// trusted returns the content of the file of --trusted, or undef if the flag is not set.
func (s *source) trusted(stdin io.Reader) (bindings.Value, error) {
	if s.trustedFile == "" {
		return bindings.Value{}, nil
	}
	src, err := s.readAll("trusted facts", s.trustedFile, stdin)
	if err != nil {
		return bindings.Value{}, err
	}
	return facts.ParseHash("the trusted facts", inputName(s.trustedFile), src)
}

// readAll reads a file of at most maxFacts bytes. what names the content in messages.
func (s *source) readAll(what, path string, stdin io.Reader) ([]byte, error) {
	src, err := readUpTo(path, stdin, s.maxFacts+1)
	if err != nil {
		return nil, factsError("cannot read the %s: %v", what, err)
	}
	if len(src) > s.maxFacts {
		return nil, factsError("the %s, %s: expected at most %d bytes, there are more; raise --max-facts", what,
			inputName(path), s.maxFacts)
	}
	return src, nil
}

func (s *source) hasFacts() bool { return s.describesNode() || s.factsDir != "" }

func (s *source) describesNode() bool {
	return s.factsFile != "" || len(s.facts)+len(s.variables) > 0 || s.node != "" || s.trustedFile != "" ||
		s.environment != ""
}

func factsError(format string, args ...any) error {
	return &bindings.Error{Code: bindings.CodeFacts, Message: fmt.Sprintf(format, args...)}
}

func readUpTo(path string, stdin io.Reader, n int) ([]byte, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, int64(n)))
}

// inputName returns the name of a file for messages. The file "-" is standard input.
func inputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}
