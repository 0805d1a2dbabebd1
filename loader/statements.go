package loader

import (
	"fmt"
	"regexp"
	"slices"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/expr"
	"bindc/internal/pattern"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

func (c *setCompiler) errorf(at *bindingsfile.Literal, format string, args ...any) {
	c.diags.Add(diag.Diagnostic{Pos: at.Pos, Code: "attribute", InValue: true, Message: fmt.Sprintf(format, args...)})
}

// chargeBindings charges the n bindings of a statement against the limit on alternatives. It returns false if the
// limit is exceeded.
func (c *setCompiler) chargeBindings(n int, at diag.Pos, when []int) bool {
	c.Alternatives -= max(0, n-1) * (len(when) - 1)
	if c.Alternatives < 0 {
		c.tooMany(at)
	}
	return c.Alternatives >= 0
}

// Patterns for names in statements.
var (
	className = pattern.Lazy(`^[a-z]\w*(::[a-z]\w*)*$`)
	typeName  = pattern.Lazy(`^[A-Z]\w*(::[A-Z]\w*)*$`)
	entryName = pattern.Lazy(`^[a-z_]\w*$`)
)

// Ids of the multibindings that Puppet's documents use to include and exclude classes.
const (
	includedClasses = "included_classes"
	excludedClasses = "excluded_classes"
)

func (c *setCompiler) classes(names []bindingsfile.Literal, exclude bool, when []int) {
	for i := range names {
		name := &names[i]
		if !isText(name, className()) {
			c.errorf(name, "expected a class name, such as 'ntp::server', found %s", value.Describe(name.Value))
		} else if c.chargeBindings(len(names), name.Pos, when) {
			c.class(name.Value.Text(), exclude, name.Pos, when)
		}
	}
}

func isText(l *bindingsfile.Literal, pattern *regexp.Regexp) bool {
	return l.Value.Kind() == value.String && pattern.MatchString(l.Value.Text())
}

// inclusion is an included or excluded class. Equal inclusions share one compiled recipe, because a site may have
// millions of them.
type inclusion struct {
	class   string
	exclude bool
}

func (c *setCompiler) class(name string, exclude bool, at diag.Pos, when []int) {
	key := inclusion{name, exclude}
	more := c.inclusions[key]
	if more == nil {
		text := recipe.Include
		if exclude {
			text = recipe.Exclude
		}
		more = &bindingsfile.Compiled{Key: name, Pos: at, In: &bindingsfile.Reference{ID: recipe.ClassesKey, Pos: at},
			Recipe: &recipe.Recipe{Kind: recipe.Constant, Value: value.FromString(text)}}
		c.inclusions[key] = more
	}
	c.out = append(c.out, Binding{Key: name, When: when, Pos: at, More: more})
}

func (c *setCompiler) contributedClasses(s *bindingsfile.Statement, when []int) {
	if s.Broken {
		return
	}
	var names []bindingsfile.Literal
	if len(s.Producers) == 1 && s.Transformer == nil {
		if p := &s.Producers[0]; p.Name == "to" || p.Name == "to_expression" { // other producers have no class names
			names = oneOrMore(p.Argument)
		}
	}
	isNoClass := func(l bindingsfile.Literal) bool { return !isText(&l, className()) }
	if names == nil || slices.ContainsFunc(names, isNoClass) {
		at := &bindingsfile.Literal{Pos: s.Pos}
		c.errorf(at, "expected constant class names for 'to' of a contribution to '%s'",
			s.In.Value.Text())
		return
	}
	c.classes(names, s.In.Value.Text() == excludedClasses, when)
}

// oneOrMore returns the elements of l if it is an array, and otherwise l itself.
func oneOrMore(l *bindingsfile.Literal) []bindingsfile.Literal {
	if l.Value.Kind() == value.Array {
		return elementsOf(l)
	}
	return []bindingsfile.Literal{*l}
}

// elementsOf returns the elements of the array l. Elements without a position of their own get the position of l.
func elementsOf(l *bindingsfile.Literal) []bindingsfile.Literal {
	elems := l.Value.Slice()
	out := make([]bindingsfile.Literal, len(elems))
	for i, v := range elems {
		if out[i].Pos = l.Pos; len(l.Kids) == len(elems) {
			out[i] = l.Kids[i]
		}
		out[i].Value = v
	}
	return out
}

// parameters compiles bindings of parameters, either to values or to the parameters of another target.
func (c *setCompiler) parameters(s *bindingsfile.Statement, when []int) {
	t, ok := c.target(&s.Subjects[0])
	if !ok {
		return
	}
	if !s.Abstract && len(s.Producers) == 1 {
		if p := s.Producers[0].Argument; s.Producers[0].Expr == nil && p != nil && p.Value.Kind() == value.String {
			c.transfer(s, t, p, when)
			return
		}
	}
	if s.Options != nil {
		c.errorf(s.Options, "expected 'options' only for parameters that come from another target, such as {map: {…}}")
		return
	}
	c.compileEach(s, t.keys(), "parameter", when)
}

// entry is a name in a hash, such as a parameter, and the producer of its value.
type entry struct {
	name     bindingsfile.Literal
	producer *bindingsfile.Producer
}

// compileEach compiles one binding per entry of a hash, or per name if the statement is abstract.
func (c *setCompiler) compileEach(s *bindingsfile.Statement, keys, what string, when []int) {
	entries := c.entries(s, what)
	if !c.chargeBindings(len(entries), s.Pos, when) {
		return
	}
	for i := range entries {
		e := &entries[i]
		if !isText(&e.name, entryName()) {
			c.errorf(&e.name, "expected a %s name, such as 'port', found %s", what, value.Describe(e.name.Value))
			continue
		}
		entry := *s
		entry.Pos, entry.Key, entry.KeyPos, entry.Producers = e.name.Pos, keys+e.name.Value.Text(), e.name.Pos, nil
		if e.producer != nil {
			entry.Producers = []bindingsfile.Producer{*e.producer}
		}
		c.compile(&entry, when)
	}
}

// entries returns the entries in a statement's value, or nil after an error.
func (c *setCompiler) entries(s *bindingsfile.Statement, what string) []entry {
	if s.Broken {
		return nil
	}
	var p bindingsfile.Producer
	if len(s.Producers) == 1 {
		p = s.Producers[0]
		switch {
		case s.Abstract && p.Expr == nil && p.Argument.Value.Kind() == value.Array:
			return namesOf(p.Argument)
		case !s.Abstract && p.Expr == nil && p.Argument.Value.Kind() == value.Hash:
			return constants(&p)
		case !s.Abstract && p.Expr != nil && p.Expr.Op == expr.HashLit:
			return computed(&p)
		}
	}
	expected := "a hash whose keys are " + what + " names"
	if s.Abstract {
		expected = "a list of names, because they are abstract"
	}
	if p.Name == "to_expression" {
		expected = "an expression that is " + expected
	}
	at := bindingsfile.Literal{Pos: s.Pos}
	if p.Argument != nil {
		at = *p.Argument
		found := value.Describe(at.Value)
		if p.Name == "to_query" {
			found = "a query, whose result is known only when a key is looked up"
		}
		expected += ", found " + found
	}
	c.errorf(&at, "expected the %ss: %s", what, expected)
	return nil
}

func namesOf(l *bindingsfile.Literal) []entry {
	var out []entry
	for _, name := range elementsOf(l) {
		out = append(out, entry{name: name})
	}
	return out
}

func constants(p *bindingsfile.Producer) []entry {
	var out []entry
	for k, v := range p.Argument.Value.Pairs() {
		name, val := p.Argument.Entry(len(out), k)
		val.Value = v
		out = append(out, entry{name, &bindingsfile.Producer{Name: p.Name, Argument: &val}})
	}
	return out
}

// computed returns the entries of a hash that is an expression. Its values may be computed, but not its names.
func computed(p *bindingsfile.Producer) []entry {
	var out []entry
	for i := 0; i < len(p.Expr.Kids); i += 2 {
		k, constant := p.Expr.Kids[i].Constant()
		if !constant && len(p.Argument.Kids) == len(p.Expr.Kids) {
			k = p.Argument.Kids[i].Value // not a constant: reported later as an invalid name
		}
		name, val := p.Argument.Entry(i/2, k)
		producer := &bindingsfile.Producer{Name: p.Name, Argument: &val}
		if v, constant := p.Expr.Kids[i+1].Constant(); constant {
			val.Value = v
		} else {
			producer.Expr = p.Expr.Kids[i+1]
		}
		out = append(out, entry{name, producer})
	}
	return out
}

func (c *setCompiler) paramMap(s *bindingsfile.Statement, when []int) {
	to, okOf := c.typeOf(&s.Subjects[0])
	from, okFrom := c.typeOf(&s.Subjects[1])
	if !okOf || !okFrom || s.Broken {
		return
	}
	b := *s
	b.Key = mapKey(to, from)
	if !b.Abstract {
		if len(b.Producers) != 1 {
			at := &bindingsfile.Literal{Pos: b.Pos}
			c.errorf(at, "expected 'to', a hash that maps parameters of %s to parameters of %s", to, from)
			return
		}
		if _, ok := c.mapped(b.Producers[0].Argument, b.Producers[0].Expr == nil); !ok {
			return
		}
	}
	c.compile(&b, when)
}

func mapKey(to, from string) string { return recipe.MapKeys + to + "/" + from }

func (c *setCompiler) typeOf(l *bindingsfile.Literal) (string, bool) {
	if isText(l, typeName()) {
		return l.Value.Text(), true
	}
	c.errorf(l, "expected a type name, such as 'Web', found %s", value.Describe(l.Value))
	return "", false
}

func (c *setCompiler) mapped(l *bindingsfile.Literal, constant bool) ([]Renamed, bool) {
	if !constant || l.Value.Kind() != value.Hash {
		c.errorf(l, "expected a hash that maps parameter names to parameter names, found %s", value.Describe(l.Value))
		return nil, false
	}
	out, ok := []Renamed{}, true
	for k, v := range l.Value.Pairs() {
		name, val := l.Entry(len(out), k)
		val.Value = v
		for _, l := range []*bindingsfile.Literal{&name, &val} {
			if !isText(l, entryName()) {
				c.errorf(l, "expected a parameter name, such as 'port', found %s", value.Describe(l.Value))
				ok = false
			}
		}
		out = append(out, Renamed{name.Value.Text(), val.Value.Text(), name.Pos})
	}
	return out, ok
}

// transfer compiles bindings of a target's parameters to the parameters of another target.
func (c *setCompiler) transfer(s *bindingsfile.Statement, owner target, l *bindingsfile.Literal, when []int) {
	from, ok := c.target(l)
	if !ok {
		return
	}
	to := &s.Subjects[0]
	t := Transfer{When: when, Pos: to.Pos, Target: to.Value.Text(), From: l.Value.Text(),
		Keys: owner.keys(), FromKeys: from.keys(), TypeKeys: target{name: owner.name, isClass: owner.isClass}.keys(),
		Map: mapKey(owner.name, from.name)}
	if s.Options != nil {
		written := s.Options.Named("map")
		if written == nil || s.Options.Value.Len() != 1 {
			c.errorf(s.Options, "expected {map: {…}} for 'options' of parameters that come from another target")
			return
		}
		if t.Given, ok = c.mapped(written, true); !ok {
			return
		}
	}
	b := *s
	b.Options, b.Key, b.KeyPos = nil, t.Keys, to.Pos
	argument := &bindingsfile.Literal{Value: l.Value, Pos: l.Pos}
	b.Producers = []bindingsfile.Producer{{Name: "to_lookup_of", Argument: argument}}
	if t.Like = b.Compile(c.diags); t.Like.Recipe != nil {
		c.transfers = append(c.transfers, t)
	}
}

// dependency compiles a contribution that orders two resources.
func (c *setCompiler) dependency(s *bindingsfile.Statement, when []int) {
	from, okFrom := c.references(&s.Producers[0])
	to, okTo := c.references(&s.Producers[1])
	if !okFrom || !okTo {
		return
	}
	c.Alternatives -= len(from)*len(to) - max(len(from), len(to)) // there may be more pairs than elements
	if !c.chargeBindings(len(from)*len(to), s.Pos, when) {
		return
	}
	for _, f := range from {
		for _, t := range to {
			v := value.FromPairs(pair("from", f), pair("to", t), pair("kind", s.Arrow()))
			c.out = append(c.out, Binding{When: when, Pos: s.Pos, More: &bindingsfile.Compiled{Pos: s.Pos,
				In:     &bindingsfile.Reference{ID: recipe.DependenciesKey, Pos: s.Pos},
				Recipe: &recipe.Recipe{Kind: recipe.Constant, Value: v}}})
		}
	}
}

func pair(name, text string) value.Pair {
	return value.Pair{Key: value.FromString(name), Value: value.FromString(text)}
}
