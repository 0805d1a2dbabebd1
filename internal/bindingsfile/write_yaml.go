package bindingsfile

import (
	"bytes"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// ToYAML is the set called name in YAML, statement by statement. Comments are with the statements they were with.
func ToYAML(s *Set, name string, remarks Remarks) ([]byte, error) {
	w := yamlWriter{remarks: remarks}
	for _, text := range remarks.Head {
		w.lines(text+"\n", 0)
	}
	w.write(hashOf("bindings_version", value.FromInt(1), "name", value.FromString(name)), 0)
	if len(s.Statements) == 0 {
		w.WriteString("bind: []\n")
	} else {
		w.WriteString("bind:\n")
		w.statements(s.Statements, 2)
	}
	return w.Bytes(), w.err
}

// yamlWriter collects the lines of a set.
type yamlWriter struct {
	bytes.Buffer
	remarks Remarks
	err     error
}

// hashOf is a hash of names and values in turn; without a name that is undef.
func hashOf(pairs ...any) value.Value {
	var b value.Builder
	for i := 0; i < len(pairs); i += 2 {
		if v := pairs[i+1].(value.Value); !v.IsUndef() || pairs[i] != "name" {
			b.Set(value.FromString(pairs[i].(string)), v)
		}
	}
	return b.Hash()
}

// write writes v, each line so deep.
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

func (w *yamlWriter) statements(list []Statement, indent int) {
	if len(list) == 0 {
		w.lines("[]\n", indent)
	}
	for _, s := range list {
		for _, text := range w.remarks.Above[At(s)] {
			w.lines(text+"\n", indent)
		}
		start := w.Len()
		w.statement(s, indent)
		if text, ok := w.remarks.Beside[At(s)]; ok {
			w.beside(start, "  "+text)
		}
	}
}

// beside puts a comment at the end of the line that begins at start.
func (w *yamlWriter) beside(start int, comment string) {
	written := string(w.Bytes()[start:])
	w.Truncate(start)
	first, rest, _ := strings.Cut(written, "\n")
	w.WriteString(first + comment + "\n" + rest)
}

func (w *yamlWriter) statement(s Statement, indent int) {
	switch s := s.(type) {
	case *When:
		w.write(value.FromSlice([]value.Value{hashOf("when", whenOf(s))}), indent)
		w.lines("bind:\n", indent+2)
		w.statements(s.Statements, indent+4)
	case *Plain:
		w.plain(s, indent)
	case *Classes:
		names := make([]value.Value, len(s.Names))
		for i, n := range s.Names {
			names[i] = n.Value
		}
		list := value.FromSlice(names)
		if len(names) == 1 {
			list = names[0]
		}
		w.element(indent, map[bool]string{false: "include", true: "exclude"}[s.Exclude], list)
	case *Dependency:
		sides := []value.Value{s.From.Argument.Value, s.To.Argument.Value}
		w.element(indent, "dependency", value.FromSlice(sides), "kind", value.FromString(s.Kind))
	case *Binding:
		w.element(indent, append([]any{"name", textOrNone(s.Key)}, w.attributes(&s.Attributes)...)...)
	case *Parameters:
		w.element(indent, append([]any{"parameters", s.Target.Value}, w.attributes(&s.Attributes)...)...)
	case *Map:
		sides := value.FromSlice([]value.Value{s.From.Value, s.To.Value})
		w.element(indent, append([]any{"map", sides}, w.attributes(&s.Attributes)...)...)
	case *Variables:
		pairs := w.attributes(&s.Attributes)
		for i := 0; i < len(pairs); i += 2 { // what they are bound to goes by their own name
			if pairs[i] == "to" || pairs[i] == "to_expression" {
				pairs[i] = "variables"
			}
		}
		w.element(indent, pairs...)
	}
}

// element writes an element of a list, a hash of names and values in turn.
func (w *yamlWriter) element(indent int, pairs ...any) {
	w.write(value.FromSlice([]value.Value{hashOf(pairs...)}), indent)
}

func textOrNone(s string) value.Value {
	if s == "" {
		return value.Value{}
	}
	return value.FromString(s)
}

// whenOf is what a conditional asks, one hash or several. Values are texts that compare as they were written.
func whenOf(w *When) value.Value {
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

// plain writes a binding in the short form, if its value is short, else in the long one.
func (w *yamlWriter) plain(p *Plain, indent int) {
	n, err := Node(p.Value)
	if err != nil {
		w.err = err
		return
	}
	name, v := w.produced(n)
	if name == "to" && v.Kind() != value.Array && v.Kind() != value.Hash {
		if short, ok := w.inBrackets(value.FromString(p.Key), v); ok {
			w.lines("- "+short+"\n", indent)
			return
		}
	}
	w.element(indent, "name", value.FromString(p.Key), name, v)
}

// inBrackets is a list on one line; not ok where that would need more than quotes.
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

// attributes are names and values, in turn, of what a binding says but for its name.
func (w *yamlWriter) attributes(a *Attributes) []any {
	var out []any
	add := func(name string, v value.Value) { out = append(out, name, v) }
	literal := func(name string, l *Literal) {
		if l != nil {
			add(name, l.Value)
		}
	}
	literal("type", a.Type)
	for _, f := range []struct {
		name string
		set  bool
	}{{"abstract", a.Abstract}, {"override", a.Override}, {"sensitive", a.Sensitive}} {
		if f.set {
			add(f.name, value.FromBool(true))
		}
	}
	for i := range a.Producers {
		switch p := &a.Producers[i]; {
		case p.Name == "to" || p.Name == "to_expression":
			name, v := w.produced(producedBy(p))
			add(name, v)
		case p.Name == "to_query":
			add(p.Name, value.FromString(syntax.PrintQuery(queryOf(p.Argument.Value))))
		default:
			literal(p.Name, p.Argument)
		}
	}
	if a.Optional {
		add("optional", value.FromBool(true))
	}
	literal("in", a.In)
	literal("options", a.Options)
	if a.Transformer != nil {
		add("transformer", value.FromString(syntax.PrintLambda(writtenLambda(a.Transformer))))
	}
	return out
}

// produced is n as an attribute: `to` where it is a literal, in which strings may interpolate, else `to_expression`.
func (w *yamlWriter) produced(n *expr.Node) (string, value.Value) {
	if v, ok := template(n); ok {
		return "to", v
	}
	return "to_expression", value.FromString(syntax.Print(n))
}

// template is n as a value whose strings interpolate.
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
		return composed(n.Op == expr.HashLit, kids), true
	}
	return value.Value{}, false
}
