package syntax

import "bindc/internal/diag"

// Site is what binder_config.pp says. What it does not say is nil.
type Site struct {
	Categories []Attribute // highest first
	Off        int         // of the categories
	Layers     []SiteLayer // highest first
	HasLayers  bool
}

// SiteLayer is a layer of contributions.
type SiteLayer struct {
	Name             Word
	Include, Exclude []Word // URIs
}

// ParseSite parses a file with one site { … }.
func ParseSite(src string) (*Site, []Error) {
	p := newSetParser(src)
	if p.errs != nil {
		return nil, p.errs
	}
	p.advance()
	s := p.wholeSite()
	p.note()
	return s, p.errs
}

var siteWords = []string{"bindings", "categories"}

func (p *setParser) wholeSite() *Site {
	s := &Site{}
	if !p.atWord("site") {
		p.expected("'site { … }'", "site")
	}
	p.advance()
	p.last().Block = true
	p.expect("{", "after site")
	for p.err == nil && !p.at("}") {
		p.last().Begins = true
		begin := p.tok.off
		switch {
		case p.accepts("categories"):
			if s.Off > 0 {
				p.fail(begin, "the categories are there twice: expected one 'categories'", "")
			}
			s.Off = begin
			p.expect("{", "before the categories")
			s.Categories = p.categoryList()
			p.expect("}", "or , after the category")
		case p.accepts("bindings"):
			if s.HasLayers {
				p.fail(begin, "the layers are there twice: expected one 'bindings'", "")
			}
			s.HasLayers = true
			p.expect("=>", "after bindings")
			p.expect("[", "before the layers")
			if !p.accept("]") {
				s.Layers = commaList(p, "]", p.layer)
			}
		default:
			p.expected(diag.Quoted(siteWords)+" in site { }", siteWords...)
		}
		p.accept(",")
	}
	p.last().Block = true
	p.expect("}", "at the end of site")
	if p.err == nil && p.tok.kind != tEOF {
		p.failHere("expected nothing more behind site { }, found "+p.found(), "a file has one site { }")
	}
	return s
}

func (p *setParser) categoryList() (out []Attribute) {
	for p.err == nil && !p.at("}") {
		name := p.name("the name of a category")
		p.expect("=>", "after the name of the category")
		out = append(out, Attribute{Name: name.Text, Off: name.Off, Value: p.finished(listed(p.entry()))})
		if !p.accept(",") {
			break
		}
	}
	return out
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
		switch {
		case p.accepts("include"):
			l.Include = append(l.Include, p.uris()...)
		case p.accepts("exclude"):
			l.Exclude = append(l.Exclude, p.uris()...)
		default:
			p.expected("'include' or 'exclude'", "include", "exclude")
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("}", "or , after the attribute of the layer")
	return l
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
