package lsp

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/diag"
	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/buffer"
)

// maxPublished limits the number of diagnostics in a file, because more make editors slow.
const maxPublished = 1000

// publishSite sends the diagnostics of all files whose diagnostics may differ from those in before.
func (s *Server) publishSite(p *project, before, site *analysis.Site) {
	paths := map[string]bool{}
	for path := range site.Diags {
		paths[path] = true
	}
	if before != nil {
		for path := range before.Diags {
			paths[path] = true
		}
	}
	for path, d := range s.texts() {
		if s.projectOf(d.path) == p {
			paths[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		s.publish(path, p)
	}
}

// publish sends the diagnostics of the file at path, unless the editor already has the same.
func (s *Server) publish(path string, p *project) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	site := p.latest()
	doc := s.texts()[path]
	var list []protocol.Diagnostic
	params := &protocol.PublishDiagnosticsParams{URI: uri.File(path)}
	if doc != nil {
		params.Version = protocol.NewOptional(doc.version)
		list = s.diagnostics(site, doc.text, s.findings(site, doc))
	} else if site != nil && len(site.Diags[path]) > 0 {
		text := s.textOrEmpty(site, path)
		list = s.diagnostics(site, text, analysis.Locate(site, path, text, site.Diags[path]))
	}
	params.Diagnostics = list
	if list == nil {
		params.Diagnostics = []protocol.Diagnostic{}
	}
	hash := hashOf(params)
	last, known := s.sent[path]
	if known && last == hash || !known && doc == nil && len(list) == 0 {
		return
	}
	s.sent[path] = hash
	if len(list) == 0 && doc == nil {
		delete(s.sent, path)
	}
	s.client.PublishDiagnostics(s.ctx, params)
}

func (s *Server) textOrEmpty(site *analysis.Site, path string) *buffer.Text {
	if t := site.Text(path); t != nil {
		return t
	}
	return buffer.New("")
}

func hashOf(p *protocol.PublishDiagnosticsParams) uint64 {
	text, err := protocol.Marshal(p)
	if err != nil {
		return 0
	}
	return xxhash.Sum64(text)
}

func (s *Server) diagnostics(site *analysis.Site, t *buffer.Text, found []analysis.Finding) []protocol.Diagnostic {
	var out []protocol.Diagnostic
	for i, f := range found {
		if i == maxPublished {
			out = append(out, protocol.Diagnostic{Severity: protocol.DiagnosticSeverityInformation,
				Source:  protocol.NewOptional("bindc"),
				Message: protocol.String(diag.Count(len(found)-i, "more diagnostic") + "; 'bindc check' lists all")})
			break
		}
		out = append(out, s.diagnostic(site, t, f))
	}
	return out
}

var severities = [...]protocol.DiagnosticSeverity{diag.Error: protocol.DiagnosticSeverityError,
	diag.Warning: protocol.DiagnosticSeverityWarning, diag.Lint: protocol.DiagnosticSeverityInformation,
	diag.Info: protocol.DiagnosticSeverityHint}

// dead lists the codes that mean that something has no effect. Editors show these ranges greyed out.
var dead = []diag.Code{"never_wins", "same_value", "unused_key", "no_node", "data_unreached", "not_included",
	"hiera_key"}

func (s *Server) diagnostic(site *analysis.Site, t *buffer.Text, f analysis.Finding) protocol.Diagnostic {
	d := protocol.Diagnostic{Range: s.rangeOf(t, f.From, f.To), Severity: severities[f.Severity],
		Code: protocol.String(f.Code), Source: protocol.NewOptional("bindc"),
		Message: protocol.String(textOf(f.Diagnostic))}
	if slices.Contains(dead, f.Code) {
		d.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagUnnecessary)
	}
	if site != nil {
		d.Message = protocol.String(textOf(f.Diagnostic) + otherPlaces(site.Dir, f.Diagnostic))
		for _, n := range f.Notes {
			if l, ok := s.location(site, n.Pos); ok {
				d.RelatedInformation = append(d.RelatedInformation,
					protocol.DiagnosticRelatedInformation{Location: l, Message: n.Message})
			}
		}
	}
	return d
}

// textOf returns the message of d, followed by its hint.
func textOf(d diag.Diagnostic) string {
	if d.Hint == "" {
		return diag.Visible(d.Message)
	}
	return diag.Visible(d.Message) + "\n" + diag.Visible(d.Hint)
}

// maxOther limits the number of other positions in a message.
const maxOther = 3

// otherPlaces returns the positions in d's notes as text, for editors that do not show related information. dir is the
// site's directory.
func otherPlaces(dir string, d diag.Diagnostic) (text string) {
	for i, n := range d.Notes {
		if i == maxOther {
			break
		}
		rel, err := filepath.Rel(dir, n.Pos.File)
		if err != nil || n.Pos.Line == 0 || n.Pos.File == d.Pos.File && n.Pos.Line == d.Pos.Line {
			continue
		}
		text += "\n" + diag.Visible(fmt.Sprintf("%s:%d: %s", filepath.ToSlash(rel), n.Pos.Line, n.Message))
	}
	return text
}

// location returns the location of the token at a position. It takes unsaved changes into account, and returns false if
// they removed the token.
func (s *Server) location(site *analysis.Site, at diag.Pos) (protocol.Location, bool) {
	return s.locationIn(site.Text(at.File), at)
}

// locationIn is like location, but text is the file's contents when the site was read. It may be nil.
func (s *Server) locationIn(text *buffer.Text, at diag.Pos) (protocol.Location, bool) {
	if text == nil {
		return protocol.Location{}, false
	}
	from := text.At(at, analysis.HasYAMLLines(at.File))
	if doc := s.texts()[at.File]; doc != nil {
		var ok bool
		if from, ok = doc.text.Follow(text, from); !ok {
			return protocol.Location{}, false
		}
		text = doc.text
	}
	return protocol.Location{URI: uri.File(at.File), Range: s.rangeOf(text, from, text.TokenEnd(from))}, true
}
