package bindingsfile

import (
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// rebind compiles an alias, a renamed key or a rebinding, see language.md, section 14.2.
func (c *compiler) rebind(p *Producer, r *recipe.Recipe) {
	name, _ := p.Argument.text()
	switch {
	case name == "":
		c.errorf(p.Argument.Pos, "rebind", "expected a key name for '%s', found %s", p.Name,
			value.Describe(p.Argument.Value))
	case p.Name == "rebind" && c.KeyPos != p.Argument.Pos:
		c.errorf(p.Argument.Pos, "rebind", "'rebind' binds the key it names: expected no 'name', found '%s'", c.Key)
	case p.Name != "rebind" && name == c.Key && c.In == nil:
		c.errorf(p.Argument.Pos, "rebind",
			"'%s' cannot be another name for itself; expected another key, or 'rebind' and this one", name)
	case p.Name != "to_alias_of" && c.In != nil:
		c.errorf(p.Argument.Pos, "rebind", "'%s' is not allowed in a contribution (a binding with 'in'). Contributions "+
			"under a renamed name remain contributions, under the new name", p.Name)
	default:
		c.out.Rebinds, c.out.Erases = &Reference{name, p.Argument.Pos}, p.Name == "to_renamed"
	}
	if p.Name == "to_alias_of" {
		r.Kind, r.Targets = recipe.AliasOf, []recipe.Target{{Key: name}}
	} else {
		r.Kind, r.Name = recipe.Below, name
	}
}

// checkOptional reports an optional binding if it is abstract, or if its producer always has a
// value or is optional anyway.
func (c *compiler) checkOptional(r *recipe.Recipe) {
	if !c.Optional || c.broken {
		return
	}
	if c.Abstract {
		c.errorf(c.KeyPos, "optional", "an abstract binding has no value that could be missing: it cannot be optional")
		return
	}
	p := &c.Producers[0]
	switch at := p.Argument.Pos; {
	case c.out.Rebinds != nil:
		c.errorf(at, "optional", "'%s' is already skipped if there is no value: it cannot be optional", p.Name)
	case r.Kind == recipe.Multibind:
		c.errorf(at, "optional",
			"a multibinding always has a value, even if it is empty: it cannot be optional")
	case r.Kind == recipe.Constant && !r.Value.IsUndef(), r.Kind == recipe.Expression && isNeverUndef(r.Expr):
		c.errorf(at, "optional", "this is never undef: expected a producer that can yield undef with 'optional'")
	}
}

// isNeverUndef reports whether n is an expression whose value can never be undef.
func isNeverUndef(n *expr.Node) bool {
	return n.Op == expr.Concat || n.Op == expr.ArrayLit || n.Op == expr.HashLit
}
