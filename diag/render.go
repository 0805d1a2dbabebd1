package diag

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"bindc/internal/fsx"
)

// Formats lists the formats that Render accepts.
var Formats = []string{"text", "json", "sarif", "github"}

// Render writes diagnostics to w in one of Formats. Paths below dir become relative to it. If color is set, the format
// text has colors. Render modifies list.
func Render(w io.Writer, format string, list []Diagnostic, dir string, color bool) error {
	for i := range list {
		list[i] = relative(list[i], dir)
	}
	if format == "json" || format == "sarif" {
		Locate(list, fsx.Disk{}.ReadFile)
	}
	switch format {
	case "json":
		return renderJSON(w, list)
	case "sarif":
		return renderSARIF(w, list)
	case "github":
		return renderGitHub(w, list)
	}
	t := textRenderer{w: bufio.NewWriter(w), color: color, lines: map[string][]string{}}
	for _, d := range list {
		t.diagnostic(d)
	}
	return t.w.Flush()
}

func relative(d Diagnostic, dir string) Diagnostic {
	shorten := func(path string) string {
		abs, err := filepath.Abs(path)
		if err != nil {
			return path
		}
		rel, err := filepath.Rel(dir, abs)
		if err != nil || strings.HasPrefix(rel, "..") {
			return path
		}
		return filepath.ToSlash(rel)
	}
	d.Pos.File = shorten(d.Pos.File)
	notes := make([]Note, len(d.Notes))
	for i, n := range d.Notes {
		n.Pos.File = shorten(n.Pos.File)
		notes[i] = n
	}
	d.Notes = notes
	return d
}

type textRenderer struct {
	w     *bufio.Writer
	color bool
	lines map[string][]string // by file name, for files already read; nil if a file is unreadable
}

const (
	red    = "31;1"
	yellow = "33;1"
	cyan   = "36"
	bold   = "1"
)

func (t *textRenderer) paint(style, s string) string {
	if !t.color {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

func styleOf(s Severity) string {
	switch s {
	case Error:
		return red
	case Warning:
		return yellow
	}
	return cyan
}

func (t *textRenderer) diagnostic(d Diagnostic) {
	style := styleOf(d.Severity)
	fmt.Fprintf(t.w, "%s: %s %s %s\n", t.paint(bold, Visible(d.Pos.String())),
		t.paint(style, d.Severity.String()+":"), Visible(d.Message), t.paint(cyan, "["+string(d.Code)+"]"))
	if !d.Secret {
		t.excerpt(d.Pos, style)
	}
	for _, n := range d.Notes {
		fmt.Fprintf(t.w, "  %s: note: %s\n", Visible(n.Pos.String()), Visible(n.Message))
		if !n.Secret {
			t.excerpt(n.Pos, cyan)
		}
	}
	if d.Hint != "" {
		fmt.Fprintf(t.w, "  %s %s\n", t.paint(bold, "hint:"), Visible(d.Hint))
	}
}

// excerpt writes the source line at p, with a caret below the column.
func (t *textRenderer) excerpt(p Pos, style string) {
	line, ok := t.line(p)
	if !ok {
		return
	}
	text, before := excerpt(line, p.Col)
	number := fmt.Sprintf("%6d | ", p.Line)
	fmt.Fprintf(t.w, "%s%s\n%s%s\n", number, text, strings.Repeat(" ", len(number)+before), t.paint(style, "^"))
}

// line returns the source line at p. It returns false if the line does not exist, cannot be read, or must not be shown.
func (t *textRenderer) line(p Pos) (string, bool) {
	if p.Line < 1 {
		return "", false
	}
	lines, ok := t.lines[p.File]
	if !ok {
		src, err := fsx.Disk{}.ReadFile(p.File)
		if err == nil && utf8.Valid(src) {
			lines = withoutSecrets(strings.Split(string(src), "\n"))
		}
		t.lines[p.File] = lines
	}
	if p.Line > len(lines) {
		return "", false
	}
	return strings.TrimRight(lines[p.Line-1], "\r"), lines[p.Line-1] != hiddenLine
}

// renderGitHub writes workflow commands. GitHub shows them next to the source line.
func renderGitHub(w io.Writer, list []Diagnostic) error {
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, d := range list {
		command := map[Severity]string{Error: "error", Warning: "warning"}[d.Severity]
		if command == "" {
			command = "notice"
		}
		text := Visible(d.Message)
		for _, n := range d.Notes {
			text += "\n" + Visible(n.Pos.String()) + ": " + Visible(n.Message)
		}
		if d.Hint != "" {
			text += "\nhint: " + Visible(d.Hint)
		}
		file := property.Replace(Visible(d.Pos.File))
		_, err := fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", command, file, max(d.Pos.Line, 1),
			max(d.Pos.Col, 1), property.Replace(string(d.Code)), escape.Replace(text))
		if err != nil {
			return err
		}
	}
	return nil
}
