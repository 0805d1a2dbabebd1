// Package layout formats YAML files and files in Puppet syntax in a canonical way. It changes only
// white space. It parses the result again to verify that the meaning is the same.
package layout

import (
	"bytes"
	"errors"
	"strings"
	"unicode"

	"bindc/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// YAML returns src in canonical layout: two spaces per level, lists indented below their key, a
// single space after colons, dashes and commas, and no consecutive empty lines. A comment on a line
// of its own is indented like the line after it; comments at the ends of adjacent lines are
// aligned. If src has an error or unsupported syntax, YAML adds diagnostics and returns false.
func YAML(file string, src []byte, diags *diag.List) ([]byte, bool) {
	var own diag.List
	before, ok := yaml.Parse(file, src, reading, &own)
	if !ok {
		diags.AddAll(&own) // warnings do not affect the layout
		return nil, false
	}
	s := scanner{lines: linesOf(src)}
	at := diag.Pos{File: file}
	err := s.scan()
	if err != nil {
		at.Line, at.Col = s.at, 1
	}
	out := written(s.out)
	if n := len(s.out); n > 0 && len(s.out[n-1].below) > 0 && !bytes.HasSuffix(src, []byte("\n")) {
		out = bytes.TrimSuffix(out, []byte("\n")) // a final newline would change a block scalar that has none
	}
	if err == nil && !meansTheSame(file, before, src, out) {
		err = errors.New("formatting would change the meaning of the file")
	}
	if err != nil { // the message must not quote the line, which may be sensitive
		diags.Add(diag.Diagnostic{Pos: at, Code: "layout", Message: err.Error() + "; the file was not changed",
			Secret: true})
		return nil, false
	}
	return out, true
}

// reading are the most permissive options for parsing. The loader checks the rules of each kind of
// file.
var reading = yaml.Options{LastKeyWins: true, TimesAreText: true}

// meansTheSame reports whether src and out have the same values in the same order, and the same
// characters except for white space.
func meansTheSame(file string, before *yaml.Document, src, out []byte) bool {
	var unread diag.List
	after, ok := yaml.Parse(file, bytes.Clone(out), reading, &unread)
	if !ok || !bytes.Equal(withoutBlanks(src), withoutBlanks(out)) {
		return false
	}
	if before.Root == nil || after.Root == nil {
		return before.Root == after.Root
	}
	return same(before.Root, after.Root)
}

func withoutBlanks(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || len(a.Kids) != len(b.Kids) || a.Kind == yaml.Scalar && !identical(a.Value, b.Value) {
		return false
	}
	for i := range a.Kids {
		if !same(&a.Kids[i], &b.Kids[i]) {
			return false
		}
	}
	return true
}

// identical is like value.Identical, but treats NaN as equal to itself.
func identical(a, b value.Value) bool {
	return value.Identical(a, b) || a.Kind() == value.Float && b.Kind() == value.Float && a.Float() != a.Float()
}

func linesOf(src []byte) []string {
	lines := strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}
