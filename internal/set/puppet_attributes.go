package set

import (
	"slices"
	"strings"

	"bindc/internal/binding"
	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// attributes are what a binding says; not ok where it cannot be told what it binds.
func (r *puppetReader) attributes(s *syntax.Statement) (binding.Attributes, bool) {
	a := binding.Attributes{Pos: r.Pos(s.Off), KeyPos: r.Pos(s.Off)}
	for _, f := range s.Flags {
		flag := map[string]*bool{"abstract": &a.Abstract, "override": &a.Override, "sensitive": &a.Sensitive}[f.Text]
		*flag = true
	}
	a.Optional = s.Optional
	if s.Type == nil {
		s.Type = s.OldType // which the new name has too
	}
	if s.Type != nil {
		l := r.text(syntax.Print(s.Type), s.Type.Off)
		a.Type = &l
	}
	if s.Key != nil && !r.key(&a, s) {
		return a, false
	}
	r.producer(&a, s)
	if s.In != nil && s.Word == "bind" {
		a.In = r.constant(s.In)
	}
	r.options(&a, s)
	return a, true
}

// key reads the key that is bound; of rebind it is an attribute like others.
func (r *puppetReader) key(a *binding.Attributes, s *syntax.Statement) bool {
	key := constantText(s.Key)
	a.KeyPos = r.Pos(s.Key.Off)
	if key == "" || strings.ContainsRune(key, 0) {
		r.diags.Errorf(a.KeyPos, "key", "expected a key of at least one character and without NUL")
		return false
	}
	if s.Word != "rebind" {
		a.Key = key
	}
	return true
}

// producer reads what produces the value.
func (r *puppetReader) producer(a *binding.Attributes, s *syntax.Statement) {
	switch {
	case s.Word == "rebind":
		r.addProducer(a, "rebind", r.constant(s.Key))
	case s.Word == "alias" || s.Word == "renamed":
		name := map[string]string{"alias": "to_alias_of", "renamed": "to_renamed"}[s.Word]
		r.addProducer(a, name, r.constant(s.Old))
	case s.Word == "multibind":
		r.addProducer(a, "multibind_id", r.constant(multibindID(s)))
	case s.Query != nil:
		r.query(a, s.Query)
	case s.To == nil:
	case s.Producer:
		r.addProducer(a, "to_producer", r.constant(s.To))
	case s.Word == "parameters" && isTarget(s.To):
		l, ok := r.target(s.To)
		a.Broken = !ok
		r.addProducer(a, "to", &l)
	case !r.checkNames(s.To):
		r.addProducer(a, "to", nil)
	default:
		a.Producers = append(a.Producers, *r.produced(producerName(s.To), s.To))
	}
}

// addProducer adds a producer whose argument is known now.
func (r *puppetReader) addProducer(a *binding.Attributes, name string, argument *binding.Literal) {
	if argument == nil {
		a.Broken, name = true, "to"
	}
	a.Producers = append(a.Producers, binding.Producer{Name: name, Argument: argument})
}

// producerName is what the producer of n is called in YAML: a literal, in which strings may interpolate, is `to`.
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

// produced is a producer whose value n computes, or is.
func (r *puppetReader) produced(name string, n *expr.Node) *binding.Producer {
	l, _ := r.literal(n)
	out := &binding.Producer{Name: name, Argument: &l}
	folded := expr.Fold(n.Decrypting(), stdlib.Functions)
	if v, ok := folded.Constant(); ok {
		l.Value = v
	} else {
		out.Expr = folded.Placeless()
	}
	return out
}

// literal is how n is written, with its places, and whether its value is known now.
func (r *puppetReader) literal(n *expr.Node) (l binding.Literal, known bool) {
	l.Pos, known = r.Pos(n.Off), true
	if n.Op != expr.ArrayLit && n.Op != expr.HashLit {
		l.Value, known = expr.Fold(n, stdlib.Functions).Constant()
		return spread(l.Value, l.Pos), known
	}
	l.Kids = make([]binding.Literal, len(n.Kids))
	for i, kid := range n.Kids {
		var ok bool
		l.Kids[i], ok = r.literal(kid)
		known = known && ok
	}
	l.Value = composed(n.Op == expr.HashLit, l.Kids)
	return l, known
}

// spread is a value that is computed, all of it written at one place.
func spread(v value.Value, at diag.Pos) binding.Literal {
	l := binding.Literal{Value: v, Pos: at}
	for elem := range v.Elems() {
		l.Kids = append(l.Kids, spread(elem, at))
	}
	for key, val := range v.Pairs() {
		l.Kids = append(l.Kids, spread(key, at), spread(val, at))
	}
	return l
}

// composed is the hash, or the list, of what is written as kids.
func composed(hash bool, kids []binding.Literal) value.Value {
	if hash {
		var b value.Builder
		for i := 0; i < len(kids); i += 2 {
			b.Set(kids[i].Value, kids[i+1].Value)
		}
		return b.Hash()
	}
	elems := make([]value.Value, len(kids))
	for i := range kids {
		elems[i] = kids[i].Value
	}
	return value.FromSlice(elems)
}

// constant is a value that has to be known now, nil after an error.
func (r *puppetReader) constant(n *expr.Node) *binding.Literal {
	l, known := r.literal(n)
	if !known {
		r.local(n.Off, "expected a value that is known when this is compiled, found an expression")
		return nil
	}
	return &l
}

// local reports an error that leaves the other bindings to be judged.
func (r *puppetReader) local(off int, message string) {
	r.diags.Add(diag.Diagnostic{Pos: r.Pos(off), Code: "attribute", Message: message, InValue: true})
}

// checkNames reports what an evaluation of n could only fail on, and warns of misspelt facts.
func (r *puppetReader) checkNames(n *expr.Node) bool {
	errs := syntax.Check(n)
	for _, e := range errs {
		code := e.Code
		if code == "" {
			code = "name"
		}
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(e.Off), Code: code, Message: e.Message, Hint: e.Hint, InValue: true})
	}
	for _, e := range syntax.Misspelt(n) {
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(e.Off), Severity: diag.Warning, Code: "fact", Message: e.Message,
			Hint: e.Hint})
	}
	return len(errs) == 0
}

// query hands a query to the producer that is registered for them.
func (r *puppetReader) query(a *binding.Attributes, q *syntax.Query) {
	r.addProducer(a, "to_query", r.constant(queryList(q)))
}

// queryList is a query as PuppetDB has it, with the type as one of its conditions. Patterns in q become their text.
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
	// writtenOptions are the attributes of YAML that are options here.
	writtenOptions = []string{"multibind_id", "optional", "options", "to_alias_of", "to_first_found", "to_hash_lookup",
		"to_instance", "to_lookup_of", "to_producer", "to_renamed", "transformer"}

	// worded are those that have words of their own.
	worded = map[string]string{"abstract": "bind abstract 'key'", "in": "bind … to … in 'id'",
		"name": "bind 'key' …", "override": "bind override 'key' …", "rebind": "rebind 'key'",
		"sensitive": "bind sensitive 'key' …", "to": "bind 'key' to …", "to_expression": "bind 'key' to …",
		"to_query": "bind 'key' to Type[?? …]", "type": "bind Type, 'key' …"}
)

// options reads what stands in braces.
func (r *puppetReader) options(a *binding.Attributes, s *syntax.Statement) {
	known := slices.Clone(writtenOptions)
	switch {
	case s.Word == "parameters":
		known = []string{"map", "optional", "options", "type"}
	case s.Word == "variables":
		known = []string{"optional"}
	case s.Word == "rebind" || s.Word == "alias" || s.Word == "renamed":
		known = []string{"optional", "transformer"}
	case s.Producer:
		known = append(known, "producer_args")
	case s.Query != nil:
		known = append(known, "select_result")
	}
	collects := s.Word == "multibind" || slices.ContainsFunc(s.Options, func(o syntax.Option) bool {
		return o.Name.Text == "multibind_id" && slices.Contains(known, o.Name.Text)
	})
	var own []*expr.Node // of a multibinding, or the map of parameters
	for _, o := range s.Options {
		name := o.Name.Text
		switch {
		case !collects && !slices.Contains(known, name):
			r.unknownOption(o, known)
		case name == "transformer" || name == "select_result" && s.Query != nil:
			a.Transformer, a.TransformerPos = r.lambda(a, o, "|$value| { $value + 1 }"), r.Pos(o.Value.Off)
		case name == "type" && s.Word == "parameters":
			a.Type = r.optionValue(o)
		case name == "optional":
			a.Optional = r.flag(o)
		case name == "options" || name == "producer_args" && s.Producer:
			a.Options = r.optionValue(o)
		case slices.Contains(writtenOptions, name):
			r.addProducer(a, name, r.optionValue(o))
		default: // of a multibinding, or the map of parameters
			key := &expr.Node{Op: expr.Const, Off: o.Name.Off, Value: value.FromString(name)}
			own = append(own, key, ownOption(o))
			if name == "combinator" {
				a.Combinator = r.lambda(a, o, "|$memo, $x| { $memo + $x }")
			}
		}
	}
	switch {
	case own != nil && a.Options != nil:
		r.local(own[0].Off, "expected options by themselves, or all of them in 'options', found both")
	case own != nil:
		a.Options = r.constant(&expr.Node{Op: expr.HashLit, Off: s.Braces, Kids: own})
	case collects && a.Options != nil && a.Options.Named("combinator") != nil:
		r.local(s.Braces, "expected 'combinator' outside of 'options', as combinator => |$memo, $x| { $memo + $x }")
	}
}

// flag reads an option that is true or false.
func (r *puppetReader) flag(o syntax.Option) bool {
	v, _ := o.Value.Constant()
	if v.Kind() != value.Bool {
		r.local(o.Value.Off, "expected true or false as '"+o.Name.Text+"'")
	}
	return v.Bool()
}

func (r *puppetReader) unknownOption(o syntax.Option, known []string) {
	d := diag.Unknown(r.Pos(o.Name.Off), "attribute", "option", o.Name.Text, "'"+o.Name.Text+"'", known)
	if worded[o.Name.Text] != "" {
		d.Message = "'" + o.Name.Text + "' is no option: it has a word of its own"
		d.Discreet = d.Message
		d.Hint = "write " + worded[o.Name.Text]
	}
	d.InValue = true
	r.diags.Add(d)
}

// optionValue is the value of an option, which is known now.
func (r *puppetReader) optionValue(o syntax.Option) *binding.Literal {
	if o.Lambda != nil {
		r.local(o.Value.Off, "expected a value as '"+o.Name.Text+"', found a lambda")
		return nil
	}
	return r.constant(o.Value)
}

// lambda reads an option that is a lambda.
func (r *puppetReader) lambda(a *binding.Attributes, o syntax.Option, as string) *expr.Lambda {
	if o.Lambda == nil {
		r.local(o.Value.Off, "expected a lambda as '"+o.Name.Text+"', as "+as)
	}
	if o.Lambda == nil || !r.checkNames(syntax.Around(o.Lambda)) {
		a.Broken = true
		return nil
	}
	return o.Lambda.Placeless()
}

// ownOption is the value of an option of a multibinding; a lambda as text.
func ownOption(o syntax.Option) *expr.Node {
	if o.Lambda == nil {
		return o.Value
	}
	return &expr.Node{Op: expr.Const, Off: o.Value.Off, Value: value.FromString(syntax.PrintLambda(o.Lambda))}
}
