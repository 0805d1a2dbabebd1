//go:build unix

package loader

import (
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/loader/internal/site"
)

// Contents of binder_config.pp (language.md, section 14.1) with the resulting categories and layers, and the
// diagnostics with line and column.
func TestReadsConfigurationInPuppetSyntax(t *testing.T) {
	const defaultCategories, defaultLayers = "node=$fqdn osfamily=$osfamily environment=$environment",
		"site: confdir-hiera:/? confdir:/default?; modules: module-hiera:/*? module:/*::default?"
	const none = "node=$fqdn environment=$environment" // the categories that every site has
	tests := []struct {
		name, text         string
		categories, layers string
		reported           string
	}{
		{"empty site uses defaults", "site { }", defaultCategories, defaultLayers, ""},
		{"an empty hash leaves node and environment", "site { categories { } }", none, defaultLayers, ""},
		{"categories", "site { categories { node => $::fqdn, environment => true, role => $::role } }",
			"node=$fqdn environment=$environment role=$role", defaultLayers, ""},
		{"missing categories are added", "site { categories { role => $role } }",
			"node=$fqdn role=$role environment=$environment", defaultLayers, ""},
		{"values may be any expression", "site { categories { size => 1, big => $n > 7, both => \"${a}-${b}\" } }",
			"node=$fqdn size=$(1) big=$n > 7 both=${a}-${b} environment=$environment", defaultLayers, ""},
		{"node may have another value", "site { categories { node => $trusted['certname'] } }",
			"node=$trusted['certname'] environment=$environment", defaultLayers, ""},
		{"names may have hyphens, underscores and digits", "site { categories { data-center => $dc, r2_d2 => $r } }",
			"node=$fqdn data-center=$dc r2_d2=$r environment=$environment", defaultLayers, ""},
		{"colons in a name are an error", "site {\n categories { a::b => $role, b => $b } }",
			"node=$fqdn b=$b environment=$environment", defaultLayers, "2:15 error category"},
		{"duplicate category", "site {\n categories { a => $a,\n a => $b } }",
			"node=$fqdn a=$a environment=$environment", defaultLayers, "3:2 error category (2:15)"},
		{"common", "site { categories { common => true } }", none, defaultLayers, "1:21 error category"},
		{"environment set to another variable", "site { categories { environment => $role } }", none, defaultLayers,
			"1:36 error category"},
		{"environment set to false", "site { categories { environment => false } }", none, defaultLayers,
			"1:36 error category"},
		{"environment set to a string", "site { categories { environment => 'true' } }", none, defaultLayers,
			"1:36 error category"},
		{"environment set to a number", "site { categories { environment => 1 } }", none, defaultLayers,
			"1:36 error category"},
		{"environment before node", "site { categories { environment => true, node => $fqdn } }",
			"environment=$environment node=$fqdn", defaultLayers, "1:21 error category"},
		{"unknown function", "site { categories { a => nope($x), b => $b } }",
			"node=$fqdn b=$b environment=$environment", defaultLayers, "1:26 error expression"},
		{"lookup in a category", "site { categories { a => lookup('a') } }", none, defaultLayers,
			"1:26 error expression"},
		{"two errors in one value are both reported",
			"site { categories { a => [nope($x), lookup('a')] } }", none, defaultLayers,
			"1:27 error expression, 1:37 error expression"},
		{"misspelt fact", "site { categories { a => \"x${fqdm}\" } }",
			"node=$fqdn a=x${fqdm} environment=$environment", defaultLayers, "1:30 warning fact"},

		{"an empty list of layers", "site { bindings => [] }", defaultCategories, "", ""},
		{"layers", "site { bindings => [layer { 'a': include => 'confdir:/x' },\n" +
			"layer { 'b': include => ['module:/*::default', 'confdir:/y?optional'], exclude => 'module:/bad::default' }] }",
			defaultCategories, "a: confdir:/x; b: module:/*::default confdir:/y? -module:/bad::default", ""},
		{"layer without URIs", "site { bindings => [layer { 'a': }] }", defaultCategories, "a: ", ""},
		{"two layers with the same name", "site { bindings => [layer { 'a': },\nlayer { 'b': }, layer { 'a': }] }",
			defaultCategories, "a: ; b: ; a: ", "2:25 error layer (1:29)"},
		{"unknown scheme", "site { bindings => [layer { 'a': include => ['confdr:/x', 'confdir:/y'],\n" +
			"exclude => 'x' }] }", defaultCategories, "a: confdir:/y", "1:46 error uri, 2:12 error uri"},
		{"both", "site { categories { a => $a } bindings => [layer { 'l': include => 'confdir:/x' }] }",
			"node=$fqdn a=$a environment=$environment", "l: confdir:/x", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg, ok, reported := puppetConfigured(t, test.text)
			if !ok || reported != test.reported {
				t.Errorf("%v with %q, expected %q", ok, reported, test.reported)
			}
			if categories, layers := cfg.text(); categories != test.categories || layers != test.layers {
				t.Errorf("%q and %q, expected %q and %q", categories, layers, test.categories, test.layers)
			}
			if says := strings.Contains(test.text, "bindings"); cfg.defaultLayers == says {
				t.Errorf("that it says nothing of layers is %v", cfg.defaultLayers)
			}
		})
	}
}

// If the file does not contain exactly a site, none of it is used.
func TestRejectsPuppetConfigurationWithoutSite(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "1:1 error syntax",
		"bindings a { }":                        "1:1 error syntax",
		"site { layers => [] }":                 "1:8 error syntax",
		"site { categories { a => $a } ":        "1:31 error syntax",
		"site { } site { }":                     "1:10 error syntax",
		"site { categories { a => 'x } }":       "1:26 error syntax",
		"site { categories { a => 'ab\xff' } }": "1:29 error syntax",
		"site { categories { environment => true, node => $fqdn } ": "1:21 error category, 1:58 error syntax",
		"site { categories { a => $a }\ncategories { b => $b } }":   "2:1 error syntax",
	} {
		if _, ok, reported := puppetConfigured(t, text); ok || reported != want {
			t.Errorf("%q: %v with %q, expected %q", text, ok, reported, want)
		}
	}
}

// If binder_config.pp cannot be read, that is an error. The file is not treated as missing.
func TestReportsUnreadablePuppetConfiguration(t *testing.T) {
	dir := writeSite(t, map[string]string{puppetConfig: "site { }", "hiera.yaml": "version: 2"})
	fail := func(op fsx.Op, path string) error {
		if op == fsx.Open && strings.HasSuffix(path, puppetConfig) {
			return fs.ErrPermission
		}
		return nil
	}
	want := puppetConfig + ": [read] cannot read this: permission denied"
	if found := reported(dir, Options{Disk: fsx.Disk{Fault: fail}}); !slices.Equal(found, []string{want}) {
		t.Errorf("found %q, expected %q", found, want)
	}
	if s := Load(dir, Options{Disk: fsx.Disk{Fault: fail}}, &diag.List{}); !reflect.DeepEqual(s, &Site{}) {
		t.Errorf("without its configuration the site is %+v", s)
	}
}

// An error about missing categories has the position of the list of categories, or the start of the file if there is no
// list.
func TestMissingCategoriesAreReportedAtTheList(t *testing.T) {
	cfg, _, _ := puppetConfigured(t, "site {\n  categories { role => $role } }")
	if got := placesOf(cfg); got != "2:3 2:16 2:3" {
		t.Errorf("the categories are at %s", got)
	}
	cfg, _, _ = puppetConfigured(t, "\nsite { }")
	if got := placesOf(cfg); got != "1:1 1:1 1:1" {
		t.Errorf("the categories are at %s", got)
	}
}

func placesOf(c config) string {
	var out []string
	for _, c := range c.categories {
		out = append(out, lineAndColumn(c.at))
	}
	return strings.Join(out, " ")
}

func lineAndColumn(p diag.Pos) string { return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col) }

// puppetConfigured reads text as binder_config.pp, and returns the configuration and the diagnostics.
func puppetConfigured(t *testing.T, text string) (config, bool, string) {
	t.Helper()
	var diags diag.List
	dir := writeSite(t, map[string]string{puppetConfig: text})
	in := site.NewInputs(site.Files{Diags: &diags}, dir, "", datafile.NewReader(nil, fsx.Disk{}))
	cfg, ok := readConfig(in, Options{})
	var reported []string
	for _, d := range diags.Sorted() {
		line := lineAndColumn(d.Pos) + " " + d.Severity.String() + " " + string(d.Code)
		for _, n := range d.Notes {
			line += " (" + lineAndColumn(n.Pos) + ")"
		}
		reported = append(reported, line)
	}
	if list, at := in.Sorted(); len(list) != 1 || list[0].Path != puppetConfig || list[0].Size != int64(len(text)) ||
		len(at) != 1 {
		t.Errorf("the inputs are %v, at %v", list, at)
	}
	return cfg, ok, strings.Join(reported, ", ")
}
