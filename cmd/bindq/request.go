package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/decision"
	"bindc/internal/identity"
	"bindc/internal/lookup"
	"bindc/internal/secret/eyaml"
	"bindc/internal/secret/seal"
	"bindc/internal/value"
	"bindc/internal/yaml"
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
	trust       trust
}

func (s *source) addSnapshot(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.snapshot, "snapshot", "s", "", "`FILE` of the snapshot (default $BINDQ_SNAPSHOT)")
	s.trust.add(cmd)
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

// Verbs use a snapshot inside of report, ask or request only, and so inside of its guard: one that reads or prints what
// the file no longer has, as it was truncated meanwhile, ends with snapshot_damaged.

// report opens the snapshot at path for do to report on the file, if it is one that counts.
func (t *trust) report(path string, do func(*snapshot.Snapshot) error) error {
	return t.reportOn(snapshot.Open, path, do)
}

// copied is report on a copy in memory: what is made of that is whole, whatever becomes of the file.
func (t *trust) copied(path string, do func(*snapshot.Snapshot) error) error {
	return t.reportOn(snapshot.OpenCopy, path, do)
}

func (t *trust) reportOn(open func(string) (*snapshot.Snapshot, error), path string,
	do func(*snapshot.Snapshot) error) error {
	accept, err := t.accept()
	if err != nil {
		return err
	}
	if err := oneSnapshot(path); err != nil {
		return err
	}
	f, err := open(path)
	if err != nil {
		return inFile(path, err)
	}
	defer f.Close()
	return inFile(path, f.Guard(func() error {
		if accept != nil {
			if err := accept(path, f.Sum()); err != nil {
				return err
			}
		}
		return do(f)
	}))
}

// ask opens the snapshot at path for do to look things up.
func (s *source) ask(path string, do func(*lookup.Snapshot) error) error {
	opts, err := s.options()
	if err != nil {
		return err
	}
	if err := oneSnapshot(path); err != nil {
		return err
	}
	snap, err := bindings.Open(path, opts)
	if err != nil {
		return err
	}
	defer snap.Close()
	return inFile(path, snap.Guard(func() error { return do((*lookup.Snapshot)(snap)) }))
}

// oneSnapshot refuses a directory, where one of the snapshots in it is meant.
func oneSnapshot(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory: expected one snapshot, as NAME.snap in it", path)
	}
	return nil
}

// begin makes the request of facts. The one before is over then.
type begin func(*bindings.Facts) (*lookup.Request, error)

// beginIn begins requests of one snapshot.
func beginIn(snap *lookup.Snapshot) begin {
	return func(facts *bindings.Facts) (*lookup.Request, error) { return snap.Request((*lookup.Facts)(facts)) }
}

// requests opens the snapshot at path, or the environments where that is a directory, for do to make requests.
func (s *source) requests(path string, do func(begin) error) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return s.ask(path, func(snap *lookup.Snapshot) error { return do(beginIn(snap)) })
	}
	opts, err := s.options()
	if err != nil {
		return err
	}
	all, err := bindings.OpenEnvironments(path, bindings.WatchOptions{Options: opts, Interval: -1})
	if err != nil {
		return err
	}
	defer all.Close()
	var last *bindings.Lease
	defer func() { last.Close() }()
	return do(func(facts *bindings.Facts) (*lookup.Request, error) {
		lease, err := all.Request(facts)
		if err != nil {
			return nil, err
		}
		last.Close()
		last = lease
		return (*lookup.Request)(&lease.Request), nil
	})
}

// request opens the snapshot and makes the request the flags describe.
func (s *source) request(cmd *cobra.Command, do func(*lookup.Snapshot, *lookup.Request) error) error {
	path, err := s.path()
	if err != nil {
		return err
	}
	return s.requests(path, func(begin begin) error {
		facts, err := s.readFacts(cmd.InOrStdin())
		if err != nil {
			return err
		}
		r, err := begin(facts)
		if err != nil {
			return err
		}
		snap := r.Snapshot()
		return inFile(path, snap.Guard(func() error { return do(snap, r) }))
	})
}

// fileError is an error that names the file it is about.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return e.path + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// inFile names the file that an error is about, unless the error does.
func inFile(path string, err error) error {
	var damage *bindings.DamageError
	var named *fileError
	isOfFile := errors.As(err, &damage) || errors.Is(err, bindings.ErrFormat) || errors.Is(err, bindings.ErrVersion)
	if errors.As(err, &named) || !isOfFile {
		return err
	}
	return &fileError{path, err}
}

// options say how the snapshot is opened.
func (s *source) options() (bindings.Options, error) {
	accept, err := s.trust.accept()
	if err != nil {
		return bindings.Options{}, err
	}
	opts := bindings.Options{StrictVariables: s.noUnknown, Accept: accept}
	if opts.Unseal, err = s.unseal(); err != nil {
		return opts, err
	}
	opts.Decrypt, err = s.decrypt()
	return opts, err
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
func (s *source) book(f *snapshot.Snapshot, whole bool) (*decision.Book, error) {
	box, err := s.box(f)
	if err != nil {
		return nil, err
	}
	return decision.NewBook(f, whole, box)
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

func (s *source) readFacts(stdin io.Reader) (*bindings.Facts, error) {
	if s.factsFile == "-" && s.trustedFile == "-" {
		return nil, factsError("--facts and --trusted cannot both be read from standard input")
	}
	node, err := s.nodeOfFile(stdin)
	if err != nil {
		return nil, err
	}
	s.inFile = node
	if node.Facts, err = withFlags("--fact", node.Facts, s.facts); err != nil {
		return nil, err
	}
	opts := bindings.FactsOptions{Node: s.node, Environment: s.environment}
	if opts.Trusted, err = s.trusted(stdin); err != nil {
		return nil, err
	}
	if node.Vars, err = withFlags("--var", node.Vars, s.variables); err != nil {
		return nil, err
	}
	return facts.Variables(node, opts)
}

// nodeOfFile returns the node in the file of --facts, or the facts of --node from the directory of facts.
func (s *source) nodeOfFile(stdin io.Reader) (facts.Node, error) {
	if s.factsFile == "" {
		if s.factsDir != "" && s.node == "" {
			return facts.Node{}, factsError("--facts-dir %s: expected --node NAME", s.factsDir)
		}
		return s.nodeOfDir(s.node)
	}
	src, err := s.readAll("facts", s.factsFile, stdin)
	if err != nil {
		return facts.Node{}, err
	}
	nodes, err := facts.Parse(wherein(s.factsFile), src)
	if err != nil {
		return facts.Node{}, err
	}
	return facts.Choose(nodes, s.node)
}

// nodeOfDir reads the facts of a node from the directory of facts, if a directory is given.
func (s *source) nodeOfDir(name string) (facts.Node, error) {
	dir := cmp.Or(s.factsDir, os.Getenv("BINDQ_FACTS_DIR"))
	if dir == "" || name == "" {
		return facts.Node{}, nil
	}
	if s.fleet == nil {
		s.fleet = facts.NewFleet(dir)
	}
	return s.fleet.Node(name)
}

// trusted is the hash that --trusted gives.
func (s *source) trusted(stdin io.Reader) (bindings.Value, error) {
	if s.trustedFile == "" {
		return bindings.Value{}, nil
	}
	src, err := s.readAll("trusted facts", s.trustedFile, stdin)
	if err != nil {
		return bindings.Value{}, err
	}
	return facts.ParseHash("the trusted facts", wherein(s.trustedFile), src)
}

// readAll reads a file that holds what, in as many bytes as there may be.
func (s *source) readAll(what, path string, stdin io.Reader) ([]byte, error) {
	src, err := readUpTo(path, stdin, s.maxFacts+1)
	if err != nil {
		return nil, factsError("cannot read the %s: %v", what, err)
	}
	if len(src) > s.maxFacts {
		return nil, factsError("the %s, %s: expected at most %d bytes, there are more; raise --max-facts", what,
			wherein(path), s.maxFacts)
	}
	return src, nil
}

// hasFacts reports whether any flag describes the request.
func (s *source) hasFacts() bool {
	return s.factsFile != "" || len(s.facts)+len(s.variables) > 0 || s.node != "" || s.trustedFile != "" ||
		s.environment != "" || s.factsDir != ""
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

// wherein is a file as messages name it.
func wherein(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// withFlags adds the facts that a flag gives, each as name=text or name:=JSON. A name with points is a path into nested
// facts. A flag may replace what was there before, but not what the same flag has given.
func withFlags(flag string, before bindings.Value, texts []string) (bindings.Value, error) {
	given, facts := value.FromPairs(), lookup.Value(before).Content()
	for _, text := range texts {
		path, v, err := parseFact(flag, text)
		if err != nil {
			return before, err
		}
		if replaces(given, path, v) {
			return before, &bindings.Error{Code: bindings.CodeUsage, Message: fmt.Sprintf(
				"%s %s: another %s gives '%s' a different value; give it once", flag, text, flag, strings.Join(path, "."))}
		}
		given, facts = withNested(given, path, v), withNested(facts, path, v)
	}
	return bindings.Value(lookup.FromValue(facts)), nil
}

// parseFact parses name=text or name:=JSON into a path and a value.
func parseFact(flag, text string) (path []string, v value.Value, err error) {
	name, val, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return nil, v, factsError("%s: expected name=text or name:=JSON, found '%s'", flag, text)
	}
	v = value.FromString(val)
	if path, isJSON := strings.CutSuffix(name, ":"); isJSON {
		var wrong diag.List
		doc, ok := yaml.ParseJSON(flag, []byte(val), yaml.Options{SameValueTwice: true}, &wrong)
		if !ok && wrong.Sorted()[0].Code == "yaml_duplicate_key" {
			return nil, v, factsError("%s %s: %s", flag, text, wrong.Sorted()[0].Message)
		}
		if !ok {
			return nil, v, factsError("%s: expected JSON after '%s', found '%s'", flag, name+"=", val)
		}
		name, v = path, doc.Root.Literal()
	}
	path = strings.Split(name, ".")
	if slices.Contains(path, "") {
		return nil, v, factsError("%s: expected names between dots, found '%s'", flag, name)
	}
	return path, v, nil
}

// replaces reports whether v at path would replace a different value in the hash h.
func replaces(h value.Value, path []string, v value.Value) bool {
	for _, name := range path {
		if h.Kind() != value.Hash {
			return true
		}
		inner, ok := h.Get(value.FromString(name))
		if !ok {
			return false
		}
		h = inner
	}
	return !value.Same(h, v)
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
