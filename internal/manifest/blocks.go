package manifest

import (
	"slices"
	"strings"
)

// block describes the code between two brackets of any kind.
type block struct {
	within      string // name of the enclosing definition, such as a class; "" at the top level and in nodes
	isClass     bool   // within names a class
	inNode      bool   // the code is in a node definition
	conditional bool   // the code may not run, as in the body of an if
	hasOther    bool   // some conditions around the code are not recorded in scope
	scope       *scope // nil at the top level
}

// scope is the code between two brackets, and the scopes that enclose it. asked has the conditions under which the code
// runs: in each list, at least one variable must have a value.
type scope struct {
	outer *scope
	asked [][]string
}

// isIn reports whether s is outer or nested in it.
func (s *scope) isIn(outer *scope) bool {
	for s != outer {
		if s == nil {
			return false
		}
		s = s.outer
	}
	return true
}

// isUncertain reports whether the code may not run even though the given variables have values.
func (b *block) isUncertain(variables map[string]bool) bool {
	for s := b.scope; s != nil; s = s.outer {
		if slices.ContainsFunc(s.asked, func(list []string) bool {
			return !slices.ContainsFunc(list, func(name string) bool { return variables[name] })
		}) {
			return true
		}
	}
	return b.hasOther
}

// defining lists the keywords of definitions with a body.
var defining = []string{"class", "define", "function", "plan", "node"}

// blocks keeps track of brackets while the tokens of a manifest are read in order.
type blocks struct {
	*parser
	open []block // from the outermost to the innermost block

	pending *block // definition whose body has not yet begun, or nil
	depth   int    // number of open blocks where the body of pending begins

	asking map[int][][]string // by index of an opening brace: the conditions for its block
}

// see must be called for every token in order. It returns the block that contains token i.
func (b *blocks) see(i int) block {
	switch t := &b.tokens[i]; {
	case t.kind == name && slices.Contains(defining, t.text) && !b.is(i+1, "{") && !b.is(i+1, "=>") && !b.is(i-1, "."):
		b.pending, b.depth = b.definition(i), len(b.open)
	case t.kind == name && (t.text == "if" || t.text == "each"):
		b.ask(i)
	case t.kind == punct && t.text == "{" && b.pending != nil && b.depth == len(b.open):
		b.pending.scope = &scope{outer: b.inside().scope}
		b.open, b.pending = append(b.open, *b.pending), nil
	case t.kind == punct && (t.text == "(" || t.text == "[" || t.text == "{"):
		inner := b.inside()
		asked, known := b.asking[i]
		if t.text == "{" && !b.isWord(i-1, "class") {
			inner.conditional, inner.hasOther = true, inner.hasOther || !known
		}
		inner.scope = &scope{inner.scope, asked}
		b.open = append(b.open, inner)
	case t.kind == punct && (t.text == ")" || t.text == "]" || t.text == "}") && len(b.open) > 0:
		b.open = b.open[:len(b.open)-1]
	}
	if b.pending != nil && b.depth == len(b.open) {
		return *b.pending
	}
	return b.inside()
}

func (b *blocks) inside() block {
	if len(b.open) == 0 {
		return block{}
	}
	return b.open[len(b.open)-1]
}

// definition returns the block for the body of the definition that begins at token i.
func (b *blocks) definition(i int) *block {
	out := b.inside()
	if b.tokens[i].text == "node" || i+1 >= len(b.tokens) {
		out.inNode = true
		return &out
	}
	name := b.tokens[i+1].text
	if out.within != "" {
		name = out.within + "::" + name
	}
	return &block{within: name, isClass: b.tokens[i].text == "class"}
}

// ask records under which conditions the body of the if, or of the lambda of each, at token i runs.
func (b *blocks) ask(i int) {
	// The condition of an if may be this many tokens long; a longer one is treated as unknown.
	const longest = 1000
	tokens := b.tokens[i+1 : min(i+1+longest, len(b.tokens))]
	var asked [][]string
	body, ok := 0, true
	if b.tokens[i].text == "if" {
		for body < len(tokens) && !isPunct(tokens[body], "{") {
			if isPunct(tokens[body], "(") || isPunct(tokens[body], "[") {
				body = closing(tokens, body) - 1
			}
			body++
		}
		asked, ok = b.presence(tokens[:min(body, len(tokens))])
	} else {
		asked, body, ok = eachElement(tokens)
	}
	if !ok {
		return
	}
	if b.asking == nil {
		b.asking = map[int][][]string{}
	}
	b.asking[i+1+body] = asked
}

// eachElement returns the parameters of the lambda passed to each, and the index of the brace that begins the lambda's
// body. tokens begin after the word 'each'.
func eachElement(tokens []token) (asked [][]string, body int, ok bool) {
	i := 0
	if len(tokens) > 0 && isPunct(tokens[0], "(") {
		i = closing(tokens, 0)
	}
	if i >= len(tokens) || !isPunct(tokens[i], "|") {
		return nil, 0, false
	}
	var names []string
	for i++; i < len(tokens) && !isPunct(tokens[i], "|"); i++ {
		if tokens[i].kind == variable {
			names = append(names, rootOf(&tokens[i]))
		}
	}
	return [][]string{names}, i + 1, i+1 < len(tokens) && isPunct(tokens[i+1], "{")
}

// presence returns the conditions that an expression states. ok is false unless the expression only tests whether
// variables have values, or whether classes named by variables exist.
func (b *blocks) presence(condition []token) (asked [][]string, ok bool) {
	before := func(i int, text string) bool { return i >= 0 && i < len(condition) && condition[i].text == text }
	for i := range condition {
		switch t := &condition[i]; {
		case t.kind == variable:
			asked = append(asked, []string{rootOf(t)})
		case t.kind == computed:
			r := nameReader{parser: *b.parser}
			for _, inner := range r.interpolations(t) {
				if inner.kind == variable {
					asked = append(asked, []string{rootOf(&inner)})
				}
			}
		case t.kind == text:
			ok = before(i-1, "[") || t.text == "" && before(i-1, "=")
		case t.kind == name:
			isEmpty := t.text == "empty" && before(i-1, "!")
			isDefined := t.text == "defined" && !before(i-1, "!")
			ok = isEmpty || isDefined || t.text == "and" || t.text == "undef" && before(i-1, "=")
		case t.text == "!":
			ok = before(i+1, "empty") || before(i+1, "=")
		case t.text == "=":
			ok = before(i-1, "!")
		default:
			ok = strings.Contains("()[]", t.text)
		}
		if t := &condition[i]; t.kind != variable && t.kind != computed && !ok {
			return nil, false
		}
	}
	return asked, true
}
