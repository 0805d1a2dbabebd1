package loader_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/loader"
)

// Each case is a site, and the warnings about what has no effect in it, with their hints.
func TestWarnsAboutWhatHasNoEffect(t *testing.T) {
	const hiera = "-- hiera.yaml --\nversion: 5\n-- data/common.yaml --\na: 1\n"
	const module = "-- modules/m/hiera.yaml --\nversion: 5\n-- modules/m/data/common.yaml --\nm::a: 1\n"
	const bindings = "-- binder_config.yaml --\nversion: 1\nlayers: [{name: site, include: ['confdir:/default', " +
		"'module:/*::default?optional']}]\ncategories: [[company, acme], [role, '${role}'], [common, 'true']]\n"
	const missing = " the module path has '"
	const gone = "', which does not exist; the site has no modules from there"
	for _, c := range []struct{ name, site, want string }{
		{"a module path without any directory", hiera + module + "-- environment.conf --\n# modulepath = x\nmodulepath = modulez\n",
			"environment.conf:2:1 modulepath" + missing + "modulez" + gone + "; did you mean 'modules'?"},
		{"a module path with one directory", hiera + module + "-- environment.conf --\nmodulepath = modules:other:/nonexist\n", ""},
		{"a module path with a misspelt directory", hiera + module + "-- environment.conf --\nmodulepath = modules:modulse\n",
			"environment.conf:1:1 modulepath" + missing + "modulse" + gone + "; did you mean 'modules'?"},
		{"a module path in quotes", hiera + module + "-- environment.conf --\nmodulepath = \"modules:other\"\n", ""},
		{"a module path with a comment", hiera + module + "-- environment.conf --\nmodulepath = modules:site # r10k\n",
			"environment.conf:1:1 modulepath" + missing + "site # r10k" + gone +
				"; a comment after a value belongs to the value, as in Puppet: move it to its own line"},
		{"a module path of the machine", hiera + module + "-- environment.conf --\nmodulepath = $basemodulepath\n",
			"environment.conf:1:1 modulepath the module path names no directory of this site, so the modules in 'modules' are " +
				"not used, as in Puppet; write 'modulepath = modules:$basemodulepath', or remove the setting"},
		{"an empty module path", hiera + module + "-- environment.conf --\nmodulepath =\n",
			"environment.conf:1:1 modulepath the module path names no directory of this site, so the modules in 'modules' are " +
				"not used, as in Puppet; write 'modulepath = modules:$basemodulepath', or remove the setting"},
		{"an empty module path without modules", hiera + "-- environment.conf --\nmodulepath =\n", ""},
		{"an absolute module path of an environment", hiera + module +
			"-- environment.conf --\nmodulepath = modules:/nonexist/environments/production/site\n",
			"environment.conf:1:1 modulepath" + missing + "/nonexist/environments/production/site" + gone + "; write a path " +
				"relative to this file, or use --modulepath: the name of the environment is not known here"},
		{"misspelt settings and comments", hiera + "-- environment.conf --\n#manifst = x\n;manifst = x\nmanifest = x\n\nmanifst = x\n" +
			"manifst\nother = 1\n",
			"environment.conf:5:1 config Puppet has no setting 'manifst', and ignores it; did you mean 'manifest'?"},

		{"a constant category with another value", bindings + "-- bindings/default.yaml --\n" +
			"{bindings_version: 1, name: default, bind: [{when: {company: acem}, bind: [[a, 1]]}]}\n",
			"bindings/default.yaml:1:62 when 'company' is 'acme' for every request: this condition never holds; did you mean 'acme'?"},
		{"a constant category with several values", bindings + "-- bindings/default.yaml --\n" +
			"{bindings_version: 1, name: default, bind: [{when: {company: [b, c]}, bind: [[a, 1]]}]}\n",
			"bindings/default.yaml:1:62 when 'company' is 'acme' for every request: this condition never holds"},
		{"a constant category with its value", bindings + "-- bindings/default.yaml --\n" +
			"{bindings_version: 1, name: default, bind: [{when: {company: [other, ACME]}, bind: [[a, 1]]}]}\n", ""},
		{"a constant category in a module", bindings + "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[b, 1]]}\n" +
			"-- modules/m/bindings/default.yaml --\n" +
			"{bindings_version: 1, name: 'm::default', bind: [{when: {company: other}, bind: [['m::a', 1]]}]}\n", ""},
		{"patterns", bindings + "-- bindings/default.yaml --\n" +
			"{bindings_version: 1, name: default, bind: [{when: {role: ['w*', '/x/', '${y}', '//', 'a/b']}, bind: [[a, 1]]}]}\n",
			"bindings/default.yaml:1:59 when this condition holds only for the text '${y}': conditions have no patterns or variables; " +
				"list the values, or compute the category in binder_config.yaml\n" +
				"bindings/default.yaml:1:59 when this condition holds only for the text '/x/': conditions have no patterns or variables; " +
				"list the values, or compute the category in binder_config.yaml\n" +
				"bindings/default.yaml:1:59 when this condition holds only for the text 'w*': conditions have no patterns or variables; " +
				"list the values, or compute the category in binder_config.yaml"},

		{"paths that resemble unused files", "-- hiera.yaml --\nversion: 5\nhierarchy:\n- {name: A, path: 'roles/%{role}.yaml'}\n" +
			"- {name: B, path: zones.yaml}\n- {name: C, path: a.yaml}\n-- data/role/web.yaml --\na: 1\n-- data/zone.yaml --\na: 1\n" +
			"-- data/b.yaml --\na: 1\n",
			"data/b.yaml data_unreached no path in the hierarchy matches this file; its data is never used; " + addEntry + "\n" +
				"data/role/web.yaml data_unreached no path in the hierarchy matches this file; its data is never used; " + addEntry +
				" (hiera.yaml:3:19 this path is similar)\n" +
				"data/zone.yaml data_unreached no path in the hierarchy matches this file; its data is never used; " + addEntry +
				" (hiera.yaml:4:19 this path is similar)"},
		{"broken links", hiera + "-- data/role --\n-> nowhere\n-- data/x.yaml --\n-> nowhere\n-- data/y.txt --\n-> nowhere\n",
			"data/role data_unreached broken symbolic link; Hiera 5 finds no directory; create the directory that it refers to, or " +
				"remove the link\n" +
				"data/x.yaml data_unreached broken symbolic link; Hiera 5 finds no file; create the file that it refers to, or remove the link"},
		{"files that are read by another name", "-- hiera.yaml --\nversion: 5\nhierarchy:\n- {name: A, path: '%{env}/common.yaml'}\n" +
			"-- data/production --\n-> .\n-- data/common.yaml --\na: 1\n-- data/other.yml --\na: 1\n",
			"data/other.yml data_unreached no path in the hierarchy matches this file; its data is never used; rename it to " +
				"other.yaml, if a path in the hierarchy expects that name"},
		{"a module with a hierarchy of version 3", hiera + "-- modules/m/hiera.yaml --\nhierarchy: [common]\n" +
			"-- modules/m/data/common.yaml --\nm::a: 1\n",
			"modules/m/hiera.yaml:1:1 hiera_version ignored: this file has no version, as a Hiera 1 configuration: Puppet and bindc " +
				"do not use the data of this module; write a hierarchy with 'version: 5'"},
		{"a module with data and without hiera.yaml", hiera + "-- modules/m/data/common.yaml --\nm::a: 1\n" +
			"-- modules/n/data/map.yaml --\nports: [1]\n",
			"modules/m/data data_unreached there is no hiera.yaml next to this directory; its data is never used; write one; with " +
				"only 'version: 5', Puppet reads data/common.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, files := t.TempDir(), map[string]string{}
			for _, f := range txtar.Parse([]byte(c.site)).Files {
				files[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
				if !strings.HasPrefix(files[f.Name], "-> ") {
					files[f.Name] += "\n"
				}
			}
			testmode.WriteFiles(t, dir, files)
			var diags diag.List
			loader.Load(dir, loader.Options{}, &diags)
			place := func(p diag.Pos) string {
				rel, _ := filepath.Rel(dir, p.File)
				return diag.Pos{File: filepath.ToSlash(rel), Line: p.Line, Col: p.Col}.String()
			}
			var got []string
			for _, d := range diags.Sorted() {
				line := place(d.Pos) + " " + string(d.Code) + " " + d.Message
				if d.Hint != "" {
					line += "; " + d.Hint
				}
				for _, n := range d.Notes {
					line += " (" + place(n.Pos) + " " + n.Message + ")"
				}
				got = append(got, line)
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("reported is\n%s\nexpected\n%s", text, c.want)
			}
		})
	}
}
