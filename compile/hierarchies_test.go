package compile_test

import (
	"regexp"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/loader"
)

// Lookups of a hierarchy may fail because a path depends on the request, or because lookup_options have or may have
// errors. The content lists the dimensions of such paths (here the fourth, after three categories) and the modules with
// such options, sorted and without duplicates.
func TestContentRecordsWhatMayFailAHierarchy(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"a: 1", `{"paths":{"":[3]},"options":[]}`},
		{"a: 1\nlookup_options: {a: {merge: unique}}", `{"paths":{"":[3]},"options":[]}`},
		{"a: 1\nlookup_options: {a: {merge: '%{x}'}}", `{"paths":{"":[3]},"options":[""]}`},
		{"a: 1\nlookup_options: {a: {merge: uniq}}", `{"paths":{"":[3]},"options":[""]}`},
		{"a: 1\nlookup_options: {a: {merge: unique}, '^b(': {merge: hash}}", `{"paths":{"":[3]},"options":[""]}`},
		{"a: 1\nlookup_options: ~", `{"paths":{"":[3]},"options":[""]}`},
		{"-- data/common.yaml --\na: 1\nlookup_options: {a: {merge: uniq}}\n-- data/nodes/n1.yaml --\n" +
			"lookup_options: {a: {merge: '%{x}'}}", `{"paths":{"":[3]},"options":[""]}`},
		{"-- data/common.yaml --\na: 1\n" + module + "default_hierarchy: [{name: D, path: d.yaml}]\n" +
			"-- modules/m/data/common.yaml --\nm::a: 1\n-- modules/m/data/d.yaml --\nm::b: 1\n" +
			"lookup_options: {m::b: {merge: uniq}}", `{"paths":{"":[3]},"options":["m default_hierarchy"]}`},
		{"-- data/common.yaml --\na: 1\n" + module + "-- modules/m/data/common.yaml --\nm::a: 1\n" +
			"lookup_options: {m::b: {merge: uniq}}", `{"paths":{"":[3]},"options":["m"]}`},
		{"-- data/common.yaml --\na: 1\n" + module + "default_hierarchy: [{name: D, path: d.yaml}]\n" +
			"-- modules/m/data/common.yaml --\nm::a: 1\nlookup_options: {m::a: {merge: uniq}}\n" +
			"-- modules/m/data/d.yaml --\nm::b: 1\nlookup_options: {m::b: {merge: uniq}}\n" +
			"-- modules/n/hiera.yaml --\nversion: 5\n-- modules/n/data/common.yaml --\nn::a: 1\n" +
			"lookup_options: {n::a: {merge: uniq}}", `{"paths":{"":[3]},"options":["m","m default_hierarchy","n"]}`},
		{"-- hiera.yaml --\nversion: 5\nhierarchy: [{name: A, path: '%{role}.yaml'}, " +
			"{name: B, path: '%{site}.yaml'}, {name: C, path: '%{role}.yaml'}]\n" +
			"-- data/x.yaml --\na: 1", `{"paths":{"":[3,4]},"options":[]}`},
		{"-- hiera.yaml --\nversion: 5\nhierarchy: [{name: A, path: a.yaml}]\n-- data/a.yaml --\na: 1", `{"paths":{},"options":[]}`},
		{"-- hiera.yaml --\nversion: 5\nhierarchy: [{name: A, path: a.yaml}]\n-- data/a.yaml --\na: 1\n" +
			"lookup_options: {a: {merge: uniq}}", `{"paths":{},"options":[""]}`},
		{"-- hiera.yaml --\nversion: 5\nhierarchy:\n- {name: A, path: \"%{facts.a}.yaml\"}\n" +
			"- {name: B, path: \"%{facts.b}.yaml\"}\n- {name: C, path: \"%{facts.a}.yaml\", datadir: other}\n" +
			"-- data/x.yaml --\na: 1\n-- other/x.yaml --\na: 2", `{"paths":{"":[3,4]},"options":[]}`},
		{"-- data/common.yaml --\na: 1\n" + module + "default_hierarchy: [{name: D, path: d.yaml}]\n" +
			"-- modules/m/data/d.yaml --\nm::b: 1\nlookup_options: {m::b: {merge: uniq}}\n" +
			"-- modules/z/hiera.yaml --\nversion: 5\n-- modules/z/data/common.yaml --\nz::a: 1\n" +
			"lookup_options: {z::a: {merge: uniq}}", `{"paths":{"":[3]},"options":["m default_hierarchy","z"]}`},
	} {
		var diags diag.List
		dir := hieraSite(t, c.data)
		content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
		got := "nothing"
		for _, l := range content.Levels {
			for _, s := range l.Scopes {
				for _, e := range s.Entries {
					if content.Keys[e.Key].Name == recipe.HierarchiesKey {
						got = asWritten.ReplaceAllString(valueOf(t, content.Values[e.Value]), "}")
					}
				}
			}
		}
		if got != c.want {
			t.Errorf("%s\nmay be failed by\n%s\nexpected\n%s", c.data, got, c.want)
		}
	}
}

// asWritten matches the entry with the source of the hierarchies.
var asWritten = regexp.MustCompile(`(?m),"written":.*$`)

// The source includes the dimension of each path that is not constant.
func TestContentHasSourceOfHierarchies(t *testing.T) {
	var diags diag.List
	dir := hieraSite(t, `-- hiera.yaml --
version: 5
hierarchy:
  - {name: Roles, paths: ['role/%{role}.yaml', none.yaml], datadir: 'data/%{site}'}
  - {name: All, glob: '*.yaml'}
  - {name: Mapped, mapped_paths: [roles, r, 'r/%{r}.yaml']}
  - {name: Vault, lookup_key: vault}
-- data/x/role/web.yaml --
a: 1
-- modules/m/hiera.yaml --
version: 5
default_hierarchy: [{name: D, path: d.yaml}]
-- modules/m/data/d.yaml --
m::b: 1
`)
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	want := `"written":[[2,"","hiera.yaml",[["Roles",["path","role/%{role}.yaml","data",3],["path","none.yaml","data",4]],` +
		`["All",["glob","*.yaml","data","*.yaml"]],["Mapped",["mapped_paths","r/%{r}.yaml","data",5]],["Vault"]]],` +
		`[3,"m","modules/m/hiera.yaml",[["Common",["path","common.yaml","modules/m/data","common.yaml"]]]],` +
		`[4,"m","modules/m/hiera.yaml",[["D",["path","d.yaml","modules/m/data","d.yaml"]]]]]}`
	found := false
	for _, v := range content.Values {
		found = found || strings.HasSuffix(valueOf(t, v), want)
	}
	if !found {
		t.Errorf("expected %s", want)
	}
}
