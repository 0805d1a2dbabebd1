package manifest

import (
	"strings"

	"bindc/diag"
)

// Use is a lookup in a manifest.
type Use struct {
	At  diag.Pos
	Key string // root of the key, quoted if necessary
	By  string // what looks up the key, for messages, such as "lookup()"
}

func (c *Calls) use(call *Call) {
	if call.Keys == nil {
		c.Computed = append(c.Computed, call.At)
	}
	for _, key := range call.Keys {
		c.Uses = append(c.Uses, Use{call.At, key, call.Function + "()"})
	}
}

// class records the parameters of the class that begins at token i, if any, because Puppet looks them up. ok is false
// if the end of the parameter list is missing.
func (p *parser) class(i int) (ok bool) {
	if !p.isWord(i, "class") || i+1 >= len(p.tokens) || p.tokens[i+1].kind != name || !p.is(i+2, "(") {
		return true
	}
	class := p.tokens[i+1].text
	params, ok := split(p.tokens[i+3:])
	for _, param := range params {
		if v := parameter(param); v != nil {
			p.calls.Uses = append(p.calls.Uses, Use{p.pos(v.at), class + "::" + strings.TrimPrefix(v.text, "$"),
				"parameter " + v.text + " of the class " + class})
		}
	}
	return ok
}

// parameter returns the variable of a parameter, which may be preceded by a type.
func parameter(param []token) *token {
	depth := 0
	for i := range param {
		switch t := &param[i]; {
		case t.kind == variable && depth == 0:
			return t
		case t.kind == punct && t.text == "[":
			depth++
		case t.kind == punct && t.text == "]":
			depth--
		}
	}
	return nil
}
