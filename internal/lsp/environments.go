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

// findings returns the findings in an open document.
func (s *Server) findings(site *analysis.Site, doc *document) []analysis.Finding {
	if analysis.IsEnvironments(doc.path) {
		_, found := s.environments(doc)
		return found
	}
	return analysis.Check(site, doc.path, doc.text, doc.outline())
}

// environments reads an environments.pp.
func (s *Server) environments(doc *document) (*loader.Environments, []analysis.Finding) {
	return analysis.Environments(doc.path, doc.text, slices.Concat(s.opts.Analysis.Fence, s.roots))
}

// environment returns an environment that the document declares, or nil.
func (c *cursor) environment(name string) *loader.Environment {
	all, _ := c.environments(c.doc)
	for i := range all.All {
		if all.All[i].Name == name {
			return &all.All[i]
		}
	}
	return nil
}

// describeEnvironment describes where an environment's site is.
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

// siteFiles returns the configuration of an environment, as targets of a definition.
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
