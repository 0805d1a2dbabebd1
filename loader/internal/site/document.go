package site

import (
	"cmp"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/literal"
	"bindc/internal/pattern"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Document is a parsed file. Its methods report errors in the file.
type Document struct {
	*yaml.Document
	Diags *diag.List
}

func (d Document) Errorf(n *yaml.Node, code diag.Code, format string, args ...any) {
	d.Diags.Errorf(d.Pos(n), code, format, args...)
}

func (d Document) IsHash() bool { return d.Root != nil && d.Root.Kind == yaml.Mapping }

// OnlyKeys reports keys of the hash n that are not in the list of allowed keys.
func (d Document) OnlyKeys(n *yaml.Node, code diag.Code, what string, allowed []string) {
	for _, found := range d.UnknownKeys(n, code, what, allowed) {
		d.Diags.Add(found)
	}
}

// IsVersion reports whether the integer at a top-level key is want. If not, it adds an error.
func (d Document) IsVersion(key string, want int64) bool {
	wrong := d.CheckVersion(key, want)
	if wrong != nil {
		d.Diags.Add(*wrong)
	}
	return wrong == nil
}

// StringsOf returns the elements of a list of strings, or nil if n is anything else.
func StringsOf(n *yaml.Node) []string {
	if n.Kind != yaml.Sequence {
		return nil
	}
	out := make([]string, len(n.Kids))
	for i := range n.Kids {
		text, ok := n.Kids[i].Text()
		if !ok {
			return nil
		}
		out[i] = text
	}
	return out
}

// QuoteHint returns a hint if quotes around the elements of n would make it a list of strings. Otherwise it returns "".
func QuoteHint(n *yaml.Node) string {
	if n.Kind != yaml.Sequence {
		return ""
	}
	for i := range n.Kids {
		if n.Kids[i].Value.Kind() == value.Bool {
			return "put strings in quotes: 'true'"
		}
	}
	return ""
}

// Interpolated parses the string text of n, with its interpolations. It returns nil after an error.
func (d Document) Interpolated(n *yaml.Node, text string) *expr.Node {
	literal.WarnOfInterpolations(text, func(off int) diag.Pos { return d.PosIn(n, off) }, "", d.Diags)
	node, errs := syntax.ParseString(text)
	if len(errs) == 0 {
		errs = syntax.CheckWithoutLookup(node, NoLookup)
	}
	for _, e := range errs {
		at := d.PosIn(n, e.Off)
		d.Diags.Add(diag.Diagnostic{Pos: at, Code: cmp.Or(e.Code, "interpolation"), Message: e.Message,
			Hint: e.Hint})
	}
	if len(errs) > 0 {
		return nil
	}
	literal.WarnOfFacts(d.Document, n, node, d.Diags)
	d.warnOfMissingBraces(n, text)
	syntax.Unqualify(node)
	return node
}

// withoutBraces matches a variable followed by keys, without braces. The dollar sign must not be escaped.
var withoutBraces = pattern.Lazy(`(?:^|[^\\])\$((?:::)?[a-z_]\w*)((?:\[['"]?\w+['"]?\])+)`)

// warnOfMissingBraces warns about '$facts[os][family]'. Puppet reads it as all facts, followed by the text
// '[os][family]'.
func (d Document) warnOfMissingBraces(n *yaml.Node, text string) {
	for _, m := range withoutBraces().FindAllStringSubmatchIndex(text, -1) {
		name, keys := text[m[2]:m[3]], text[m[4]:m[5]]
		quoted := strings.NewReplacer("'", "", `"`, "", "[", "['", "]", "']").Replace(keys)
		d.Diags.Add(diag.Diagnostic{Pos: d.PosIn(n, m[2]-1), Severity: diag.Warning, Code: "braces",
			Message: "without braces '$" + name + "' is interpolated as a whole, and '" + keys + "' remains plain text",
			Hint:    "write ${" + name + quoted + "}",
			Fix:     diag.Fix{Old: "$" + name + keys, New: "${" + name + quoted + "}", Syntax: true}})
	}
}

// NoLookup explains why lookups are not allowed in categories and paths.
const NoLookup = "categories and paths decide what a lookup finds"
