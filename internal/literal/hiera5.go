package literal

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/pattern"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// AppendHiera5 appends the compiled value of n, which is in a Hiera 5 data file. %{...}
// interpolates. If eyaml is true, encrypted strings are decrypted. Errors that affect only lookups
// of this key are reported as warnings.
func AppendHiera5(dst []byte, doc *yaml.Document, n *yaml.Node, eyaml bool, diags *diag.List) []byte {
	h := hiera5{doc, eyaml, diags}
	if unfit := n.FirstUnfit(); unfit != nil {
		return h.appendUnfit(dst, unfit)
	}
	if h.plain(n) {
		return appendPlain(append(dst, recipe.CompiledConstant), n)
	}
	r := &recipe.Recipe{Kind: recipe.Expression, Expr: expr.Fold(h.build(n), stdlib.Functions), Sensitive: h.secret(n)}
	if v, ok := r.Expr.Constant(); ok && !r.Sensitive {
		return recipe.AppendConstant(dst, v)
	}
	return recipe.Append(append(dst, recipe.CompiledRecipe), r)
}

// appendUnfit appends a recipe whose lookup fails. n is the part of the value that bindings cannot
// represent.
func (h hiera5) appendUnfit(dst []byte, n *yaml.Node) []byte {
	var code diag.Code
	var what string
	result, hint := "; every lookup of this key is an error, as in Puppet", "quote it if it is a string"
	switch n.Unfit {
	case yaml.Symbol:
		code, what = "yaml_symbol", value.Shorten(n.Value.Text())+" is a Ruby symbol, which bindings do not support"
	case yaml.NoKey:
		code, what = "yaml_key", "a hash in the value has "+n.Describe()+" as a key, which is neither a string nor a number"
		if n.Kind != yaml.Scalar {
			hint = ""
		}
	default:
		code, what = "yaml_integer", "the integer "+value.Shorten(n.Value.Text())+" does not fit in 64 bits"
		result = "; every lookup of this key is an error"
	}
	h.diags.Add(diag.Diagnostic{Pos: h.doc.Pos(n), Severity: diag.Warning, Code: code, Message: what + result,
		Hint: hint})
	r := &recipe.Recipe{Kind: recipe.Expression, Expr: expr.HieraFailure(what)}
	return recipe.Append(append(dst, recipe.CompiledRecipe), r)
}

type hiera5 struct {
	doc   *yaml.Document
	eyaml bool
	diags *diag.List
}

// encrypted matches strings that Puppet tries to decrypt. These do not include encrypted blocks of
// several lines.
var encrypted = pattern.Lazy(`ENC\[.*?\]`)

func (h hiera5) isEncrypted(text string) bool {
	return h.eyaml && strings.Contains(text, "ENC[") && encrypted().MatchString(text)
}

func (h hiera5) plain(n *yaml.Node) bool {
	if n.Kind == yaml.Scalar {
		text, ok := n.Text()
		return !ok || !strings.Contains(text, "%{") && !h.isEncrypted(text)
	}
	for i := range n.Kids {
		if !h.plain(&n.Kids[i]) {
			return false
		}
	}
	return true
}

// secret reports whether any string in n is encrypted.
func (h hiera5) secret(n *yaml.Node) bool {
	if n.Kind == yaml.Scalar {
		text, ok := n.Text()
		return ok && h.isEncrypted(text)
	}
	for i := range n.Kids {
		if h.secret(&n.Kids[i]) {
			return true
		}
	}
	return false
}

func (h hiera5) build(n *yaml.Node) *expr.Node {
	switch n.Kind {
	case yaml.Scalar:
		return h.text(n, h.eyaml)
	case yaml.Sequence:
		out := &expr.Node{Op: expr.ArrayLit}
		for i := range n.Kids {
			out.Kids = append(out.Kids, h.build(&n.Kids[i]))
		}
		return out
	}
	out := &expr.Node{Op: expr.HashLit}
	for i := 0; i < len(n.Kids); i += 2 {
		out.Kids = append(out.Kids, h.text(&n.Kids[i], false), h.build(&n.Kids[i+1]))
	}
	return out
}

// text compiles a scalar. eyaml says whether to decrypt it; hash keys are never decrypted.
func (h hiera5) text(n *yaml.Node, eyaml bool) *expr.Node {
	text, ok := n.Text()
	switch {
	case !ok:
		return &expr.Node{Op: expr.Const, Value: n.Literal()}
	case eyaml && h.isEncrypted(text):
		h.interpolated(n, text, true)
		return expr.HieraSecret(text)
	case !strings.Contains(text, "%{"):
		return &expr.Node{Op: expr.Const, Value: value.FromString(text)}
	}
	return h.interpolated(n, text, false)
}

// interpolated parses the interpolations in text and warns about errors in them. If secret is true,
// messages do not quote the text.
func (h hiera5) interpolated(n *yaml.Node, text string, secret bool) *expr.Node {
	node, problems := expr.ParseHiera(text)
	for _, p := range problems {
		h.diags.Add(diag.Diagnostic{Pos: h.doc.PosIn(n, p.Off), Severity: diag.Warning, Code: "hiera_interpolation",
			Message: p.Message + "; every lookup of this key is an error, as in Puppet", Secret: secret,
			Fix: h.diags.Correct(p.Method, expr.HieraMethods)})
	}
	if i := strings.LastIndex(text, "%{"); i >= 0 && !strings.Contains(text[i:], "}") {
		h.diags.Add(diag.Diagnostic{Pos: h.doc.PosIn(n, i), Severity: diag.Warning, Code: "hiera_interpolation",
			Message: "this '%{' has no '}' and is plain text", Secret: secret,
			Hint: "close it, or write %{literal('%')}{ where text is meant"})
	}
	for _, e := range syntax.MisspeltHiera(node) {
		h.diags.Add(diag.Diagnostic{Pos: h.doc.PosIn(n, e.Off), Severity: diag.Warning, Code: "fact", Secret: secret,
			Message: e.Message, Hint: e.Hint, Fix: e.Fix})
	}
	return node
}

var (
	begun       = pattern.Lazy(`^\s*ENC\[\w+,`)
	decryptable = pattern.Lazy(`ENC\[(?:(?i:PKCS7),)?[a-zA-Z0-9+/ =\n]+\]`) // provided there is a key
	edited      = pattern.Lazy(`DEC(?:\(\d+\))?::\w+\[`)
)

// CheckEncrypted warns about strings of a Hiera 5 file that are or were encrypted with hiera-eyaml
// but that lookups return unchanged. If eyaml is false, lookups decrypt nothing.
func CheckEncrypted(doc *yaml.Document, eyaml bool, diags *diag.List) {
	if !doc.Mentions("ENC[") && !doc.Mentions("DEC") {
		return
	}
	var asWritten []*yaml.Node
	hiera5{doc, eyaml, diags}.checkEncrypted(doc.Root, &asWritten)
	if len(asWritten) == 0 {
		return
	}
	d := diag.Diagnostic{Pos: doc.Pos(asWritten[0]), Severity: diag.Warning, Code: "eyaml", Secret: true,
		Message: "this is encrypted for hiera-eyaml, but an entry of the hierarchy reads this file without " +
			"decrypting it: lookups return ENC[...] from that entry, as in Puppet",
		Hint: "give that entry 'lookup_key: eyaml_lookup_key' instead of 'data_hash', or move the key"}
	if more := len(asWritten) - 1; more > 0 {
		d.Message += "; the same applies to " + diag.Count(more, "more value") + " in this file"
	}
	diags.Add(d)
}

// checkEncrypted warns about strings in n that look encrypted but cannot be decrypted. It appends
// properly encrypted strings that lookups return unchanged to asWritten.
func (h hiera5) checkEncrypted(n *yaml.Node, asWritten *[]*yaml.Node) {
	for i := range n.Kids {
		h.checkEncrypted(&n.Kids[i], asWritten)
	}
	text, ok := n.Text()
	if n.Kind != yaml.Scalar || !ok {
		return
	}
	d := diag.Diagnostic{Pos: h.doc.Pos(n), Severity: diag.Warning, Code: "eyaml", Secret: true}
	switch {
	case edited().MatchString(text):
		d.Message = "this is plain text in the form of 'eyaml edit': lookups return it unchanged"
		d.Hint = "encrypt it again, and assume that anyone who could read this file knows it"
	case !begun().MatchString(text):
		return
	case !h.eyaml:
		*asWritten = append(*asWritten, n)
		return
	case expr.OtherMethod(text) != "":
		d.Message = "this is encrypted for hiera-eyaml by " + expr.OtherMethod(text) +
			"; lookups decrypt only PKCS7, " +
			"and fail for this text"
		d.Hint = encryptAnew + "; or leave the level to Puppet, as 'bindc adopt' does and 'bindq hiera-config --keep LEVEL'"
	case !decryptable().MatchString(text):
		d.Message = "this looks like a value encrypted by hiera-eyaml with PKCS7, but it is malformed: " +
			"lookups cannot decrypt it"
		d.Hint = "it may be cut off or lack a character; encrypt the value again"
	case !h.isEncrypted(text):
		d.Message = "this is encrypted for hiera-eyaml but has line breaks: lookups return it unchanged, as in " +
			"Puppet"
		d.Hint = "write it on one line, or as a block that begins with '>' instead of '|'"
	default:
		return
	}
	h.diags.Add(d)
}
