package bindingsfile

import (
	"bytes"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// yamlText returns a bindings file in YAML, with the given name and comments.
func yamlText(f *File, name string, c comments) ([]byte, error) {
	w := yamlWriter{comments: c}
	for _, text := range c.head {
		w.lines(text+"\n", 0)
	}
	w.write(hashOf([]attribute{{"bindings_version", value.FromInt(1)}, {"name", value.FromString(name)}}), 0)
	if len(f.Statements) == 0 {
		w.WriteString("bind: []\n")
	} else {
		w.WriteString("bind:\n")
		w.statements(f.Statements, 2)
	}
	return w.Bytes(), w.err
}

type yamlWriter struct {
	bytes.Buffer
	comments comments
	err      error
}

type attribute struct {
	name  string
	value value.Value
}

func hashOf(attributes []attribute) value.Value {
	var b value.Builder
	for _, a := range attributes {
		b.Set(value.FromString(a.name), a.value)
	}
	return b.Hash()
}

// write writes v as YAML. Each line is indented by the given number of spaces.
func (w *yamlWriter) write(v value.Value, indent int) {
	text, err := yaml.Write(v)
	if err != nil {
		w.err = err
	}
	w.lines(string(text), indent)
}

func (w *yamlWriter) lines(text string, indent int) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			w.WriteString(strings.Repeat(" ", indent))
		}
		w.WriteString(line)
	}
}

func (w *yamlWriter) statements(list []*Statement, indent int) {
	if len(list) == 0 {
		w.lines("[]\n", indent)
	}
	for _, s := range list {
		for _, text := range w.comments.above[s.Pos] {
			w.lines(text+"\n", indent)
		}
		start := w.Len()
		w.statement(s, indent)
		if text, ok := w.comments.inline[s.Pos]; ok {
			w.appendToLine(start, "  "+text)
		}
	}
}

// appendToLine adds a comment to the end of the line that begins at offset start.
func (w *yamlWriter) appendToLine(start int, comment string) {
	text := string(w.Bytes()[start:])
	w.Truncate(start)
	first, rest, _ := strings.Cut(text, "\n")
	w.WriteString(first + comment + "\n" + rest)
}

func (w *yamlWriter) statement(s *Statement, indent int) {
	switch s.Keyword {
	case When:
		w.element(indent, attribute{"when", conditionValue(s)})
		w.lines("bind:\n", indent+2)
		w.statements(s.Statements, indent+4)
	case Include, Exclude:
		names := valuesOf(s.Subjects)
		if names.Len() == 1 {
			names = s.Subjects[0].Value
		}
		w.element(indent, attribute{s.Keyword.String(), names})
	case Dependency:
		sides := []value.Value{s.Producers[0].Argument.Value, s.Producers[1].Argument.Value}
		w.element(indent, attribute{"dependency", value.FromSlice(sides)},
			attribute{"kind", value.FromString(s.Arrow())})
	case Parameters:
		target := attribute{"parameters", s.Subjects[0].Value}
		w.element(indent, append([]attribute{target}, w.attributes(s)...)...)
	case Map:
		types := attribute{"map", valuesOf(s.Subjects)}
		w.element(indent, append([]attribute{types}, w.attributes(s)...)...)
	case Variables:
		attributes := w.attributes(s)
		for i := range attributes { // the producer becomes the value of the keyword
			if name := attributes[i].name; name == "to" || name == "to_expression" {
				attributes[i].name = "variables"
			}
		}
		w.element(indent, attributes...)
	default:
		w.binding(s, indent)
	}
}

// binding writes a binding as a hash, or in a shorter form if it has only a key and a value.
func (w *yamlWriter) binding(s *Statement, indent int) {
	if s.Value != nil {
		w.plain(s, indent)
		return
	}
	var name []attribute
	if s.Key != "" {
		name = []attribute{{"name", value.FromString(s.Key)}}
	}
	w.element(indent, append(name, w.attributes(s)...)...)
}

// element writes a hash of attributes as an element of a list.
func (w *yamlWriter) element(indent int, attributes ...attribute) {
	w.write(value.FromSlice([]value.Value{hashOf(attributes)}), indent)
}

func valuesOf(list []Literal) value.Value { return collect(false, list) }

// conditionValue returns a condition as a hash, or as a list of hashes if it has several
// alternatives. Values are strings, because the number 6.10 would become 6.1.
func conditionValue(w *Statement) value.Value {
	var hashes []value.Value
	for _, all := range w.Alternatives {
		var b value.Builder
		for _, p := range all {
			values := make([]value.Value, len(p.Values))
			for i, v := range p.Values {
				values[i] = value.FromString(v)
			}
			if len(values) == 1 {
				b.Set(p.Category.Value, values[0])
			} else {
				b.Set(p.Category.Value, value.FromSlice(values))
			}
		}
		hashes = append(hashes, b.Hash())
	}
	if len(hashes) == 1 {
		return hashes[0]
	}
	return value.FromSlice(hashes)
}

// plain writes a binding that has only a key and a value. It uses the short form if the value is a
// short scalar.
func (w *yamlWriter) plain(s *Statement, indent int) {
	n, err := decode(s.Value)
	if err != nil {
		w.err = err
		return
	}
	a, key := attributeOf(n), value.FromString(s.Key)
	if a.name == "to" && a.value.Kind() != value.Array && a.value.Kind() != value.Hash {
		if short, ok := w.inBrackets(key, a.value); ok {
			w.lines("- "+short+"\n", indent)
			return
		}
	}
	w.element(indent, attribute{"name", key}, a)
}

// inBrackets writes a list on one line. It returns false if an element is too long for that or has
// several lines.
func (w *yamlWriter) inBrackets(elems ...value.Value) (string, bool) {
	var parts []string
	for _, e := range elems {
		text, err := yaml.Write(e)
		if err != nil {
			w.err = err
		}
		part := strings.TrimSuffix(string(text), "\n")
		switch {
		case strings.ContainsRune(part, '\n'), len(part) > 60:
			return "", false
		case part[0] != '"' && part[0] != '\'' && strings.ContainsAny(part, ",[]{}"):
			part = "'" + strings.ReplaceAll(part, "'", "''") + "'"
		}
		parts = append(parts, part)
	}
	return "[" + strings.Join(parts, ", ") + "]", true
}

func (w *yamlWriter) attributes(s *Statement) []attribute {
	var out []attribute
	add := func(name string, l *Literal) {
		if l != nil {
			out = append(out, attribute{name, l.Value})
		}
	}
	isTrue := &Literal{Value: value.FromBool(true)}
	add("type", s.Type)
	for _, flag := range s.flags() {
		add(flag, isTrue)
	}
	for i := range s.Producers {
		switch p := &s.Producers[i]; p.Name {
		case "to", "to_expression":
			out = append(out, attributeOf(producerNode(p)))
		case "to_query":
			out = append(out, attribute{p.Name, value.FromString(syntax.PrintQuery(queryOf(p.Argument.Value)))})
		default:
			add(p.Name, p.Argument)
		}
	}
	if s.Optional {
		add("optional", isTrue)
	}
	add("in", s.In)
	add("options", s.Options)
	if s.Transformer != nil {
		text := syntax.PrintLambda(printableLambda(s.Transformer.Lambda))
		out = append(out, attribute{"transformer", value.FromString(text)})
	}
	return out
}

// attributeOf returns the attribute for an expression: to for a literal, in which strings may
// interpolate, and to_expression for all others.
func attributeOf(n *expr.Node) attribute {
	if v, ok := template(n); ok {
		return attribute{"to", v}
	}
	return attribute{"to_expression", value.FromString(syntax.Print(n))}
}

// template converts a literal expression to a value in which strings interpolate. It returns false
// for other expressions.
func template(n *expr.Node) (value.Value, bool) {
	switch n.Op {
	case expr.Const:
		switch n.Value.Kind() {
		case value.String:
			return value.FromString(syntax.PrintString(n)), true
		case value.Undef, value.Bool, value.Int, value.Float:
			return n.Value, true
		}
		return value.Value{}, false
	case expr.Concat:
		return value.FromString(syntax.PrintString(n)), true
	case expr.ArrayLit, expr.HashLit:
		kids := make([]Literal, len(n.Kids))
		for i, kid := range n.Kids {
			v, ok := template(kid)
			if !ok {
				return value.Value{}, false
			}
			kids[i].Value = v
		}
		return collect(n.Op == expr.HashLit, kids), true
	}
	return value.Value{}, false
}
