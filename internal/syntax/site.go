package syntax

import "bindc/diag"

// BinderConfig is the syntax tree of binder_config.pp. Missing parts are nil.
type BinderConfig struct {
	Categories []Attribute // definitions of the categories, highest first
	Off        int         // offset of the categories
	Layers     []SiteLayer // highest first
	HasLayers  bool
}

// SiteLayer is a layer in binder_config.pp.
type SiteLayer struct {
	Name             Word
	Include, Exclude []Word // URIs of contributions
}

// ParseSite parses a file with one site { … }. It continues after an error, so it may return both errors and a
// result. The result is nil if src is not valid UTF-8.
func ParseSite(src string) (*BinderConfig, []SyntaxError) {
	p := newSetParser(src)
	if p.errs != nil {
		return nil, p.errs
	}
	p.advance()
	s := p.wholeSite()
	return s, p.errs
}

var siteWords = []string{"bindings", "categories"}

func (p *setParser) wholeSite() *BinderConfig {
	s := &BinderConfig{}
	p.header(func() {
		p.last().Block = true
		p.expect("{", "after site")
	}, "'site { … }'", "site")
	for !p.at("}") && p.tok.kind != tEOF {
		p.last().Begins = true
		begin := p.here()
		p.siteEntry(s)
		p.resume(begin, func(indent int) bool { return p.beginsSiteEntry() || p.beginsAt(indent) })
		p.accept(",")
	}
	if p.tok.kind != tEOF || len(p.errs) == 0 {
		p.last().Block = true
		p.expect("}", "at the end of site")
	}
	if p.err == nil && p.tok.kind != tEOF {
		p.failHere("expected nothing after site { }, found "+p.found(), "a file has one site { }")
	}
	p.note()
	return s
}

func (p *setParser) siteEntry(s *BinderConfig) {
	begin := p.tok.off
	switch {
	case p.accepts("categories"):
		if s.Off > 0 {
			p.fail(begin, "the categories are listed twice: expected one 'categories'", "")
			p.note()
		}
		s.Off = begin
		p.expect("{", "before the categories")
		p.elements("}", "category", p.beginsCategory, func() { s.Categories = append(s.Categories, p.category()...) })
	case p.accepts("bindings"):
		if s.HasLayers {
			p.fail(begin, "the layers are listed twice: expected only one 'bindings'", "")
			p.note()
		}
		s.HasLayers = true
		p.expect("=>", "after bindings")
		p.expect("[", "before the layers")
		p.elements("]", "layer", p.beginsLayer, func() {
			if l := p.layer(); p.err == nil {
				s.Layers = append(s.Layers, l)
			}
		})
	default:
		p.expected(diag.AnyOf(siteWords)+" in site { }", siteWords...)
	}
}

// elements parses elements separated by commas, up to closing. After an invalid element, it continues at a token for
// which next returns true, unless this token belongs to the enclosing construct.
func (p *setParser) elements(closing, what string, next func() bool, element func()) {
	for p.err == nil && !p.at(closing) && p.tok.kind != tEOF {
		begin := p.here()
		if element(); p.err == nil && !p.accept(",") && !p.at(closing) {
			p.unexpected(closing + " or , after the " + what)
		}
		another := func(indent int) bool {
			return next() || p.beginsSiteEntry() || p.beginsAt(indent) || p.open == 0 && p.at(",") || p.atEnd()
		}
		if p.resume(begin, another) && !p.accept(",") && (p.atEnd() || p.beginsSiteEntry()) {
			break
		}
	}
	switch {
	case p.accept(closing):
	case len(p.errs) == 0:
		p.unexpected(closing + " or , after the " + what)
	case p.at("}"), p.at("]"): // an error was reported; skip the wrong bracket
		p.advance()
	}
}

// resume records the current error, if there is one. It then moves to the first token after begin for which next
// returns true, and passes next the indentation of the line at begin. resume returns false if there was no error.
func (p *setParser) resume(begin lexer, next func(indent int) bool) bool {
	if p.err == nil {
		return false
	}
	p.note()
	if len(p.errs) >= maxErrors {
		p.stop()
	} else {
		indent := indentOf(p.src, begin.pos) // only after an error, because the line may be as long as the file
		p.skip(begin, func() bool { return next(indent) })
	}
	return true
}

// beginsAt reports whether the current token may begin another construct: a name that is the first on its line and
// not indented deeper than indent.
func (p *setParser) beginsAt(indent int) bool {
	return p.tok.kind == tName && beginsLine(p.src, p.tok.off) && indentOf(p.src, p.tok.off) <= indent
}

// atEnd reports whether the current token closes the list of elements.
func (p *setParser) atEnd() bool { return p.open == 0 && (p.at("}") || p.at("]")) }

// followed reports whether the current token is a name followed by op. Inside brackets, which may be unclosed, the
// name must be the first on its line.
func (p *setParser) followed(op string) bool {
	return p.tok.kind == tName && (p.open == 0 || beginsLine(p.src, p.tok.off)) && p.peek().is(tOp, op)
}

func (p *setParser) beginsSiteEntry() bool {
	return p.atWord("categories") && p.followed("{") || p.atWord("bindings") && p.followed("=>")
}

func (p *setParser) beginsCategory() bool { return p.followed("=>") && !p.beginsSiteEntry() }

func (p *setParser) beginsLayer() bool { return p.atWord("layer") && p.peek().is(tOp, "{") }

// category parses NAME => VALUE. It returns nil after an error.
func (p *setParser) category() []Attribute {
	name := p.name("a category name")
	p.expect("=>", "after the name of the category")
	a := Attribute{Name: name.Text, Off: name.Off, Value: p.checkedTree(listed(p.entry()))}
	if p.err != nil {
		return nil
	}
	return []Attribute{a}
}

// layer parses layer { 'name': include => URI, exclude => [URI, URI] }.
func (p *setParser) layer() (l SiteLayer) {
	if !p.accepts("layer") {
		p.expected("layer { 'name': include => 'URI' }", "layer")
		return l
	}
	p.expect("{", "after layer")
	l.Name = Word{Off: p.tok.off}
	l.Name.Text = p.constantText("the name of the layer, a string")
	p.expect(":", "after the name of the layer")
	for p.err == nil && !p.at("}") {
		p.layerAttribute(&l)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}", "or , after the attribute of the layer")
	return l
}

// layerAttribute parses an attribute of a layer. It reports an unknown attribute and skips its value.
func (p *setParser) layerAttribute(l *SiteLayer) {
	switch {
	case p.accepts("include"):
		l.Include = append(l.Include, p.uris()...)
	case p.accepts("exclude"):
		l.Exclude = append(l.Exclude, p.uris()...)
	default:
		name, unknown := p.tok, p.peek().is(tOp, "=>")
		p.expected("'include' or 'exclude'", "include", "exclude")
		if unknown {
			p.note()
			p.tok = name
			p.advance()
			p.uris()
		}
	}
}

func (p *setParser) uris() []Word {
	p.expect("=>", "and URIs")
	if p.accept("[") {
		return commaList(p, "]", p.uri)
	}
	return []Word{p.uri()}
}

func (p *setParser) uri() Word {
	w := Word{Off: p.tok.off}
	w.Text = p.constantText("a URI, a string")
	return w
}
