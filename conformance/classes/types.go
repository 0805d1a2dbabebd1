package classes

import (
	"fmt"
	"strconv"
	"strings"
)

// typ is a Puppet type with a generator of values.
type typ struct {
	text string
	// value returns a random value of the type. It returns false if data files cannot contain such
	// a value.
	value func(g *generator, depth int) (val, bool)
}

func some(vs ...val) func(*generator, int) (val, bool) {
	return func(g *generator, _ int) (val, bool) {
		if len(vs) == 0 {
			return val{}, false
		}
		return vs[g.IntN(len(vs))], true
	}
}

var leaves = []typ{
	{"Any", some(val{1}, val{"x"}, val{nil})},
	{"Integer", some(val{1}, val{-5})},
	{"Integer[1, 10]", some(val{3}, val{10})},
	{"Integer[default, 0]", some(val{0})},
	{"Integer[0]", some(val{8})},
	{"Integer[0x10, 0x1F]", some(val{17})},
	{"Float", some(val{1.5})},
	{"Float[0.0, 1.0]", some(val{0.5})},
	{"Float[1]", some(val{2.5})},
	{"Numeric", some(val{1}, val{2.5})},
	{"String", some(val{"x"}, val{""})},
	{"String[1]", some(val{"x"}, val{"äö"})},
	{"String[2, 3]", some(val{"xy"}, val{"äöü"})},
	{"Boolean", some(val{true}, val{false})},
	{"Boolean[true]", some(val{true})},
	{"Enum['a', 'b']", some(val{"a"}, val{"b"})},
	{"Enum['a', 'B', true]", some(val{"A"}, val{"b"})},
	{`Pattern[/\A[a-z]+\z/]`, some(val{"abc"})},
	{`Pattern[/^\d+$/, /x/]`, some(val{"12"}, val{"axb"})},
	{`Pattern[/\A(?i:https?:\/\/.*)\z/]`, some(val{"HTTP://x"})},
	{`Pattern["\A\d\z"]`, some()},
	{`Pattern[/^[a-c](?!b)/, /\A(?:\d++)(?<=[02468])\z/]`, some(val{"ac"}, val{"12"})},
	{"Scalar", some(val{1}, val{"x"}, val{true})},
	{"ScalarData", some(val{1}, val{1.5})},
	{"Data", some(val{1}, val{list{val{"x"}}}, val{nil})},
	{"RichData", some(val{1}, val{list{}})},
	{"Undef", some(val{nil})},
	{"Default", some()},
	{"NotUndef", some(val{1})},
	{"Regexp", some()},
	{"Collection", some(val{list{}}, val{hash{}})},
	{"Collection[1, 2]", some(val{list{val{1}}})},
	{"Array", some(val{list{}})},
	{"Hash", some(val{hash{}}, val{hash{{val{"a"}, val{1}}}})},
	{"Array[1]", some()},
	{"Array[0, 1]", some(val{list{val{1}}})},
	{"Hash[0, 1]", some(val{hash{}})},
	{"Sensitive", some()},
	{"Sensitive[String]", some()},
	{"Sensitive[Integer]", some()},
	{"Callable", some()},
	{"Callable[Integer]", some()},
	{"Type", some()},
	{"Type[Integer]", some()},
	{"File", some()},
	{"Class", some()},
	{"Class['m::c0']", some()},
	{"File['/x']", some()},
	{"Resource['file']", some()},
	{"CatalogEntry", some()},
	{"Timestamp", some()},
	{"Timespan", some()},
	{"SemVer", some()},
	{"URI", some()},
	{"Binary", some()},
	{"Deferred", some()},
	{"Iterable", some(val{list{}}, val{"x"}, val{3})},
	{"Iterable[String]", some(val{list{val{"x"}}})},
	{"Iterable[Integer]", some(val{3})},
	{"Tuple", some(val{list{val{1}}})},
	{"Init[Integer]", some(val{1})},
	{"Struct", some()},
	{"Optional", some()},
	{"Variant", some()},
	{"Pattern", some(val{"x"})},
	{"Enum", some(val{"x"})},
	{"RichDataKey", some(val{1}, val{"x"})},
	{"M::None", some()},
	{"Runtime", some()},
	{"Object", some()},
	{"Iterator", some()},
	{"Optional['x']", some(val{"x"}, val{nil})},
	{"NotUndef['x']", some(val{"x"})},
	{"Error", some()},
	{"Number", some()},
}

// typ returns a random type. Types are nested at most depth levels deep.
func (g *generator) typ(depth int) typ {
	if depth == 0 || g.often(25) {
		if g.often(12) && len(g.aliases) > 0 {
			return g.use(g.aliases[g.IntN(len(g.aliases))])
		}
		if g.often(60) {
			return leaves[g.IntN(25)]
		}
		return leaves[g.IntN(len(leaves))]
	}
	inner := func() typ { return g.typ(depth - 1) }
	switch g.IntN(11) {
	case 0, 1:
		return g.array(inner(), g.size())
	case 2, 3:
		keys := []typ{leaves[10], leaves[11], leaves[1], leaves[15], leaves[17], leaves[21]}
		return g.hash(keys[g.IntN(len(keys))], inner(), g.size())
	case 4:
		return g.tuple(inner(), inner())
	case 5, 6:
		return g.structure(inner)
	case 7:
		return g.variant(inner(), inner())
	case 8:
		t := inner()
		return typ{"Optional[" + t.text + "]", func(g *generator, d int) (val, bool) { return t.value(g, d) }}
	case 9:
		t := inner()
		return typ{[]string{"NotUndef[", "Sensitive[", "Iterable[", "Type["}[g.IntN(4)] + t.text + "]", t.value}
	}
	if len(g.aliases) > 0 {
		return g.use(g.aliases[g.IntN(len(g.aliases))])
	}
	return inner()
}

func (g *generator) use(alias string) typ {
	return typ{alias, func(g *generator, d int) (val, bool) {
		if t := g.types[alias]; d > 0 && t.value != nil {
			return t.value(g, d-1)
		}
		return val{}, false
	}}
}

// alias returns a random type for an alias. The type may refer to the alias itself.
func (g *generator) alias(name string) typ {
	if g.often(60) {
		return g.typ(2)
	}
	self := g.use(name)
	switch g.IntN(5) {
	case 0:
		return g.variant(leaves[g.IntN(20)], g.array(self, ""))
	case 1:
		return g.hash(leaves[10], g.variant(leaves[g.IntN(20)], self), "")
	case 2:
		return g.variant(leaves[g.IntN(20)], g.hash(leaves[10], self, ""))
	case 3:
		return g.variant(self, leaves[g.IntN(20)])
	}
	next := []string{"Optional[next]", "next"}[g.IntN(2)]
	return typ{"Struct[{v => " + leaves[g.IntN(20)].text + ", " + next + " => " + name + "}]", some()}
}

func (g *generator) size() string {
	return []string{"", "", "", ", 1", ", 0, 2", ", 1, 2", ", default, 1"}[g.IntN(7)]
}

func (g *generator) array(t typ, size string) typ {
	return typ{"Array[" + t.text + size + "]", func(g *generator, d int) (val, bool) {
		var out list
		for range g.IntN(3) {
			if v, ok := t.value(g, d); ok {
				out = append(out, v)
			}
		}
		return val{out}, true
	}}
}

func (g *generator) hash(k, t typ, size string) typ {
	return typ{"Hash[" + k.text + ", " + t.text + size + "]", func(g *generator, d int) (val, bool) {
		var out hash
		for range g.IntN(3) {
			key, ok := k.value(g, d)
			v, ok2 := t.value(g, d)
			if ok && ok2 && !out.has(key) {
				out = append(out, entry{key, v})
			}
		}
		return val{out}, true
	}}
}

func (g *generator) tuple(ts ...typ) typ {
	size := []string{"", "", ", 1", ", 1, 4"}[g.IntN(4)]
	return typ{"Tuple[" + ts[0].text + ", " + ts[1].text + size + "]", func(g *generator, d int) (val, bool) {
		var out list
		for _, t := range ts {
			v, ok := t.value(g, d)
			if !ok {
				return val{}, false
			}
			out = append(out, v)
		}
		return val{out}, true
	}}
}

func (g *generator) variant(ts ...typ) typ {
	return typ{"Variant[" + ts[0].text + ", " + ts[1].text + "]", func(g *generator, d int) (val, bool) {
		i := g.IntN(2)
		if v, ok := ts[i].value(g, d); ok {
			return v, true
		}
		return ts[1-i].value(g, d)
	}}
}

func (g *generator) structure(inner func() typ) typ {
	var members []string
	var names []string
	var ts []typ
	for i := range 1 + g.IntN(3) {
		name := string(rune('a' + i))
		t := inner()
		names, ts = append(names, name), append(ts, t)
		form := []string{"'%s' => ", "%s => ", "Optional[%s] => ", "NotUndef['%s'] => ",
			"Optional['%s'] => "}[g.IntN(5)]
		members = append(members, fmt.Sprintf(form, name)+t.text)
	}
	return typ{"Struct[{" + strings.Join(members, ", ") + "}]", func(g *generator, d int) (val, bool) {
		var out hash
		for i, t := range ts {
			if v, ok := t.value(g, d); ok {
				out = append(out, entry{val{names[i]}, v})
			}
		}
		return val{out}, true
	}}
}

// Values in data files and manifests. A val is nil or a bool, int, float64, string, list or hash.
type (
	val   struct{ v any } // nil, bool, int, float64, string, list or hash
	list  []val
	entry struct{ key, value val }
	hash  []entry
)

func (h hash) has(key val) bool {
	for _, e := range h {
		if e.key.yaml() == key.yaml() {
			return true
		}
	}
	return false
}

func (v val) yaml() string   { return v.text("~", ": ") }
func (v val) puppet() string { return v.text("undef", " => ") }

func (v val) text(undef, arrow string) string {
	switch x := v.v.(type) {
	case string:
		return "'" + strings.ReplaceAll(x, "'", "") + "'"
	case float64:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case list:
		var out []string
		for _, e := range x {
			out = append(out, e.text(undef, arrow))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case hash:
		var out []string
		for _, e := range x {
			out = append(out, e.key.text(undef, arrow)+arrow+e.value.text(undef, arrow))
		}
		return "{" + strings.Join(out, ", ") + "}"
	case nil:
		return undef
	}
	return fmt.Sprint(v.v)
}

func (g *generator) anything(depth int) val {
	scalars := []val{{1}, {0}, {-3}, {"x"}, {""}, {"a"}, {"abc"}, {"12"}, {true}, {false}, {1.5}, {nil}, {11}, {0.5},
		{"A"}, {"2020-01-01"}, {"1.2.3"}, {"http://x"}, {"default"},
		{"undef"}, {"Integer"}}
	switch n := g.IntN(4); {
	case depth == 0 || n < 2:
		return scalars[g.IntN(len(scalars))]
	case n == 2:
		var out list
		for range g.IntN(3) {
			out = append(out, g.anything(depth-1))
		}
		return val{out}
	}
	var out hash
	for _, k := range []string{"a", "b", "next"} {
		if g.often(40) {
			out = append(out, entry{val{k}, g.anything(depth - 1)})
		}
	}
	return val{out}
}

// mutated returns v with one element or entry changed, removed or added.
func (g *generator) mutated(v val) val {
	switch x := v.v.(type) {
	case list:
		if len(x) > 0 && g.often(70) {
			out := append(list{}, x...)
			out[g.IntN(len(x))] = g.mutated(out[g.IntN(len(x))])
			return val{out}
		}
		return val{append(append(list{}, x...), g.anything(1))}
	case hash:
		out := append(hash{}, x...)
		switch {
		case len(x) > 0 && g.often(60):
			i := g.IntN(len(x))
			out[i].value = g.mutated(out[i].value)
			return val{out}
		case len(x) > 0 && g.often(50):
			return val{out[1:]}
		case !out.has(val{"zz"}):
			return val{append(out, entry{val{"zz"}, g.anything(1)})}
		}
	}
	return g.anything(1)
}
