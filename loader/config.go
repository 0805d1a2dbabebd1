package loader

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// config is binder_config.yaml, with its defaults filled in (language.md, section 2).
type config struct {
	layers []layerConfig
}

type layerConfig struct {
	name             string
	include, exclude []uri
}

type category struct {
	name string
	at   diag.Pos
	expr *expr.Node
}

const common = "common"

// config reads the configuration and fills the dimensions of the site. It returns nil where nothing can be made of it.
func (l *load) config() *config {
	path, ok := l.configFile()
	if !ok {
		return nil
	}
	cfg := &config{}
	if path == "" {
		l.ext = l.readExtensions(nil)
		l.setCategories(nil, diag.Pos{File: l.dir})
		cfg.layers = l.defaultLayers()
		return cfg
	}
	doc := l.readNow(path)
	if doc == nil {
		return nil
	}
	if doc.Root == nil || doc.Root.Kind != yaml.Mapping {
		l.diags.Errorf(diag.Pos{File: path}, "config", "expected a hash with at least 'version: 1'")
		return nil
	}
	return l.readConfig(cfg, doc)
}

// configFile is the configuration to read, "" for the built-in default.
func (l *load) configFile() (string, bool) {
	if l.opts.BinderConfig != "" {
		return l.opts.BinderConfig, true
	}
	switch there, err := l.disk.IsDir(l.dir); {
	case err != nil:
		l.cannotRead(l.dir, err)
		return "", false
	case !there:
		l.diags.Errorf(diag.Pos{File: l.dir}, "read", "cannot read the site: there is no such directory")
		return "", false
	}
	var found []string
	for _, name := range []string{"binder_config.yaml", "bindings_config.yaml"} {
		path := filepath.Join(l.dir, name)
		there, ok := l.isFile(path)
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
	l.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: found[0]}, Code: "config",
		Message: "the site has binder_config.yaml and bindings_config.yaml, two names of the same file",
		Notes:   []diag.Note{{Pos: diag.Pos{File: found[1]}, Message: "the other one"}}, Hint: "remove one of them"})
	return "", false
}

var configKeys = []string{"version", "layers", "categories", "extensions"}

func (l *load) readConfig(cfg *config, doc *yaml.Document) *config {
	l.onlyKeys(doc, doc.Root, "config", "top-level key", configKeys)
	if !l.isVersion(doc, doc.Root, "version", 1) {
		return nil
	}
	l.ext = l.readExtensions(doc)
	if _, n, ok := doc.Root.Lookup("categories"); ok {
		l.setCategories(l.readCategories(doc, n), doc.Pos(n))
	} else {
		l.setCategories(nil, doc.Pos(doc.Root))
	}
	if _, n, ok := doc.Root.Lookup("layers"); ok {
		cfg.layers = l.readLayers(doc, n)
	} else {
		cfg.layers = l.defaultLayers()
	}
	return cfg
}

// onlyKeys reports the keys of a hash that are none of allowed.
func (l *load) onlyKeys(doc *yaml.Document, n *yaml.Node, code, what string, allowed []string) {
	for _, d := range doc.UnknownKeys(n, code, what, allowed) {
		l.diags.Add(d)
	}
}

// isVersion checks that the integer at key is want.
func (l *load) isVersion(doc *yaml.Document, n *yaml.Node, key string, want int64) bool {
	_, v, ok := n.Lookup(key)
	if !ok {
		l.diags.Errorf(doc.Pos(n), "version", "expected '%s: %d', which says how to read this file", key, want)
		return false
	}
	if v.Value.Kind() != value.Int || v.Value.Int() != want {
		l.diags.Errorf(doc.Pos(v), "version", "expected the integer %d as '%s', found %s", want, key, v.Describe())
		return false
	}
	return true
}

var categoryName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

func (l *load) readCategories(doc *yaml.Document, n *yaml.Node) []category {
	out := []category{}
	if n.Kind != yaml.Sequence {
		l.diags.Errorf(doc.Pos(n), "category", "expected a list of [name, expression] as 'categories', found %s", n.Describe())
		return out
	}
	for i := range n.Kids {
		if c, ok := l.readCategory(doc, &n.Kids[i], i == len(n.Kids)-1, out); ok {
			out = append(out, c)
		}
	}
	return out
}

func (l *load) readCategory(doc *yaml.Document, n *yaml.Node, last bool, before []category) (category, bool) {
	texts, ok := threeTexts(n, 2)
	if !ok {
		l.diags.Errorf(doc.Pos(n), "category", "expected a category as [name, expression], two strings, found %s", n.Describe())
		return category{}, false
	}
	name, text := texts[0], texts[1]
	at := doc.Pos(&n.Kids[0])
	switch i := slices.IndexFunc(before, func(c category) bool { return c.name == name }); {
	case !categoryName.MatchString(name):
		l.diags.Errorf(at, "category", "expected a name of lower-case letters, digits, '_' and '-' that begins with a letter, found '%s'", name)
		return category{}, false
	case i >= 0:
		l.diags.Add(diag.Diagnostic{Pos: at, Code: "category", Message: "the category '" + name + "' is defined twice",
			Notes: []diag.Note{{Pos: before[i].at, Message: "defined here first"}}})
		return category{}, false
	case name == common && (!last || text != "true"):
		l.diags.Errorf(at, "category", "expected 'common' as the last category, with the value 'true': everything is in it")
		return category{}, false
	}
	node := l.interpolated(doc, &n.Kids[1], text)
	return category{name, at, node}, node != nil
}

// threeTexts is the texts of a list of exactly count strings.
func threeTexts(n *yaml.Node, count int) ([]string, bool) {
	if n.Kind != yaml.Sequence || len(n.Kids) != count {
		return nil, false
	}
	out := make([]string, count)
	for i := range n.Kids {
		text, ok := n.Kids[i].Text()
		if !ok {
			return nil, false
		}
		out[i] = text
	}
	return out, true
}

// interpolated parses the text of n as a string with interpolations; nil after an error.
func (l *load) interpolated(doc *yaml.Document, n *yaml.Node, text string) *expr.Node {
	node, errs := syntax.ParseString(text)
	if len(errs) == 0 {
		errs = append(syntax.Check(node), withoutLookup(node)...)
	}
	for _, e := range errs {
		l.diags.Add(diag.Diagnostic{Pos: doc.PosIn(n, e.Off), Code: "interpolation", Message: e.Message, Hint: e.Hint})
	}
	if len(errs) > 0 {
		return nil
	}
	l.warnOfMissingBraces(doc, n, text)
	return node
}

// withoutBraces is a variable and keys of it without braces. The dollar sign is none that stands for itself.
var withoutBraces = regexp.MustCompile(`(?:^|[^\\])\$((?:::)?[a-z_]\w*)((?:\[['"]?\w+['"]?\])+)`)

// warnOfMissingBraces tells of '$facts[os][family]', which is all facts as text, and '[os][family]' behind them.
func (l *load) warnOfMissingBraces(doc *yaml.Document, n *yaml.Node, text string) {
	for _, m := range withoutBraces.FindAllStringSubmatchIndex(text, -1) {
		name, keys := text[m[2]:m[3]], text[m[4]:m[5]]
		quoted := strings.NewReplacer("'", "", `"`, "", "[", "['", "]", "']").Replace(keys)
		l.diags.Add(diag.Diagnostic{Pos: doc.PosIn(n, m[2]-1), Severity: diag.Warning, Code: "braces",
			Message: "without braces '$" + name + "' is interpolated as a whole, and '" + keys + "' is text behind it",
			Hint:    "write ${" + name + quoted + "}"})
	}
}

// withoutLookup refuses lookups where the categories, which decide what a lookup finds, are only being determined.
func withoutLookup(n *expr.Node) []syntax.Error {
	var out []syntax.Error
	for call := range syntax.Calls(n) {
		if call.Name == "lookup" {
			out = append(out, syntax.Error{Off: call.Off, Message: "lookup() cannot be called here: categories and paths decide what a lookup finds"})
		}
	}
	return out
}

// setCategories adds the categories that are always there and makes dimensions of all but common. nil means the default.
func (l *load) setCategories(cs []category, at diag.Pos) {
	variable := func(name, fact string) category {
		return category{name, at, &expr.Node{Op: expr.Concat, Kids: []*expr.Node{{Op: expr.Var, Name: fact}}}}
	}
	node, environment := variable("node", "fqdn"), variable("environment", "environment")
	if cs == nil {
		cs = []category{node, variable("osfamily", "osfamily"), environment}
	}
	cs = slices.DeleteFunc(cs, func(c category) bool { return c.name == common })
	index := func(name string) int { return slices.IndexFunc(cs, func(c category) bool { return c.name == name }) }
	if index("node") < 0 {
		cs = slices.Insert(cs, 0, node)
	}
	if index("environment") < 0 {
		cs = append(cs, environment)
	}
	if e := index("environment"); e < index("node") {
		l.diags.Errorf(cs[e].at, "category", "expected 'environment' below 'node', found it above")
	}
	for i, c := range cs {
		l.all = append(l.all, Dimension{Name: c.name, Category: i, Value: c.expr, Pos: c.at})
	}
}
