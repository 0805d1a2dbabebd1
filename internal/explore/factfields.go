package explore

import (
	"cmp"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// factField is a fact that a form can change.
type factField struct {
	Name    string // path, such as os.family
	Value   string
	Origin  string // where the environment comes from if it is not a fact, or a note that the value is hypothetical
	isText  bool
	Changed *string  // the value that the page supposes, or nil
	Known   []string // values that the form offers
}

// Shown returns the hypothetical value if there is one, and otherwise the node's value.
func (f factField) Shown() string { return *cmp.Or(f.Changed, &f.Value) }

// IsPlain reports whether an input field can show the fact: the fact has no characters that reorder text.
func (f factField) IsPlain() bool {
	text := f.Name + f.Value + f.Shown()
	return diag.Visible(text) == text
}

// maxFacts limits the input fields of a form. Other facts can be typed into a free field.
const maxFacts = 40

// environment is a variable of every request, although the facts may lack it.
const environment = "environment"

// readsEnvironment reports whether conditions or values use the environment.
func (d *Data) readsEnvironment() bool { return slices.Contains(d.reads, environment) }

// factFields returns the environment, and the facts of a node that conditions and values read.
func (v *view) factFields(n facts.Node) (out []factField) {
	if v.d.readsEnvironment() {
		out = append(out, environmentOf(n))
	}
	for _, path := range v.d.reads {
		if path == environment {
			continue
		}
		if name, val, ok := factAt(n, path); ok {
			out = appendFacts(out, name, val)
		}
	}
	slices.SortFunc(out, func(a, b factField) int { return cmp.Compare(a.Name, b.Name) })
	out = slices.CompactFunc(out, func(a, b factField) bool { return a.Name == b.Name })
	return out[:min(len(out), maxFacts)]
}

// environmentOf returns the environment of a node and where it comes from.
func environmentOf(n facts.Node) factField {
	f := factField{Name: environment, isText: true}
	vars, err := facts.Variables(n, bindings.FactsOptions{})
	if err != nil {
		return f // the node's page reports the error
	}
	f.Value = (*lookup.Facts)(vars).Variable(environment).Text()
	switch {
	case n.Environment != "":
		f.Origin = "of the node"
	case n.Has(environment):
		f.Origin = "a fact"
	default:
		f.Origin = "the default; the facts have none"
	}
	return f
}

// factAt returns the fact that supplies a variable: the fact with the variable's name, or the fact from which the
// variable is derived.
func factAt(n facts.Node, path string) (name string, val bindings.Value, ok bool) {
	if val, ok = dig(n.Facts, path); ok {
		return path, val, true
	}
	if root, _, nested := strings.Cut(path, "."); !nested {
		for _, source := range lookup.SourcesOf(root) {
			if val, ok = dig(n.Facts, source); ok {
				return source, val, true
			}
		}
	}
	return "", val, false
}

// dig returns the value at a dotted path in a hash.
func dig(hash bindings.Value, path string) (bindings.Value, bool) {
	first, rest, nested := strings.Cut(path, ".")
	for key, val := range hash.Entries() {
		if key.String() == first && nested {
			return dig(val, rest)
		}
		if key.String() == first {
			return val, true
		}
	}
	return bindings.Value{}, false
}

// appendFacts appends a fact, or the leaves of a structured fact.
func appendFacts(out []factField, name string, v bindings.Value) []factField {
	switch v.Kind() {
	case bindings.Hash:
		for key, part := range v.Entries() {
			if text := key.String(); text != "" && !strings.ContainsAny(text, ".=:") {
				out = appendFacts(out, name+"."+text, part)
			}
		}
		return out
	case bindings.Array, bindings.Undef:
		return out
	case bindings.String:
		return append(out, factField{Name: name, Value: v.String(), isText: true})
	}
	return append(out, factField{Name: name, Value: v.String()})
}

// unset returns the variables that conditions use and a node lacks, and the variables that are empty.
func (v *view) unset(n facts.Node, r *lookup.Request) (missing, empty []string) {
	for _, name := range r.Unset() {
		_, _, isFact := factAt(n, name)
		if isFact || !slices.Contains(v.d.reads, name) { // a category whose text is empty
			empty = append(empty, name)
		} else {
			missing = append(missing, name)
		}
	}
	return missing, empty
}

// supposition describes a changed fact.
func supposition(change string) string {
	if name, isEmpty := strings.CutSuffix(change, "="); isEmpty && !strings.Contains(name, "=") {
		return name + " is empty"
	}
	return change
}

// suppositions describes changed facts.
func suppositions(changes []string) string {
	out := make([]string, len(changes))
	for i := range changes {
		out[i] = supposition(changes[i])
	}
	return strings.Join(out, ", ")
}
