package lsp

import (
	"context"
	"slices"

	"go.lsp.dev/protocol"

	"bindc/internal/lsp/mention"
	"bindc/internal/syntax"
)

// tokenTypes lists the types of semantic tokens. Messages refer to a type by its index.
var tokenTypes = []protocol.SemanticTokenTypes{protocol.SemanticTokenTypesProperty,
	protocol.SemanticTokenTypesParameter, protocol.SemanticTokenTypesClass, protocol.SemanticTokenTypesVariable,
	protocol.SemanticTokenTypesEnum, protocol.SemanticTokenTypesEnumMember, protocol.SemanticTokenTypesNamespace,
	protocol.SemanticTokenTypesKeyword}

// typeOfRole maps the roles of mentions to token types. A path has no type, because it contains other mentions.
var typeOfRole = map[mention.Role]protocol.SemanticTokenTypes{
	mention.Binds:       protocol.SemanticTokenTypesProperty,
	mention.LooksUp:     protocol.SemanticTokenTypesProperty,
	mention.Options:     protocol.SemanticTokenTypesProperty,
	mention.Parameter:   protocol.SemanticTokenTypesParameter,
	mention.Collects:    protocol.SemanticTokenTypesClass,
	mention.Joins:       protocol.SemanticTokenTypesClass,
	mention.Variable:    protocol.SemanticTokenTypesVariable,
	mention.Category:    protocol.SemanticTokenTypesEnum,
	mention.Value:       protocol.SemanticTokenTypesEnumMember,
	mention.Environment: protocol.SemanticTokenTypesNamespace,
}

// semanticToken is a token for syntax highlighting. It does not span several lines.
type semanticToken struct {
	from, to    int
	kind        int // index in tokenTypes
	declaration bool
}

// SemanticTokensFull returns the tokens of a document.
func (s *Server) SemanticTokensFull(ctx context.Context, p *protocol.SemanticTokensParams) (*protocol.SemanticTokens,
	error) {
	doc, err := s.openDocument(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	return s.encodeTokens(doc, 0, len(doc.text.Src)), nil
}

// SemanticTokensRange returns the tokens in a range of a document.
func (s *Server) SemanticTokensRange(ctx context.Context, p *protocol.SemanticTokensRangeParams) (
	*protocol.SemanticTokens, error) {
	doc, err := s.openDocument(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	return s.encodeTokens(doc, s.offset(doc.text, p.Range.Start), s.offset(doc.text, p.Range.End)), nil
}

// semanticTokens returns the document's tokens, sorted and without overlaps.
func (d *document) semanticTokens() []semanticToken {
	var all []semanticToken
	for _, m := range d.mentions() {
		if kind := slices.Index(tokenTypes, typeOfRole[m.Role]); kind >= 0 {
			all = append(all, semanticToken{m.From, m.To, kind, m.Role == mention.Binds})
		}
	}
	if kindOf(d.path, d.text.Src) == mention.Set {
		tokens, _ := syntax.Tokens(d.text.Src)
		for i, t := range tokens {
			if t.Word || i == 0 {
				all = append(all, semanticToken{t.Off, t.End,
					slices.Index(tokenTypes, protocol.SemanticTokenTypesKeyword), false})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b semanticToken) int { return a.from - b.from })
	out := all[:0]
	for _, t := range all {
		if n := len(out); (n == 0 || out[n-1].to <= t.from) && d.text.LineOf(t.from) == d.text.LineOf(t.to) {
			out = append(out, t)
		}
	}
	return out
}

// encodeTokens encodes the tokens between two offsets in the format of the protocol: five numbers for each token, with
// positions relative to the previous token.
func (s *Server) encodeTokens(d *document, from, to int) *protocol.SemanticTokens {
	out := &protocol.SemanticTokens{Data: []uint32{}}
	var last protocol.Position
	for _, t := range d.semanticTokens() {
		if t.to < from || t.from > to {
			continue
		}
		begin, end := s.position(d.text, t.from), s.position(d.text, t.to)
		column := begin.Character
		if begin.Line == last.Line {
			column -= last.Character
		}
		modifiers := uint32(0)
		if t.declaration {
			modifiers = 1
		}
		out.Data = append(out.Data, begin.Line-last.Line, column, end.Character-begin.Character, uint32(t.kind),
			modifiers)
		last = begin
	}
	return out
}

// tokenOptions describes the support for semantic tokens to the editor.
func tokenOptions() *protocol.SemanticTokensOptions {
	declaration := string(protocol.SemanticTokenModifiersDeclaration)
	legend := protocol.SemanticTokensLegend{TokenModifiers: []string{declaration}}
	for _, t := range tokenTypes {
		legend.TokenTypes = append(legend.TokenTypes, string(t))
	}
	return &protocol.SemanticTokensOptions{Legend: legend, Full: protocol.Boolean(true), Range: protocol.Boolean(true)}
}
