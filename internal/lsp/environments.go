package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/internal/lsp/analysis"
	"bindc/loader"
)

// findings returns the findings to show for an open document.
func (s *Server) findings(site *analysis.Site, doc *document) []analysis.Finding {
	if analysis.IsEnvironments(doc.path) {
		_, found := s.environments(doc)
		return found
	}
	return analysis.Check(site, doc.path, doc.text, doc.outline())
}

func (s *Server) environments(doc *document) (*loader.Environments, []analysis.Finding) {
	return analysis.Environments(doc.path, doc.text, slices.Concat(s.opts.Analysis.Fence, s.roots))
}

// environment returns the environment called name in the current document, or nil.
func (c *cursor) environment(name string) *loader.Environment {
	all, _ := c.environments(c.doc)
	for i := range all.All {
		if all.All[i].Name == name {
			return &all.All[i]
		}
	}
	return nil
}

// describeEnvironment returns a description of where the environment's data is, in Markdown.
func (c *cursor) describeEnvironment(name string) string {
	e := c.environment(name)
	if e == nil {
		return ""
	}
	root := filepath.Dir(c.doc.path)
	short := func(path string) string {
		if rel, err := filepath.Rel(root, path); err == nil && !strings.HasPrefix(rel, "..") {
			path = rel
		}
		return code(path)
	}
	text := "environment **" + escape(name) + "** in " + short(e.Dir)
	for i, dir := range e.ModulePath {
		if i == 0 {
			text += ", modules in "
		} else {
			text += ", "
		}
		text += short(dir)
	}
	return text
}

// siteFiles returns the locations of an environment's configuration files.
func (c *cursor) siteFiles(name string) protocol.LocationSlice {
	out := protocol.LocationSlice{}
	e := c.environment(name)
	if e == nil {
		return out
	}
	for _, mark := range marks {
		path := filepath.Join(e.Dir, mark)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			out = append(out, protocol.Location{URI: uri.File(path)})
		}
	}
	return out
}
