package bindingsfile

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// attributes converts the attributes of a binding. It returns false if the key is invalid.
func (r *puppetReader) attributes(out *Statement, s *syntax.Statement) bool {
	for _, flag := range s.Flags {
		switch flag.Text {
		case "abstract":
			out.Abstract = true
		case "override":
			out.Override = true
		case "sensitive":
			out.Sensitive = true
		}
	}
	out.Optional = s.Optional
	if s.Type == nil {
		s.Type = s.OldType // the type of the old key also applies to the new one
	}
	if s.Type != nil {
		l := r.text(syntax.Print(s.Type), s.Type.Off)
		out.Type = &l
	}
	if s.Key != nil && !r.key(out, s) {
		return false
	}
	r.producer(out, s)
	if s.In != nil && s.Word == "bind" {
		out.In = r.constant(s.In)
	}
	r.options(out, s)
	return true
}

// key sets the key of a binding. It returns false if the key is invalid. For rebind, Compile sets
// the key later.
func (r *puppetReader) key(out *Statement, s *syntax.Statement) bool {
	key := constantText(s.Key)
	out.KeyPos = r.Pos(s.Key.Off)
	if key == "" || strings.ContainsRune(key, 0) {
		r.diags.Errorf(out.KeyPos, "key", "expected a non-empty key without NUL characters")
		return false
	}
	if s.Word != "rebind" {
		out.Key = key
	}
	return true
}

func (r *puppetReader) producer(out *Statement, s *syntax.Statement) {
	switch {
	case s.Word == "rebind":
		r.addProducer(out, "rebind", r.constant(s.Key))
	case s.Word == "alias" || s.Word == "renamed":
		name := map[string]string{"alias": "to_alias_of", "renamed": "to_renamed"}[s.Word]
		r.addProducer(out, name, r.constant(s.Old))
	case s.Word == "multibind":
		r.addProducer(out, "multibind_id", r.constant(multibindID(s)))
	case s.Query != nil:
		r.query(out, s.Query)
	case s.To == nil:
	case s.Producer:
		r.addProducer(out, "to_producer", r.constant(s.To))
	case s.Word == "parameters" && isTarget(s.To):
		l, ok := r.target(s.To)
		out.Broken = !ok
		r.addProducer(out, "to", &l)
	case !r.checkNames(s.To):
		r.addProducer(out, "to", nil)
	default:
		out.Producers = append(out.Producers, r.producerOf(producerName(s.To), s.To))
	}
}

// addProducer adds a producer with a constant argument. If argument is nil, an error has been
// reported, so addProducer marks the statement as broken.
func (r *puppetReader) addProducer(out *Statement, name string, argument *Literal) {
	if argument == nil {
		out.Broken, name = true, "to"
	}
	out.Producers = append(out.Producers, Producer{Name: name, Argument: argument})
}

// producerName returns the YAML attribute for a value: to for a literal, in which strings may
// interpolate, and to_expression for all other expressions.
func producerName(n *expr.Node) string {
	if isLiteral(n) {
		return "to"
	}
	return "to_expression"
}

func isLiteral(n *expr.Node) bool {
	switch n.Op {
	case expr.Const, expr.Concat:
		return true
	case expr.Unary:
		return n.Name == "-" && n.Kids[0].Op == expr.Const
	case expr.ArrayLit, expr.HashLit:
		return !slices.ContainsFunc(n.Kids, func(kid *expr.Node) bool { return !isLiteral(kid) })
	}
	return false
}

func (r *puppetReader) producerOf(name string, n *expr.Node) Producer {
	l, _ := r.literal(n)
	out := Producer{Name: name, Argument: &l}
	folded := expr.Fold(n.Decrypting(), stdlib.Functions)
	if v, ok := folded.Constant(); ok {
		l.Value = v
	} else {
		out.Expr = folded.Placeless()
	}
	return out
}

// literal returns the value of n with the positions of the values inside it. constant reports
// whether n is constant.
func (r *puppetReader) literal(n *expr.Node) (l Literal, constant bool) {
	l.Pos, constant = r.Pos(n.Off), true
	if n.Op != expr.ArrayLit && n.Op != expr.HashLit {
		l.Value, constant = expr.Fold(n, stdlib.Functions).Constant()
		return spread(l.Value, l.Pos), constant
	}
	l.Kids = make([]Literal, len(n.Kids))
	for i, kid := range n.Kids {
		var ok bool
		l.Kids[i], ok = r.literal(kid)
		constant = constant && ok
	}
	l.Value = collect(n.Op == expr.HashLit, l.Kids)
	return l, constant
}

// spread returns v as a literal in which all values have the same position.
func spread(v value.Value, at diag.Pos) Literal {
	l := Literal{Value: v, Pos: at}
	for elem := range v.Elems() {
		l.Kids = append(l.Kids, spread(elem, at))
	}
	for key, val := range v.Pairs() {
		l.Kids = append(l.Kids, spread(key, at), spread(val, at))
	}
	return l
}

// constant returns the value of n. If n is not constant, it reports an error and returns nil.
func (r *puppetReader) constant(n *expr.Node) *Literal {
	l, constant := r.literal(n)
	if !constant {
		r.attributeError(n.Off, "expected a constant value, found an expression")
		return nil
	}
	return &l
}

// attributeError reports an error in an attribute. The key and the condition of the binding remain
// valid.
func (r *puppetReader) attributeError(off int, message string) {
	r.diags.Add(diag.Diagnostic{Pos: r.Pos(off), Code: "attribute", Message: message, InValue: true})
}

// checkNames reports unknown functions, and types and regular expressions that are always invalid.
// It returns false if there are any. It also warns about misspelt facts.
func (r *puppetReader) checkNames(n *expr.Node) bool {
	errs := syntax.Check(n)
	for _, e := range errs {
		code := e.Code
		if code == "" {
			code = "name"
		}
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(e.Off), Code: code, Message: e.Message, Hint: e.Hint,
			Fix: e.Fix, InValue: true})
	}
	for _, e := range syntax.Misspelt(n) {
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(e.Off), Severity: diag.Warning, Code: "fact", Message: e.Message,
			Hint: e.Hint, Fix: e.Fix})
	}
	return len(errs) == 0
}

func (r *puppetReader) query(out *Statement, q *syntax.Query) {
	r.addProducer(out, "to_query", r.constant(queryList(q)))
}

// queryList converts a query to the list form that PuppetDB uses, in which the type is another
// condition. It modifies q: regular expressions become strings.
func queryList(q *syntax.Query) *expr.Node {
	constant := func(text string) *expr.Node {
		return &expr.Node{Op: expr.Const, Off: q.Off, Value: value.FromString(text)}
	}
	list := func(kids ...*expr.Node) *expr.Node { return &expr.Node{Op: expr.ArrayLit, Off: q.Off, Kids: kids} }
	for n := range syntax.All(q.Where) {
		if n.Value.Kind() == value.Regexp {
			n.Value = value.FromString(n.Value.Text())
		}
	}
	return list(constant("and"), list(constant("="), constant("type"), constant(q.Type.Text)), q.Where)
}

var (
	// optionAttributes lists the YAML attributes that are options in Puppet syntax.
	optionAttributes = []string{"multibind_id", "optional", "options", "to_alias_of", "to_first_found",
		"to_hash_lookup",
		"to_instance", "to_lookup_of", "to_producer", "to_renamed", "transformer"}

	// keywordAttributes maps the YAML attributes that have a keyword in Puppet syntax to examples.
	keywordAttributes = map[string]string{"abstract": "bind abstract 'key'", "in": "bind … to … in 'id'",
		"name": "bind 'key' …", "override": "bind override 'key' …", "rebind": "rebind 'key'",
		"sensitive": "bind sensitive 'key' …", "to": "bind 'key' to …", "to_expression": "bind 'key' to …",
		"to_query": "bind 'key' to Type[?? …]", "type": "bind Type, 'key' …"}
)

func (r *puppetReader) options(out *Statement, s *syntax.Statement) {
	allowed := slices.Clone(optionAttributes)
	switch {
	case s.Word == "parameters":
		allowed = []string{"map", "optional", "options", "type"}
	case s.Word == "variables":
		allowed = []string{"optional"}
	case s.Word == "rebind" || s.Word == "alias" || s.Word == "renamed":
		allowed = []string{"optional", "transformer"}
	case s.Producer:
		allowed = append(allowed, "producer_args")
	case s.Query != nil:
		allowed = append(allowed, "select_result")
	}
	collects := s.Word == "multibind" || slices.ContainsFunc(s.Options, func(o syntax.Option) bool {
		return o.Name.Text == "multibind_id" && slices.Contains(allowed, o.Name.Text)
	})
	var own []*expr.Node // options of a multibinding or of parameters
	for _, o := range s.Options {
		name := o.Name.Text
		switch {
		case !collects && !slices.Contains(allowed, name):
			r.unknownOption(o, allowed)
		case name == "transformer" || name == "select_result" && s.Query != nil:
			if l := r.lambda(out, o, "|$value| { $value + 1 }"); l != nil {
				out.Transformer = &Lambda{l, r.Pos(o.Value.Off)}
			}
		case name == "type" && s.Word == "parameters":
			out.Type = r.optionValue(o)
		case name == "optional":
			out.Optional = r.flag(o)
		case name == "options" || name == "producer_args" && s.Producer:
			out.Options = r.optionValue(o)
		case slices.Contains(optionAttributes, name):
			r.addProducer(out, name, r.optionValue(o))
		default: // an option of a multibinding or of parameters
			key := &expr.Node{Op: expr.Const, Off: o.Name.Off, Value: value.FromString(name)}
			own = append(own, key, ownOption(o))
			if name == "combinator" {
				out.Combinator = r.lambda(out, o, "|$memo, $x| { $memo + $x }")
			}
		}
	}
	switch {
	case own != nil && out.Options != nil:
		r.attributeError(own[0].Off, "expected options by themselves, or all of them in 'options', found both")
	case own != nil:
		out.Options = r.constant(&expr.Node{Op: expr.HashLit, Off: s.Braces, Kids: own})
	case collects && out.Options != nil && out.Options.Named("combinator") != nil:
		r.attributeError(s.Braces, "expected 'combinator' outside of 'options', such as "+
			"combinator => |$memo, $x| { $memo + $x }")
	}
}

// flag returns the value of a boolean option. It reports an error if the value is not a boolean.
func (r *puppetReader) flag(o syntax.Option) bool {
	v, _ := o.Value.Constant()
	if v.Kind() != value.Bool {
		r.attributeError(o.Value.Off, "expected true or false for '"+o.Name.Text+"'")
	}
	return v.Bool()
}

func (r *puppetReader) unknownOption(o syntax.Option, allowed []string) {
	d := diag.Unknown(r.Pos(o.Name.Off), "attribute", "option", o.Name.Text, "'"+o.Name.Text+"'", allowed)
	if keywordAttributes[o.Name.Text] != "" {
		d.Message = "'" + o.Name.Text + "' is not an option: Puppet syntax has a keyword for it"
		d.Discreet = d.Message
		d.Hint, d.Fix = "write "+keywordAttributes[o.Name.Text], diag.Fix{}
	}
	d.InValue = true
	r.diags.Add(d)
}

// optionValue returns the value of an option. If it is not constant, it reports an error and
// returns nil.
func (r *puppetReader) optionValue(o syntax.Option) *Literal {
	if o.Lambda != nil {
		r.attributeError(o.Value.Off, "expected a value for '"+o.Name.Text+"', found a lambda")
		return nil
	}
	return r.constant(o.Value)
}

// lambda returns the value of an option that must be a lambda. If the lambda is missing or invalid,
// it reports an error and returns nil. as is an example for the message.
func (r *puppetReader) lambda(out *Statement, o syntax.Option, as string) *expr.Lambda {
	if o.Lambda == nil {
		r.attributeError(o.Value.Off, "expected a lambda for '"+o.Name.Text+"', as "+as)
	}
	if o.Lambda == nil || !r.checkNames(syntax.Around(o.Lambda)) {
		out.Broken = true
		return nil
	}
	return o.Lambda.Placeless()
}

// ownOption returns the value of an option of a multibinding. A lambda becomes a string.
func ownOption(o syntax.Option) *expr.Node {
	if o.Lambda == nil {
		return o.Value
	}
	return &expr.Node{Op: expr.Const, Off: o.Value.Off, Value: value.FromString(syntax.PrintLambda(o.Lambda))}
}
