package bindingsfile

import (
	"errors"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/layout"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Convert converts a bindings file between YAML and Puppet syntax. It keeps the comments, and
// verifies that the result has the same meaning. If the file has errors or cannot be expressed in
// the other syntax, it adds diagnostics and returns false.
//
// names are the valid names for the bindings. A YAML file must use the full name, names[0].
func Convert(file string, src []byte, names []string, diags *diag.List) ([]byte, bool) {
	toYAML := strings.HasSuffix(file, ".pp")
	f := parseAndRead(file, src, toYAML, diags)
	if diags.Failed() {
		return nil, false
	}
	if f.Name == nil || f.Name.Value.Kind() != value.String {
		diags.Errorf(f.Pos, "bindings", "expected 'name', which the bindings have in the other syntax too")
		return nil, false
	}
	name := f.Name.Value.Text()
	if toYAML && slices.Contains(names, name) {
		name = names[0]
	}
	if out, err := checked(f, name, placeComments(src, f, toYAML), toYAML); err == nil {
		return formatted(out, !toYAML), true
	}
	if !reportInexpressible(f.Statements, toYAML, diags) {
		diags.Add(diag.Diagnostic{Pos: f.Pos, Code: "convert", Message: errInexpressible.Error()})
	}
	return nil, false
}

var errInexpressible = errors.New("this cannot be expressed in the other syntax")

// checked converts a file and verifies that the result has the same statements as f. If it does
// not, checked returns an error.
func checked(f *File, name string, c comments, toYAML bool) ([]byte, error) {
	write := puppetText
	if toYAML {
		write = yamlText
	}
	out, err := write(f, name, c)
	if err != nil {
		return nil, err
	}
	var own diag.List
	if again := parseAndRead("", out, !toYAML, &own); own.Failed() || canonical(again) != canonical(f) {
		return nil, errInexpressible
	}
	return out, nil
}

// reportInexpressible reports all statements that cannot be expressed in the other syntax. It
// returns whether there are any.
func reportInexpressible(list []*Statement, toYAML bool, diags *diag.List) (any bool) {
	for _, s := range list {
		_, err := checked(&File{Statements: []*Statement{s}}, "set", comments{}, toYAML)
		if err == nil {
			continue
		}
		any = true
		if reportInexpressible(s.Statements, toYAML, diags) {
			continue
		}
		diags.Add(diag.Diagnostic{Pos: s.Pos, Code: "convert", Message: err.Error()})
	}
	return any
}

// parseAndRead parses a bindings file. It returns nil if it has reported an error that prevents
// that.
func parseAndRead(file string, src []byte, isPuppet bool, diags *diag.List) *File {
	if isPuppet {
		if p := ParsePuppet(file, src, diags); p != nil {
			return p.Read(nil, diags)
		}
		return nil
	}
	parse := yaml.Parse
	if strings.HasSuffix(file, ".json") {
		parse = yaml.ParseJSON
	}
	doc, ok := parse(file, src, yaml.Options{}, diags)
	if !ok {
		return nil
	}
	return YAML{Document: doc}.Read(nil, diags)
}

// formatted returns src in canonical layout. It returns src unchanged if the formatter does not
// support its syntax.
func formatted(src []byte, isPuppet bool) []byte {
	format := layout.YAML
	if isPuppet {
		format = layout.Puppet
	}
	var own diag.List
	if out, ok := format("", src, &own); ok {
		return out
	}
	return src
}

// canonical returns the statements of a file in a form that can be compared. It can use Puppet
// syntax, because one of the two compared files is in that syntax.
func canonical(f *File) string {
	text, _ := puppetText(f, "", comments{})
	return string(text)
}
