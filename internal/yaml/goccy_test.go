package yaml

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	goccyparser "github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"bindc/diag"
	"bindc/internal/value"
)

// goccy/go-yaml shares no code with the library of this package, so it is an independent second opinion on keys,
// collections and the contents of scalars. This package itself resolves scalars and merge keys for both.

// opinion reads a document with goccy/go-yaml.
type opinion struct {
	report   *report
	anchors  map[string]Node
	declined bool // the document has a feature that is not compared, such as a tag
}

// secondOpinion returns the tree that goccy/go-yaml reads from src. ok is false if it rejects src, or if src has
// features that are not compared: tags, directives, and more or less than one document.
func secondOpinion(src []byte) (root Node, ok bool) {
	defer func() {
		if recover() != nil { // goccy/go-yaml panics on some malformed documents
			ok = false
		}
	}()
	file, err := goccyparser.ParseBytes(src, 0)
	if err != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return Node{}, false
	}
	d, problem := newDocument("f", src, refusedInYAML)
	if problem >= 0 {
		return Node{}, false
	}
	o := opinion{report: &report{doc: d, diags: &diag.List{}, opts: secondOptions}, anchors: map[string]Node{}}
	root = o.node(file.Docs[0].Body)
	return root, !o.declined && !o.report.diags.Failed()
}

// secondOptions accepts as much as possible, so that more documents are compared.
var secondOptions = Options{LastKeyWins: true, TimesAreText: true}

func (o *opinion) node(n ast.Node) Node {
	switch n := n.(type) {
	case *ast.MappingNode:
		return o.mapping(n.Values)
	case *ast.MappingValueNode:
		return o.mapping([]*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out := Node{Kind: Sequence, Kids: make([]Node, len(n.Values))}
		for i, kid := range n.Values {
			out.Kids[i] = o.node(kid)
		}
		return out
	case *ast.MappingKeyNode:
		return o.node(n.Value)
	case *ast.AnchorNode:
		out := o.node(n.Value)
		o.anchors[n.Name.GetToken().Value] = out
		return out
	case *ast.AliasNode:
		out, ok := o.anchors[n.Value.GetToken().Value]
		o.declined = o.declined || !ok
		return out
	case *ast.LiteralNode:
		return Node{Value: value.FromString(n.Value.Value)}
	case *ast.StringNode:
		if n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType {
			return Node{Value: value.FromString(n.Value)}
		}
		return o.plain(n.Value)
	case *ast.NullNode:
		if n.Token.Type == token.ImplicitNullType {
			return Node{}
		}
		return o.plain(n.Token.Value)
	case *ast.TagNode: // before ScalarNode, which it implements
	case ast.ScalarNode:
		return o.plain(n.GetToken().Value)
	}
	o.declined = true
	return Node{}
}

func (o *opinion) plain(text string) Node {
	v, problem := resolve(text)
	if problem == isDate {
		v = value.FromString(text)
	}
	o.declined = o.declined || problem == tooLarge
	return Node{Value: v}
}

func (o *opinion) mapping(entries []*ast.MappingValueNode) Node {
	m := mapping{report: o.report}
	for _, entry := range entries {
		val := o.node(entry.Value)
		if entry.Key.IsMergeKey() {
			m.merge(diag.Pos{}, &val)
			continue
		}
		m.set(o.node(entry.Key), val)
	}
	return Node{Kind: Mapping, Kids: m.kids}
}

// agrees fails if both parsers accept src but read different trees. It reports whether src was compared.
func agrees(t *testing.T, name string, src []byte) bool {
	t.Helper()
	theirs, ok := secondOpinion(src)
	if !ok {
		return false
	}
	d, ok := Parse(name, src, secondOptions, &diag.List{})
	if !ok || d.Root == nil {
		return false
	}
	if got, want := show(d.Root), show(&theirs); got != want {
		t.Errorf("%s: %.300q is\n%.2000s\nbut goccy/go-yaml reads\n%.2000s", name, src, got, want)
	}
	return true
}

func TestSecondOpinionOnCorpora(t *testing.T) {
	compared, files := 0, corpora(t)
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if agrees(t, file, src) {
			compared++
		}
	}
	t.Logf("%d of %d files were compared", compared, len(files))
	if compared < len(files)*9/10 {
		t.Errorf("only %d of %d files were compared", compared, len(files))
	}
}

// goccyDeviations lists the deviations of goccy/go-yaml v1.19.2 from YAML 1.1 and Psych, each with a minimal document.
// They are the reason why this package does not use it. TestGoccyDeviationsAreCurrent fails if one of them changes.
var goccyDeviations = map[string]struct{ src, ours, theirs string }{
	"a colon in a flow collection ends a key":        {"{a:b}\n", "{'a:b': null}", "{'a': 'b'}"},
	"a pair of colons in a flow collection":          {"{a::b: c}\n", "{'a::b': 'c'}", "{'a': ':b: c'}"},
	"a key that is a mapping loses it":               {"? a: b\n", "{{'a': 'b'}: null}", "{'a': 'b'}"},
	"an empty explicit key":                          {"#c\n?\n", "{null: null}", "'?'"},
	"an empty literal block as explicit key":         {"? |\n  \n: d\n", "{'': 'd'}", "{'': null, '\n': 'd'}"},
	"a dash that continues plain text":               {"- a\n - b\n  - c\n", "['a - b - c']", "['a - b\n - c']"},
	"a comment that ends plain text after a dash":    {"a: b\n - # c\n", "{'a': 'b -'}", "{'a': 'b - # c'}"},
	"a quote followed by a line break in quotes":     {"'a\n''\n b'\n", "'a ' b'", "'a '\nb'"},
	"blanks at the end of an indented block":         {"a: |2-\n   x  \n", "{'a': ' x  '}", "{'a': ' x'}"},
	"a literal block without text, with its newline": {"|+\n", "''", "'\n'"},
	"a line separator":                               {"a\u2028 b\n", "'a\u2028b'", "'a\u2028 b'"},
	"a character after a tab":                        {"a: b\tc d\n", "{'a': 'b\tc d'}", "{'a': 'bc d'}"},
}

func TestGoccyDeviationsAreCurrent(t *testing.T) {
	for name, c := range goccyDeviations {
		theirs, ok := secondOpinion([]byte(c.src))
		if got := show(&theirs); !ok || got != c.theirs {
			t.Errorf("%s: goccy/go-yaml reads %q as %q (accepted: %v), not as %q any more", name, c.src, got, ok, c.theirs)
		}
		check(t, c.src, secondOptions, c.ours, "")
	}
}

// FuzzSecondOpinion compares both parsers on documents in realistic style. Each byte of the input is a choice of the
// scribe that writes the document. With arbitrary bytes, it would only find the known goccyDeviations.
func FuzzSecondOpinion(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
	f.Add([]byte{0, 9, 1, 8, 2, 7, 3, 6, 4, 5, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9})
	f.Fuzz(func(t *testing.T, choices []byte) {
		s := scribe{choices: choices}
		s.collection(0, 0)
		if src := []byte(s.out.String()); !agrees(t, "f", src) {
			t.Errorf("%q was not compared: one of the parsers refuses it", src)
		}
	})
}

// scribe writes a document that is determined by a list of choices.
type scribe struct {
	choices []byte
	out     strings.Builder
	anchors int
}

// pick returns the next choice, a number less than n. Without further choices, it returns 0.
func (s *scribe) pick(n int) int {
	if len(s.choices) == 0 {
		return 0
	}
	c := int(s.choices[0])
	s.choices = s.choices[1:]
	return c % n
}

// Scalars for each style, as real data has them. Colons and braces in brackets are excluded because they are among
// goccyDeviations.
var (
	flowTexts   = []string{"a", "x-y", "é ü", "12", "0644", "true", "~", "1.5", "/etc/x", "a#b", "10.0.0.1", "it's", "-1"}
	plainTexts  = append([]string{"b::c", "x%{facts.os}", "yes", "http://x:80/y"}, flowTexts...)
	quotedTexts = []string{"''", "'it''s'", `"a\nb"`, `"\u00e9"`, "'a: b'", `"#c"`, "'- d'", `"\"q\""`, "' x '", `"{"`}
	blockTexts  = []string{"|", "|-", ">", ">-"}
)

// collection writes a hash or list in block style, with one entry per line.
func (s *scribe) collection(indent, depth int) {
	list := s.pick(3) == 0
	for i := range 1 + s.pick(4) {
		if s.pick(8) == 1 {
			s.out.WriteString("\n# comment: [\n")
		}
		s.out.WriteString(strings.Repeat(" ", indent))
		if list {
			s.out.WriteString("-")
		} else {
			s.key(i)
		}
		s.entry(indent, depth)
	}
}

func (s *scribe) key(i int) {
	key := "k" + strconv.Itoa(i)
	switch s.pick(4) {
	case 1:
		key = "'" + key + " x'"
	case 2:
		key = "m::" + key
	case 3:
		key = `"` + key + `"`
	}
	s.out.WriteString(key + ":")
}

// entry writes the value after a colon or dash.
func (s *scribe) entry(indent, depth int) {
	switch kind := s.pick(7); {
	case kind == 1:
		s.out.WriteString(" " + quotedTexts[s.pick(len(quotedTexts))])
	case kind == 2 && depth < 4:
		s.out.WriteString("\n")
		s.collection(indent+2, depth+1)
		return
	case kind == 3:
		s.out.WriteString(" " + blockTexts[s.pick(len(blockTexts))] + "\n")
		for range 1 + s.pick(3) {
			s.out.WriteString(strings.Repeat(" ", indent+2) + "text: [" + strconv.Itoa(s.pick(9)) + "\n")
		}
		return
	case kind == 4:
		s.out.WriteString(" ")
		s.flow(0)
	case kind == 5 && s.anchors > 0 && s.pick(2) == 1:
		s.out.WriteString(" *n" + strconv.Itoa(1+s.pick(s.anchors)))
	case kind == 5:
		s.anchors++
		s.out.WriteString(" &n" + strconv.Itoa(s.anchors) + " " + plainTexts[s.pick(len(plainTexts))])
	default:
		s.out.WriteString(" " + plainTexts[s.pick(len(plainTexts))])
	}
	if s.pick(5) == 1 {
		s.out.WriteString("  # comment")
	}
	s.out.WriteString("\n")
}

// flow writes a hash or list in brackets.
func (s *scribe) flow(depth int) {
	hash, n := s.pick(2) == 1, s.pick(4)
	s.out.WriteString([]string{"[", "{"}[btoi(hash)])
	for i := range n {
		if i > 0 {
			s.out.WriteString(", ")
		}
		if hash {
			s.out.WriteString("k" + strconv.Itoa(i) + ": ")
		}
		switch s.pick(4) {
		case 1:
			s.out.WriteString(quotedTexts[s.pick(len(quotedTexts))])
		case 2:
			if depth < 3 {
				s.flow(depth + 1)
				continue
			}
			fallthrough
		default:
			s.out.WriteString(flowTexts[s.pick(len(flowTexts))])
		}
	}
	s.out.WriteString([]string{"]", "}"}[btoi(hash)])
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
