package yaml

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/goccy/go-yaml/ast"
	goccyparser "github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"bindc/diag"
	"bindc/internal/testmode"
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
		key, val := o.node(entry.Key), o.node(entry.Value) // in this order, because an anchor may be redefined
		if entry.Key.IsMergeKey() {
			m.merge(diag.Pos{}, &val)
			continue
		}
		m.set(key, val)
	}
	return Node{Kind: Mapping, Kids: m.kids}
}

// agrees fails if both parsers accept src but read different trees, unless one of the known deviations can affect src.
// It reports whether both accept src.
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
	if got, want := show(d.Root), show(&theirs); got != want && deviationIn(src) == "" {
		t.Errorf("%s: %.300q is\n%.2000s\nbut goccy/go-yaml reads\n%.2000s", name, src, got, want)
	}
	return true
}

func TestSecondOpinionOnCorpora(t *testing.T) {
	testmode.SkipUnderRace(t)
	compared, files := 0, corpora(t)
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if agrees(t, file, src) && deviationIn(src) == "" {
			compared++
		}
	}
	t.Logf("%d of %d files were compared", compared, len(files))
	if compared < len(files)*9/10 {
		t.Errorf("only %d of %d files were compared", compared, len(files))
	}
}

// damages is the number of damaged documents that FuzzSecondOpinion begins with.
const damages = 100

// FuzzSecondOpinion compares both parsers on all documents that both accept and that no known deviation can affect.
func FuzzSecondOpinion(f *testing.F) {
	for _, src := range seeds {
		f.Add([]byte(src))
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range damages {
		f.Add(damaged(random, scribedAtRandom(random)))
	}
	f.Fuzz(func(t *testing.T, src []byte) { agrees(t, "f", src) })
}

// damaged returns src after a few characters were inserted or deleted.
func damaged(random *rand.Rand, src []byte) []byte {
	const inserted = " \n:-?[]{},#&*!|>'\"%~<.\\a0"
	for range 1 + random.IntN(4) {
		at := random.IntN(len(src))
		if random.IntN(2) == 0 {
			src = slices.Delete(src, at, at+1)
		} else {
			src = slices.Insert(src, at, inserted[random.IntN(len(inserted))])
		}
	}
	return src
}
