package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"bindc/internal/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// source is where answers come from: the snapshot, and the flags that say for which node.
type source struct {
	snapshot    string
	factsFile   string
	facts       []string
	trustedFile string
	node        string
	environment string
	strict      bool
}

func (s *source) addSnapshot(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.snapshot, "snapshot", "s", "", "the snapshot (default $BINDQ_SNAPSHOT)")
}

func (s *source) addRequest(cmd *cobra.Command) {
	s.addSnapshot(cmd)
	cmd.Flags().StringVar(&s.factsFile, "facts", "", "file of facts, JSON or YAML, - for standard input")
	cmd.Flags().StringArrayVar(&s.facts, "fact", nil, "one fact, name=text or name:=JSON; os.family=Debian sets a nested one (repeatable)")
	cmd.Flags().StringVar(&s.trustedFile, "trusted", "", "file of trusted facts, JSON or YAML")
	cmd.Flags().StringVar(&s.node, "node", "", "certname of the node: sets fqdn and trusted.certname")
	cmd.Flags().StringVar(&s.environment, "environment", "", "environment of the node (default: the fact, else production)")
	s.addStrict(cmd)
}

func (s *source) addStrict(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.strict, "strict-variables", false, "make the use of an unknown variable an error")
}

// open maps the snapshot.
func (s *source) open() (*bindings.Snapshot, error) {
	path := s.snapshot
	if path == "" {
		path = os.Getenv("BINDQ_SNAPSHOT")
	}
	if path == "" {
		return nil, fmt.Errorf("expected -s FILE, the snapshot, or BINDQ_SNAPSHOT in the environment")
	}
	return openFile(path, bindings.Options{StrictVariables: s.strict})
}

func openFile(path string, opts bindings.Options) (*bindings.Snapshot, error) {
	snap, err := bindings.OpenWith(path, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return snap, nil
}

// request opens the snapshot and makes the request the flags describe.
func (s *source) request(cmd *cobra.Command) (*bindings.Snapshot, *bindings.Request, error) {
	snap, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	facts, err := s.readFacts(cmd.InOrStdin())
	if err != nil {
		return nil, nil, err
	}
	r, err := snap.Request(facts)
	return snap, r, err
}

func (s *source) readFacts(stdin io.Reader) (*bindings.Facts, error) {
	opts := bindings.FactsOptions{Node: s.node, Environment: s.environment}
	facts, err := readHash(s.factsFile, stdin)
	if err != nil {
		return nil, err
	}
	for _, f := range s.facts {
		if facts, err = withFact(facts, f); err != nil {
			return nil, err
		}
	}
	if opts.Trusted, err = readHash(s.trustedFile, stdin); err != nil {
		return nil, err
	}
	return bindings.NewFacts(facts, opts)
}

func factsError(format string, args ...any) error {
	return &bindings.Error{Code: "facts", Message: fmt.Sprintf(format, args...)}
}

// readHash reads a file of JSON or YAML, which JSON is a part of but for its rules on duplicate keys and large numbers.
func readHash(path string, stdin io.Reader) (bindings.Value, error) {
	var src []byte
	var err error
	switch path {
	case "":
		return bindings.Value{}, nil
	case "-":
		src, err = io.ReadAll(stdin)
	default:
		src, err = os.ReadFile(path)
	}
	if err != nil {
		return bindings.Value{}, factsError("cannot read the facts: %v", err)
	}
	if v, err := bindings.ParseJSON(src); err == nil {
		return v, nil
	}
	var diags diag.List
	doc, ok := yaml.Parse(path, src, yaml.Options{LastKeyWins: true}, &diags)
	if !ok {
		d := diags.Sorted()[0]
		return bindings.Value{}, factsError("%s: %s", d.Pos, d.Message)
	}
	if doc.Root == nil {
		return bindings.Value{}, nil
	}
	return bindings.ParseJSON(value.AppendJSON(nil, doc.Root.Literal()))
}

// withFact adds name=text or name:=JSON; a name with points is a path into nested facts.
func withFact(facts bindings.Value, text string) (bindings.Value, error) {
	name, val, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return facts, factsError("--fact: expected name=text or name:=JSON, found '%s'", text)
	}
	v, _ := bindings.ValueOf(val)
	if path, isJSON := strings.CutSuffix(name, ":"); isJSON {
		name = path
		var err error
		if v, err = bindings.ParseJSON([]byte(val)); err != nil {
			return facts, factsError("--fact: expected JSON behind '%s:=', found '%s'", name, val)
		}
	}
	all, _ := facts.Interface().(map[string]any)
	if all == nil {
		all = map[string]any{}
	}
	setNested(all, strings.Split(name, "."), v)
	return bindings.ValueOf(all)
}

// setNested sets the entry at path, making hashes on the way of what is none.
func setNested(m map[string]any, path []string, v any) {
	for _, step := range path[:len(path)-1] {
		inner, ok := m[step].(map[string]any)
		if !ok {
			inner = map[string]any{}
			m[step] = inner
		}
		m = inner
	}
	m[path[len(path)-1]] = v
}
