package hiera5

import (
	"fmt"
	"regexp"
	"strings"
)

// kind is the kind of a key's values. Most values of a key have the same kind, so that most merges
// are valid.
type kind int

const (
	texts kind = iota
	scalars
	arrays
	hashes
	moreArrays
	moreHashes
	anything
	kinds
)

func (g *generator) data(l *layer) Map {
	var out Map
	for range 2 + g.r.IntN(6) {
		key := pick(g, keys...)
		if l.module != "" && !g.one(12) {
			key = l.module + "::" + pick(g, "a", "b", "c")
		}
		out = out.with(key, g.value(key))
	}
	if g.one(3) {
		out = out.with("lookup_options", g.options(l.module))
	}
	return out
}

// value returns a random value for key. Strings in the value may look up other keys, see asks.
func (g *generator) value(key string) any {
	k := g.kinds[key]
	if g.one(8) {
		k = kind(g.r.IntN(int(kinds)))
	}
	switch k {
	case texts:
		return g.text(key)
	case scalars:
		return g.scalar()
	case arrays, moreArrays:
		return g.array(key, 2)
	case hashes, moreHashes:
		return g.hash(key, 2)
	}
	return pick(g, g.text(key), g.scalar(), any(g.array(key, 1)), any(g.hash(key, 1)))
}

// scalar returns a random scalar. Its only large integer is negative, because convert_to with Array
// would create a list with as many elements as a positive one says.
func (g *generator) scalar() any {
	return pick[any](g, 0, 1, 2, 10, -3, int64(-123456789012),
		1.0, 1.5, 1e20, 1e-05, 100000.0, true, false, nil, "1", "")
}

func (g *generator) array(key string, depth int) []any {
	element := func() any { return pick(g, "x", "y", "z", "x", "y", "--x", "--y", "--") }
	switch g.r.IntN(8) {
	case 0:
		element = g.scalar
	case 1:
		element = func() any { return pick(g, 3, 1, 2) }
	case 2:
		element = func() any { return g.hash(key, depth-1) }
	case 3, 4:
		element = func() any { return g.any(key, depth) }
	}
	out := []any{}
	for range g.r.IntN(5) {
		out = append(out, element())
	}
	return out
}

func (g *generator) hash(key string, depth int) Map {
	out := Map{}
	for range g.r.IntN(5) {
		switch name := pick(g, "p", "q", "r", "s.t", "u", "1", "--p", "%{role}"); name {
		case "p":
			out = out.with("p", g.text(key))
		case "q":
			out = out.with("q", g.array(key, depth-1))
		case "r":
			if depth > 0 {
				out = out.with("r", g.hash(key, depth-1))
			}
		case "1":
			out = out.with(pick[any](g, "v", "w", "2", "v", "w", g.integer), g.any(key, 0))
		default:
			out = out.with(name, g.any(key, depth))
		}
	}
	return out
}

// any returns a random value for a list or hash. Its lists and hashes are nested at most depth
// levels deep.
func (g *generator) any(key string, depth int) any {
	switch n := g.r.IntN(10); {
	case n == 0 && depth > 0:
		return g.array(key, depth-1)
	case n == 1 && depth > 0:
		return g.hash(key, depth-1)
	case n < 4:
		return g.scalar()
	}
	return g.text(key)
}

func (g *generator) text(key string) any {
	if g.one(g.interpolates) {
		text := g.interpolation(key)
		if g.one(3) && !strings.Contains(text, "alias") || g.one(12) {
			text = pick(g, "x ", "", "--", "%") + text + pick(g, "", " y", "%{role}")
		}
		return text
	}
	if g.one(2) {
		g.texts++
		return fmt.Sprint("v", g.texts)
	}
	return pick[any](g, "x", "y", "z", "--x", "--y", "--", "", "1", "Ä \"#{q}\"", "it's", "true", "x\ny")
}

func (g *generator) interpolation(key string) string {
	switch n := g.r.IntN(24); {
	case n < 9:
		return "%{" + pick(g, variables...).expr + "}"
	case n < 16:
		return g.asks(key)
	case n < 18:
		return fmt.Sprintf(pick(g, "%%{scope('%s')}", `%%{scope("%s")}`), pick(g, "role", "facts.os.family", "list.0",
			"nothing", "::site"))
	case n < 20:
		return "%{literal('" + pick(g, "%", "x", "%{role}", "::") + "')}" + pick(g, "{role}", "{lookup('d')}", "")
	case n < 22:
		return "%{" + pick(g, "facts.os", "facts.list", "facts.again", "facts.odd", "facts.hashes",
			"trusted.extensions",
			"facts.nest", "facts.again.x", "facts.list.-1", "facts.list. 0", "facts . num", "list.+0", "\nrole") + "}"
	}
	return pick(g, "%{unclosed", "%{}", "%{::}", "%{''}", `%{""}`, "%{ }", "%{role", "% {role}", "%%{role}",
		"%{%{role}}",
		"%{nope('a')}", "%{Lookup('a')}", "%{lookup(a)}", "%{lookup('a)}", "%{lookup( 'a' )}", "%{lookup('a', 'b')}",
		"%{facts.os.family.x}", "%{facts.num.x}", "%{facts.list.x}", "%{facts.asks}", "%{facts.}", "%{.role}", "%{'role}",
		"%{lookup('')}", "%{lookup('lookup_options')}", "%{scope('')}", "%{'a' 'b'}", "%{facts..os}",
		"%{ lookup('d') }",
		"%{lookup ('d')}", "\\%{role}", "%{alias('d')} ")
}

// asks returns an interpolation that looks up a key. The key usually follows the given key in keys,
// so that few lookups form a loop.
func (g *generator) asks(key string) string {
	from := 0
	for i, k := range keys {
		if k == key && !g.one(8) {
			from = min(i+1, len(keys)-2)
		}
	}
	next := pick(g, keys[from:]...)
	other := quoted(next)
	if g.one(3) {
		other = quoted(next) + segments(g, g.kinds[next])
	}
	if g.one(15) {
		other = pick(g, "zz", "m::zz", "zz.p", "a.")
	}
	method := pick(g, "lookup", "lookup", "lookup", "hiera", "alias", "alias")
	if strings.Contains(other, `"`) || g.one(2) && !strings.Contains(other, "'") {
		return "%{" + method + "('" + other + "')}"
	}
	return "%{" + method + `("` + other + `")}`
}

// quoted returns a key as a lookup must write it: in quotes if it contains a dot.
func quoted(key string) string {
	if strings.Contains(key, ".") {
		return `"` + key + `"`
	}
	return key
}

func (g *generator) options(module string) any {
	out := Map{}
	for range 1 + g.r.IntN(3) {
		key := pick(g, keys...)
		if module != "" {
			key = module + "::" + pick(g, "a", "b", "c")
		}
		o := Map{}
		if !g.one(12) {
			o = o.with("merge", g.strategy(g.kinds[key]))
		}
		if g.one(3) {
			key = g.pattern(key)
		}
		if g.one(10) {
			o = o.with("convert_to", g.conversion())
		}
		out = out.with(key, o)
	}
	if g.one(80) {
		out = out.with(pick(g, "^(", "zz", "^zz", "%{role}"), Map{{"merge", "first"}})
	}
	if g.one(150) {
		return pick[any](g, "deep", []any{"a"}, nil, Map{{"a", "deep"}})
	}
	return out
}

// pattern returns a pattern for lookup_options that usually matches key. For a module's key, it
// begins with the module's prefix.
func (g *generator) pattern(key string) string {
	module, name, ok := strings.Cut(key, "::")
	if !ok {
		return "^" + pick(g, regexp.QuoteMeta(key), "[a-d]$", "[[:alpha:]]$", ".*", "(?!b).$", "(a|b|c)$",
			"(?i)"+strings.ToUpper(key), key[:1]+`\w*`)
	}
	return "^" + module + "::" + pick(g, name, ".*", "[ab]$", `\w`, `(?:a|c)\z`, "", "[^b]")
}

// strategy returns a merge strategy that is usually valid for values of kind k.
func (g *generator) strategy(k kind) any {
	if g.one(10) {
		k = anything
	}
	switch k {
	case texts, scalars:
		return pick[any](g, "first", "unique", "unique", "deep", Map{{"strategy", "first"}}, Map{{"strategy", "unique"}})
	case arrays, moreArrays:
		return pick(g, "unique", "deep", "first", any(Map{{"strategy", "unique"}}), g.deep(), g.deep())
	case hashes, moreHashes:
		return pick(g, "hash", "deep", "first", any(Map{{"strategy", "hash"}}), g.deep(), g.deep())
	}
	return pick(g, "first", "unique", "hash", "deep", g.deep(), any("%{facts.strategy}"), any("reverse_deep"),
		any("nope"),
		any(nil), any(""), any(Map{{"knockout_prefix", "--"}}), any(Map{}), any([]any{"deep"}), any("default"),
		any(Map{{"strategy", pick(g, "hash", "first", "unique")}, {"knockout_prefix", "--"}}),
		any(Map{{"strategy", "%{facts.strategy}"}}), any(Map{{"strategy", "deep"}, {"unpack_arrays", ","}}),
		any("unconstrained_deep"), any(Map{{"strategy", "reverse_deep"}, {"unpack_arrays", ","}}))
}

// deep returns the options of a deep merge with random settings.
func (g *generator) deep() any {
	out := Map{{"strategy", "deep"}}
	if g.one(2) {
		out = out.with("knockout_prefix", pick(g, "--", "--", "--", "--", "-", "x", "", ".", "["))
	}
	if g.one(3) {
		out = out.with("sort_merged_arrays", !g.one(5))
	}
	if g.one(3) {
		out = out.with("merge_hash_arrays", !g.one(5))
	}
	return out
}

func (g *generator) conversion() any {
	return pick[any](g, "Sensitive", "Sensitive", "Sensitive", "Sensitive", "String", "Integer", "Float", "Boolean", "Array",
		"Hash", "Sensitive[String]", "Optional[Integer]", "Nope", "Integer[", "Numeric", []any{"Sensitive"}, nil)
}

func (g *generator) question() Question {
	key := pick(g, keys...)
	q := Question{Node: g.r.IntN(len(g.site.Nodes)), Key: quoted(key)}
	k := g.kinds[key]
	if g.one(3) {
		q.Merge = pick(g, "first", "unique", "hash", "deep")
	} else if g.one(3) {
		q.Merge = fits(k)
	}
	switch g.r.IntN(20) {
	case 0, 1, 2, 3, 4:
		q.Key += segments(g, k)
	case 5:
		q.Key = pick(g, "zz", "m::zz", "zz.p", "o::b", "e.f", "'e.f'", "m", "::a", "::m::a", "m::", "A",
			"lookup_options", "lookup_options.a", "'lookup_options'", "a.", ".a", "a..p", `"a`, "a'b", "a.'p", "a.-1",
			"a.+0", "a.:0", "a. 0", " a", "a ", "a.00", "'a'", `"m::a".p`, "m::a.'q'.0", "a b", "%{role}")
	}
	return q
}

// segments returns dotted subkeys, such as .p.0. They usually suit values of kind k, but may not
// exist.
func segments(g *generator, k kind) string {
	switch {
	case g.one(6):
		return pick(g, ".p", ".0", ".p.x", ".x", ".q.x")
	case k == arrays || k == moreArrays:
		return pick(g, ".0", ".1", ".0", ".7", ".0.p")
	case k == hashes || k == moreHashes:
		return pick(g, ".p", ".q", ".r", ".q.0", ".r.p", `."s.t"`, ".u", ".web", ".'--p'", ".1", ".2", ".'2'")
	}
	return ""
}

// fits returns a merge strategy that is valid for values of kind k.
func fits(k kind) string {
	switch k {
	case texts, scalars, arrays:
		return "unique"
	case hashes:
		return "hash"
	}
	return "deep"
}
