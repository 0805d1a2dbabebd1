package hiera5

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// questionsPerSite is small because Puppet takes about a millisecond per question.
const questionsPerSite = 24

// New returns a random site. Equal seeds give equal sites.
func New(seed uint64) *Site {
	g := &generator{r: rand.New(rand.NewPCG(seed, 13)), kinds: map[string]kind{}}
	g.site.Files = map[string]any{"site/environment.conf": "modulepath = modules\n"}
	for range 2 + g.r.IntN(2) {
		g.site.Nodes = append(g.site.Nodes, g.node())
	}
	for _, key := range keys {
		g.kinds[key] = kind(g.r.IntN(int(kinds)))
	}
	g.interpolates = pick(g, 2, 3, 8, 20)
	if g.one(3) {
		g.layer("global", "", 2)
	}
	if !g.one(20) {
		g.layer("site", "", 6)
	}
	for _, module := range []string{"m", "n"} {
		if g.one(3) {
			continue
		}
		g.layer("site/modules/"+module, module, 3)
	}
	for range questionsPerSite {
		g.site.Questions = append(g.site.Questions, g.question())
	}
	return &g.site
}

type generator struct {
	r            *rand.Rand
	site         Site
	kinds        map[string]kind // the kind of most values of a key
	interpolates int             // one in this many strings interpolates something
	texts        int             // number of unique strings so far
	integer      any             // hash key that looks like an index: in YAML an integer, otherwise a string
}

func (g *generator) one(n int) bool { return g.r.IntN(n) == 0 }

// pick returns a random argument. An argument that is given twice is twice as likely.
func pick[T any](g *generator, from ...T) T { return from[g.r.IntN(len(from))] }

// keys lists the keys in data. Most lookups in values are of later keys, so that few lookups form a
// loop.
var keys = []string{"a", "m::a", "b", "m::b", "n::a", "c", "e.f", "m::c", "d", "n::b", "o::a"}

func (g *generator) node() Node {
	role := pick[any](g, "web", "db", "web", "db", "missing", "", 7, nil)
	n := Node{Environment: pick(g, "production", "production", "dev"), Facts: Map{
		{"os", Map{{"name", "Debian"}, {"family", pick(g, "Debian", "RedHat")},
			{"release", Map{{"major", "12"}, {"full", "12.5"}}}}},
		{"num", pick(g, 5, 10)}, {"flt", pick(g, 1.5, 1e20, 2.0)}, {"flag", g.one(2)},
		{"mixed", pick(g, "Mixed", "mixed")},
		{"list", pick(g, []any{"x", "y"}, []any{"y"}, []any{}, []any{"y", "z", "x"})},
		{"hashes", []any{Map{{"k", "x"}}, Map{{"k", pick(g, "y", "z")}, {"l", 1}}}},
		{"again", "%{role}"}, {"asks", pick(g, "%{lookup('a')}", "%{lookup('d')}x", "%{alias('c')}")},
		{"quoted.key", "qk"}, {"nest", Map{{"p.q", "x"}, {"deep", []any{Map{{"k", "y"}}}}}},
		{"path", "p/q"}, {"empty", ""}, {"odd", pick(g, "say \"#{x}\"\té\\", "it's %%", "%{", "#$x#y\u00a0")},
		{"strategy", pick(g, "deep", "hash", "unique")},
	}}
	for range 2 {
		i := 1 + g.r.IntN(len(n.Facts)-1)
		n.Facts = slices.Delete(n.Facts, i, i+1)
	}
	if role != nil {
		n.Vars = n.Vars.with("role", role)
	}
	if !g.one(3) {
		n.Vars = n.Vars.with("site", pick(g, "x", "y", "osl"))
	}
	if !g.one(4) {
		n.Vars = n.Vars.with("services", pick[any](g, []any{"x", "web"}, "web", []any{"db", "x", "db"}, []any{}, "",
			[]any{"x", "7"}, []any{"x", "db"}, []any{"web"}, []any{"x", "db"}, []any{"x", 7}, Map{{"x", "y"}},
			[]any{Map{{"k", "x"}}, "y"}))
	}
	name := fmt.Sprintf("n%d.example.org", len(g.site.Nodes))
	n.Trusted = Map{{"authenticated", "remote"}, {"certname", name}, {"hostname", name[:2]}, {"domain", "example.org"},
		{"extensions", Map{{"pp_role", pick(g, "web", "db")}}}}
	if g.one(3) {
		n.Trusted = n.Trusted.with("extensions", Map{})
	}
	return n
}

// variable is a variable that strings and paths interpolate.
type variable struct {
	expr string
	path []any // path to its value in a node's facts and variables; nil if it is undefined
}

var variables = []variable{
	{"role", []any{"role"}}, {"role", []any{"role"}}, {"site", []any{"site"}}, {"::role", []any{"role"}},
	{"facts.os.family", []any{"facts", "os", "family"}}, {"os.family", []any{"os", "family"}},
	{"::facts.os.family", []any{"facts", "os", "family"}}, {"facts.os.release.major",
		[]any{"facts", "os", "release", "major"}},
	{"trusted.certname", []any{"trusted", "certname"}}, {"trusted.extensions.pp_role",
		[]any{"trusted", "extensions", "pp_role"}},
	{"environment", []any{"environment"}}, {"::environment", []any{"environment"}},
	{"facts.list.0", []any{"facts", "list", 0}}, {"list.1", []any{"list", 1}}, {"facts.num", []any{"facts", "num"}},
	{"facts.flt", []any{"facts", "flt"}}, {"facts.flag", []any{"facts", "flag"}}, {"facts.mixed",
		[]any{"facts", "mixed"}},
	{"facts.again", []any{"role"}}, {"facts.path", []any{"facts", "path"}}, {"facts.empty", nil}, {" site ",
		[]any{"site"}},
	{"facts.'quoted.key'", []any{"facts", "quoted.key"}}, {"'quoted.key'", []any{"quoted.key"}},
	{`"quoted.key"`, []any{"quoted.key"}}, {`facts.nest."p.q"`, []any{"facts", "nest", "p.q"}},
	{"facts.nest.deep.0.k", []any{"facts", "nest", "deep", 0, "k"}}, {"nothing", nil}, {"nothing.at", nil},
	{"no::where", nil}, {"facts.os.nothing", nil}, {"facts.list.9", nil}, {"", nil}, {"::", nil}, {"''", nil},
}

// known returns the value of a variable for a node, or "" if it is undefined. The generator only
// uses it to choose which files to write.
func (n *Node) known(v variable) string {
	scope := slices.Concat(n.Facts, n.Vars,
		Map{{"facts", n.Facts}, {"trusted", n.Trusted}, {"environment", n.Environment}})
	var at any = scope
	for _, segment := range v.path {
		switch in := at.(type) {
		case Map:
			at = in.Get(segment)
		case []any:
			i, ok := segment.(int)
			if at = nil; ok && i < len(in) {
				at = in[i]
			}
		default:
			at = nil
		}
	}
	if at == nil || len(v.path) == 0 {
		return ""
	}
	return fmt.Sprint(at)
}

// template is a path with variables. It alternates texts and variables, beginning and ending with a
// text.
type template struct {
	texts     []string // has one element more than variables
	variables []variable
}

func (t template) String() string {
	out := t.texts[0]
	for i, v := range t.variables {
		out += "%{" + v.expr + "}" + t.texts[i+1]
	}
	return out
}

func (t template) of(value func(variable) string) string {
	out := t.texts[0]
	for i, v := range t.variables {
		out += value(v) + t.texts[i+1]
	}
	return out
}

// template returns a template for form. Each * in form becomes a random variable.
func (g *generator) template(form string) template {
	t := template{texts: strings.Split(form, "*")}
	for range len(t.texts) - 1 {
		t.variables = append(t.variables, pick(g, variables...))
	}
	return t
}

type layer struct {
	root, module string
	ext          string // extension of data files, from defaults; "" if each entry has its own
	datadir      template
	files        map[string]bool // paths of data files, relative to root
}

func (g *generator) layer(root, module string, entries int) {
	l := &layer{root: root, module: module, ext: "yaml", datadir: g.template("data"), files: map[string]bool{}}
	config := Map{{"version", 5}}
	if g.one(2) {
		var defaults Map
		defaults, l.ext = g.defaults(l)
		config = config.with("defaults", defaults)
	}
	if g.one(25) && l.ext == "yaml" {
		l.add("data/common.yaml") // not in the hierarchy
	} else {
		config = config.with("hierarchy", g.entries(l, 1+g.r.IntN(entries)))
	}
	if module != "" && g.one(3) {
		config = config.with("default_hierarchy", g.entries(l, 1+g.r.IntN(2)))
	}
	g.site.Files[root+"/hiera.yaml"] = config
	names := slices.Sorted(maps.Keys(l.files))
	for _, name := range names {
		if slices.ContainsFunc(names, func(below string) bool { return strings.HasPrefix(below, name+"/") }) {
			continue // the path is a directory
		}
		g.integer = any("2")
		if strings.HasSuffix(name, ".yaml") {
			g.integer = 1
		}
		g.site.Files[root+"/"+name] = g.data(l)
		if g.one(60) && strings.HasSuffix(name, ".yaml") {
			g.site.Files[root+"/"+name] = pick(g, "", "---\n", "# later\n", "--- []\n")
		}
	}
}

// add adds a data file to the layer, unless the path is invalid or outside the layer.
func (l *layer) add(path string) {
	if !strings.Contains(path, "//") && !strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") {
		l.files[path] = true
	}
}

func (g *generator) defaults(l *layer) (defaults Map, ext string) {
	if !g.one(3) {
		l.datadir = g.template(pick(g, "data", "hieradata", "d/*"))
		defaults = defaults.with("datadir", l.datadir.String())
	}
	if !g.one(4) {
		ext = pick(g, "yaml", "yaml", "json")
		defaults = defaults.with("data_hash", ext+"_data")
	}
	return defaults, ext
}

func (g *generator) entries(l *layer, n int) (out []any) {
	for i := range n {
		e := Map{{"name", fmt.Sprint("level ", i)}}
		ext := l.ext
		if ext == "" || g.one(4) {
			ext = pick(g, "yaml", "yaml", "json")
			e = e.with("data_hash", ext+"_data")
		}
		datadir := l.datadir
		if g.one(8) {
			datadir = g.template(pick(g, "other", "d/*"))
			e = e.with("datadir", datadir.String())
		}
		e = g.locations(l, e, datadir, ext)
		if g.one(250) {
			e = e.with("options", Map{{"indent", 1}}) // yaml_data rejects options
		}
		out = append(out, e)
	}
	return out
}

// forms lists the forms of paths in the hierarchy. Each * becomes a variable.
var forms = []string{"common", "common", "*", "*", "nodes/*", "x/*", "*/*", "*-*", "*/x", "x*", "*.d/*", "common*",
	"sub/common"}

func (g *generator) locations(l *layer, e Map, datadir template, ext string) Map {
	path := func() any {
		form := pick(g, forms...)
		if !g.one(120) {
			form += "." + ext
		}
		t := g.template(form)
		g.instantiate(l, datadir, t)
		return t.String()
	}
	glob := func() any {
		t := g.template(pick(g, globs...) + "." + ext)
		for range 1 + g.r.IntN(4) {
			g.instantiate(l, datadir, g.template(pick(g, "glob/a", "glob/b", "glob/ab", "glob/*", "glob/s/a", "glob/.h",
				"glob/s/t/b", "glob/B")+"."+ext))
		}
		return strings.ReplaceAll(t.String(), "+", "*")
	}
	list := func(one func() any) (out []any) {
		for range 1 + g.r.IntN(3) {
			out = append(out, one())
		}
		return out
	}
	switch g.r.IntN(12) {
	case 0:
		return e.with("glob", glob())
	case 1:
		return e.with("globs", list(glob))
	case 2, 3:
		return e.with("mapped_paths", g.mapped(l, datadir, ext))
	case 4, 5, 6, 7:
		return e.with("paths", list(path))
	}
	return e.with("path", path())
}

// globs lists the forms of globs in the hierarchy. Each * becomes a variable, and each + an
// asterisk.
var globs = []string{"glob/+", "glob/+", "glob/*+", "glob/{b,a}", "glob/{ab,*}", "glob/[ab]", "glob/?", "glob/+/+",
	"glob/++/+", "glob/+b", "glob/a", "glob/none+", "glob/{s/,}a"}

// instantiate adds files that match a template: for some of the nodes, and sometimes one for none
// of them.
func (g *generator) instantiate(l *layer, datadir, t template) {
	for i := range g.site.Nodes {
		if !g.one(3) {
			l.add(datadir.of(g.site.Nodes[i].known) + "/" + t.of(g.site.Nodes[i].known))
		}
	}
	if g.one(3) {
		other := func(variable) string { return pick(g, "x", "web", "", "Debian") }
		l.add(datadir.of(g.site.Nodes[0].known) + "/" + t.of(other))
	}
}

func (g *generator) mapped(l *layer, datadir template, ext string) []any {
	over := pick(g, "services", "services", "facts.list", "facts.list", "list", "facts.os.family", "role", "nothing",
		"facts.hashes", "facts.os", "facts.num", "facts.nothing.x", "::services")
	if !g.one(5) {
		over = pick(g, "services", "facts.list")
	}
	name := pick(g, "item", "item", "item", "item", "role", "role", "item", "item", "item", "item", "item", "facts")
	item := pick(g, name, name, name, name, "::"+name)
	if over == "facts.hashes" || g.one(20) {
		item += ".k"
	}
	form := pick(g, "mapped/*", "*", "*/x", "mapped/*-%{role}", "mapped/x") + "." + ext
	for range 2 + g.r.IntN(3) {
		value := pick(g, "x", "y", "z", "web", "db", "Debian", "7", "")
		path := strings.NewReplacer("*", value, "%{role}", pick(g, "web", "db", "")).Replace(form)
		for i := range g.site.Nodes {
			l.add(datadir.of(g.site.Nodes[i].known) + "/" + path)
		}
	}
	return []any{over, name, strings.ReplaceAll(form, "*", "%{"+item+"}")}
}
