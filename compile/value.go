package compile

import (
	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/literal"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/loader"
)

// value compiles what b binds and returns its number in the pool; that of null, if it cannot be compiled: that is reported,
// and b binds the key all the same.
func (c *composer) value(b *loader.Binding) uint32 {
	if b.More == nil {
		return c.pooled(literal.Append(nil, b.Doc, b.Value, c.diags))
	}
	r, ok := c.recipe(b)
	switch {
	case !ok:
		return c.pooled(literal.AppendConstant(nil, value.Value{}))
	case r.Kind == recipe.Constant && !r.Sensitive && r.Transformer == nil:
		return c.pooled(literal.AppendConstant(nil, r.Value))
	}
	return c.pooled(literal.AppendRecipe(nil, r))
}

func (c *composer) pooled(compiled []byte) uint32 { return c.site.Pools.Values.Number(compiled) }

// recipe compiles the long form of a binding.
func (c *composer) recipe(b *loader.Binding) (*recipe.Recipe, bool) {
	more := b.More
	r := &recipe.Recipe{Sensitive: more.Sensitive}
	ok := c.producer(b, r)
	if more.Abstract {
		*r = recipe.Recipe{Kind: recipe.Abstract}
	}
	if more.Type != nil {
		t, parsed := c.typeAt(b.Doc, more.Type)
		ok = ok && parsed
		if !more.Abstract {
			r.Type = t
		}
	}
	if more.Transformer != nil {
		lambda, parsed := c.lambda(b.Doc, more.Transformer)
		ok = ok && parsed
		r.Transformer = lambda
	}
	if ok && r.Kind == recipe.Constant && r.Type != nil && r.Transformer == nil {
		ok = c.checkConstant(b, r)
	}
	return r, ok
}

// checkConstant asserts the type of a literal now; a lookup need not do it again.
func (c *composer) checkConstant(b *loader.Binding, r *recipe.Recipe) bool {
	if m := r.Type.Check(r.Value); m != nil {
		at := b.Value
		if at == nil {
			at = b.More.Argument
		}
		c.diags.Add(diag.Diagnostic{Pos: b.Doc.Pos(at.Within(m.Path)), Code: "type_mismatch", Message: "'" + b.Key + "' is of type " + r.Type.String() + ": " + m.Text(r.Sensitive), Secret: r.Sensitive})
		return false
	}
	r.Type = nil
	return true
}

// producer compiles what produces the value.
func (c *composer) producer(b *loader.Binding, r *recipe.Recipe) bool {
	more := b.More
	switch {
	case more.Options != nil && more.MultibindID == nil && more.Producer != "to_producer" && more.Producer != "to_instance":
		c.diags.Errorf(b.Doc.Pos(more.Options), "attribute", "expected 'options' beside 'multibind_id' or a registered producer only")
		return false
	case b.Value != nil:
		n, ok := literal.Compile(b.Doc, b.Value, c.diags)
		if !ok {
			return false
		}
		if v, ok := n.Constant(); ok {
			r.Kind, r.Value = recipe.Constant, v
		} else {
			r.Kind, r.Expr = recipe.Expression, n
		}
		return true
	case more.MultibindID != nil:
		return c.multibind(b, r)
	}
	switch more.Producer {
	case "to_lookup_of":
		t, ok := c.target(b.Doc, more.Argument)
		r.Kind, r.Targets = recipe.LookupOf, []recipe.Target{t}
		return ok
	case "to_first_found":
		return c.firstFound(b, r)
	case "to_hash_lookup":
		return c.hashLookup(b, r)
	case "to_expression":
		return c.expression(b, r)
	case "to_producer", "to_instance":
		return c.custom(b, r)
	}
	return true // abstract: nothing produces
}

// target reads `name` or `[type, name]`.
func (c *composer) target(doc *yaml.Document, n *yaml.Node) (recipe.Target, bool) {
	if name, ok := n.Text(); ok {
		return recipe.Target{Key: name}, true
	}
	if n.Kind == yaml.Sequence && len(n.Kids) == 2 {
		t, ok := c.typeAt(doc, &n.Kids[0])
		name, isText := n.Kids[1].Text()
		if isText {
			return recipe.Target{Key: name, Type: t}, ok
		}
	}
	c.diags.Errorf(doc.Pos(n), "attribute", "expected the name of a key, or [type, name], found %s", n.Describe())
	return recipe.Target{}, false
}

func (c *composer) firstFound(b *loader.Binding, r *recipe.Recipe) bool {
	n := b.More.Argument
	if n.Kind != yaml.Sequence {
		c.diags.Errorf(b.Doc.Pos(n), "attribute", "expected a list of names as 'to_first_found', found %s", n.Describe())
		return false
	}
	r.Kind = recipe.FirstFound
	all := true
	for i := range n.Kids {
		t, ok := c.target(b.Doc, &n.Kids[i])
		r.Targets = append(r.Targets, t)
		all = all && ok
	}
	return all
}

func (c *composer) hashLookup(b *loader.Binding, r *recipe.Recipe) bool {
	n := b.More.Argument
	_, name, hasName := n.Lookup("name")
	_, key, hasKey := n.Lookup("key")
	if !hasName || !hasKey || key.Kind != yaml.Scalar {
		found := n.Describe()
		switch {
		case hasName && !hasKey:
			found += " without 'key'"
		case hasKey && !hasName:
			found += " without 'name'"
		}
		c.diags.Errorf(b.Doc.Pos(n), "attribute", "expected a hash of 'name', the key to look up, and 'key', the entry to take from it, found %s", found)
		return false
	}
	c.onlyKeys(b.Doc, n, []string{"name", "key", "type"})
	t, ok := c.target(b.Doc, name)
	if t.Type == nil {
		t.Type, _ = types.Parse("Hash")
	}
	if _, typ, given := n.Lookup("type"); given {
		var parsed bool
		t.Type, parsed = c.typeAt(b.Doc, typ)
		ok = ok && parsed
	}
	r.Kind, r.Targets, r.Value = recipe.HashLookup, []recipe.Target{t}, key.Value
	return ok
}

// onlyKeys reports the keys of a hash that are none of allowed.
func (c *composer) onlyKeys(doc *yaml.Document, n *yaml.Node, allowed []string) bool {
	unknown := doc.UnknownKeys(n, "attribute", "attribute", allowed)
	for _, d := range unknown {
		c.diags.Add(d)
	}
	return len(unknown) == 0
}

func (c *composer) expression(b *loader.Binding, r *recipe.Recipe) bool {
	n := b.More.Argument
	src, ok := n.Text()
	if !ok {
		// YAML reads an expression such as 42 or true as what it is
		if n.Kind != yaml.Scalar {
			c.diags.Errorf(b.Doc.Pos(n), "attribute", "expected the text of an expression as 'to_expression', found %s", n.Describe())
			return false
		}
		r.Kind, r.Value = recipe.Constant, n.Value
		return true
	}
	node, errs := syntax.ParseExpression(src)
	if !literal.Report(b.Doc, n, "expression", errs, c.diags) || !literal.CheckNames(b.Doc, n, node, c.diags) {
		return false
	}
	node = expr.Fold(node)
	if v, ok := node.Constant(); ok {
		r.Kind, r.Value = recipe.Constant, v
	} else {
		r.Kind, r.Expr = recipe.Expression, node
	}
	return true
}

// custom reads the name of a registered producer: a string, [name, argument...], or {class_name: name, ...}.
func (c *composer) custom(b *loader.Binding, r *recipe.Recipe) bool {
	n := b.More.Argument
	r.Kind, r.Value = recipe.Custom, value.FromPairs()
	name, ok := n.Text()
	switch {
	case ok:
		r.Name = name
	case n.Kind == yaml.Sequence && len(n.Kids) > 0:
		r.Name, ok = n.Kids[0].Text()
		rest := yaml.Node{Kind: yaml.Sequence, Kids: n.Kids[1:]}
		r.Value = rest.Literal()
	case n.Kind == yaml.Mapping:
		if _, class, given := n.Lookup("class_name"); given {
			r.Name, ok = class.Text()
		}
		r.Value = n.Literal()
	}
	if !ok || r.Name == "" {
		c.diags.Errorf(b.Doc.Pos(n), "attribute", "expected the name of a registered producer as '%s', found %s", b.More.Producer, n.Describe())
		return false
	}
	if b.More.Options != nil {
		r.Value = b.More.Options.Literal()
	}
	return true
}

func (c *composer) typeAt(doc *yaml.Document, n *yaml.Node) (*types.Type, bool) {
	text, ok := n.Text()
	if !ok {
		c.diags.Errorf(doc.Pos(n), "type", "expected a type as text, as 'Array[String]', found %s", n.Describe())
		return nil, false
	}
	t, err := types.Parse(text)
	if err != nil {
		c.diags.Errorf(doc.Pos(n), "type", "%v", err)
		return nil, false
	}
	return t, true
}

func (c *composer) lambda(doc *yaml.Document, n *yaml.Node) (*expr.Lambda, bool) {
	text, ok := n.Text()
	if !ok {
		c.diags.Errorf(doc.Pos(n), "attribute", "expected a lambda as text, as '|$value| { $value + 1 }', found %s", n.Describe())
		return nil, false
	}
	l, errs := syntax.ParseLambda(text)
	if !literal.Report(doc, n, "expression", errs, c.diags) {
		return nil, false
	}
	return l, literal.CheckNames(doc, n, l.Body, c.diags)
}
