package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/mention"
)

// marks lists the files and directories whose presence identifies a site or a module.
var marks = []string{"binder_config.yaml", "bindings_config.yaml", "binder_config.pp", "hiera2.yaml", "hiera5.yaml",
	"hiera.yaml", "environment.conf", "bindings"}

// siteOf returns the directory of the site to which a file belongs, or "" if there is none. It chooses the outermost
// candidate in a workspace folder, because modules look like sites. Directories below 'environments' are always sites
// of their own.
func (s *Server) siteOf(path string) string {
	for _, root := range s.roots {
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			continue
		}
		dirs := strings.Split(filepath.Dir(rel), "/")
		from := 0
		if i := slices.Index(dirs, "environments"); i >= 0 && i+1 < len(dirs) {
			from = i + 2
		}
		for n := from; n <= len(dirs); n++ {
			if dir := filepath.Join(append([]string{root}, dirs[:n]...)...); looksLikeSite(dir) {
				return dir
			}
		}
	}
	return ""
}

func looksLikeSite(dir string) bool {
	return slices.ContainsFunc(marks, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// kindOf returns the kind of a file. It depends on the path and, for YAML files, on the text.
func kindOf(path, src string) mention.Kind {
	switch {
	case analysis.IsEnvironments(path):
		return mention.Environments
	case filepath.Ext(path) == ".pp" && strings.Contains(path, "/bindings/"):
		return mention.Set
	case filepath.Ext(path) == ".pp":
		return mention.Manifest
	case analysis.IsConfig(path):
		return mention.Config
	case strings.Contains(path, "/bindings/") || strings.HasPrefix(src, "bindings_version:"):
		return mention.Bindings
	}
	return mention.Data
}
