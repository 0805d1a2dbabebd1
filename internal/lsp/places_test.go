package lsp

import (
	"testing"

	"bindc/diag"
)

// The text of a diagnostic names the places of its notes, but not its own line.
func TestMessageNamesOtherPlaces(t *testing.T) {
	at := func(file string, line int) diag.Pos { return diag.Pos{File: "/site/" + file, Line: line, Col: 1} }
	d := diag.Diagnostic{Pos: at("data/a.yaml", 3), Notes: []diag.Note{{Pos: at("data/a.yaml", 3), Message: "here"},
		{Pos: at("modules/ntp/data/b.yaml", 7), Message: "the other binding"}, {Pos: at("hiera.yaml", 0), Message: "none"}}}
	const want = "\nmodules/ntp/data/b.yaml:7: the other binding"
	if got := otherPlaces("/site", d); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.Notes = nil
	for line := range maxOther + 2 {
		d.Notes = append(d.Notes, diag.Note{Pos: at("x", line+1), Message: "n"})
	}
	if got := otherPlaces("/site", d); got != "\nx:1: n\nx:2: n\nx:3: n" {
		t.Errorf("%q, expected %d places", got, maxOther)
	}
}
