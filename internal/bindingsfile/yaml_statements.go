package bindingsfile

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

type keywordForm struct {
	keyword    Keyword
	attributes []string // allowed attributes in addition to the keyword
	binds      string   // what the statement binds, for messages
}

// keywordForms lists the keywords in the order in which they are searched for.
var keywordForms = []keywordForm{
	{Include, nil, "includes classes"},
	{Exclude, nil, "excludes classes"},
	{Parameters, []string{"to", "to_expression", "type", "abstract", "override", "sensitive", "optional", "options"},
		"binds a key for each parameter"},
	{Variables, []string{"type", "abstract", "override", "sensitive", "optional"}, "binds a key for each variable"},
	{Map, []string{"to", "abstract", "override"}, "binds the key of the two types"},
	{Dependency, []string{"kind"}, "contributes to '" + recipe.DependenciesKey + "'"},
}

// keywordStatement converts a statement with a keyword. It returns false if n does not have one.
func (r *yamlReader) keywordStatement(n *yaml.Node) (*Statement, bool) {
	i := slices.IndexFunc(keywordForms, func(f keywordForm) bool { return has(n, f.keyword.String()) })
	if i < 0 {
		return nil, false
	}
	form, word := keywordForms[i], keywordForms[i].keyword.String()
	if name, _, ok := n.Lookup("name"); ok {
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(name), Code: "attribute", InValue: true,
			Message: "expected no 'name' next to '" + word + "', which " + form.binds,
			Hint:    "remove 'name', or make two entries of 'bind': one with '" + word + "', one with 'name'"})
		return nil, true
	}
	for _, other := range keywordForms[i+1:] {
		if has(n, other.keyword.String()) {
			r.attributeError(n, "expected one statement in a hash, found '%s' and '%s'", word, other.keyword)
			return nil, true
		}
	}
	allowed := append([]string{word}, form.attributes...)
	r.reportInValue(r.UnknownKeys(n, "attribute", "attribute of '"+word+"'", allowed))
	_, subject, _ := n.Lookup(word)
	return r.statementOf(form.keyword, n, subject), true
}

// statementOf converts a statement with a keyword and reports its errors. subject is the value of
// the keyword. It returns nil only if a side of a map or dependency, or the kind of a dependency,
// is invalid.
func (r *yamlReader) statementOf(keyword Keyword, n, subject *yaml.Node) *Statement {
	s := &Statement{Keyword: keyword, Pos: r.Pos(n), KeyPos: r.Pos(subject)}
	switch keyword {
	case Include, Exclude:
		s.Subjects = r.oneOrMore(subject)
		return s
	case Dependency:
		return r.dependency(s, n, subject)
	}
	for key, val := range n.Pairs() {
		name, _ := key.Text() // the keyword itself is not an attribute
		r.attribute(s, name, val)
	}
	switch keyword {
	case Parameters:
		s.Subjects = []Literal{r.literal(subject)}
	case Variables:
		r.attribute(s, variablesProducer(subject), subject)
	case Map:
		if subject.Kind != yaml.Sequence || len(subject.Kids) != 2 {
			r.attributeError(subject, "expected two types for 'map': [OF, FROM], found %s", subject.Describe())
			return nil
		}
		s.Subjects = r.oneOrMore(subject)
	}
	return s
}

// oneOrMore returns the elements of a list. If n is not a list, it returns n as the only element.
func (r *yamlReader) oneOrMore(n *yaml.Node) []Literal {
	if n.Kind != yaml.Sequence {
		return []Literal{r.literal(n)}
	}
	return r.literal(n).Kids
}

// variablesProducer returns the attribute for the value of a variables statement. A string that
// begins with a brace is an expression.
func variablesProducer(n *yaml.Node) string {
	if text, _ := n.Text(); strings.HasPrefix(strings.TrimSpace(text), "{") {
		return "to_expression"
	}
	return "to"
}

func (r *yamlReader) dependency(s *Statement, n, sides *yaml.Node) *Statement {
	if sides.Kind != yaml.Sequence || len(sides.Kids) != 2 {
		r.attributeError(sides, "expected a list of two references for 'dependency': [FROM, TO], found %s",
			sides.Describe())
		return nil
	}
	for i := range sides.Kids {
		side := r.literal(&sides.Kids[i])
		s.Producers = append(s.Producers, Producer{Name: "to", Argument: &side})
	}
	if _, kind, ok := n.Lookup("kind"); ok {
		arrow, _ := kind.Text()
		s.Notifies = arrow == "~>"
		if arrow != s.Arrow() {
			r.attributeError(kind, "expected '->' or '~>' for 'kind', found %s", value.Describe(kind.Value))
			return nil
		}
	}
	return s
}
