package diag

import (
	"fmt"
	"io"
	"strings"
)

// Explain writes the rule for human readers, wrapped at 80 columns.
func (r Rule) Explain(w io.Writer) error {
	text := string(r.Code) + "\n\n" + wrap("  ", r.Sentence)
	if r.Section > 0 {
		text += "\n  Rule: " + r.Source() + "\n"
	}
	if commands, files := r.example(); commands != "" {
		text += "\n  This example causes the message:\n\n" + indented("    $ ", commands)
		if files != "" {
			text += "\n" + indented("    ", files)
		}
	}
	text += "\n" + wrap("  ", "What to do: "+r.Remedy)
	_, err := io.WriteString(w, text)
	return err
}

func (r Rule) example() (commands, files string) {
	text := r.Example()
	at := len(text)
	if i := strings.Index(text, "\n-- "); i >= 0 {
		at = i + 1
	}
	return text[:at], text[at:]
}

// Explain writes all codes with their descriptions as plain text.
func Explain(w io.Writer) error {
	var b strings.Builder
	for _, r := range catalogue {
		b.WriteString(string(r.Code) + "\n" + wrap("    ", r.Sentence))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Document writes docs/codes.md, the catalogue in Markdown.
func Document(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Codes\n\n" +
		"Every diagnostic ends with a code in brackets. `bindc help CODE` prints the same text as this\n" +
		"document. The last command of each example reports the code; a test runs all examples.\n")
	for _, r := range catalogue {
		fmt.Fprintf(&b, "\n## %s\n\n%s", r.Code, wrap("", r.Sentence))
		if r.Section > 0 {
			fmt.Fprintf(&b, "Rule: %s.\n", r.Source())
		}
		if text := r.Example(); text != "" {
			fmt.Fprintf(&b, "\n```\n%s```\n", text)
		}
		fmt.Fprintf(&b, "\n%s", wrap("", "What to do: "+r.Remedy))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func indented(prefix, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(prefix)
		}
		b.WriteString(line)
	}
	return b.String()
}

// wrap breaks text into lines of at most 80 columns, each of which begins with indent.
func wrap(indent, text string) string {
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == indent:
			line += word
		case len(line)+1+len(word) > 80:
			b.WriteString(line + "\n")
			line = indent + word
		default:
			line += " " + word
		}
	}
	return b.String() + line + "\n"
}
