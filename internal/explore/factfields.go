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

// factField is an input field for one fact of a node.
type factField struct {
	Name    string // dotted path, such as os.family
	Value   string
	Origin  string // a remark on where the value comes from, or ""
	isText  bool
	Changed *string  // value entered by the user, or nil
	Known   []string // values to suggest
}

// Shown returns the text in the input field: the value entered by the user if there is one, and otherwise the node's
// own value.
func (f factField) Shown() string { return *cmp.Or(f.Changed, &f.Value) }

// IsPlain reports whether the fact can be edited in an input field. Text with control or reordering characters cannot.
func (f factField) IsPlain() bool {
	text := f.Name + f.Value + f.Shown()
	return diag.Visible(text) == text
}

// maxFacts limits the number of input fields. The user can type other facts into a free-form field.
const maxFacts = 40

// environment is a variable that every request has, even if it is not among the node's facts.
const environment = "environment"

func (d *Data) readsEnvironment() bool { return slices.Contains(d.reads, environment) }

// factFields returns input fields for the environment and for those facts of n that conditions or values read.
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

// environmentOf returns the environment that requests for n use, with its origin.
func environmentOf(n facts.Node) factField {
	f := factField{Name: environment, isText: true}
	vars, err := facts.Variables(n, bindings.FactsOptions{})
	if err != nil {
		return f // the node's page shows the error
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

// factAt returns the fact that supplies the variable at path. That is the fact with the same name, or the fact from
// which Puppet derives the variable.
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

// dig returns the value at a dotted path in a hash. It returns false if there is none.
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

// appendFacts appends a field for the fact, or for each scalar inside a structured fact. It skips arrays.
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

// unset returns the variables that conditions use but n lacks, and those whose value is empty.
func (v *view) unset(n facts.Node, r *lookup.Request) (missing, empty []string) {
	for _, name := range r.Unset() {
		_, _, isFact := factAt(n, name)
		if isFact || !slices.Contains(v.d.reads, name) { // not in reads: a category
			empty = append(empty, name)
		} else {
			missing = append(missing, name)
		}
	}
	return missing, empty
}

// supposition returns a readable form of a changed fact, given in the syntax of --if.
func supposition(change string) string {
	if name, isEmpty := strings.CutSuffix(change, "="); isEmpty && !strings.Contains(name, "=") {
		return name + " is empty"
	}
	return change
}

func suppositions(changes []string) string {
	out := make([]string, len(changes))
	for i := range changes {
		out[i] = supposition(changes[i])
	}
	return strings.Join(out, ", ")
}
