//go:build unix

package loader_test

import (
	"path/filepath"
	"testing"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/loader"
)

// Each part of a classifier's output can be included by its own URI (language.md, section 14.6).
func TestIncludesClassifierOutputByPart(t *testing.T) {
	said := map[string]string{
		"enc/.hidden.yaml": "classes: [hidden]", "enc/.yaml": "classes: [none]", "enc/README": "", "enc/W2.yaml": "classes: [ntp]",
		"enc/w1.yaml":   "classes: {ntp: {enable: true, port: 123}, base: {}}\nparameters: {role: web, size: 1, '::top': x}\nenvironment: test\n",
		"enc/w3.yaml":   "parameters: {role: db}",
		"enc/zero.yaml": "{}",
	}
	const classes, parameters = "enc:/classes: ntp [node w2] ntp [node w1] base [node w1]",
		"enc:/parameters: enc/w1.yaml [node w1] 2"
	const variables, environment = "enc:/variables: enc/w1.yaml [node w1] 3 enc/w3.yaml [node w3] 1",
		"enc:/environment: enc/w1.yaml [node w1] 1"
	for _, c := range []struct {
		name, layers       string
		contents, reported []string
	}{
		{"a URI without a path includes all parts", "[{name: l, include: 'enc:'}]",
			[]string{"l " + classes, "l " + parameters, "l " + variables, "l " + environment}, nil},
		{"parts", "[{name: a, include: 'enc:/variables'}, {name: b, include: 'enc:/*'}]",
			[]string{"a " + variables, "b " + classes, "b " + parameters, "b " + variables, "b " + environment}, nil},
		{"an excluded part is left out",
			"[{name: l, include: 'enc:/', exclude: ['enc:/variables', 'enc:/environment']}]",
			[]string{"l " + classes, "l " + parameters}, nil},
		{"excluding all parts leaves nothing", "[{name: l, include: 'enc:/classes', exclude: 'enc:/*'}]", nil, nil},
		{"an unknown part is an error", "[{name: l, include: 'enc:/clases'}]", nil,
			[]string{"binder_config.yaml:2:29 error uri; did you mean 'classes'?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			said["binder_config.yaml"] = "version: 1\nlayers: " + c.layers + "\n"
			dir := writeSite(t, said)
			var diags diag.List
			site := loader.Load(dir, loader.Options{}, &diags)
			expect(t, contentsOf(dir, site), c.contents...)
			expect(t, reportsOf(dir, &diags), c.reported...)
		})
	}
}

// The position of an included class is its line in the classifier's output.
func TestClassesHavePositionInClassifierOutput(t *testing.T) {
	dir := writeSite(t, configured("'enc:/classes'", map[string]string{"enc/w1.yaml": "classes:\n- ntp\n"}))
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	bound := site.Layers[0].Contributions[0].Bindings
	if len(bound) != 1 || !diags.Empty() {
		t.Fatalf("bound is %v; %v", bound, diags.Sorted())
	}
	want := diag.Pos{File: filepath.Join(dir, "enc/w1.yaml"), Line: 2, Col: 3}
	if b := bound[0]; b.Key != "ntp" || b.Pos != want || b.More.Recipe.Value.Text() != recipe.Include {
		t.Errorf("%s is %v, at %v", b.Key, b.More.Recipe.Value, b.Pos)
	}
}

// The directory with the classifier's output must exist, unless the URI is optional.
func TestMissingClassifierDirectoryIsAnErrorUnlessOptional(t *testing.T) {
	for _, c := range []struct {
		uri      string
		enc      map[string]string
		reported []string
	}{
		{"enc:/classes", nil, []string{"binder_config.yaml:3:23 error missing"}},
		{"enc:/classes?optional", nil, nil},
		{"enc:/classes", map[string]string{"enc": "-> enc"}, []string{"enc error read"}},
		{"enc:/classes", map[string]string{"enc/README": ""}, nil},
	} {
		dir := writeSite(t, configured("'"+c.uri+"'", c.enc))
		var diags diag.List
		loader.Load(dir, loader.Options{}, &diags)
		expect(t, reportsOf(dir, &diags), c.reported...)
	}
}
