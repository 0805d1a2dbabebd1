package diag

import (
	"slices"
	"strings"
)

// ofNames lists codes whose messages contain names, conditions and positions, but no part of a value. The list includes
// type_mismatch, because its message omits a sensitive value.
var ofNames = []Code{"abstract", "category", "computed_class", "conflict", "convert", "duplicate", "eyaml",
	"key_unbound", "layout", "lookup_options", "loop", "missing_parameter", "module_key", "multibind_hidden",
	"multibind_id", "multibind_unknown", "near_value", "never_wins",
	"override", "parameter_unchecked", "same_value", "type_mismatch",
	"unknown_class", "unknown_parameter", "unused_key", "version", "yaml_key"}

// ofSyntax lists codes whose messages quote the source only after ", found".
var ofSyntax = []Code{"json_syntax", "yaml_depth", "yaml_syntax", "yaml_utf8"}

const (
	found         = ", found "
	somethingElse = "something else; it may be sensitive and is not shown"
	somethingOdd  = "this is invalid; it may be sensitive and is not shown"
)

// discreet returns d without text that it quotes from a sensitive position. Of "expected X, found Y", it keeps X.
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
	// The message only names what the grammar expects.
	case d.Code == "syntax" && strings.HasPrefix(d.Message, "expected "):
	case !slices.Contains(ofSyntax, d.Code):
		d.Message = somethingOdd
	}
	ofGrammar := d.Code == "syntax" && strings.HasPrefix(d.Hint, "did you mean ")
	if !slices.Contains(ofSyntax, d.Code) && !ofGrammar {
		d.Hint, d.Fix = "", Fix{} // the hint may quote the value
	}
	return d
}

// withoutSecrets hides lines with text encrypted by eyaml, from ENC[ to the closing bracket. It modifies lines.
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

// hiddenLine replaces a line that must not be shown.
const hiddenLine = "\x00"
