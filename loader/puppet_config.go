package loader

import (
	"cmp"
	"slices"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/loader/internal/site"
)

// puppetConfig is the name of a configuration in Puppet syntax (language.md, section 14.1).
const puppetConfig = "binder_config.pp"

// readPuppetConfig reads a configuration in Puppet syntax. It returns false if the configuration cannot be used.
func readPuppetConfig(in *site.Inputs, path string, reg registry) (config, bool) {
	src, err := in.Disk.ReadFile(path)
	if err != nil {
		in.Failed(path, err)
		return config{}, false
	}
	f := &site.File{Path: path, Label: in.Label(path)}
	f.Identify(src)
	in.Found = append(in.Found, f)
	parsed, errs := syntax.ParseSite(string(src))
	c := puppetConfigReader{in.Diags, syntax.NewText(path, string(src))}
	c.Report(errs, in.Diags)
	if parsed == nil {
		return config{}, false
	}
	at := diag.Pos{File: path, Line: 1, Col: 1}
	cfg := defaultConfig(at, reg)
	cfg.source.Broken = len(errs) > 0
	if parsed.Off > 0 {
		cfg.source.At, cfg.source.Listed = c.Pos(parsed.Off), true
		var cs []category
		for _, a := range parsed.Categories {
			if cat, ok := c.category(a, cs); ok {
				cs = append(cs, cat)
			} else {
				cfg.source.Broken = true
			}
		}
		yaml := configReader{site.Document{Diags: in.Diags}, reg}
		cfg.categories = yaml.complete(cs, c.Pos(parsed.Off))
	}
	if parsed.HasLayers {
		cfg.layers, cfg.defaultLayers = c.layers(parsed.Layers, reg), false
	}
	return cfg, len(errs) == 0
}

type puppetConfigReader struct {
	diags *diag.List
	*syntax.Text
}

// category reads a category, whose value is an expression. before contains the previous categories.
func (c puppetConfigReader) category(a syntax.Attribute, before []category) (category, bool) {
	at := c.Pos(a.Off)
	switch i := slices.IndexFunc(before, func(b category) bool { return b.name == a.Name }); {
	case !categoryName().MatchString(a.Name):
		c.diags.Add(badCategoryName(at, a.Name))
		return category{}, false
	case i >= 0:
		c.diags.Add(diag.Diagnostic{Pos: at, Code: "category",
			Message: "the category '" + a.Name + "' is defined twice",
			Notes:   []diag.Note{{Pos: before[i].at, Message: "defined here first"}}})
		return category{}, false
	case a.Name == site.Common:
		c.diags.Errorf(at, "category",
			"'common' is always the last category and contains every node: do not list it here")
		return category{}, false
	case a.Name == "environment":
		if v, _ := a.Value.Constant(); !v.Bool() {
			c.diags.Errorf(c.Pos(a.Value.Off), "category",
				"expected 'environment => true': its value is always that of $environment")
		}
		return ofVariable(a.Name, "environment", at), true
	}
	errs := syntax.CheckWithoutLookup(a.Value, site.NoLookup)
	for i := range errs {
		errs[i].Code = cmp.Or(errs[i].Code, "expression")
	}
	c.Report(errs, c.diags)
	for _, e := range syntax.Misspelt(a.Value) {
		c.diags.Add(diag.Diagnostic{Pos: c.Pos(e.Off), Severity: diag.Warning, Code: "fact", Message: e.Message,
			Hint: e.Hint, Fix: e.Fix})
	}
	n := a.Value
	syntax.Unqualify(n)
	if n.Op != expr.Concat { // interpolate the value, to convert it to a string
		n = &expr.Node{Op: expr.Concat, Kids: []*expr.Node{n}}
	}
	return category{a.Name, at, c.Pos(a.Value.Off), n}, len(errs) == 0
}

func (c puppetConfigReader) layers(list []syntax.SiteLayer, reg registry) []layerConfig {
	r := uriReader{c.diags, reg}
	uris := func(words []syntax.Word) (out []uri) {
		for _, w := range words {
			if u, ok := r.parse(w.Text, c.Pos(w.Off)); ok {
				out = append(out, u)
			}
		}
		return out
	}
	var out []layerConfig
	named := map[string]diag.Pos{}
	for _, l := range list {
		at := c.Pos(l.Name.Off)
		if first, taken := named[l.Name.Text]; taken {
			c.diags.Add(diag.Diagnostic{Pos: at, Code: "layer", Message: "two layers are named '" + l.Name.Text + "'",
				Notes: []diag.Note{{Pos: first, Message: "the first"}}})
		}
		named[l.Name.Text] = at
		out = append(out, layerConfig{l.Name.Text, uris(l.Include), uris(l.Exclude)})
	}
	return out
}
