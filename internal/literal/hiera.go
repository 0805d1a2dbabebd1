package literal

import (
	"regexp"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Hiera warns of what means something to Hiera and is plain text here: n is a value, or a hash of keys to values.
func Hiera(doc *yaml.Document, n *yaml.Node, diags *diag.List) {
	if doc.Mentions("%{") || doc.Mentions("ENC[") {
		hiera(doc, n, diags)
	}
}

func hiera(doc *yaml.Document, n *yaml.Node, diags *diag.List) {
	for i := range n.Kids {
		hiera(doc, &n.Kids[i], diags)
	}
	if n.Kind != yaml.Scalar || n.Value.Kind() != value.String {
		return
	}
	text := n.Value.Text()
	Percent(doc, n, text, diags)
	Encrypted(text, doc.Pos(n), diags)
}

// Encrypted warns of a text that is encrypted for hiera-eyaml.
func Encrypted(text string, at diag.Pos, diags *diag.List) {
	if strings.HasPrefix(strings.TrimSpace(text), "ENC[") {
		diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "eyaml", Secret: true,
			Message: "this is encrypted for hiera-eyaml, and looked up as it stands here: it is not decrypted",
			Hint:    "bind it with a producer that decrypts it (to_producer)"})
	}
}

// percent is an interpolation of Hiera: of a method with its argument, or of a variable and keys. Apache has variables
// in capital letters in such braces, and headers, with a letter behind them.
var percent = regexp.MustCompile(`%\{\s*(?:(\w+)\(\s*['"]([^'"{}]*)['"]\s*\)|` +
	`((?:::)?[a-z_][a-z0-9_]*(?:::[a-z_]\w*)*(?:\.[\w-]+)*|))\s*\}(?:$|[^a-zA-Z^]|[a-zA-Z]\w)`)

// Percent warns of the interpolations of Hiera in a text of n.
func Percent(doc *yaml.Document, n *yaml.Node, text string, diags *diag.List) {
	PercentIn(text, func(off int) diag.Pos { return doc.PosIn(n, off) }, "", diags)
}

// PercentIn warns of the interpolations of Hiera in a text, of which at tells the places; more goes behind the hint.
func PercentIn(text string, at func(off int) diag.Pos, more string, diags *diag.List) {
	for _, m := range percent.FindAllStringSubmatchIndex(text, -1) {
		found, _, _ := strings.Cut(text[m[0]:], "}")
		found += "}"
		sub := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		diags.Add(diag.Diagnostic{Pos: at(m[0]), Severity: diag.Warning, Code: "hiera_interpolation",
			Message: found + " is an interpolation of Hiera, and plain text here",
			Hint:    "write " + ours(sub(1), sub(2), sub(3)) + more})
	}
}

// ours is an interpolation as it is written here.
func ours(method, argument, variable string) string {
	switch method {
	case "":
	case "literal":
		return argument
	case "scope":
		variable = argument
	case "alias": // the value, and not its text
		return "a structured binding with 'to_lookup_of: " + argument + "'"
	default: // lookup, hiera
		return "${lookup('" + argument + "')}"
	}
	parts := strings.Split(strings.TrimPrefix(variable, "::"), ".")
	if parts[0] == "" {
		return "nothing: it is empty"
	}
	out := "${" + parts[0]
	for _, key := range parts[1:] {
		out += "['" + key + "']"
	}
	return out + "}"
}
