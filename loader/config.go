package loader

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/pattern"
	"bindc/internal/relation"
	"bindc/internal/yaml"
	"bindc/loader/internal/site"
)

// config is the configuration of a site, with defaults filled in (language.md, section 2).
type config struct {
	categories    []category // all except common, highest first
	layers        []layerConfig
	defaultLayers bool // whether the default layers apply because the configuration defines none
	extensions    registry
	source        site.Categories
}

type layerConfig struct {
	name             string
	include, exclude []uri
}

type category struct {
	name   string
	at     diag.Pos
	exprAt diag.Pos
	expr   *expr.Node
}

func categoryDimensions(categories []category) []Dimension {
	out := make([]Dimension, len(categories))
	for i, c := range categories {
		out[i] = Dimension{Name: c.name, Value: c.expr, Pos: c.at, ValuePos: c.exprAt}
	}
	return out
}

// readConfig reads the configuration of a site. It returns false if the configuration cannot be used.
func readConfig(in *site.Inputs, opts Options) (config, bool) {
	path, ok := configFile(in, opts.BinderConfig)
	if !ok {
		return config{}, false
	}
	reg := registered(in.Dir, opts)
	if path == "" {
		at := diag.Pos{File: in.Dir}
		return defaultConfig(at, reg), true
	}
	if strings.HasSuffix(path, ".pp") {
		return readPuppetConfig(in, path, reg)
	}
	doc, ok := in.ReadNow(path)
	if !ok {
		return config{}, false
	}
	if !doc.IsHash() {
		in.Diags.Errorf(diag.Pos{File: path}, "config", "expected a hash with at least 'version: 1'")
		return config{}, false
	}
	c := configReader{doc, reg}
	return c.read()
}

// configFile returns the name of the configuration file, or "" if the defaults apply. It returns false after an error.
func configFile(in *site.Inputs, given string) (string, bool) {
	if given != "" {
		there, ok := in.IsFile(given)
		if ok && !there {
			in.Failed(given, fs.ErrNotExist)
		}
		return given, there
	}
	if there, ok := in.IsDir(in.Dir); !ok {
		return "", false
	} else if !there {
		in.Diags.Errorf(diag.Pos{File: in.Dir}, "read", "cannot read the site: there is no such directory")
		return "", false
	}
	var found []string
	for _, name := range []string{"binder_config.yaml", "bindings_config.yaml", puppetConfig} {
		path := filepath.Join(in.Dir, name)
		there, ok := in.IsFile(path)
		if !ok {
			return "", false
		}
		if there {
			found = append(found, path)
		}
	}
	switch len(found) {
	case 0:
		return "", true
	case 1:
		return found[0], true
	}
	if last := found[len(found)-1]; filepath.Base(last) == puppetConfig {
		in.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: found[0]}, Code: "twice",
			Message: "the configuration of the site exists twice, in YAML and in Puppet syntax",
			Notes:   []diag.Note{{Pos: diag.Pos{File: last}, Message: "in Puppet syntax"}},
			Hint:    "remove one of the two"})
		return "", false
	}
	in.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: found[0]}, Code: "config",
		Message: "the site has binder_config.yaml and bindings_config.yaml, two names of the same file",
		Notes:   []diag.Note{{Pos: diag.Pos{File: found[1]}, Message: "the other one"}}, Hint: "remove one of them"})
	return "", false
}

type configReader struct {
	site.Document
	extensions registry
}

var configKeys = []string{"version", "layers", "categories", "extensions"}

// defaultConfig is used if a site has no configuration file.
func defaultConfig(at diag.Pos, reg registry) config {
	return config{categories: defaultCategories(at), layers: defaultLayers(at), defaultLayers: true, extensions: reg,
		source: site.Categories{At: at}}
}

func (c *configReader) read() (config, bool) {
	c.OnlyKeys(c.Root, "config", "top-level key", configKeys)
	misspelt := c.Diags.Failed()
	if !c.IsVersion("version", 1) {
		return config{}, false
	}
	c.extensions.read(c.Document)
	cfg := defaultConfig(c.Pos(c.Root), c.extensions)
	cfg.source.Broken = misspelt
	if key, n, ok := c.Root.Lookup("categories"); ok {
		list, ok := c.categories(n)
		cfg.categories = c.complete(list, c.Pos(n))
		cfg.source = site.Categories{At: c.Pos(key), Listed: true, Broken: !ok}
	}
	if _, n, ok := c.Root.Lookup("layers"); ok {
		cfg.layers, cfg.defaultLayers = c.layers(n), false
	}
	return cfg, true
}

var categoryName = pattern.Lazy(`^[a-z][a-z0-9_-]*$`)

// categories reads the list of categories. It returns false after an error.
func (c *configReader) categories(n *yaml.Node) ([]category, bool) {
	if n.Kind != yaml.Sequence {
		c.Diags.Add(diag.Diagnostic{Pos: c.Pos(n), Code: "category", Hint: "write - [role, '${role}']",
			Message: "expected a list of [name, expression] for 'categories', found " + n.Describe()})
		return nil, false
	}
	var out []category
	all, onlyNames := true, false
	before := map[string]diag.Pos{}
	for i := range n.Kids {
		kid := &n.Kids[i]
		if kid.Kind == yaml.Scalar && onlyNames {
			continue // report only the first category that is a plain string
		}
		if cat, ok := c.category(kid, i == len(n.Kids)-1, before); ok {
			before[cat.name] = cat.at
			out = append(out, cat)
			continue
		}
		all, onlyNames = false, onlyNames || kid.Kind == yaml.Scalar
	}
	return out, all
}

// category reads one category. before maps the names of the previous categories to their positions.
func (c *configReader) category(n *yaml.Node, last bool, before map[string]diag.Pos) (category, bool) {
	texts := site.StringsOf(n)
	if len(texts) != 2 {
		c.Diags.Add(diag.Diagnostic{Pos: c.Pos(n), Code: "category", Hint: cmp.Or(site.QuoteHint(n), categoryHint(n)),
			Message: "expected a category as [name, expression], two strings, found " + n.Describe()})
		return category{}, false
	}
	name, text, at := texts[0], texts[1], &n.Kids[0]
	switch first, again := before[name]; {
	case !categoryName().MatchString(name):
		c.Diags.Add(badCategoryName(c.Pos(at), name))
		return category{}, false
	case again:
		c.Diags.Add(diag.Diagnostic{Pos: c.Pos(at), Code: "category",
			Message: "the category '" + name + "' is defined twice",
			Notes:   []diag.Note{{Pos: first, Message: "defined here first"}}})
		return category{}, false
	case name == site.Common && (!last || text != "true"):
		c.Errorf(at, "category", "expected 'common' as the last category, with the value 'true': it contains every node")
		return category{}, false
	}
	node := c.Interpolated(&n.Kids[1], text)
	cat := category{name, c.Pos(at), c.Pos(&n.Kids[1]), node}
	fixed := ofVariable(name, "environment", cat.at)
	if node != nil && name == "environment" && !relation.Same(node, fixed.expr) {
		c.Errorf(&n.Kids[1], "category", "expected '${environment}': the value of this category cannot be changed; "+
			"for another value, define a category with another name")
	}
	return cat, node != nil
}

func categoryHint(n *yaml.Node) string {
	name, isText := n.Text()
	if _, named, ok := n.Lookup("name"); ok {
		name, isText = named.Text()
	}
	if !isText || !categoryName().MatchString(name) {
		return ""
	}
	return "write [" + name + ", '${" + name + "}']"
}

func badCategoryName(at diag.Pos, name string) diag.Diagnostic {
	d := diag.Diagnostic{Pos: at, Code: "category", Message: "expected a name of lower-case letters, digits, '_' and " +
		"'-' that begins with a letter, found '" + name + "'"}
	if lower := strings.ToLower(name); categoryName().MatchString(lower) {
		d.Hint = "write '" + lower + "'"
	}
	return d
}

func ofVariable(name, variable string, at diag.Pos) category {
	return category{name, at, at, &expr.Node{Op: expr.Concat, Kids: []*expr.Node{{Op: expr.Var, Name: variable}}}}
}

func defaultCategories(at diag.Pos) []category {
	return []category{ofVariable("node", "fqdn", at), ofVariable("osfamily", "osfamily", at),
		ofVariable("environment", "environment", at)}
}

// complete adds the categories node and environment if they are missing, and removes common.
func (c *configReader) complete(cs []category, at diag.Pos) []category {
	cs = slices.DeleteFunc(cs, func(c category) bool { return c.name == site.Common })
	for _, cat := range cs {
		c.warnOfFixedValue(cat)
	}
	index := func(name string) int { return slices.IndexFunc(cs, func(c category) bool { return c.name == name }) }
	if index("node") < 0 {
		cs = slices.Insert(cs, 0, ofVariable("node", "fqdn", at))
	}
	if index("environment") < 0 {
		cs = append(cs, ofVariable("environment", "environment", at))
	}
	if e := index("environment"); e < index("node") {
		c.Diags.Errorf(cs[e].at, "category", "expected 'environment' below 'node', found it above")
	}
	return cs
}

func defaultLayers(at diag.Pos) []layerConfig {
	optional := func(scheme, path string) uri { return uri{scheme: scheme, path: path, optional: true, at: at} }
	return []layerConfig{
		{name: "site", include: []uri{optional("confdir-hiera", ""), optional("confdir", "default")}},
		{name: "modules", include: []uri{optional("module-hiera", "*"), optional("module", "*::default")}},
	}
}

var layerKeys = []string{"name", "include", "exclude"}

func (c *configReader) layers(n *yaml.Node) []layerConfig {
	if n.Kind != yaml.Sequence {
		c.Diags.Add(diag.Diagnostic{Pos: c.Pos(n), Code: "layer", Hint: "write - {name: site, include: [URI, …]}",
			Message: "expected a list of layers for 'layers', found " + n.Describe()})
		return nil
	}
	var out []layerConfig
	named := map[string]diag.Pos{}
	for i := range n.Kids {
		kid := &n.Kids[i]
		if kid.Kind != yaml.Mapping {
			c.Errorf(kid, "layer", "expected a layer as a hash with 'name', 'include' and 'exclude', found %s",
				kid.Describe())
			continue
		}
		c.OnlyKeys(kid, "layer", "attribute of a layer", layerKeys)
		layer := layerConfig{include: c.uris(kid, "include"), exclude: c.uris(kid, "exclude")}
		if _, v, ok := kid.Lookup("name"); ok {
			layer.name = c.layerName(v, named)
		}
		out = append(out, layer)
	}
	return out
}

func (c *configReader) layerName(n *yaml.Node, named map[string]diag.Pos) string {
	name, ok := n.Text()
	if !ok {
		c.Errorf(n, "layer", "expected a string as the name of a layer, found %s", n.Describe())
		return ""
	}
	if first, taken := named[name]; taken {
		c.Diags.Add(diag.Diagnostic{Pos: c.Pos(n), Code: "layer", Message: "two layers are named '" + name + "'",
			Notes: []diag.Note{{Pos: first, Message: "the first"}}})
	}
	named[name] = c.Pos(n)
	return name
}

// uris reads an attribute of a layer that is a URI or a list of URIs.
func (c *configReader) uris(layer *yaml.Node, key string) []uri {
	_, n, ok := layer.Lookup(key)
	if !ok {
		return nil
	}
	nodes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		nodes = n.Kids
	}
	r := uriReader{c.Diags, c.extensions}
	var out []uri
	for i := range nodes {
		text, ok := nodes[i].Text()
		if !ok {
			c.Errorf(&nodes[i], "uri", "expected a URI or a list of URIs for '%s', found %s", key, nodes[i].Describe())
			continue
		}
		if u, ok := r.parse(text, c.Pos(&nodes[i])); ok {
			out = append(out, u)
		}
	}
	return out
}
