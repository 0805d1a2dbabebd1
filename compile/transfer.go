package compile

import (
	"slices"
	"strings"

	"bindc/internal/bindingsfile"
	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// transfers binds the parameters that are said to be those of another target (language.md, section 14.4), each by
// itself. Which they are depends on what else is bound: on maps, and where there is none on the parameters of both
// targets; on those that come from transfers only where these have maps.
type transfers struct {
	*composer
	maps  map[string][]boundMap
	bound map[string]map[string]uint32 // names by what stands before them in keys, with the numbers of these
}

// boundMap is a map of parameters that something binds.
type boundMap struct {
	rank, condition int
	entries         value.Value
	erased          bool // it is a rename, below which there is none
}

// transfer is one of these, in its layer.
type transfer struct {
	*loader.Transfer
	layer int
}

// transfer binds what the transfers of the site come to.
func (c *composer) transfer() {
	var all []transfer
	for layer := range c.site.Layers {
		for _, contribution := range c.site.Layers[layer].Contributions {
			for i := range contribution.Transfers {
				all = append(all, transfer{&contribution.Transfers[i], layer})
			}
		}
	}
	if len(all) == 0 || c.diags.Incomplete() {
		return
	}
	x := transfers{c, map[string][]boundMap{}, map[string]map[string]uint32{}}
	x.collect(all)
	turn := func(t transfer) int {
		switch {
		case t.optional(): // what may be missing is known last
			return 2
		case t.Given == nil && len(x.maps[t.Map]) == 0:
			return 1
		}
		return 0
	}
	for n := range 3 {
		var pairs [][]pair // of all, before the first of them binds something
		for _, t := range all {
			if turn(t) == n {
				pairs = append(pairs, x.pairs(t))
			}
		}
		for _, t := range all {
			if turn(t) == n {
				x.bind(t, pairs[0])
				pairs = pairs[1:]
			}
		}
	}
}

// collect finds the maps, and the parameters of all targets.
func (x *transfers) collect(all []transfer) {
	for _, t := range all {
		for _, keys := range []string{t.Keys, t.TypeKeys, t.FromKeys} {
			x.bound[keys] = map[string]uint32{}
		}
	}
	for i := range x.rebound {
		x.note(x.rebound[i].Number)
		x.erase(&x.rebound[i])
	}
	for i := range x.scopes {
		s := &x.scopes[i]
		for key := range x.members(s) {
			x.note(key)
		}
		for _, m := range s.members {
			if m.binding != nil && strings.HasPrefix(m.binding.Key, recipe.MapKeys) {
				x.addMap(m.binding.Key, boundMap{rank: s.rank, condition: s.condition, entries: entriesOf(m.binding)})
			}
		}
	}
	for key, list := range x.maps {
		slices.SortStableFunc(list, func(a, b boundMap) int { return a.rank - b.rank })
		if list[0].erased && list[0].condition == 0 { // no request has it
			delete(x.maps, key)
		}
	}
}

func (x *transfers) addMap(key string, m boundMap) { x.maps[key] = append(x.maps[key], m) }

// erase notes that a map is renamed.
func (x *transfers) erase(r *rebound) {
	if !r.More.Erases || !strings.HasPrefix(r.old(), recipe.MapKeys) {
		return
	}
	for _, condition := range r.When {
		x.addMap(r.old(), boundMap{rank: x.rank(r.layer, condition), condition: condition, erased: true})
	}
}

// entriesOf is the hash a map is bound to; of an abstract one, or one with something wrong, there is none.
func entriesOf(b *loader.Binding) value.Value {
	if r := recipeOf(b); r != nil {
		return r.Value
	}
	return value.Value{}
}

// note notes a key that may be that of a parameter.
func (x *transfers) note(key uint32) {
	text := x.keys[key]
	at := max(strings.LastIndexByte(text, '/'), strings.LastIndexByte(text, ':')) + 1
	if names := x.bound[text[:at]]; names != nil {
		names[text[at:]] = key
	}
}

// pair is a parameter that a transfer binds.
type pair struct {
	loader.Renamed
	depends bool // which it is, and whether it is bound, the request decides
	common  bool // of this name where no map is effective
}

// pairs is the parameters that t binds, or may bind in some request.
func (x *transfers) pairs(t transfer) []pair {
	var out []pair
	at := map[string]int{}
	add := func(r loader.Renamed) *pair {
		i, seen := at[r.Name]
		if !seen {
			i = len(out)
			at[r.Name], out = i, append(out, pair{Renamed: r})
		}
		return &out[i]
	}
	for _, r := range t.Given {
		add(r)
	}
	maps := x.maps[t.Map]
	if t.Given != nil {
		maps = nil
	}
	depends, sure, erased := len(maps) > 0 && maps[0].condition != 0, t.Given != nil, false
	for _, m := range maps {
		for name, from := range m.entries.Pairs() {
			add(loader.Renamed{Name: name.Text(), From: from.Text(), Pos: t.Pos}).depends = depends
		}
		erased = erased || m.erased
		if m.condition == 0 {
			sure = !erased
			break
		}
	}
	for name := range x.bound[t.FromKeys] {
		_, own := x.bound[t.Keys][name]
		_, ofType := x.bound[t.TypeKeys][name]
		if !sure && (own || ofType) {
			p := add(loader.Renamed{Name: name, From: name, Pos: t.Pos})
			p.depends, p.common = depends, true
		}
	}
	slices.SortFunc(out, func(a, b pair) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// bind binds each of the parameters.
func (x *transfers) bind(t transfer, pairs []pair) {
	if len(pairs) == 0 && !t.optional() {
		x.report(diag.Diagnostic{Pos: t.Pos, Code: "map_required",
			Message: "which parameters of " + t.Target + " are those of " + t.From + " is said nowhere, and none is " +
				"bound for both",
			Hint: "bind a map of the two types, or say here which, as the option 'map'"})
	}
	for _, p := range pairs {
		if !x.effort.spend(64) {
			return
		}
		if _, bound := x.bound[t.FromKeys][p.From]; bound || p.depends || !t.optional() {
			x.bindTo(t, p)
		}
	}
}

func (t transfer) optional() bool { return t.Like.Recipe.Optional }

// bindTo binds one parameter: to be another name of the other, or to what the request says that this is.
func (x *transfers) bindTo(t transfer, p pair) {
	key, known := x.bound[t.Keys][p.Name]
	if !known {
		key = uint32(len(x.keys))
		x.keys = append(x.keys, t.Keys+p.Name)
		x.bound[t.Keys][p.Name] = key
	}
	from := t.FromKeys + p.From
	r := &recipe.Recipe{Kind: recipe.AliasOf, Type: t.Like.Recipe.Type, Sensitive: t.Like.Recipe.Sensitive,
		Targets: []recipe.Target{{Key: from}}}
	more := *t.Like
	more.Key, more.Pos, more.Recipe, more.Rebinds = x.keys[key], p.Pos, r, &bindingsfile.Reference{ID: from, Pos: p.Pos}
	if p.depends {
		r.Kind, r.Targets, r.Expr, r.Optional, more.Rebinds = recipe.Expression, nil, t.mapped(p), true, nil
	}
	x.addBinding(&loader.Binding{Key: more.Key, When: t.When, Pos: p.Pos, Number: key, Value: x.valueNumber(r),
		More: &more}, t.layer)
}

// mapped looks up the parameter that the map which is effective has for another. Without one it is that of the same
// name, where both targets have it.
func (t transfer) mapped(p pair) *expr.Node {
	variable := func(name string) *expr.Node { return &expr.Node{Op: expr.Var, Name: name} }
	text := func(s string) *expr.Node { return &expr.Node{Op: expr.Const, Value: value.FromString(s)} }
	call := func(name string, args ...*expr.Node) *expr.Node {
		return &expr.Node{Op: expr.Call, Name: name, Kids: args}
	}
	with := func(n *expr.Node, as string, body *expr.Node) *expr.Node {
		out := call("with", n)
		out.Lambda = &expr.Lambda{Params: []expr.Param{{Name: as}}, Body: body}
		return out
	}
	isUndef := func(name string) *expr.Node {
		return &expr.Node{Op: expr.Binary, Name: "==", Kids: []*expr.Node{variable(name), {Op: expr.Const}}}
	}
	entry := &expr.Node{Op: expr.Access, Kids: []*expr.Node{variable("map"), text(p.Name)}}
	if p.common {
		entry = &expr.Node{Op: expr.If, Kids: []*expr.Node{isUndef("map"), text(p.Name), entry}}
	}
	key := &expr.Node{Op: expr.Concat, Kids: []*expr.Node{text(t.FromKeys), variable("from")}}
	found := &expr.Node{Op: expr.If, Kids: []*expr.Node{isUndef("from"), {Op: expr.Const}, call("lookup", key)}}
	return with(with(call("lookup", text(t.Map)), "map", entry), "from", found)
}
