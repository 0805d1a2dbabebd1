package lsp

import (
	"context"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/diag"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/mention"
)

// maxLocations limits the number of locations in a response, because a key can have a binding for each of thousands of
// nodes.
const maxLocations = 1000

// Definition returns where the name at the cursor is defined. For a key, these are its other bindings, highest first,
// and the class parameter that receives the value. For the id of a multibinding, it is the declaration. For a path of a
// hierarchy, these are the files.
func (s *Server) Definition(ctx context.Context, p *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	c, err := s.at(ctx, p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	out := protocol.LocationSlice{}
	if m := c.mention(); m != nil {
		out = c.definitions(m)
	}
	return out, c.check()
}

func (c *cursor) definitions(m *mention.Mention) protocol.LocationSlice {
	switch {
	case m.Role.IsKey():
		places := c.placesOf(m.Name)
		if at, ok := c.site.Receiver(m.Name); ok {
			places = append(places, at)
		}
		return c.locations(places, m)
	case m.Role == mention.Joins:
		_, at, ok := c.site.Multibind(m.Name)
		if !ok {
			return protocol.LocationSlice{}
		}
		return c.locations([]diag.Pos{at}, m)
	case m.Role == mention.Collects:
		var places []diag.Pos
		for _, b := range c.site.Contributions(m.Name) {
			places = append(places, b.Pos)
		}
		return c.locations(places, m)
	case m.Role == mention.Environment:
		return c.siteFiles(m.Name)
	case m.Role == mention.Path:
		var files []diag.Pos
		for _, path := range c.site.FilesOf(c.doc.path, m.Name) {
			files = append(files, diag.Pos{File: path, Line: 1, Col: 1})
		}
		return c.locations(files, m)
	case m.Role == mention.Category || m.Role == mention.Value:
		return c.locations(c.site.CategoryPlaces(m.Name), m)
	}
	return protocol.LocationSlice{}
}

// placesOf returns the positions of all bindings of key.
func (c *cursor) placesOf(key string) []diag.Pos {
	var out []diag.Pos
	for _, b := range c.site.Bindings(key) {
		out = append(out, b.Pos)
	}
	return out
}

// locations converts positions for a response, up to maxLocations. It omits the position of m itself.
func (c *cursor) locations(places []diag.Pos, m *mention.Mention) protocol.LocationSlice {
	out := protocol.LocationSlice{}
	texts := map[string]*buffer.Text{}
	for _, at := range places {
		if len(out) == maxLocations {
			break
		}
		if texts[at.File] == nil {
			texts[at.File] = c.site.Text(at.File)
		}
		l, ok := c.locationIn(texts[at.File], at)
		if ok && !c.isHere(l, m) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// isHere reports whether l is the location of the mention m in the document.
func (c *cursor) isHere(l protocol.Location, m *mention.Mention) bool {
	if l.URI != uri.File(c.doc.path) {
		return false
	}
	from, to := c.offset(c.doc.text, l.Range.Start), c.offset(c.doc.text, l.Range.End)
	return from <= m.From && m.To <= to
}
