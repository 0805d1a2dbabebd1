package bindingsfile

import (
	"math"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// multibind compiles a multibinding, see language.md, section 8. l is its id.
func (c *compiler) multibind(l *Literal, r *recipe.Recipe) {
	id, _ := l.text()
	if id == "" || strings.ContainsRune(id, 0) {
		c.errorf(l.Pos, "multibind", "expected a name without NUL for 'multibind_id', found %s",
			value.Describe(l.Value))
		return
	}
	c.out.Multibind = &Multibind{ID: id}
	o := &recipe.Options{PriorityOnNamed: true}
	if c.collected(r.Type, o) && c.options(o) {
		c.out.Multibind.Options = o
	}
	r.Kind, r.Name, r.Options = recipe.Multibind, recipe.ContributionKey(id), o
}

// collected sets in o whether a multibinding of type t collects an array or a hash, and the type of
// its elements. It returns false if it has reported an error.
func (c *compiler) collected(t *types.Type, o *recipe.Options) bool {
	if t == nil {
		return c.Type == nil
	}
	var ok bool
	if o.Element, o.Array, ok = t.Collected(); !ok {
		c.errorf(c.Type.Pos, "multibind", "expected an Array or a Hash as the type of a multibinding, found %s", t)
		return false
	}
	if key := t.Key(); key != nil && !key.HoldsText() {
		c.errorf(c.Type.Pos, "multibind",
			"expected a key type that accepts strings, because the names of contributions become the keys; found %s", t)
		return false
	}
	return true
}

var (
	hashOptions  = []string{"combinator", "conflict_resolution", "flatten", "uniq"}
	arrayOptions = []string{"combinator", "flatten", "priority_on_named", "priority_on_unnamed", "uniq"}
	resolutions  = []string{"priority", "ignore", "error", "append", "merge"}
)

// options parses the options of a multibinding. It returns false if it has reported an error.
func (c *compiler) options(o *recipe.Options) bool {
	l := c.Options
	if l == nil {
		return true
	}
	if l.Value.Kind() != value.Hash {
		d := diag.Diagnostic{Pos: l.Pos, Code: "multibind",
			Message: "expected a hash for 'options', found " + value.Describe(l.Value)}
		if name, _ := l.text(); slices.Contains(slices.Concat(hashOptions, arrayOptions), name) {
			d.Hint = "write {" + name + ": …}"
		}
		c.add(d)
		return false
	}
	allowed, others, owner := hashOptions, arrayOptions, "a list, for a multibinding of type Array"
	if o.Array {
		allowed, others, owner = arrayOptions, hashOptions, "a hash, for a multibinding of type Hash"
	}
	ok := c.onlyKeys(l, allowed, others, "this is an option of "+owner)
	for key, val := range l.pairs() {
		name, _ := key.text()
		ok = c.option(o, name, val) && ok
	}
	switch {
	case !ok:
		return false
	case l.Named("combinator") != nil:
		return c.combinator(o)
	}
	return o.Array || c.checkHashOptions(o)
}

// combinator checks the parameters of a combinator, and that the only other option is uniq. It
// returns false if it has reported an error.
func (c *compiler) combinator(o *recipe.Options) bool {
	l := c.Options.Named("combinator")
	if c.Combinator == nil { // the combinator has a syntax error
		return false
	}
	for key := range c.Options.pairs() {
		if name, _ := key.text(); name != "combinator" && name != "uniq" {
			c.errorf(key.Pos, "multibind", "expected 'combinator' with no other option than 'uniq', found '%s': "+
				"the combinator replaces all other options", name)
			return false
		}
	}
	takes, as := 3, "for a hash: '|$key, $current, $value| { … }'"
	if o.Array {
		takes, as = 2, "for an array: '|$memo, $x| { … }'"
	}
	if !c.Combinator.Takes(takes) {
		c.errorf(l.Pos, "multibind", "expected a combinator with %d parameters %s", takes, as)
		return false
	}
	*o = recipe.Options{Array: o.Array, Resolution: recipe.AppendAll, Uniq: o.Uniq, Combinator: c.Combinator}
	return true
}

func (c *compiler) option(o *recipe.Options, name string, l *Literal) bool {
	flags := map[string]*bool{"uniq": &o.Uniq,
		"priority_on_named": &o.PriorityOnNamed, "priority_on_unnamed": &o.PriorityOnUnnamed}
	expected, fix, v := "", diag.Fix{}, l.Value
	switch flag := flags[name]; {
	case flag != nil:
		*flag = v.Bool()
		if v.Kind() != value.Bool {
			expected = "true or false"
		}
	case name == "flatten":
		if o.Flatten = int(min(max(v.Int(), -2), math.MaxInt32)); v.Kind() == value.Bool {
			o.Flatten = -o.Flatten // true means all levels, for which the number is -1
		} else if v.Kind() != value.Int || o.Flatten < -1 {
			expected = "true, false, a number of levels, or -1 for all"
		}
	case name == "conflict_resolution":
		text, _ := l.text()
		i := slices.Index(resolutions, text)
		if i < 0 {
			expected, fix = diag.AnyOf(resolutions), diag.Correct(text, resolutions)
		} else {
			o.Resolution = recipe.Resolution(i)
		}
	}
	if expected != "" {
		c.add(diag.Diagnostic{Pos: l.Pos, Code: "multibind", Fix: fix,
			Message: "expected " + expected + " for '" + name + "', found " + value.Describe(v)})
	}
	return expected == ""
}

// checkHashOptions checks that the options of a multibinding of type Hash are consistent. It
// returns false if it has reported an error.
func (c *compiler) checkHashOptions(o *recipe.Options) bool {
	switch at := c.Options.Pos; {
	case (o.Flatten != 0 || o.Uniq) && o.Resolution != recipe.AppendAll:
		c.errorf(at, "multibind", "expected 'flatten' and 'uniq' for a hash only with 'conflict_resolution: append'")
	case o.Resolution == recipe.AppendAll && o.Element != nil && !o.Element.HoldsArrays():
		c.errorf(at, "multibind",
			"'append' makes arrays: expected Data or an array type as the element type, found %s", o.Element)
	default:
		return true
	}
	return false
}
