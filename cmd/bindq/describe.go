package main

import (
	"fmt"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

func describeProgram(encoded string) string {
	n, err := expr.Decode(encoded)
	if err != nil {
		return err.Error()
	}
	return describeNode(n)
}

// describeRecipe is a snapshot.RecipeText that hides the values of sensitive recipes.
func describeRecipe(encoded string) (meaning string, secret bool) {
	if text, ok := sealedText(encoded); ok {
		return text, true
	}
	r, err := recipe.Decode(encoded)
	if err != nil {
		return err.Error(), true
	}
	return recipeText(r, false), r.Secret()
}

// revealRecipe is a snapshot.RecipeText that shows all recipes.
func revealRecipe(encoded string) (meaning string, secret bool) {
	if text, ok := sealedText(encoded); ok {
		return text, false
	}
	r, err := recipe.Decode(encoded)
	if err != nil {
		return err.Error(), false
	}
	return recipeText(r, true), false
}

func sealedText(encoded string) (string, bool) {
	if !recipe.IsSealed(encoded) {
		return "", false
	}
	return kindNames[recipe.Kind(encoded[0])] + " sealed", true
}

// kindNames maps each kind of recipe to its name in docs/recipes.md.
var kindNames = map[recipe.Kind]string{
	recipe.Constant: "constant", recipe.Expression: "expression", recipe.LookupOf: "lookup",
	recipe.FirstFound: "first found",
	recipe.HashLookup: "hash lookup", recipe.Custom: "custom", recipe.Abstract: "abstract",
	recipe.Multibind:     "multibind",
	recipe.Contributions: "contributions", recipe.Merged: "merged", recipe.AliasOf: "alias", recipe.Below: "below",
	recipe.Erased: "erased", recipe.RenamedPart: "renamed part", recipe.AliasedPart: "aliased part",
}

// recipeText returns a recipe on one line: its kind and the fields that are set. Unless reveal is set, it omits most
// fields of a sensitive recipe.
func recipeText(r *recipe.Recipe, reveal bool) string {
	words := []string{kindNames[r.Kind]}
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if r.Sensitive {
		add("sensitive")
	}
	if r.Optional {
		add("optional")
	}
	if r.Sensitive && !reveal {
		return strings.Join(words, " ")
	}
	if r.Type != nil {
		add("type %s", r.Type)
	}
	if r.Name != "" {
		add("%q", r.Name)
	}
	for _, t := range r.Targets {
		add("of %q", t.Key)
		if t.Type != nil {
			add("type %s", t.Type)
		}
	}
	if !r.Value.IsUndef() {
		add("%s", value.AppendJSON(nil, r.Value))
	}
	if r.Expr != nil {
		add("%s", describeNode(r.Expr))
	}
	if o := r.Options; o != nil {
		add("array %t, resolution %d, flatten %d, uniq %t, named %t, unnamed %t", o.Array, o.Resolution, o.Flatten,
			o.Uniq, o.PriorityOnNamed, o.PriorityOnUnnamed)
		if o.Element != nil {
			add("element %s", o.Element)
		}
		if o.Combinator != nil {
			add("combinator %s", describeLambda(o.Combinator))
		}
	}
	for _, p := range r.Parts {
		add("(part %q precedence %d place %d: %s)", p.Name, p.Precedence, p.Place, recipeText(p.Recipe, reveal))
	}
	if r.Transformer != nil {
		add("transformer %s", describeLambda(r.Transformer))
	}
	return strings.Join(words, " ")
}

// opNames maps each operation to its name in docs/recipes.md.
var opNames = map[expr.Op]string{
	expr.Const: "Const", expr.Var: "Var", expr.Concat: "Concat", expr.ArrayLit: "ArrayLit", expr.HashLit: "HashLit",
	expr.Splat:  "Splat",
	expr.Access: "Access", expr.TypeName: "TypeName", expr.Call: "Call", expr.Unary: "Unary", expr.Binary: "Binary",
	expr.If:   "If",
	expr.Case: "Case", expr.Selector: "Selector", expr.Option: "Option", expr.Assign: "Assign", expr.Block: "Block",
}

// describeNode formats an expression tree with brackets around every node: (Concat (Const "db.") (Var domain)).
func describeNode(n *expr.Node) string {
	text := "(" + opNames[n.Op]
	if n.Op == expr.Const {
		text += " " + string(value.AppendJSON(nil, n.Value))
	}
	if n.Name != "" {
		text += " " + n.Name
	}
	for _, kid := range n.Kids {
		text += " " + describeNode(kid)
	}
	if n.Lambda != nil {
		text += " " + describeLambda(n.Lambda)
	}
	return text + ")"
}

func describeLambda(l *expr.Lambda) string {
	names := make([]string, len(l.Params))
	for i, p := range l.Params {
		names[i] = p.Name
	}
	return "|" + strings.Join(names, ", ") + "| " + describeNode(l.Body)
}
