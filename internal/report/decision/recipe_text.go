package decision

import (
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// setRecipe sets the content of r to a recipe. Recipes that differ only in source positions get the same content ID.
func (r *Row) setRecipe(x *recipe.Recipe) {
	r.Sensitive, r.Declines, r.isMultibind = x.Sensitive, x.Declines(), x.Kind == recipe.Multibind
	switch {
	case x.Kind == recipe.Erased:
		r.Erased, r.contentID = true, "erased"
	case x.Kind == recipe.Abstract:
		r.Abstract, r.contentID = true, "abstract"
	case x.Kind == recipe.Constant && x.Transformer == nil && !x.Optional:
		r.setConstant(x.Value)
	default:
		r.Computed, r.contentID = sourceText(x), "r"+string(recipe.Append(nil, x.Placeless()))
		r.addUses(x)
		r.varies = readsVariables(x)
	}
	if x.Kind == recipe.Merged {
		r.merge = x
	}
	if r.Sensitive {
		r.contentID = "s" + r.contentID
	}
}

func (r *Row) addUses(x *recipe.Recipe) {
	if x.Kind == recipe.Merged {
		r.uses = append(r.uses, recipe.MergeKey(r.key))
	}
	if x.Kind == recipe.Merged && x.Value.IsUndef() {
		r.uses = append(r.uses, recipe.LookupOptionsKey)
		if module := lookupkey.Module(r.key); module != "" {
			r.uses = append(r.uses, recipe.LookupOptionsKey+" "+module)
		}
	}
	for _, t := range x.Targets {
		r.uses = append(r.uses, t.Key)
	}
	if x.Kind == recipe.Multibind || x.Kind == recipe.Below {
		r.uses = append(r.uses, x.Name)
	}
	if x.Declines() && r.key != "" {
		r.uses = append(r.uses, r.key)
	}
	r.dynamic = x.Kind == recipe.Custom
	for _, n := range x.Expressions() {
		for key, written := range syntax.Lookups(n) {
			if written {
				r.uses = append(r.uses, key)
			}
			r.dynamic = r.dynamic || !written
		}
		expr.HieraKeys(n, func(key string) { r.uses = append(r.uses, key) })
	}
}

// sourceText formats a recipe as an expression. For a recipe that is neither a constant nor an expression, it makes up
// a call of a function named after the attribute.
func sourceText(r *recipe.Recipe) string {
	var n *expr.Node
	switch r.Kind {
	case recipe.Constant:
		n = constant(r.Value)
	case recipe.Expression:
		n = r.Expr
	case recipe.LookupOf:
		n = call("lookup", targets(r)...)
	case recipe.FirstFound:
		n = call("first_found", targets(r)...)
	case recipe.HashLookup:
		n = &expr.Node{Op: expr.Access, Kids: []*expr.Node{call("lookup", targets(r)...), constant(r.Value)}}
	case recipe.Custom:
		n = call(r.Name, constant(r.Value))
	case recipe.Merged:
		return mergedText(r.Value)
	case recipe.AliasOf:
		n = call("alias", targets(r)...)
	case recipe.Below:
		n = call("below", constant(value.FromString(r.Name)))
	case recipe.AliasedPart:
		n = call("alias_of_contributions", constant(value.FromString(r.Name)))
	case recipe.RenamedPart:
		n = call("renamed_contributions", constant(value.FromString(r.Name)))
	case recipe.Multibind:
		n = call("multibind", constant(value.FromString(strings.TrimPrefix(r.Name, recipe.ContributionKey("")))))
		n.Lambda = r.Options.Combinator
	default:
		n = call("contributions")
	}
	if r.Optional {
		n = call("optional", n)
	}
	if r.Transformer != nil {
		n = call("with", n)
		n.Lambda = r.Transformer
	}
	return syntax.Print(n)
}

// mergedText describes how a value is merged according to options, its lookup_options. options is undef if they depend
// on the request.
func mergedText(options value.Value) string {
	if options.Kind() == value.Hash {
		for _, entry := range options.Pairs() {
			text := "merged"
			if merge, exists := entry.Get(value.FromString("merge")); exists {
				text += " by " + optionText(merge)
			}
			if convert, exists := entry.Get(value.FromString("convert_to")); exists {
				text += ", converted to " + optionText(convert)
			}
			return text
		}
	}
	return "merged as lookup_options say"
}

// optionText formats the value of an option. Names are shown without quotes.
func optionText(v value.Value) string {
	if v.Kind() == value.Hash && v.Len() == 1 {
		if name, exists := v.Get(value.FromString("strategy")); exists {
			v = name
		}
	}
	if v.Kind() == value.String {
		return v.Text()
	}
	return syntax.Print(constant(v))
}

func constant(v value.Value) *expr.Node { return &expr.Node{Op: expr.Const, Value: v} }

func call(name string, args ...*expr.Node) *expr.Node {
	return &expr.Node{Op: expr.Call, Name: name, Kids: args}
}

func targets(r *recipe.Recipe) []*expr.Node {
	out := make([]*expr.Node, len(r.Targets))
	for i, t := range r.Targets {
		out[i] = constant(value.FromString(t.Key))
	}
	return out
}
