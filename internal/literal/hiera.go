package literal

import (
	"encoding/asn1"
	"encoding/base64"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/pattern"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// WarnOfHiera warns about Hiera interpolations, which have no special meaning in bindings, and
// about encrypted strings that lookups cannot decrypt. n is a value, or a hash of keys and values.
func WarnOfHiera(doc *yaml.Document, n *yaml.Node, diags *diag.List) {
	if doc.Mentions("%{") || doc.Mentions("ENC[") {
		warnOfHiera(doc, n, diags)
	}
}

func warnOfHiera(doc *yaml.Document, n *yaml.Node, diags *diag.List) {
	for i := range n.Kids {
		warnOfHiera(doc, &n.Kids[i], diags)
	}
	if n.Kind != yaml.Scalar || n.Value.Kind() != value.String {
		return
	}
	text := n.Value.Text()
	WarnOfInterpolations(text, func(off int) diag.Pos { return doc.PosIn(n, off) }, "", diags)
	CheckDecryptable(text, doc.Pos(n), diags)
}

// CheckDecryptable reports a string encrypted with hiera-eyaml that lookups cannot decrypt. If the
// encryption method is not PKCS7 but that of a hiera-eyaml plugin, this is only a warning: real
// sites have such strings, and lookups return them unchanged.
func CheckDecryptable(text string, at diag.Pos, diags *diag.List) {
	if method := expr.OtherMethod(text); method != "" {
		diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "eyaml", Secret: true,
			Message: "this is encrypted for hiera-eyaml by " + method + "; lookups decrypt only PKCS7 " +
				"and return this text unchanged",
			Hint: encryptAnew})
		return
	}
	if !expr.SeemsEncrypted(text) {
		return
	}
	for rest := text; ; {
		_, after, more := strings.Cut(rest, "ENC[")
		if !more {
			return
		}
		if problem := broken(after); problem != "" {
			diags.Add(diag.Diagnostic{Pos: at, Code: "eyaml", Secret: true,
				Message: "this is encrypted for hiera-eyaml, but no lookup can decrypt it: " + problem,
				Hint:    encryptAnew})
			return
		}
		rest = after
	}
}

const encryptAnew = "encrypt the value again with PKCS7: bindc eyaml encrypt"

// token matches what follows ENC[: an optional method, the encrypted bytes, and the closing
// bracket.
var token = pattern.Lazy(`^(?:(\w+),)?([^\]]*)(\]?)`)

// broken returns a description of what is wrong with the text after ENC[. It returns "" if it finds
// no error. Some errors can only be found with the private key.
func broken(text string) string {
	m := token().FindStringSubmatch(text)
	switch {
	case m[1] != "" && !strings.EqualFold(m[1], "PKCS7"):
		return "expected the method PKCS7, found " + m[1]
	case m[3] == "":
		return "expected a ']' at its end"
	}
	der, err := base64.StdEncoding.DecodeString(strings.NewReplacer(" ", "", "\n", "").Replace(m[2]))
	if err != nil {
		return "expected base64 between the brackets"
	}
	if rest, err := asn1.Unmarshal(der, new(asn1.RawValue)); err != nil || len(rest) > 0 {
		return "its length is wrong: part of it is missing, or something was added"
	}
	return ""
}

// hieraInterpolation matches a Hiera interpolation: a method with its argument, or a variable with
// dotted keys. It does not match Apache's %{...} syntax, in which variables are in upper case and
// headers are followed by a single letter.
var hieraInterpolation = pattern.Lazy(`%\{\s*(?:(\w+)\(\s*['"]([^'"{}]*)['"]\s*\)|` +
	`((?:::)?[a-z_][a-z0-9_]*(?:::[a-z_]\w*)*(?:\.[\w-]+)*|))\s*\}(?:$|[^a-zA-Z^]|[a-zA-Z]\w)`)

// WarnOfInterpolations warns about each Hiera interpolation in a string. at returns the position of
// an offset. hintEnd is appended to each hint.
func WarnOfInterpolations(text string, at func(off int) diag.Pos, hintEnd string, diags *diag.List) {
	for _, m := range hieraInterpolation().FindAllStringSubmatchIndex(text, -1) {
		found, _, _ := strings.Cut(text[m[0]:], "}")
		found += "}"
		sub := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		instead, fix := replacement(sub(1), sub(2), sub(3)), diag.Fix{}
		if strings.HasPrefix(instead, "${") {
			fix = diag.Fix{Old: found, New: instead, Syntax: true}
		}
		diags.Add(diag.Diagnostic{Pos: at(m[0]), Severity: diag.Warning, Code: "hiera_interpolation",
			Message: found + " is a Hiera interpolation, but plain text here",
			Hint:    "write " + instead + hintEnd, Fix: fix})
	}
}

// replacement returns what to write instead of a Hiera interpolation. variable is used if method is
// "".
func replacement(method, argument, variable string) string {
	switch method {
	case "":
	case "literal":
		return argument
	case "scope":
		variable = argument
	case "alias": // keeps the type of the value
		return "a structured binding with 'to_lookup_of: " + argument + "'"
	default: // lookup and hiera
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
