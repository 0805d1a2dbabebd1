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

func TestReadsCategoriesAndLayers(t *testing.T) {
	const defaultCategories, defaultLayers = "node=$fqdn osfamily=$osfamily environment=$environment",
		"site: confdir-hiera:/? confdir:/default?; modules: module-hiera:/*? module:/*::default?"
	tests := []struct {
		name, text         string
		categories, layers string
		codes              string // expected codes of the diagnostics, sorted
	}{
		{"a file with only a version has the default categories and layers",
			"version: 1", defaultCategories, defaultLayers, ""},
		{"missing categories are added", "{version: 1, categories: [[osfamily, '${osfamily}'], [common, 'true']]}",
			"node=$fqdn osfamily=$osfamily environment=$environment", defaultLayers, ""},
		{"an empty list leaves node and environment",
			"{version: 1, categories: []}", "node=$fqdn environment=$environment", defaultLayers, ""},
		{"categories in another order are an error",
			"{version: 1, categories: [[environment, '${environment}'], [node, '${fqdn}']]}",
			"environment=$environment node=$fqdn", defaultLayers, "category"},
		{"layers", "{version: 1, layers: [{name: a, include: 'confdir:/x', exclude: ['confdir:/y']}, {}]}",
			defaultCategories, "a: confdir:/x -confdir:/y; : ", ""},
		{"a given node category is kept", "{version: 1, categories: [[node, x], [a, b], [common, 'true']]}",
			"node=x a=b environment=$environment", defaultLayers, ""},
		{"common with a value other than true", "{version: 1, categories: [[a, b], [common, 'no']]}",
			"node=$fqdn a=b environment=$environment", defaultLayers, "category"},
		{"common before another category", "{version: 1, categories: [[common, 'true'], [a, b]]}",
			"node=$fqdn a=b environment=$environment", defaultLayers, "category"},
		{"categories as a hash", "{version: 1, categories: {a: b}}",
			"node=$fqdn environment=$environment", defaultLayers, "category"},
		{"values with syntax errors or unknown functions",
			"{version: 1, categories: [[a, '${'], [x, '${nope(1)}'], [b, c]]}",
			"node=$fqdn b=c environment=$environment", defaultLayers, "interpolation interpolation"},
		{"Hiera interpolation in a value", "{version: 1, categories: [[a, '%{x}']]}",
			"node=$fqdn a=%{x} environment=$environment", defaultLayers, "hiera_interpolation"},
		{"category as a hash", "{version: 1, categories: [{a: b}]}", "node=$fqdn environment=$environment",
			defaultLayers, "category"},
		{"misspelt fact", "{version: 1, categories: [[a, '${osfamilly}']]}",
			"node=$fqdn a=$osfamilly environment=$environment", defaultLayers, "fact"},
		{"escaped dollar sign before a variable", `{version: 1, categories: [[os, '\$osfamily']]}`,
			"node=$fqdn os=$osfamily environment=$environment", defaultLayers, "category"},
		{"category whose value is its own name", "{version: 1, categories: [[osfamily, 'osfamily']]}",
			"node=$fqdn osfamily=osfamily environment=$environment", defaultLayers, "category"},
		{"fixed value without a variable is accepted", "{version: 1, categories: [[company, acme]]}",
			"node=$fqdn company=acme environment=$environment", defaultLayers, ""},
		{"an empty list of layers", "{version: 1, layers: []}", defaultCategories, "", ""},
		{"two layers with the same name", "{version: 1, layers: [{name: a}, {name: a}]}",
			defaultCategories, "a: ; a: ", "layer"},
		{"several errors are all reported",
			"{version: 1, layer: [], categories: [[A, b], [a, b], [a, c], [common, 'no'], [x], 1]}",
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

// text formats the categories and layers of a configuration as the table does.
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
