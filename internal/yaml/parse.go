package yaml

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	// Why this library: like Psych, it descends from libyaml, and it takes linear time. Compared with Psych,
	// github.com/goccy/go-yaml v1.19.2 silently gives a wrong value for 16 of 385 tricky snippets and 169 of 30,000
	// damaged files; this library does so for 4 and 16, and repair.go mends or refuses these. goccy reads {a::b: c} as
	// {a: ':b: c'} and drops tabs, and its parser is quadratic (5.6 MB/s at 1,000 keys, 1.8 at 10,000, against 34 and
	// 34). On real files this library is stricter than libyaml, which repair.go mends too. It has no public events, so
	// its tree is converted, and values are resolved here.
	goyaml "go.yaml.in/yaml/v4"

	"bindc/diag"
	"bindc/internal/value"
)

// Limits on the work that a file can cause.
const (
	maxDepth    = 512       // nesting of hashes and lists, including aliases; see tooDeep
	maxExpanded = 1_000_000 // nodes reached through aliases in one file; textOfNode bytes of text count as one node
	textOfNode  = 64
	maxRepairs  = 100      // changes that repair makes to one file; after each, the library reads the file again
	maxRepaired = 32 << 20 // bytes read again, after which no more changes are made
)

// Parse parses a YAML file. If there are errors, it adds them to diags and returns false. The document retains src,
// which must not be modified.
func Parse(file string, src []byte, opts Options, diags *diag.List) (*Document, bool) {
	memory := opts.scratch()
	d, problem := memory.newDocument(file, src, refusedInYAML)
	if problem >= 0 {
		d.hideSecrets(diags)
		(&report{doc: d, diags: diags}).refuseBytes(problem)
		return nil, false
	}
	if root, ok := readBlocks(d, memory); ok {
		d.Root = root
		return d, true
	}
	return d, convert(d, opts, diags)
}

// convert parses d with the library. It returns false if there are errors.
func convert(d *Document, opts Options, diags *diag.List) bool {
	c := converter{
		report:   &report{doc: d, opts: opts, diags: diags},
		anchored: map[*goyaml.Node]Node{},
		budget:   maxExpanded,
	}
	c.read()
	if c.failed {
		d.hideSecrets(diags)
	}
	return !c.failed
}

type converter struct {
	*report
	anchored map[*goyaml.Node]Node // finished nodes with an anchor
	budget   int                   // remaining number of nodes that aliases may reach
}

func (c *converter) read() {
	root, rest, err := c.load()
	switch {
	case err == io.EOF:
		return
	case err != nil:
		c.refuse(err)
		return
	}
	if !isEmpty(root) {
		n := c.node(root, 0)
		c.doc.Root = &n
	}
	c.warnOfFurtherDocuments(rest)
}

// load reads the first YAML document in the file. The loader that it returns reads the documents after it.
func (c *converter) load() (*goyaml.Node, *goyaml.Loader, error) {
	src := c.doc.src
	for repairs := 0; ; repairs++ {
		loader, err := newLoader(src)
		if err != nil {
			return nil, nil, err
		}
		var top goyaml.Node
		err = loader.Load(&top)
		if err == nil {
			repairEnding(&top, src)
			return top.Content[0], loader, nil
		}
		fixed, ok := c.repair(src, err)
		if !ok || repairs == maxRepairs || repairs*len(src) > maxRepaired {
			return nil, nil, err
		}
		src = fixed
	}
}

func newLoader(src []byte) (*goyaml.Loader, error) {
	return goyaml.NewLoader(bytes.NewReader(src), goyaml.WithPlugin(limits{}))
}

// limits limits the nesting of collections in the library. The library counts block collections and those in brackets
// separately, so the method node checks the depth again. The method alias limits aliases.
type limits struct{}

func (limits) CheckDepth(depth int, _ *goyaml.DepthContext) error {
	if depth > maxDepth {
		return errTooDeep
	}
	return nil
}

func (limits) CheckAlias(int, int) error { return nil }

var errTooDeep = errors.New(tooDeep)

func (c *converter) refuse(err error) {
	var at *goyaml.LoadError
	if !errors.As(err, &at) {
		c.fail(diag.Pos{File: c.doc.File, Line: 1, Col: 1}, "yaml_syntax", err.Error(), "")
		return
	}
	c.refuseSyntax(complaint{
		problem: at.Message,
		context: at.ContextMsg,
		pos:     c.mark(at.Mark.Line, at.Mark.Column),
		start:   c.mark(at.ContextMark.Line, at.ContextMark.Column),
	})
}

// mark converts a position from the library, which may be after the end of the file.
func (c *converter) mark(line, col int) diag.Pos {
	if line > len(c.doc.lines) {
		return c.doc.posAt(len(c.doc.src))
	}
	return diag.Pos{File: c.doc.File, Line: line, Col: col}
}

func (c *converter) position(n *goyaml.Node) diag.Pos { return c.mark(n.Line, n.Column) }

// warnOfFurtherDocuments warns about the first document in rest that is not empty or has a syntax error.
func (c *converter) warnOfFurtherDocuments(rest *goyaml.Loader) {
	for {
		var top goyaml.Node
		err := rest.Load(&top)
		if err == io.EOF {
			return
		}
		var at *goyaml.LoadError
		pos := c.position(&top)
		if errors.As(err, &at) {
			pos = c.mark(at.Mark.Line, at.Mark.Column)
		}
		if err != nil || !isEmpty(top.Content[0]) {
			c.warn(pos, "yaml_document",
				"this second YAML document is ignored: only the first one in a file is used",
				"put it in another file, or remove the '---' before it")
			return
		}
	}
}

// isEmpty reports whether n, the root of a document, is empty. An explicit null is not.
func isEmpty(n *goyaml.Node) bool {
	return n.Kind == goyaml.ScalarNode && n.Value == "" && n.Style&(quoted|goyaml.TaggedStyle) == 0 && n.Anchor == ""
}

const quoted = goyaml.SingleQuotedStyle | goyaml.DoubleQuotedStyle | goyaml.LiteralStyle | goyaml.FoldedStyle

// node converts n, which is nested depth levels deep. It releases the nodes inside n once they are converted, so that
// memory never holds both trees completely.
func (c *converter) node(n *goyaml.Node, depth int) Node {
	if n.Kind == goyaml.AliasNode {
		return c.alias(n, depth)
	}
	pos := c.position(n)
	out := Node{Line: uint32(pos.Line), Col: uint32(pos.Col)}
	c.refuseIndicators(n)
	switch {
	case n.Kind == goyaml.ScalarNode:
		c.refuseByteOrderMark(n)
		out.Value = c.scalar(n)
		out.Unfit = c.unfit(n, out.Value)
	case depth == maxDepth:
		c.fail(c.doc.Pos(&out), "yaml_depth", tooDeep, "")
	case n.Kind == goyaml.MappingNode:
		c.checkTag(n, Mapping)
		out.Kind = Mapping
		out.Kids = c.entries(n, depth+1)
	case isTagged(n) && slices.Contains(omapTags, n.Tag):
		out.Kind = Mapping
		out.Kids = c.ordered(n, depth+1)
	default:
		c.checkTag(n, Sequence)
		out.Kind = Sequence
		out.Kids = make([]Node, len(n.Content))
		for i, kid := range n.Content {
			out.Kids[i] = c.node(kid, depth+1)
			n.Content[i] = nil
		}
	}
	if n.Anchor != "" {
		c.anchor(n, out)
	}
	return out
}

func (c *converter) entries(n *goyaml.Node, depth int) []Node {
	m := mapping{report: c.report, kids: make([]Node, 0, len(n.Content))}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		key, val := c.node(k, depth), c.node(n.Content[i+1], depth)
		if key.Unfit == Symbol {
			key.Value, key.Unfit = value.FromString(symbolName(key.Value.Text())), Fit
		}
		if isMergeKey(k, &key) {
			m.merge(c.position(k), &val)
		} else {
			m.set(key, val)
		}
		if n.Style&goyaml.FlowStyle == 0 {
			c.warnOfLostColon(k, n.Content[i+1])
		} else {
			c.warnOfKeyAlone(k, n.Content[i+1])
		}
		n.Content[i], n.Content[i+1] = nil, nil
	}
	return m.kids
}

// isMergeKey reports whether key, which was converted from n, is a merge key. As in Psych, it may have quotes and any
// tag except !!str.
func isMergeKey(n *goyaml.Node, key *Node) bool {
	text, _ := key.Text()
	return text == mergeKey && !(isTagged(n) && n.Tag == "!!str")
}

// anchor records out, the result of converting n, for aliases of n. The library assigns each alias to the last anchor
// with its name.
func (c *converter) anchor(n *goyaml.Node, out Node) {
	for i := range len(n.Anchor) {
		if b := n.Anchor[i]; !isDigit(b) && (b|0x20 < 'a' || b|0x20 > 'z') && b != '_' && b != '-' {
			c.fail(c.doc.Pos(&out), "yaml_syntax",
				"expected an anchor of letters, digits, '_' and '-', found &"+n.Anchor, "")
			break
		}
	}
	c.anchored[n] = out
}

// alias returns a copy of the node that the alias n refers to. The copy shares the node's Kids, so it takes no
// memory. Visiting it takes time, which the budget limits.
func (c *converter) alias(n *goyaml.Node, depth int) Node {
	if c.budget < 0 {
		return Node{} // the error is already reported
	}
	pos := c.position(n)
	out, finished := c.anchored[n.Alias]
	if !finished {
		c.fail(pos, "yaml_alias", "the alias *"+n.Value+" is inside the value that it refers to", "")
		return Node{}
	}
	switch deep := c.expand(&out, depth); {
	case c.budget < 0:
		c.fail(pos, "yaml_alias", "the aliases up to here expand to more than "+strconv.Itoa(maxExpanded)+" values or "+
			strconv.Itoa(maxExpanded*textOfNode)+" bytes of text", "use fewer aliases to values that contain aliases")
	case deep:
		c.fail(pos, "yaml_depth", tooDeep, "")
	default:
		return out
	}
	return Node{}
}

// expand subtracts the number of nodes in n from the budget, until the budget is used up. It reports whether these
// nodes are nested too deeply.
func (c *converter) expand(n *Node, depth int) (deep bool) {
	c.budget--
	if n.Kind == Scalar {
		if n.Value.Kind() == value.String {
			c.budget -= len(n.Value.Text()) / textOfNode
		}
		return false
	}
	if depth == maxDepth {
		return true
	}
	for i := range n.Kids {
		if c.budget < 0 {
			return false
		}
		if c.expand(&n.Kids[i], depth+1) {
			return true
		}
	}
	return false
}

func (c *converter) scalar(n *goyaml.Node) value.Value {
	if isTagged(n) {
		return c.tagged(n)
	}
	if n.Style&quoted != 0 && n.Tag != "!" {
		return value.FromString(n.Value)
	}
	v, _ := c.resolved(n)
	return v
}

// resolved returns the value of n's text, read as a plain scalar. It returns false after an error.
func (c *converter) resolved(n *goyaml.Node) (value.Value, bool) {
	v, problem := resolve(n.Value)
	if problem == isDate && c.opts.TimesAreText || problem == tooLarge && c.opts.Hiera5 {
		return value.FromString(n.Value), true
	}
	if problem != noFault {
		c.refuseScalar(c.position(n), n.Value, problem)
	}
	return v, problem == noFault
}

// unfit returns the reason why v, the value of n, is unfit. In files other than Hiera 5 data, it returns Fit.
func (c *converter) unfit(n *goyaml.Node, v value.Value) Unfit {
	if !c.opts.Hiera5 || v.Kind() != value.String {
		return Fit
	}
	plain := n.Style&quoted == 0 && !isTagged(n)
	switch {
	case isTagged(n) && strings.HasPrefix(n.Tag, symbolTag), plain && isSymbol(n.Value):
		return Symbol
	case plain:
		if _, problem := resolve(n.Value); problem == tooLarge {
			return TooLarge
		}
	}
	return Fit
}

// isSymbol reports whether Psych reads a plain scalar as a symbol.
func isSymbol(text string) bool {
	return len(text) > 1 && text[0] == ':' && !strings.Contains(text, "\n")
}

// symbolName returns the name of the symbol text, which begins with a colon.
func symbolName(text string) string {
	text = text[1:]
	if last := len(text) - 1; last > 0 && (text[0] == '"' || text[0] == '\'') && text[last] == text[0] {
		return strings.TrimPrefix(text[1:last], ":")
	}
	return text
}
