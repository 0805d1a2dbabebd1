package bindingsfile

import (
	"errors"
	"fmt"
	"slices"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// contribution sets out.In if the binding is a contribution to a multibinding.
func (c *compiler) contribution() {
	if c.In == nil {
		return
	}
	id, _ := c.In.text()
	c.out.In = &Reference{ID: id, Pos: c.In.Pos}
	switch {
	case id == "":
		c.errorf(c.In.Pos, "multibind", "expected a multibind_id for 'in', found %s",
			value.Describe(c.In.Value))
	case c.Abstract || c.Override:
		c.errorf(c.KeyPos, "multibind", "a contribution to a multibinding can be neither abstract nor override")
	}
}

func (c *compiler) recipe() *recipe.Recipe {
	r := &recipe.Recipe{Sensitive: c.Sensitive, Optional: c.Optional, Type: c.typeAt(c.Type)}
	if c.Transformer != nil {
		r.Transformer = c.Transformer.Lambda
	}
	c.out.Type = r.Type
	c.checkTransformer()
	c.checkProducers()
	for i := range c.Producers {
		c.produce(&c.Producers[i], r)
	}
	c.checkOptional(r)
	switch {
	case c.Abstract:
		if !c.broken {
			c.warnOfDropped()
		}
		return &recipe.Recipe{Kind: recipe.Abstract}
	case !c.broken && r.Kind == recipe.Constant && r.Transformer == nil && !r.Optional:
		c.constant(r)
	case !c.broken && r.Kind == recipe.Expression && r.Transformer == nil:
		c.mismatch(r, recipe.Misfit(r.Type, r.Expr))
	}
	return r
}

// keptProducers lists the producers that have an effect even on an abstract binding.
var keptProducers = []string{"multibind_id", "rebind", "to_alias_of", "to_renamed"}

// warnOfDropped warns about the value of an abstract binding, which is never used. A value of null
// is no reason to warn.
func (c *compiler) warnOfDropped() {
	for i := range c.Producers {
		p := &c.Producers[i]
		isNull := p.Expr == nil && (p.Argument == nil || p.Argument.Value.IsUndef())
		if isNull || slices.Contains(keptProducers, p.Name) {
			continue
		}
		at := c.Pos
		if p.Argument != nil {
			at = p.Argument.Pos
		}
		c.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "abstract", InValue: true,
			Message: "an abstract binding has no value; this one is never used",
			Hint:    "remove it, or remove 'abstract'"})
	}
}

// checkTransformer reports a transformer that does not accept exactly one argument.
func (c *compiler) checkTransformer() {
	if c.Transformer == nil || c.Transformer.Takes(1) {
		return
	}
	c.add(diag.Diagnostic{Pos: c.Transformer.Pos, Code: "attribute",
		Message: fmt.Sprintf("expected a transformer with 1 parameter, the value, found %d", len(c.Transformer.Params)),
		Hint:    "write |$value| { ... }; facts are variables"})
}

// checkProducers reports a binding with no producer or with several. It also reports options that
// the producer does not have.
func (c *compiler) checkProducers() {
	names, options := make([]string, len(c.Producers)), false
	for i, p := range c.Producers {
		names[i] = p.Name
		options = options || p.Name == "multibind_id" || p.Name == "to_producer" || p.Name == "to_instance"
	}
	switch {
	case len(names) > 1:
		at := c.Pos
		if second := c.Producers[1].Argument; second != nil {
			at = second.Pos
		}
		message := "expected one attribute that produces the value, found " + diag.Quoted(names)
		c.add(diag.Diagnostic{Pos: at, Code: "attribute", Message: message, Discreet: message,
			Hint: "keep one of them"})
	case len(names) == 0 && !c.Abstract && !c.Unsure:
		const message = "expected 'to' or another attribute that produces the value"
		c.add(diag.Diagnostic{Pos: c.Pos, Code: "attribute", Message: message, Discreet: message})
	}
	if c.Options != nil && !options {
		c.errorf(c.Options.Pos, "attribute", "expected 'options' only with 'multibind_id' or a registered producer")
	}
}

// constant checks the type of a constant value. Lookups then need not check it.
func (c *compiler) constant(r *recipe.Recipe) {
	if c.In != nil {
		c.out.Literal = c.Producers[0].Argument
	}
	c.mismatch(r, r.Type.Check(r.Value))
	r.Type = nil
}

// mismatch reports that the value of r does not have the declared type. It does nothing if m is
// nil.
func (c *compiler) mismatch(r *recipe.Recipe, m *types.Mismatch) {
	if m == nil {
		return
	}
	d := diag.Diagnostic{Pos: c.Producers[0].Argument.Within(m.Path).Pos, Code: "type_mismatch", Secret: r.Sensitive,
		Message: "'" + c.Key + "' is of type " + r.Type.String() + ": " + m.Text(r.Sensitive)}
	if r.Expr != nil && r.Expr.Op == expr.Concat && c.Producers[0].Name == "to" {
		d.Hint = "interpolation always yields a string; write to_expression: '$name' to keep the type of the variable"
	}
	c.add(d)
}

func (c *compiler) produce(p *Producer, r *recipe.Recipe) {
	switch p.Name {
	case "multibind_id":
		c.multibind(p.Argument, r)
	case "to_lookup_of":
		r.Kind, r.Targets = recipe.LookupOf, []recipe.Target{c.target(p.Argument)}
	case "to_first_found":
		c.firstFound(p.Argument, r)
	case "to_hash_lookup":
		c.hashLookup(p.Argument, r)
	case "to_producer", "to_instance":
		c.custom(p, r)
	case "to_query":
		r.Kind, r.Name, r.Value = recipe.Custom, "query", p.Argument.Value
	case "to_alias_of", "to_renamed", "rebind":
		c.rebind(p, r)
	default: // to and to_expression
		if p.Expr != nil {
			r.Kind, r.Expr = recipe.Expression, p.Expr
			r.Sensitive = r.Sensitive || p.Expr.HasHieraSecret()
		} else if p.Argument != nil {
			r.Kind, r.Value = recipe.Constant, p.Argument.Value
		}
	}
}

// target parses a key to look up, of the form KEY or [TYPE, KEY].
func (c *compiler) target(l *Literal) recipe.Target {
	if name, ok := l.text(); ok {
		return recipe.Target{Key: name}
	}
	if l.Value.Kind() == value.Array && len(l.Kids) == 2 {
		t := c.typeAt(&l.Kids[0])
		if name, ok := l.Kids[1].text(); ok {
			return recipe.Target{Key: name, Type: t}
		}
	}
	c.errorf(l.Pos, "attribute", "expected a key name, or [type, name], found %s", value.Describe(l.Value))
	return recipe.Target{}
}

func (c *compiler) firstFound(l *Literal, r *recipe.Recipe) {
	if l.Value.Kind() != value.Array {
		c.errorf(l.Pos, "attribute", "expected a list of names for 'to_first_found', found %s", value.Describe(l.Value))
		return
	}
	r.Kind = recipe.FirstFound
	for i := range l.Kids {
		r.Targets = append(r.Targets, c.target(&l.Kids[i]))
	}
}

func (c *compiler) hashLookup(l *Literal, r *recipe.Recipe) {
	name, key := l.Named("name"), l.Named("key")
	if name == nil || key == nil || key.Value.Kind() == value.Array || key.Value.Kind() == value.Hash {
		found := value.Describe(l.Value)
		switch {
		case name != nil && key == nil:
			found += " without 'key'"
		case key != nil && name == nil:
			found += " without 'name'"
		}
		c.errorf(l.Pos, "attribute",
			"expected a hash with 'name', the key to look up, and 'key', the entry to take from it, found %s", found)
		return
	}
	c.onlyKeys(l, []string{"name", "key", "type"}, nil, "")
	t := c.target(name)
	if typ := l.Named("type"); typ != nil {
		t.Type = c.typeAt(typ)
	} else if t.Type == nil {
		t.Type = types.Of(types.Hash)
	}
	r.Kind, r.Targets, r.Value = recipe.HashLookup, []recipe.Target{t}, key.Value
}

// onlyKeys reports keys of a hash that are not in allowed, and returns false if there are any. hint
// is the hint for keys in elsewhere, which are valid in another place.
func (c *compiler) onlyKeys(l *Literal, allowed, elsewhere []string, hint string) bool {
	all := true
	for key := range l.pairs() {
		name, _ := key.text()
		if slices.Contains(allowed, name) {
			continue
		}
		d := diag.Unknown(key.Pos, "attribute", "attribute", name, value.Describe(key.Value), allowed)
		if slices.Contains(elsewhere, name) {
			d.Hint, d.Fix = hint, diag.Fix{}
		}
		c.add(d)
		all = false
	}
	return all
}

// custom parses a call of a registered producer. The call has the form NAME, [NAME, ARGUMENT…] or
// {class_name: NAME, …}.
func (c *compiler) custom(p *Producer, r *recipe.Recipe) {
	l := p.Argument
	r.Kind, r.Value = recipe.Custom, value.FromPairs()
	switch {
	case l.Value.Kind() == value.String:
		r.Name = l.Value.Text()
	case l.Value.Kind() == value.Array && len(l.Kids) > 0:
		r.Name, _ = l.Kids[0].text()
		r.Value = value.FromSlice(l.Value.Slice()[1:])
	default: // hashes, and values without a name
		if class := l.Named("class_name"); class != nil {
			r.Name, _ = class.text()
		}
		r.Value = l.Value
	}
	if r.Name == "" {
		c.errorf(l.Pos, "attribute", "expected the name of a registered producer for '%s', found %s",
			p.Name, value.Describe(l.Value))
	}
	if c.Options != nil {
		r.Value = c.Options.Value
	}
}

// typeAt parses the type in l. It returns nil if l is nil or it has reported an error.
func (c *compiler) typeAt(l *Literal) *types.Type {
	if l == nil {
		return nil
	}
	text, ok := l.text()
	if !ok {
		c.errorf(l.Pos, "type", "expected a type as a string, such as 'Array[String]', found %s",
			value.Describe(l.Value))
		return nil
	}
	t, err := types.Parse(text)
	switch {
	case errors.Is(err, types.ErrCatalog):
		c.errorf(l.Pos, "catalog", "%v", err)
	case err != nil:
		c.add(diag.Diagnostic{Pos: l.Pos, Code: "type", Message: err.Error(), Fix: types.FixOf(err)})
	}
	return t
}
