package compile

import (
	"cmp"
	"maps"
	"slices"

	"bindc/internal/diag"
	"bindc/internal/literal"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/loader"
	"bindc/snapshot"
)

// declaration is a binding with a multibind_id.
type declaration struct {
	binding *loader.Binding
	options *recipe.Options
}

// contributionKey is the internal key that the contributions to a multibinding are filed under.
func contributionKey(id string) string { return "\x00" + id }

// multibind compiles a binding that collects contributions (language.md, section 8).
func (c *composer) multibind(b *loader.Binding, r *recipe.Recipe) bool {
	id, ok := b.More.MultibindID.Text()
	if !ok || id == "" {
		c.diags.Errorf(b.Doc.Pos(b.More.MultibindID), "multibind", "expected a name as 'multibind_id', found %s", b.More.MultibindID.Describe())
		return false
	}
	o, ok := c.multibindOptions(b)
	if !ok {
		c.broken[id] = true
		return false
	}
	r.Kind, r.Name, r.Options = recipe.Multibind, contributionKey(id), o
	c.declared[id] = append(c.declared[id], declaration{b, o})
	return true
}

// multibindOptions reads the type, which says what is collected, and the options.
func (c *composer) multibindOptions(b *loader.Binding) (*recipe.Options, bool) {
	o := &recipe.Options{PriorityOnNamed: true}
	if b.More.Type != nil {
		t, ok := c.typeAt(b.Doc, b.More.Type)
		if !ok {
			return nil, false
		}
		if o.Element, o.Array, ok = t.Collected(); !ok {
			c.diags.Errorf(b.Doc.Pos(b.More.Type), "multibind", "expected an Array or a Hash as type of a multibinding, found %s", t)
			return nil, false
		}
	}
	if b.More.Options == nil {
		return o, true
	}
	return o, c.readOptions(b, o)
}

var (
	hashOptions  = []string{"conflict_resolution", "flatten", "uniq"}
	arrayOptions = []string{"flatten", "priority_on_named", "priority_on_unnamed", "uniq"}
	resolutions  = []string{"priority", "ignore", "error", "append", "merge"}
)

func (c *composer) readOptions(b *loader.Binding, o *recipe.Options) bool {
	n := b.More.Options
	if n.Kind != yaml.Mapping {
		c.diags.Errorf(b.Doc.Pos(n), "multibind", "expected a hash as 'options', found %s", n.Describe())
		return false
	}
	allowed := hashOptions
	if o.Array {
		allowed = arrayOptions
	}
	ok := c.onlyKeys(b.Doc, n, allowed)
	for key, val := range n.Pairs() {
		name, _ := key.Text()
		ok = c.readOption(b.Doc, o, name, val) && ok
	}
	return ok && c.checkOptions(b, o)
}

func (c *composer) readOption(doc *yaml.Document, o *recipe.Options, name string, n *yaml.Node) bool {
	flags := map[string]*bool{"uniq": &o.Uniq, "priority_on_named": &o.PriorityOnNamed, "priority_on_unnamed": &o.PriorityOnUnnamed}
	expected := ""
	switch flag := flags[name]; {
	case flag != nil:
		*flag = n.Value.Bool()
		if n.Value.Kind() != value.Bool {
			expected = "true or false"
		}
	case name == "flatten":
		if o.Flatten = int(n.Value.Int()); n.Value.Kind() == value.Bool {
			o.Flatten = -o.Flatten // true is all levels, -1
		} else if n.Value.Kind() != value.Int || o.Flatten < -1 {
			expected = "true, false, a number of levels, or -1 for all"
		}
	case name == "conflict_resolution":
		text, _ := n.Text()
		i := slices.Index(resolutions, text)
		if i < 0 {
			expected = "one of priority, ignore, error, append, merge"
		} else {
			o.Resolution = recipe.Resolution(i)
		}
	}
	if expected != "" {
		c.diags.Errorf(doc.Pos(n), "multibind", "expected %s as '%s', found %s", expected, name, n.Describe())
	}
	return expected == ""
}

// checkOptions refuses options that do not fit each other or the type.
func (c *composer) checkOptions(b *loader.Binding, o *recipe.Options) bool {
	at := b.Doc.Pos(b.More.Options)
	switch {
	case o.Array:
		return true
	case (o.Flatten != 0 || o.Uniq) && o.Resolution != recipe.AppendAll:
		c.diags.Errorf(at, "multibind", "expected 'flatten' and 'uniq' of a hash with 'conflict_resolution: append' only")
	case o.Resolution == recipe.AppendAll && o.Element != nil && !o.Element.HoldsArrays():
		c.diags.Errorf(at, "multibind", "'append' makes arrays: expected Data or an array type as type of the elements, found %s", o.Element)
	default:
		return true
	}
	return false
}

// fileContribution compiles a binding with `in` and files it under the multibinding.
func (c *composer) fileContribution(cand candidate) {
	b := cand.binding
	id, ok := b.More.In.Text()
	switch {
	case !ok || id == "":
		c.diags.Errorf(b.Doc.Pos(b.More.In), "multibind", "expected the multibind_id that is contributed to as 'in', found %s", b.More.In.Describe())
		return
	case b.More.Abstract || b.More.Override:
		c.diags.Errorf(b.Pos(), "multibind", "a contribution to a multibinding can be neither abstract nor override")
		return
	}
	r, ok := c.recipe(b)
	if !ok {
		return
	}
	cand.recipe = r
	for _, w := range b.When {
		cand.condition, cand.rank = w, c.rank(cand.layer, w)
		c.contributions[id] = append(c.contributions[id], cand)
	}
}

// checkMultibinds reports what is wrong with multibindings whatever the facts.
func (c *composer) checkMultibinds() {
	ids := make([]string, 0, len(c.declared))
	for id := range c.declared {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for id, cs := range c.contributions {
		if len(c.declared[id]) == 0 && !c.broken[id] {
			c.unknownID(id, cs, ids)
		}
		for _, cand := range cs {
			for _, d := range c.declared[id] {
				c.checkContribution(cand, d)
			}
		}
		for _, d := range c.declared[id] {
			c.checkTwice(cs, d)
		}
	}
	for _, id := range ids {
		c.sameID(id)
	}
}

func (c *composer) unknownID(id string, cs []candidate, ids []string) {
	for _, cand := range cs {
		d := diag.Diagnostic{Pos: cand.binding.Doc.Pos(cand.binding.More.In), Severity: diag.Warning, Code: "multibind_unknown",
			Message: "there is no multibinding with the id '" + id + "': this contribution is never seen"}
		d.Hint = diag.DidYouMean(id, ids)
		c.diags.Add(d)
	}
}

func (c *composer) sameID(id string) {
	ds := c.declared[id]
	for _, d := range ds[1:] {
		if d.binding.Key != ds[0].binding.Key {
			c.diags.Add(diag.Diagnostic{Pos: d.binding.Pos(), Severity: diag.Warning, Code: "multibind_id",
				Message: "'" + d.binding.Key + "' and '" + ds[0].binding.Key + "' collect the same contributions: both have the id '" + id + "'",
				Notes:   []diag.Note{{Pos: ds[0].binding.Pos(), Message: "the other multibinding"}}})
		}
	}
}

// checkContribution holds one contribution to the multibinding it goes to.
func (c *composer) checkContribution(cand candidate, d declaration) {
	b := cand.binding
	if !d.options.Array && b.Key == "" {
		c.diags.Add(diag.Diagnostic{Pos: b.Pos(), Code: "multibind", Message: "expected 'name', the key this contribution has in the hash '" + d.binding.Key + "'",
			Notes: []diag.Note{{Pos: d.binding.Pos(), Message: "the multibinding"}}})
	}
	if b.Value == nil || !literal.Plain(b.Value) || b.More.Transformer != nil {
		return
	}
	v := b.Value.Literal()
	if d.options.Resolution == recipe.Merge && v.Kind() != value.Hash {
		c.diags.Add(diag.Diagnostic{Pos: b.Doc.Pos(b.Value), Code: "multibind", Message: "expected a hash to merge into '" + d.binding.Key + "', found " + b.Value.Describe(),
			Notes: []diag.Note{{Pos: d.binding.Pos(), Message: "conflicts are resolved by merging here"}}})
	}
	if d.options.Element != nil && !appended(d.options) {
		if m := d.options.Element.Check(v); m != nil {
			c.diags.Add(diag.Diagnostic{Pos: b.Doc.Pos(b.Value), Code: "type_mismatch", Message: "a contribution to '" + d.binding.Key + "': " + m.Text(b.More.Sensitive), Secret: b.More.Sensitive,
				Notes: []diag.Note{{Pos: d.binding.Pos(), Message: "the multibinding"}}})
		}
	}
}

// appended tells whether contributions become elements of the elements, whose type then is that of the result.
func appended(o *recipe.Options) bool { return o.Resolution == recipe.AppendAll }

// checkTwice reports contributions of equal precedence under equal conditions, where priority decides between them.
func (c *composer) checkTwice(cs []candidate, d declaration) {
	type slot struct {
		rank, condition int
		name            string
	}
	first := map[slot]*loader.Binding{}
	for _, cand := range cs {
		b := cand.binding
		decides := d.options.PriorityOnNamed
		if !d.options.Array {
			decides = d.options.Resolution == recipe.Priority
		} else if b.Key == "" {
			decides = d.options.PriorityOnUnnamed
		}
		if d.options.Resolution == recipe.ErrorOnConflict {
			decides = true
		}
		s := slot{cand.rank, cand.condition, b.Key}
		other := first[s]
		if first[s] = b; !decides || other == nil || other == b {
			continue
		}
		c.diags.Add(diag.Diagnostic{Pos: b.Pos(), Code: "duplicate", Message: "two contributions to '" + d.binding.Key + "' have the same name and precedence" + c.describe(c.site.Conditions[cand.condition]),
			Notes: []diag.Note{{Pos: other.Pos(), Message: "the other one"}}})
	}
}

// contribute files contributions under internal keys: per scope the list of what it contributes.
func (c *composer) contribute() {
	for _, id := range slices.Sorted(maps.Keys(c.contributions)) {
		if len(c.declared[id]) == 0 {
			continue
		}
		key, _ := c.keyNumber(contributionKey(id))
		cs := c.contributions[id]
		c.contributed(key, cs)
		slices.SortStableFunc(cs, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.condition, b.condition))
		})
		for from := 0; from < len(cs); {
			to := from
			for to < len(cs) && cs[to].layer == cs[from].layer && cs[to].condition == cs[from].condition {
				to++
			}
			list := c.pooled(literal.AppendRecipe(nil, &recipe.Recipe{Kind: recipe.Contributions, Parts: parts(cs[from:to])}))
			c.store(list)
			s := c.scope(cs[from].layer, cs[from].condition)
			s.contributions = append(s.contributions, snapshot.Entry{Key: key, Value: c.order[list] - 1})
			from = to
		}
	}
}

// parts is what one scope contributes.
func parts(cs []candidate) []recipe.Part {
	out := make([]recipe.Part, len(cs))
	for i, cand := range cs {
		key := cand.binding.Key
		out[i] = recipe.Part{Name: key, Named: key != "", Precedence: uint32(cand.rank), Place: uint32(cand.place), Recipe: cand.recipe}
	}
	return out
}
