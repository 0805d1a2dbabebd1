package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"bindc/internal/diag"
	"bindc/internal/identity"
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
	maxFacts    int
	identities  []string
	trust       trust
}

func (s *source) addSnapshot(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.snapshot, "snapshot", "s", "", "`FILE` of the snapshot (default $BINDQ_SNAPSHOT)")
	s.trust.add(cmd)
}

func (s *source) addRequest(cmd *cobra.Command) {
	s.addSnapshot(cmd)
	cmd.Flags().StringVar(&s.factsFile, "facts", "", "`FILE` of facts, JSON or YAML, - for standard input")
	cmd.Flags().StringArrayVar(&s.facts, "fact", nil,
		"one fact, `NAME=TEXT` or NAME:=JSON; os.family=Debian sets a nested one (repeatable)")
	cmd.Flags().StringVar(&s.trustedFile, "trusted", "", "`FILE` of trusted facts, JSON or YAML, - for standard input")
	cmd.Flags().StringVar(&s.node, "node", "",
		"certname, the `NAME` of the node: sets fqdn, clientcert and trusted.certname")
	cmd.Flags().StringVar(&s.environment, "environment", "",
		"`NAME` of the environment (default: the fact, else production)")
	cmd.Flags().IntVar(&s.maxFacts, "max-facts", maxFacts, "`N` bytes of facts, and of trusted facts, at most")
	s.addAnswers(cmd)
}

// maxFacts is how many bytes of facts are read, unless somebody asks for more. Those of a machine are ten thousands.
const maxFacts = 16 << 20

// addAnswers adds what is asked of whatever answers.
func (s *source) addAnswers(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.identities, "identity", nil,
		"`FILE` of age identities that decrypt sensitive values (repeatable; default $BINDQ_IDENTITY)")
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
	accept, err := s.trust.accept()
	if err != nil {
		return nil, err
	}
	opts := bindings.Options{StrictVariables: s.strict, Accept: accept}
	if len(s.identities) == 0 && os.Getenv("BINDQ_IDENTITY") != "" {
		s.identities = []string{os.Getenv("BINDQ_IDENTITY")}
	}
	if len(s.identities) > 0 {
		if opts.Unseal, err = identity.Unwrap(s.identities); err != nil {
			return nil, fmt.Errorf("--identity: %w", err)
		}
	}
	return bindings.Open(path, opts)
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
	if s.factsFile == "-" && s.trustedFile == "-" {
		return nil, factsError("--facts and --trusted cannot both be read from standard input")
	}
	all, err := readHash("facts", s.factsFile, stdin, s.maxFacts)
	if err != nil {
		return nil, err
	}
	for _, f := range s.facts {
		if all, err = withFact(all, f); err != nil {
			return nil, err
		}
	}
	trusted, err := readHash("trusted facts", s.trustedFile, stdin, s.maxFacts)
	if err != nil {
		return nil, err
	}
	opts := bindings.FactsOptions{Node: s.node, Environment: s.environment}
	if opts.Trusted, err = public(trusted); err != nil {
		return nil, err
	}
	facts, err := public(all)
	if err != nil {
		return nil, err
	}
	return bindings.NewFacts(facts, opts)
}

// public is v as the runtime takes values.
func public(v value.Value) (bindings.Value, error) {
	return bindings.ParseJSON(value.AppendJSON(nil, v))
}

func factsError(format string, args ...any) error {
	return &bindings.Error{Code: bindings.CodeFacts, Message: fmt.Sprintf(format, args...)}
}

// readHash reads a file of JSON or YAML that holds what, in as many bytes as limit at most.
func readHash(what, path string, stdin io.Reader, limit int) (value.Value, error) {
	if path == "" {
		return value.Value{}, nil
	}
	src, err := readUpTo(path, stdin, limit+1)
	if err != nil {
		return value.Value{}, factsError("cannot read the %s: %v", what, err)
	}
	if len(src) > limit {
		return value.Value{}, factsError("the %s, %s: expected at most %d bytes, there are more; raise --max-facts",
			what, wherein(path), limit)
	}
	doc, wrong := parseHash(wherein(path), src)
	if len(wrong) > 0 {
		return value.Value{}, factsError("the %s, %s: %s", what, wrong[0].Pos, wrong[0].Message)
	}
	if doc.Root == nil {
		return value.Value{}, nil
	}
	v := doc.Root.Literal()
	if !v.IsUndef() && v.Kind() != value.Hash {
		return v, factsError("the %s, %s: expected a hash of names to values", what, wherein(path))
	}
	return v, nil
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

// wherein is a file as messages name it.
func wherein(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// parseHash parses JSON or YAML. YAML takes JSON too, but for large numbers and tabs, so JSON is tried first; what is
// neither, and begins as JSON does, is reported as JSON.
func parseHash(path string, src []byte) (*yaml.Document, []diag.Diagnostic) {
	opts := yaml.Options{LastKeyWins: true}
	var asJSON, asYAML diag.List
	if doc, ok := yaml.ParseJSON(path, src, opts, &asJSON); ok {
		return doc, nil
	}
	if doc, ok := yaml.Parse(path, src, opts, &asYAML); ok {
		return doc, nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) {
		return nil, asJSON.Sorted()
	}
	return nil, asYAML.Sorted()
}

// withFact adds name=text or name:=JSON; a name with points is a path into nested facts.
func withFact(facts value.Value, text string) (value.Value, error) {
	name, val, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return facts, factsError("--fact: expected name=text or name:=JSON, found '%s'", text)
	}
	v := value.FromString(val)
	if path, isJSON := strings.CutSuffix(name, ":"); isJSON {
		doc, ok := yaml.ParseJSON("--fact", []byte(val), yaml.Options{LastKeyWins: true}, &diag.List{})
		if !ok {
			return facts, factsError("--fact: expected JSON behind '%s', found '%s'", name+"=", val)
		}
		name, v = path, doc.Root.Literal()
	}
	return withNested(facts, strings.Split(name, "."), v), nil
}

// withNested is the hash h with the entry at path set; what is no hash on the way becomes one.
func withNested(h value.Value, path []string, v value.Value) value.Value {
	if len(path) == 0 {
		return v
	}
	var b value.Builder
	for k, e := range h.Pairs() {
		b.Set(k, e)
	}
	key := value.FromString(path[0])
	inner, _ := b.Get(key)
	b.Set(key, withNested(inner, path[1:], v))
	return b.Hash()
}
