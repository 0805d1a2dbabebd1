package compile

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"bindc/diag"
	"bindc/loader"
	"bindc/snapshot"
)

// transferReports lists sites that transfer parameters between targets, in the form of reports.
var transferReports = []struct{ name, site, module, want string }{
	{"transfer from an unbound target", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{map: [Web, Sql], to: {dbuser: user}}", ``, `1 error rebind:`},
	{"transfer next to a rename of an unbound map", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{name: other, to_renamed: /map/Web/Sql}",
		"{parameters: Web, to: {port: 1}}\n{parameters: 'Sql[one]', to: {port: 2}}", `2 error rebind:`},
	{"map bound as an ordinary key", "{parameters: 'Web[one]', to: 'Sql[one]', optional: true}\n" +
		"[/map/Web/Sql, {dbuser: user}]", ``, `2 error reserved:`},
	{"map with an invalid type", "{parameters: 'Web[one]', to: 'Sql[one]', optional: true}\n" +
		"{map: [Web, Sql], to: {dbuser: user}, type: 'Integer['}", ``, "2 error attribute:\n2 error type:"},
	{"transfer in a site with errors", "{to: 1}\n{parameters: 'Web[one]', to: 'Sql[one]'}", ``,
		`1 error attribute:`},
}

func TestReportsMistakesInTransfers(t *testing.T) { checkReports(t, transferReports) }

// In data files, parameters of classes are ordinary keys.
func TestTransfersParametersFromDataFiles(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "binder_config.yaml"),
		"version: 1\nlayers: [{include: 'confdir:/default'}, {include: 'confdir-hiera:/'}]\n")
	writeFile(t, filepath.Join(dir, "hiera.yaml"), "version: 2\nhierarchy: [[common, 'true', common]]\n")
	writeFile(t, filepath.Join(dir, "common.yaml"), "sql::user: wiki\nsql::port: 1\nweb::port: 80\nweb::size: 2\n")
	writeBindings(t, filepath.Join(dir, "bindings"), "default", "{parameters: web, to: sql}")
	var diags diag.List
	content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	checkLookups(t, opened(t, dir, content), `web::port 1; web::size 2; web::user -; sql::port 1`)
}

// The result must not depend on the iteration order of Go maps, which affects transfers and renames.
func TestCompileIsDeterministic(t *testing.T) {
	dir := t.TempDir()
	var entries, ids string
	for i := range 20 {
		entries += fmt.Sprintf("p%d: 1, ", i)
		ids += fmt.Sprintf("\n{name: m%d, multibind_id: m%d, type: Hash}\n{in: m%d, name: x%d, to: 1}", i, i, i, min(i%10, 1))
	}
	writeBindings(t, filepath.Join(dir, "bindings"), "default",
		"{include: a}\n{parameters: 'Web[one]', to: 'Sql[one]'}\n"+
			"{when: {node: n}, bind: [{map: [Web, Sql], to: {size: p1}}]}\n{name: other, to_renamed: x1}")
	writeBindings(t, filepath.Join(dir, "modules", "db", "bindings"), "db::default",
		"{parameters: Web, to: {"+entries+"}}\n{parameters: 'Sql[one]', to: {"+entries+"}}"+ids)
	var first *snapshot.Content
	for range 5 {
		var diags diag.List
		content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
		if diags.Failed() {
			t.Fatal(diags.Sorted())
		}
		if first == nil {
			first = content
		}
		if !reflect.DeepEqual(content, first) {
			t.Fatal("another content of the same site")
		}
	}
}
