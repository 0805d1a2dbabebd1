package rewrite

import (
	"slices"
	"strings"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// transfers binds parameters of one target to parameters of another (language.md, section 14.4). Which parameters it
// binds depends on maps or, without a map, on the parameters that both targets have. Such parameters include those that
// transfers in earlier turns bind.
type transfers struct {
	*pass.Env
	*place.Tables
	maps  map[string][]boundMap        // maps by key, highest first
	bound map[string]map[string]uint32 // numbers of bound keys, by key prefix of the target and by parameter name
	out   []place.LayeredBinding
}

// boundMap is one binding of a parameter map, under one condition.
type boundMap struct {
	rank, condition int
	entries         value.Value
	erased          bool // the map is renamed here, so no lookup of its old name finds a lower one
}

type layeredTransfer struct {
	*loader.Transfer
	layer int
}

func transferParameters(e *pass.Env, p *place.Placement) []place.LayeredBinding {
	all := transfersOf(e.Site)
	if len(all) == 0 {
		return nil
	}
	x := transfers{Env: e, Tables: p.Tables, maps: map[string][]boundMap{}, bound: map[string]map[string]uint32{}}
	x.collect(all, p)
	var turns [3][]layeredTransfer
	for _, t := range all {
		turns[x.turn(t)] = append(turns[x.turn(t)], t)
	}
	for _, turn := range turns {
		pairs := make([][]pair, len(turn)) // compute all pairs before any transfer binds a parameter
		for i, t := range turn {
			pairs[i] = x.pairs(t)
		}
		for i, t := range turn {
			x.bind(t, pairs[i])
		}
	}
	return x.out
}

func transfersOf(site *loader.Site) (all []layeredTransfer) {
	for layer := range site.Layers {
		for _, contribution := range site.Layers[layer].Contributions {
			for i := range contribution.Transfers {
				all = append(all, layeredTransfer{&contribution.Transfers[i], layer})
			}
		}
	}
	return all
}

// turn returns the turn in which t is processed. Transfers with a map come first. Transfers whose parameters may be
// missing come last.
func (x *transfers) turn(t layeredTransfer) int {
	switch {
	case t.optional():
		return 2
	case t.Given == nil && len(x.maps[t.Map]) == 0:
		return 1
	}
	return 0
}

// collect finds all maps, and the parameters of all targets.
func (x *transfers) collect(all []layeredTransfer, p *place.Placement) {
	for _, t := range all {
		for _, keys := range []string{t.Keys, t.TypeKeys, t.FromKeys} {
			x.bound[keys] = map[string]uint32{}
		}
	}
	for i := range p.Rebound {
		x.addParameter(p.Rebound[i].Number)
		x.addErasedMap(&p.Rebound[i], p.Ranks)
	}
	for i := range p.Scopes {
		s := &p.Scopes[i]
		for key := range s.Bound() {
			x.addParameter(key)
		}
		for _, m := range s.Members {
			if m.Binding != nil && strings.HasPrefix(m.Binding.Key, recipe.MapKeys) {
				x.addMap(m.Binding.Key, boundMap{rank: s.Rank, condition: s.Condition, entries: entriesOf(m.Binding)})
			}
		}
	}
	for key, list := range x.maps {
		slices.SortStableFunc(list, func(a, b boundMap) int { return a.rank - b.rank })
		if list[0].erased && list[0].condition == 0 { // no request finds the map
			delete(x.maps, key)
		}
	}
}

func (x *transfers) addMap(key string, m boundMap) { x.maps[key] = append(x.maps[key], m) }

// addErasedMap records r if it renames a parameter map.
func (x *transfers) addErasedMap(r *place.Rebound, ranks *place.Ranking) {
	if !r.More.Erases || !strings.HasPrefix(r.Old(), recipe.MapKeys) {
		return
	}
	for _, condition := range r.When {
		x.addMap(r.Old(), boundMap{rank: ranks.Rank(r.Layer, condition), condition: condition, erased: true})
	}
}

// entriesOf returns the hash in a map. For a binding that is abstract or has an error, it returns undef.
func entriesOf(b *loader.Binding) value.Value {
	if r := place.RecipeOf(b); r != nil {
		return r.Value
	}
	return value.Value{}
}

// addParameter records a key if it is a parameter of one of the targets.
func (x *transfers) addParameter(key uint32) {
	text := x.Keys[key]
	at := max(strings.LastIndexByte(text, '/'), strings.LastIndexByte(text, ':')) + 1
	if names := x.bound[text[:at]]; names != nil {
		names[text[at:]] = key
	}
}

// pair is a parameter to bind, with the parameter of the other target that gives its value.
type pair struct {
	loader.Renamed
	depends bool // which parameter of the other target applies, if any, depends on the request
	common  bool // without an effective map, the parameter of the same name is used
}

// pairs returns the parameters that t binds in at least some requests, by name.
func (x *transfers) pairs(t layeredTransfer) []pair {
	list := pairList{at: map[string]int{}}
	for _, r := range t.Given {
		list.add(r)
	}
	maps := x.maps[t.Map]
	if t.Given != nil {
		maps = nil
	}
	depends, certain := len(maps) > 0 && maps[0].condition != 0, t.Given != nil
	erased := false
	for _, m := range maps {
		for name, from := range m.entries.Pairs() {
			list.add(loader.Renamed{Name: name.Text(), From: from.Text(), Pos: t.Pos}).depends = depends
		}
		erased = erased || m.erased
		if m.condition == 0 {
			certain = !erased
			break
		}
	}
	if !certain {
		x.addCommon(&list, t, depends)
	}
	slices.SortFunc(list.pairs, func(a, b pair) int { return strings.Compare(a.Name, b.Name) })
	return list.pairs
}

func (x *transfers) addCommon(list *pairList, t layeredTransfer, depends bool) {
	for name := range x.bound[t.FromKeys] {
		_, own := x.bound[t.Keys][name]
		_, ofType := x.bound[t.TypeKeys][name]
		if own || ofType {
			p := list.add(loader.Renamed{Name: name, From: name, Pos: t.Pos})
			p.depends, p.common = depends, true
		}
	}
}

// pairList is a list of pairs in which each parameter name occurs once.
type pairList struct {
	pairs []pair
	at    map[string]int // index in pairs, by name
}

// add returns the pair with the name of r, and adds r if the list has no such pair.
func (l *pairList) add(r loader.Renamed) *pair {
	i, seen := l.at[r.Name]
	if !seen {
		i = len(l.pairs)
		l.at[r.Name], l.pairs = i, append(l.pairs, pair{Renamed: r})
	}
	return &l.pairs[i]
}

// bind binds the parameters in pairs. If pairs is empty, it reports an error unless t is optional.
func (x *transfers) bind(t layeredTransfer, pairs []pair) {
	if len(pairs) == 0 && !t.optional() {
		x.Report(diag.Diagnostic{Pos: t.Pos, Code: "map_required",
			Message: "cannot determine which parameters of " + t.From + " give " + t.Target +
				" its parameters: there is no " +
				"map, and no parameter is bound for both",
			Hint: "bind a map of the two types, or write the option 'map' here"})
	}
	for _, p := range pairs {
		if !x.Effort.Spend(64) {
			return
		}
		if _, bound := x.bound[t.FromKeys][p.From]; bound || p.depends || !t.optional() {
			x.bindTo(t, p)
		}
	}
}

func (t layeredTransfer) optional() bool { return t.Like.Recipe.Optional }

// bindTo binds one parameter to an alias of the other target's parameter. If the request determines which parameter
// that is, bindTo binds it to an expression instead.
func (x *transfers) bindTo(t layeredTransfer, p pair) {
	key, bound := x.bound[t.Keys][p.Name]
	if !bound {
		key = x.AddKey(t.Keys + p.Name)
		x.bound[t.Keys][p.Name] = key
	}
	from := t.FromKeys + p.From
	r := &recipe.Recipe{Kind: recipe.AliasOf, Type: t.Like.Recipe.Type, Sensitive: t.Like.Recipe.Sensitive,
		Targets: []recipe.Target{{Key: from}}}
	more := *t.Like
	more.Key, more.Pos, more.Recipe, more.Rebinds = x.Keys[key], p.Pos, r, &bindingsfile.Reference{ID: from, Pos: p.Pos}
	if p.depends {
		r.Kind, r.Targets, r.Expr, r.Optional, more.Rebinds = recipe.Expression, nil, t.mapped(p), true, nil
	}
	b := &loader.Binding{Key: more.Key, When: t.When, Pos: p.Pos, Number: key, Value: x.Number(r), More: &more}
	x.out = append(x.out, place.LayeredBinding{Binding: b, Layer: t.layer})
}

// mapped returns an expression that looks up the parameter that the effective map assigns to p. Without a map, the
// expression looks up the parameter of the same name, if both targets have this parameter.
func (t layeredTransfer) mapped(p pair) *expr.Node {
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
