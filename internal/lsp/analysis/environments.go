package analysis

import (
	"path/filepath"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/lsp/buffer"
	"bindc/loader"
)

// IsEnvironments reports whether path is the name of an environments.pp.
func IsEnvironments(path string) bool { return filepath.Base(path) == loader.EnvironmentsFile }

// Environments parses an environments.pp with the given text. It only reads directories in fence.
func Environments(path string, text *buffer.Text, fence []string) (*loader.Environments, []Finding) {
	disk := fsx.Disk{Overlay: fsx.NewOverlay(map[string][]byte{path: []byte(text.Src)}), Fence: fsx.NewFence(fence...)}
	diags := diag.List{All: true}
	all := loader.ReadEnvironments(disk, filepath.Dir(path), &diags)
	list := diags.Sorted()
	for i := range list {
		if d := &list[i]; d.Pos.File != path { // the diagnostic is about a directory, so show it in this file
			d.Message = strings.TrimPrefix(d.Pos.File, filepath.Dir(path)+"/") + ": " + d.Message
			d.Pos = diag.Pos{File: path}
		}
	}
	return all, Locate(Empty(""), path, text, list)
}
