//go:build unix

package loader

import (
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/syntax"
	"bindc/loader/internal/site"
)

func TestConfigurations(t *testing.T) {
	const defaultCategories, defaultLayers = "node=$fqdn osfamily=$osfamily environment=$environment",
		"site: confdir-hiera:/? confdir:/default?; modules: module-hiera:/*? module:/*::default?"
	tests := []struct {
		name, text         string
		categories, layers string
		codes              string // of what is wrong
	}{
		{"nothing but the version", "version: 1", defaultCategories, defaultLayers, ""},
		{"what is always there", "{version: 1, categories: [[osfamily, '${osfamily}'], [common, 'true']]}",
			"node=$fqdn osfamily=$osfamily environment=$environment", defaultLayers, ""},
		{"no categories", "{version: 1, categories: []}", "node=$fqdn environment=$environment", defaultLayers, ""},
		{"their order", "{version: 1, categories: [[environment, '${environment}'], [node, '${fqdn}']]}",
			"environment=$environment node=$fqdn", defaultLayers, "category"},
		{"layers", "{version: 1, layers: [{name: a, include: 'confdir:/x', exclude: ['confdir:/y']}, {}]}",
			defaultCategories, "a: confdir:/x -confdir:/y; : ", ""},
		{"a node that is there", "{version: 1, categories: [[node, x], [a, b], [common, 'true']]}",
			"node=x a=b environment=$environment", defaultLayers, ""},
		{"common with another value", "{version: 1, categories: [[a, b], [common, 'no']]}",
			"node=$fqdn a=b environment=$environment", defaultLayers, "category"},
		{"common that is not the last", "{version: 1, categories: [[common, 'true'], [a, b]]}",
			"node=$fqdn a=b environment=$environment", defaultLayers, "category"},
		{"categories that are a hash", "{version: 1, categories: {a: b}}",
			"node=$fqdn environment=$environment", defaultLayers, "category"},
		{"categories that cannot be read", "{version: 1, categories: [[a, '${'], [x, '${nope(1)}'], [b, c]]}",
			"node=$fqdn b=c environment=$environment", defaultLayers, "interpolation interpolation"},
		{"an interpolation of Hiera", "{version: 1, categories: [[a, '%{x}']]}",
			"node=$fqdn a=%{x} environment=$environment", defaultLayers, "hiera_interpolation"},
		{"a category that is a hash", "{version: 1, categories: [{a: b}]}", "node=$fqdn environment=$environment",
			defaultLayers, "category"},
		{"a fact that is misspelt", "{version: 1, categories: [[a, '${osfamilly}']]}",
			"node=$fqdn a=$osfamilly environment=$environment", defaultLayers, "fact"},
		{"a variable with its dollar sign escaped", `{version: 1, categories: [[os, '\$osfamily']]}`,
			"node=$fqdn os=$osfamily environment=$environment", defaultLayers, "category"},
		{"a category that has its own name as value", "{version: 1, categories: [[osfamily, 'osfamily']]}",
			"node=$fqdn osfamily=osfamily environment=$environment", defaultLayers, "category"},
		{"a fixed value", "{version: 1, categories: [[company, acme]]}",
			"node=$fqdn company=acme environment=$environment", defaultLayers, ""},
		{"no layers", "{version: 1, layers: []}", defaultCategories, "", ""},
		{"two layers of one name", "{version: 1, layers: [{name: a}, {name: a}]}",
			defaultCategories, "a: ; a: ", "layer"},
		{"all that is wrong", "{version: 1, layer: [], categories: [[A, b], [a, b], [a, c], [common, 'no'], [x], 1]}",
			"node=$fqdn a=b environment=$environment", defaultLayers,
			"category category category category category config"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var diags diag.List
			dir := writeSite(t, map[string]string{"binder_config.yaml": test.text})
			in := site.NewInputs(site.Files{Diags: &diags}, dir, "", datafile.NewReader(nil, fsx.Disk{}))
			cfg, ok := readConfig(in, Options{})
			var codes []string
			for _, d := range diags.Sorted() {
				codes = append(codes, string(d.Code))
			}
			slices.Sort(codes)
			if !ok || strings.Join(codes, " ") != test.codes {
				t.Errorf("%v with %q, expected %q", ok, codes, test.codes)
			}
			if categories, layers := cfg.text(); categories != test.categories || layers != test.layers {
				t.Errorf("%q and %q, expected %q and %q", categories, layers, test.categories, test.layers)
			}
		})
	}
}

// text returns a configuration as the table has it.
func (c config) text() (categories, layers string) {
	var cs, ls []string
	for _, c := range c.categories {
		cs = append(cs, c.name+"="+trimQuotes(syntax.Print(c.expr)))
	}
	for _, layer := range c.layers {
		var uris []string
		for _, u := range layer.include {
			text := u.String()
			if u.optional {
				text += "?"
			}
			uris = append(uris, text)
		}
		for _, u := range layer.exclude {
			uris = append(uris, "-"+u.String())
		}
		ls = append(ls, layer.name+": "+strings.Join(uris, " "))
	}
	return strings.Join(cs, " "), strings.Join(ls, "; ")
}
