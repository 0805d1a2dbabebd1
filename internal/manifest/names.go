package manifest

import (
	"strings"

	"bindc/internal/lookupkey"
)

// Name is a key in a manifest.
type Name struct {
	Key       string // root of the key, quoted if necessary
	Parameter bool   // the name of a class parameter, not the key of a lookup
	From, To  int    // byte offsets of the key or of the parameter's name, without quotes and $
}

// Names finds the constant keys of lookups and the parameters of classes in a manifest, which may be incomplete.
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

// nameOf returns the key of a lookup in the token t.
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

// lookedUp returns the tokens of the constant keys in the call that begins at token i.
func (p *parser) lookedUp(i int) []token {
	function := p.tokens[i]
	if function.kind != name || function.text != "lookup" && ofHiera[function.text] == "" || !p.is(i+1, "(") ||
		p.isWord(i-1, "function") {
		return nil
	}
	if p.is(i-1, ".") && i >= 2 { // called as a method: the key is before the dot
		return texts(p.tokens[i-2 : i-1])
	}
	args, ok := split(p.tokens[i+2:])
	if !ok { // the call is incomplete
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

// texts returns the tokens of a constant, or of the constants in a list.
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
