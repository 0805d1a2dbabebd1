package datafile

import (
	"strings"

	"bindc/diag"
	"bindc/internal/literal"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/yaml"
)

// compileHiera5 compiles a Hiera 5 data file. A key with dots is stored with the quotes that a
// lookup of it needs. lookup_options is stored under an internal key.
func compileHiera5(doc *yaml.Document, kind Format, s *scratch, pools *Pools, diags *diag.List) (out, options []Entry) {
	literal.CheckEncrypted(doc, kind == Hiera5EYAML, diags)
	out = make([]Entry, 0, len(doc.Root.Kids)/2)
	optionsEntry, slashed := -1, false // slashed is set once a key with a leading / has been reported
	for key, val := range doc.Root.Pairs() {
		name, ok := hiera5Key(doc, key, diags)
		if !ok {
			continue
		}
		if name == recipe.LookupOptionsKey {
			options, optionsEntry = optionsIn(val, pools), len(out)
		}
		literal.CheckReserved(name, doc.Pos(key), &slashed, diags)
		out = append(out, Entry{Line: key.Line, Col: key.Col})
		s.keys.add(func(dst []byte) []byte { return append(dst, name...) })
		s.values.add(func(dst []byte) []byte {
			return literal.AppendHiera5(dst, doc, val, kind == Hiera5EYAML, diags)
		})
	}
	out = s.number(out, pools)
	for i := range options {
		options[i].Value = out[optionsEntry].Value
	}
	return out, options
}

// optionsIn returns an entry for each name in lookup_options. The entries have no values yet.
func optionsIn(n *yaml.Node, pools *Pools) (out []Entry) {
	if n.Kind != yaml.Mapping {
		return nil
	}
	for key := range n.Pairs() {
		if name, ok := key.Text(); ok && name != "" && name[0] != 0 {
			out = append(out, Entry{Key: pools.Keys.Number([]byte(name)), Line: key.Line, Col: key.Col})
		}
	}
	return out
}

// hiera5Key returns a key as lookups must write it. If no lookup can find the key, it adds a
// warning and returns false.
func hiera5Key(doc *yaml.Document, n *yaml.Node, diags *diag.List) (string, bool) {
	name, ok := n.Text()
	if ok {
		if name == "lookup_options" {
			return recipe.LookupOptionsKey, true
		}
		name, ok = lookupkey.Quoted(name)
	}
	if !ok || name == "" || strings.ContainsRune(name, 0) {
		diags.Add(diag.Diagnostic{Pos: doc.Pos(n), Severity: diag.Warning, Code: "key",
			Message: "no lookup can ask for " + n.Describe() + ": expected a string, without quotes of both kinds"})
		return "", false
	}
	return name, true
}
