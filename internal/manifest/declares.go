package manifest

import (
	"slices"
	"strings"

	"bindc/diag"
)

// Declaration is a place at which a manifest declares a class, for example with include.
type Declaration struct {
	Class string      // "" if the name is computed
	Names *ClassNames // possible names if the name is computed, or nil
	At    diag.Pos
	// Given lists the parameters that the declaration sets, so that Puppet does not look them up. If Any is true, the
	// declaration may set any parameter, for example with a splat.
	Given []string
	Any   bool

	Within      string // name of the enclosing definition, such as a class; "" at the top level and in nodes
	InNode      bool   // only some nodes get the class, for example because of a node definition
	Conditional bool   // the code may not run, for example because it is in the body of an if
	IsEntry     bool   // an option names the class; never set by ReadDeclarations
}

// declaring lists the functions that declare the classes in their arguments.
var declaring = []string{"include", "contain", "require"}

// ReadDeclarations returns the declarations in the manifest with the text src.
func ReadDeclarations(path, src string) []Declaration {
	streams, _ := scan(src)
	var out []Declaration
	for n, tokens := range streams {
		d := declarationReader{parser: parser{path: path, src: src, tokens: tokens}, resources: map[string][]*scope{}}
		b := blocks{parser: &d.parser}
		if n > 0 { // code in a string; its block is not known
			b.open = []block{{within: "?", conditional: true, hasOther: true}}
		}
		for i := range tokens {
			d.block = b.see(i)
			if t := &tokens[i]; t.kind == name {
				d.read(i, t.text)
			}
		}
		out = append(out, d.out...)
	}
	return out
}

type declarationReader struct {
	parser
	block block // block that contains the current token
	out   []Declaration

	resources map[string][]*scope // by class: the scopes that contain a declaration such as class { 'x': }
}

func (d *declarationReader) read(i int, word string) {
	switch {
	case word == "inherits":
		d.add(i+1, Declaration{})
	case word == "class" && d.is(i+1, "{"):
		d.resource(i + 2)
	case slices.Contains(declaring, word) && d.is(i-1, "."): // method call, with the classes before the dot
		d.before(i - 2)
		d.compute(d.expressionStart(i-1), i-1, Declaration{})
	case slices.Contains(declaring, word) && !d.is(i+1, "=>"):
		d.list(i + 1)
		d.computedList(i + 1)
	case word == "hiera_include" && d.is(i+1, "("):
		d.compute(i, closing(d.tokens, i+1), Declaration{})
	}
}

// compute adds a declaration of the classes that the expression in tokens[from:to] can name. It does nothing if the
// expression is constant. like has the parameters to copy.
func (d *declarationReader) compute(from, to int, like Declaration) {
	if from >= to {
		return
	}
	names, isConditional := d.namesIn(from, to)
	if names == nil {
		return
	}
	like.Names, like.At, like.Conditional = names, d.pos(d.tokens[from].at), isConditional
	like.Within, like.InNode = d.block.within, d.block.inNode
	d.out = append(d.out, like)
}

// computedList reads the arguments of a function, from token i, and adds declarations for the computed ones.
func (d *declarationReader) computedList(i int) {
	for i < len(d.tokens) {
		end := d.expressionEnd(i)
		if d.compute(i, end, Declaration{}); !d.is(end, ",") {
			return
		}
		i = end + 1
	}
}

// add adds a declaration of the class named by token i. It returns false if the token is not a name or string. like has
// the parameters to copy.
func (d *declarationReader) add(i int, like Declaration) bool {
	if i < 0 || i >= len(d.tokens) || d.tokens[i].kind != name && d.tokens[i].kind != text {
		return false
	}
	like.Class, like.At = strings.TrimPrefix(d.tokens[i].text, "::"), d.pos(d.tokens[i].at)
	like.Within, like.InNode, like.Conditional = d.block.within, d.block.inNode, d.block.conditional
	if !d.isDeclared(like.Class) {
		d.out = append(d.out, like)
	}
	return true
}

// isDeclared reports whether earlier code has certainly declared the class like a resource. In that case, include and
// contain do nothing, and Puppet does not look up the class's parameters.
func (d *declarationReader) isDeclared(class string) bool {
	return slices.ContainsFunc(d.resources[class], d.block.scope.isIn)
}

// list reads the class names in the arguments of a function, from token i.
func (d *declarationReader) list(i int) {
	for depth := 0; i < len(d.tokens); i++ {
		t := &d.tokens[i]
		switch {
		case t.kind == punct && strings.Contains("([", t.text):
			depth++
		case t.kind == punct && strings.Contains(")]", t.text):
			if depth--; depth <= 0 {
				return
			}
		case t.kind == punct && t.text == ",":
		case t.kind == punct:
			return
		default:
			d.add(i, Declaration{})
			if depth == 0 && !d.is(i+1, ",") {
				return
			}
		}
	}
}

// before reads the class name, or the list of class names, that ends at token i.
func (d *declarationReader) before(i int) {
	if !d.is(i, "]") {
		d.add(i, Declaration{})
		return
	}
	for i--; i >= 0 && !d.is(i, "["); i-- {
		d.add(i, Declaration{})
	}
}

// resource reads the bodies of a declaration such as class { 'a': x => 1; 'b': }. Token i is the first title.
func (d *declarationReader) resource(i int) {
	for i < len(d.tokens) {
		end, depth := i, 0
		for ; end < len(d.tokens); end++ {
			t := &d.tokens[end]
			if t.kind != punct {
				continue
			}
			if strings.Contains("([{", t.text) {
				depth++
			} else if depth == 0 && strings.Contains(";}", t.text) {
				break
			} else if strings.Contains(")]}", t.text) {
				depth--
			}
		}
		d.body(i, min(end, len(d.tokens)))
		if !d.is(end, ";") {
			return
		}
		i = end + 1
	}
}

// body reads one body of a declaration such as class { 'a': x => 1 }: titles, a colon and attributes.
func (d *declarationReader) body(from, to int) {
	colon := from
	for colon < to && !d.is(colon, ":") {
		colon++
	}
	var like Declaration
	depth := 0
	for i := colon + 1; i < to; i++ {
		t := &d.tokens[i]
		switch {
		case t.kind == punct && strings.Contains("([{", t.text):
			depth++
		case t.kind == punct && strings.Contains(")]}", t.text):
			depth--
		case depth == 0 && d.is(i+1, "=>") && (d.is(i-1, ",") || i == colon+1):
			like.Given = append(like.Given, t.text)
			like.Any = like.Any || d.is(i, "*")
		}
	}
	d.compute(from, colon, like)
	for i := from; i < colon; i++ {
		if d.add(i, like) {
			class := strings.TrimPrefix(d.tokens[i].text, "::")
			d.resources[class] = append(d.resources[class], d.block.scope)
		}
	}
}
