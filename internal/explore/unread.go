package explore

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/pattern"
)

// UnreadFile is a file that looks like data of the site but that bindc never reads.
type UnreadFile struct {
	Path   string
	Reason string
	Hint   string // how to make bindc read the file
}

// UnreadFiles returns the files that diagnostics report as never read, sorted by path. It makes paths below dir
// relative.
func UnreadFiles(list []diag.Diagnostic, dir string) (out []UnreadFile) {
	for _, d := range list {
		if slices.Contains([]diag.Code{"data_unreached", "not_included", "yml"}, d.Code) && d.Pos.Line == 0 {
			out = append(out, UnreadFile{relative(d.Pos.File, dir), d.Message, d.Hint})
		}
	}
	slices.SortFunc(out, comparePaths)
	return slices.CompactFunc(out, func(a, b UnreadFile) bool { return a.Path == b.Path })
}

// relative returns path relative to dir. It returns other paths unchanged.
func relative(path, dir string) string {
	if whole, err := filepath.Abs(path); err == nil {
		if dir, err = filepath.Abs(dir); err == nil {
			if short, err := filepath.Rel(dir, whole); err == nil && filepath.IsLocal(short) {
				return filepath.ToSlash(short)
			}
		}
	}
	return path
}

func comparePaths(a, b UnreadFile) int { return cmp.Compare(a.Path, b.Path) }

// unreadFile returns the file at path if bindc never reads it.
func (d *Data) unreadFile(path string) (UnreadFile, bool) {
	i, found := slices.BinarySearchFunc(d.unread, UnreadFile{Path: path}, comparePaths)
	if !found {
		return UnreadFile{}, false
	}
	return d.unread[i], true
}

// hasFile reports whether there is a page for the file at path.
func (d *Data) hasFile(path string) bool {
	_, known := d.input(path)
	_, isUnread := d.unreadFile(path)
	return known || isUnread
}

// paths returns the paths of all files that have a page, including those that bindc never reads.
func (d *Data) paths() []string {
	var out []string
	for i := range d.inputs {
		out = append(out, d.inputs[i].Path)
	}
	for i := range d.unread {
		out = append(out, d.unread[i].Path)
	}
	return out
}

// linkedText is a part of a text. If Address is not "", the part links to a file's page.
type linkedText struct{ Text, Address string }

// startOfDiagnostic matches the beginning of a diagnostic: indentation, position and severity.
var startOfDiagnostic = pattern.Lazy(`(?m)^ *(\S.*?): (?:error|warning|lint|note): `)

// Linked splits diagnostics into parts so that each position links to the page of its file.
func (v *view) Linked(text string) (out []linkedText) {
	done := 0
	for _, at := range startOfDiagnostic().FindAllStringSubmatchIndex(text, -1) {
		place := text[at[2]:at[3]]
		if file, line := splitPlace(place); v.d.hasFile(file) {
			out = append(out, linkedText{Text: visibleLines(text[done:at[2]])},
				linkedText{visibleLines(place), v.File(file, line)})
			done = at[3]
		}
	}
	return append(out, linkedText{Text: visibleLines(text[done:])})
}

// visibleLines is like diag.Visible, but keeps newlines.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = diag.Visible(strings.ReplaceAll(lines[i], "\t", "    "))
	}
	return strings.Join(lines, "\n")
}
