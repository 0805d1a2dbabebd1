package syntax

import (
	"strings"

	"bindc/internal/expr"
	"bindc/internal/pattern"
	"bindc/internal/value"
)

// PrintBindings returns the source of b. Parsing it gives an equal tree, apart from offsets.
func PrintBindings(b *Bindings) string {
	w := setPrinter{}
	for _, c := range b.Above {
		w.line(c)
	}
	w.line("bindings " + b.Name.Text + " {")
	w.statements(b.Statements)
	w.line("}")
	return w.String()
}

type setPrinter struct {
	strings.Builder
	depth int
}

func (w *setPrinter) line(text string) {
	if text == "" {
		w.WriteByte('\n')
		return
	}
	w.WriteString(strings.Repeat("  ", w.depth) + text + "\n")
}

func (w *setPrinter) statements(list []Statement) {
	w.depth++
	for i := range list {
		w.statement(&list[i])
	}
	w.depth--
}

func (w *setPrinter) statement(s *Statement) {
	for _, c := range s.Above {
		w.line(c)
	}
	comment := ""
	if s.LineComment != "" {
		comment = "  " + s.LineComment
	}
	if s.Word == "when" {
		w.line("when " + conditions(s.When) + " {" + comment)
		w.statements(s.Statements)
		w.line("}")
		return
	}
	w.line(strings.Join(w.words(s), " ") + comment)
}

func conditions(alternatives [][]Pair) string {
	var out []string
	for _, all := range alternatives {
		var pairs []string
		for _, p := range all {
			var values []string
			for _, v := range p.Values {
				values = append(values, categoryValue(v.Text))
			}
			text := values[0]
			if len(values) > 1 {
				text = "[" + strings.Join(values, ", ") + "]"
			}
			pairs = append(pairs, p.Category.Text+" "+text)
		}
		out = append(out, strings.Join(pairs, " and "))
	}
	return strings.Join(out, " or ")
}

var bareValue = pattern.Lazy(`^([a-z][a-z0-9_]*|[1-9][0-9]*(\.[0-9]+)?)$`)

func categoryValue(text string) string {
	if bareValue().MatchString(text) && !keywords[text] || text == "true" || text == "false" {
		return text
	}
	return value.Quote(text)
}

func (w *setPrinter) words(s *Statement) []string {
	switch s.Word {
	case "include", "exclude":
		return []string{s.Word, names(s.Names)}
	case "dependency":
		return []string{"bind dependency", Print(s.Target), s.Arrow.Text, Print(s.Other)}
	case "map":
		out := append(append([]string{"bind"}, flagsOf(s)...), "map", target(s.Target), "to", target(s.Other))
		if s.To != nil {
			out = append(out, w.value(s.To))
		}
		return out
	case "alias", "renamed":
		old := append([]string{"bind", s.Word}, keyOf(s.OldType, s.Old)...)
		return w.withOptions(append(append(append(old, "as"), flagsOf(s)...), keyOf(s.Type, s.Key)...), s)
	}
	out := []string{"bind"}
	if s.Word == "rebind" || s.Word == "multibind" {
		out[0] = s.Word
	}
	out = append(out, flagsOf(s)...)
	switch s.Word {
	case "parameters":
		out = append(out, "parameters", target(s.Target))
	case "variables":
		out = append(append(out, "variables"), keyOf(s.Type, nil)...)
	default:
		out = append(out, keyOf(s.Type, s.Key)...)
	}
	if s.Word == "multibind" && s.In != nil {
		out = append(out, "as", Print(s.In))
	}
	out = append(out, w.producer(s)...)
	if s.Word == "bind" && s.In != nil {
		out = append(out, "in", Print(s.In))
	}
	return w.withOptions(out, s)
}

func (w *setPrinter) withOptions(words []string, s *Statement) []string {
	if len(s.Options) > 0 {
		words = append(words, w.options(s.Options))
	}
	return words
}

func flagsOf(s *Statement) (out []string) {
	for _, f := range s.Flags {
		out = append(out, f.Text)
	}
	return out
}

func keyOf(t, key *expr.Node) (out []string) {
	if t != nil {
		out = append(out, Print(t))
	}
	if t != nil && key != nil {
		out[0] += ","
	}
	if key != nil {
		out = append(out, Print(key))
	}
	return out
}

// target prints a type, or a class, which is a string constant.
func target(n *expr.Node) string {
	if v, ok := n.Constant(); ok {
		return v.Text()
	}
	if n.Op == expr.Access && len(n.Kids) == 2 {
		if v, ok := n.Kids[1].Constant(); ok && v.Kind() == value.String && isClass(v.Text()) {
			return Print(n.Kids[0]) + "[" + v.Text() + "]"
		}
	}
	return Print(n)
}

func names(list []Word) string {
	texts := make([]string, len(list))
	for i, n := range list {
		if texts[i] = n.Text; !isClass(n.Text) {
			texts[i] = value.Quote(n.Text)
		}
	}
	if len(list) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// isClass reports whether name can be a class name without quotes.
func isClass(name string) bool {
	return name != "" && !keywords[name] && bareWordEnd(name, 0) == len(name) && !strings.HasPrefix(name, "::")
}

func (w *setPrinter) producer(s *Statement) []string {
	if s.To == nil && s.Query == nil {
		return nil
	}
	out := []string{"to"}
	if s.Optional {
		out = append(out, "optional")
	}
	switch {
	case s.Query != nil:
		return append(out, PrintQuery(s.Query))
	case s.Producer:
		return append(out, "producer", Print(s.To))
	}
	return append(out, w.clause(s.To))
}

// clause prints a value that the word 'in' may follow.
func (w *setPrinter) clause(n *expr.Node) string {
	text := w.value(n)
	if endsEarly(n) {
		return "(" + text + ")"
	}
	return text
}

// endsEarly reports whether the printed n may contain the word 'in' outside brackets, which would end the value
// there.
func endsEarly(n *expr.Node) bool {
	switch n.Op {
	case expr.Binary:
		return n.Name == "in" || endsEarly(n.Kids[0]) || endsEarly(n.Kids[1])
	case expr.Unary, expr.Splat:
		return endsEarly(n.Kids[0])
	case expr.ArrayLit:
		return bareSplat(n) && endsEarly(n.Kids[0])
	case expr.Selector:
		return true // an option may contain the word
	}
	return false
}

func (w *setPrinter) options(list []Option) string {
	var out []string
	for _, o := range list {
		name := o.Name.Text
		if !bareOption().MatchString(name) || keywords[name] {
			name = value.Quote(name)
		}
		out = append(out, name+" => "+w.option(o))
	}
	return w.bracketed("{", out, "}")
}

var bareOption = pattern.Lazy(`^[a-z][a-z0-9_]*$`)

func (w *setPrinter) option(o Option) string {
	if o.Lambda == nil {
		return w.value(o.Value)
	}
	return PrintLambda(o.Lambda)
}

// maxLine is the maximum length of a list or hash on one line.
const maxLine = 80

// value prints a value. A list or hash that does not fit on one line has a line for each entry.
func (w *setPrinter) value(n *expr.Node) string {
	text := Print(n)
	list := n.Op == expr.ArrayLit && !bareSplat(n)
	if len(text) <= maxLine && !strings.Contains(text, "\n") || !list && n.Op != expr.HashLit || len(n.Kids) == 0 {
		return text
	}
	var out []string
	w.depth++
	if list {
		for _, kid := range n.Kids {
			var p printer
			p.item(kid, levelAssign)
			if text := w.value(kid); p.String() == Print(kid) {
				out = append(out, text)
			} else {
				out = append(out, p.String())
			}
		}
	} else {
		for i := 0; i < len(n.Kids); i += 2 {
			out = append(out, Print(n.Kids[i])+" => "+w.value(n.Kids[i+1]))
		}
	}
	w.depth--
	if list {
		return w.bracketed("[", out, "]")
	}
	return w.bracketed("{", out, "}")
}

// bracketed prints parts in brackets, on several lines if one line would be too long.
func (w *setPrinter) bracketed(opening string, parts []string, closing string) string {
	text := strings.Join(parts, ", ")
	if len(text) <= maxLine && !strings.Contains(text, "\n") {
		return opening + " " + text + " " + closing
	}
	indent := "\n" + strings.Repeat("  ", w.depth)
	return opening + indent + "  " + strings.Join(parts, ","+indent+"  ") + "," + indent + closing
}

// PrintQuery returns the source of a query.
func PrintQuery(q *Query) string { return q.Type.Text + "[?? " + condition(q.Where, false) + "]" }

var comparisons = map[string]string{"=": "==", "~": "=~", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

// condition prints a condition of a query. If it is inside another condition, it is in parentheses.
func condition(n *expr.Node, inside bool) string {
	op := n.Kids[0].Value.Text()
	if symbol := comparisons[op]; symbol != "" {
		var p printer
		p.node(n.Kids[2], levelAdd)
		return value.Quote(n.Kids[1].Value.Text()) + " " + symbol + " " + p.String()
	}
	var parts []string
	for _, kid := range n.Kids[1:] {
		parts = append(parts, condition(kid, true))
	}
	text := strings.Join(parts, " "+op+" ")
	if op == "not" {
		text = "not " + text
	}
	if inside {
		return "(" + text + ")"
	}
	return text
}
