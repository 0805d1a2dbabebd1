package hiera5

import (
	"path/filepath"
	"strings"

	"bindc/diag"
	"bindc/loader/internal/site"
)

// namedPath is a path or a glob of a hierarchy: its position, its directory, and its text below it.
type namedPath struct {
	at   diag.Pos
	tree *site.Tree // nil if the directory does not exist
	text string
}

// Similar returns the position of a path of h whose text resembles path, a file below the directory of t. For a path
// with variables or wildcards, it compares only the directories before the first of them.
func (h *Hierarchy) Similar(t *site.Tree, path string) (diag.Pos, bool) {
	for _, p := range h.named {
		if p.tree != t {
			continue
		}
		name, text := path, p.text
		if i := strings.IndexAny(text, "%*?[{"); i >= 0 {
			text = text[:strings.LastIndex(text[:i], "/")+1]
			name = firstDirs(path, strings.Count(text, "/"))
		} else if ext := filepath.Ext(text); filepath.Ext(name) == ext {
			name, text = strings.TrimSuffix(name, ext), strings.TrimSuffix(text, ext) // else a.yaml resembles b.yaml
		}
		if diag.Misspelt(name, []string{text}) != "" {
			return p.at, true
		}
	}
	return diag.Pos{}, false
}

// firstDirs returns the first n directories of path, each with its slash. It returns fewer if path has fewer.
func firstDirs(path string, n int) string {
	parts := strings.SplitAfter(path, "/")
	return strings.Join(parts[:min(n, len(parts)-1)], "")
}
