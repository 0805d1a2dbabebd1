package manifest

import (
	"strings"

	"bindc/internal/lookupkey"
)

// Name is a key that a manifest mentions.
type Name struct {
	Key       string // root of the key, quoted if necessary
	Parameter bool   // Key is looked up for a class parameter, not by a call
	From, To  int    // byte offsets of the text, without quotes or $
}

// Names returns the constant keys of lookups and the class parameters in a manifest. The manifest may have syntax
// errors.
func Names(src string) (out []Name) {
	streams, _ := scan(src)
	for _, tokens := range streams {
		p := parser{src: src, tokens: tokens}
		for i := range tokens {
			for _, t := range p.lookedUp(i) {
				out = append(out, nameOf(src, t))
			}
		}
	}
	for _, c := range ReadHeader("", src).Classes {
		for _, param := range c.Params {
			out = append(out, Name{c.Name + "::" + param.Name, true, param.off, param.off + len(param.Name)})
		}
	}
	return out
}

// nameOf returns the Name for the key in token t.
func nameOf(src string, t token) Name {
	n := Name{Key: t.text, From: t.at, To: t.end}
	if strings.IndexByte(`'"`, src[t.at]) >= 0 {
		n.From, n.To = t.at+1, t.end-1
	}
	if k, err := lookupkey.Parse(strings.TrimPrefix(t.text, "::")); err == nil {
		n.Key, _ = lookupkey.Quoted(k.Root)
	}
	return n
}

// lookedUp returns the tokens of the constant keys in the lookup that begins at token i, if any.
func (p *parser) lookedUp(i int) []token {
	function := p.tokens[i]
	if function.kind != name || function.text != "lookup" && ofHiera[function.text] == "" || !p.is(i+1, "(") ||
		p.isWord(i-1, "function") {
		return nil
	}
	if p.is(i-1, ".") && i >= 2 { // method call, with the key before the dot
		return texts(p.tokens[i-2 : i-1])
	}
	args, ok := split(p.tokens[i+2:])
	if !ok { // the call has no end yet
		args = [][]token{p.tokens[i+2 : min(i+3, len(p.tokens))]}
	}
	if len(args) == 0 {
		return nil
	}
	if pairs, isHash := pairsOf(args[0]); isHash {
		return texts(pairs["name"])
	}
	return texts(args[0])
}

// texts returns the tokens of a string, or of all strings in a list.
func texts(arg []token) []token {
	if len(arg) > 1 && arg[0].kind == punct && arg[0].text == "[" {
		elems, _ := split(arg[1:])
		var out []token
		for _, e := range elems {
			out = append(out, texts(e)...)
		}
		return out
	}
	if len(arg) != 1 || arg[0].kind != name && arg[0].kind != text {
		return nil
	}
	return arg
}
