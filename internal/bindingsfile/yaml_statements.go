package bindingsfile

import (
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// statementKeys are the attributes of statements that are told by the first of them.
var statementKeys = [][]string{
	{"include"},
	{"exclude"},
	{"parameters", "to", "to_expression", "type", "abstract", "override", "sensitive", "optional",
		"options"},
	{"variables", "type", "abstract", "override", "sensitive", "optional"},
	{"map", "to", "abstract", "override"},
	{"dependency", "kind"},
}

// bindsWhat is what such a statement binds, as it has no key.
var bindsWhat = map[string]string{
	"include":    "binds that classes are included",
	"exclude":    "binds that classes are not included",
	"parameters": "binds a key for each parameter",
	"variables":  "binds a key for each variable",
	"map":        "binds the key of the two types",
	"dependency": "contributes to '" + recipe.DependenciesKey + "'",
}

// further reads a statement that is more than a binding of one key; nil, false if n is none.
func (r *reader) further(n *yaml.Node) (Statement, bool) {
	i := slices.IndexFunc(statementKeys, func(keys []string) bool { return has(n, keys[0]) })
	if i < 0 {
		return nil, false
	}
	word := statementKeys[i][0]
	if name, _, ok := n.Lookup("name"); ok {
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(name), Code: "attribute", InValue: true,
			Message: "expected no 'name' beside '" + word + "', which " + bindsWhat[word],
			Hint:    "remove 'name', or make two entries of 'bind': one with '" + word + "', one with 'name'"})
		return nil, true
	}
	for _, other := range statementKeys[i+1:] {
		if has(n, other[0]) {
			r.local(n, "expected one statement in a hash, found '%s' and '%s'", word, other[0])
			return nil, true
		}
	}
	for _, d := range r.UnknownKeys(n, "attribute", "attribute of '"+word+"'", statementKeys[i]) {
		d.InValue = true
		r.diags.Add(d)
	}
	_, subject, _ := n.Lookup(word)
	switch word {
	case "include", "exclude":
		return r.classes(n, subject, word == "exclude"), true
	case "dependency":
		return r.dependency(n, subject), true
	}
	a := Attributes{Pos: r.Pos(n), KeyPos: r.Pos(subject)}
	for key, val := range n.Pairs() {
		name, _ := key.Text() // the word itself is no attribute of a binding
		r.attribute(&a, name, val)
	}
	switch word {
	case "parameters":
		return &Parameters{r.literalOf(subject), a}, true
	case "map":
		return r.paramMap(subject, a), true
	}
	producer := "to"
	if text, _ := subject.Text(); strings.HasPrefix(strings.TrimSpace(text), "{") {
		producer = "to_expression" // that writes the hash out
	}
	r.attribute(&a, producer, subject)
	return &Variables{a}, true
}

// classes reads the names of classes: one, or a list.
func (r *reader) classes(n, names *yaml.Node, exclude bool) Statement {
	c := &Classes{Pos: r.Pos(n), Exclude: exclude}
	if names.Kind != yaml.Sequence {
		c.Names = []Literal{r.literalOf(names)}
		return c
	}
	for i := range names.Kids {
		c.Names = append(c.Names, r.literalOf(&names.Kids[i]))
	}
	return c
}

func (r *reader) paramMap(sides *yaml.Node, a Attributes) Statement {
	if sides.Kind != yaml.Sequence || len(sides.Kids) != 2 {
		r.local(sides, "expected two types as 'map': [OF, FROM], found %s", sides.Describe())
		return nil
	}
	return &Map{r.literalOf(&sides.Kids[0]), r.literalOf(&sides.Kids[1]), a}
}

func (r *reader) dependency(n, sides *yaml.Node) Statement {
	if sides.Kind != yaml.Sequence || len(sides.Kids) != 2 {
		r.local(sides, "expected what comes first and what comes after it as 'dependency': [FROM, TO], found %s",
			sides.Describe())
		return nil
	}
	side := func(n *yaml.Node) Producer { return Producer{Name: "to", Argument: r.literal(n)} }
	d := &Dependency{Pos: r.Pos(n), From: side(&sides.Kids[0]), To: side(&sides.Kids[1]), Kind: "->"}
	if _, kind, ok := n.Lookup("kind"); ok {
		d.Kind, _ = kind.Text()
		if d.Kind != "->" && d.Kind != "~>" {
			r.local(kind, "expected '->' or '~>' as 'kind', found %s", value.Describe(kind.Value))
			return nil
		}
	}
	return d
}

// combinator reads the lambda among the options of a multibinding, if there is one.
func (r *reader) combinator(a *Attributes, n *yaml.Node) {
	_, options, _ := n.Lookup("options")
	if !has(n, "multibind_id") || options == nil {
		return
	}
	if _, c, ok := options.Lookup("combinator"); ok {
		a.Combinator = r.lambda(a, c)
	}
}
