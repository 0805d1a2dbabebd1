package diag

import (
	"slices"
	"strings"
)

// ofNames are the codes of messages that tell names, conditions and places, and nothing of what is written as a value.
// Those of type_mismatch are made without it where the value is sensitive.
var ofNames = []Code{"abstract", "category", "conflict", "convert", "duplicate", "eyaml", "key_unbound", "layout",
	"lookup_options", "loop", "module_key", "multibind_hidden", "multibind_id", "multibind_unknown", "near_value", "never_wins",
	"override", "same_value", "type_mismatch", "unused_key", "version"}

// ofSyntax are those of messages that quote at most what was found.
var ofSyntax = []Code{"json_syntax", "yaml_depth", "yaml_syntax", "yaml_utf8"}

const (
	found         = ", found "
	somethingElse = "something else; it may be sensitive and is not shown"
	somethingOdd  = "something is wrong here; it may be sensitive and is not shown"
)

// discreet is d without what it quotes of a place where something sensitive is written: it tells what was expected.
func (d Diagnostic) discreet() Diagnostic {
	expected, _, quotes := strings.Cut(d.Message, found)
	switch {
	case d.Discreet != "":
		d.Message = d.Discreet
		return d
	case slices.Contains(ofNames, d.Code), d.Message == somethingOdd:
		return d
	case quotes && strings.HasPrefix(expected, "expected "):
		d.Message = expected + found + somethingElse
	case d.Code == "syntax" && strings.HasPrefix(d.Message, "expected "): // what the grammar has
	case !slices.Contains(ofSyntax, d.Code):
		d.Message = somethingOdd
	}
	ofGrammar := d.Code == "syntax" && strings.HasPrefix(d.Hint, "did you mean ")
	if !slices.Contains(ofSyntax, d.Code) && !ofGrammar {
		d.Hint = "" // it may quote the value
	}
	return d
}

// withoutSecrets empties the lines that hold something encrypted, as eyaml writes it: from ENC[ to the bracket that
// closes it.
func withoutSecrets(lines []string) []string {
	inside := false
	for i, line := range lines {
		at := strings.LastIndex(line, "ENC[")
		if inside || at >= 0 {
			lines[i] = hiddenLine
		}
		if at >= 0 || inside {
			inside = !strings.Contains(line[max(at, 0):], "]")
		}
	}
	return lines
}

// hiddenLine stands for a line that is not shown.
const hiddenLine = "\x00"
