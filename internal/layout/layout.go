// Package layout lays YAML out in one canonical way, line by line: it moves text and never changes it, so that
// comments, quotes and anchors stay as they are. What it makes is read again and has to mean the same.
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

// YAML is src in the canonical layout: two blanks for each level, lists deeper than their key, one blank behind colons,
// dashes and commas, comments as deep as what they stand before and in one column behind what they stand beside, no two
// empty lines. It is false when src has an error, or is written in a way that is not understood: that is in diags then.
func YAML(file string, src []byte, diags *diag.List) ([]byte, bool) {
	var own diag.List
	before, ok := yaml.Parse(file, src, reading, &own)
	if !ok {
		diags.AddAll(&own) // what it warns of else is no matter of layout
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
		out = bytes.TrimSuffix(out, []byte("\n")) // a block that ends without one means another text
	}
	if err == nil && !meansTheSame(file, before, src, out) {
		err = errors.New("it would not mean the same laid out anew")
	}
	if err != nil { // on whose line there may be something sensitive
		diags.Add(diag.Diagnostic{Pos: at, Code: "layout", Message: err.Error() + "; the file stays as it is",
			Secret: true})
		return nil, false
	}
	return out, true
}

// reading takes what anybody may take: what a file of a kind may not hold is not the question here.
var reading = yaml.Options{LastKeyWins: true, TimesAreText: true}

// meansTheSame holds out to src: the same values in the same order, and all that is no blank.
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

// identical also takes what is not a number for the same.
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
