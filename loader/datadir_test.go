//go:build unix

package loader_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

const seeCodedir = "write a path relative to this file; absolute paths are in the site only below " +
	"/etc/puppetlabs/code/environments/%{environment}, see --codedir"

// As in Puppet, an absolute path of an existing file is read. Other files in the same directory are not reported as
// unused.
func TestAbsolutePathsThatExistAreRead(t *testing.T) {
	data := writeSite(t, map[string]string{"a.yaml": "a: 1", "production/d/b.yaml": "a: 1", "c/web.yaml": "a: 1",
		"g/g1.yaml": "a: 1", "g/g2.yml": "a: 1", "x/unread.yaml": "a: 1", "m/t.yaml": "a: 1"})
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 5\nhierarchy:\n" +
		"- {name: A, path: '" + data + "/a.yaml'}\n" +
		"- {name: B, path: b.yaml, datadir: '" + data + "/%{environment}/d'}\n" +
		"- {name: C, path: '" + data + "/c/%{role}.yaml', datadir: none}\n" +
		"- {name: D, glob: '" + data + "/g/*.yaml'}\n" +
		"- name: E\n  paths:\n  - '" + data + "/none.yaml'\n  - '" + data + "/none/%{x}.yaml'\n" +
		"  - '/%{x}.yaml'\n  - e.yaml\n" +
		"- {name: F, glob: '/*/%{x}.yaml'}\n" +
		"- {name: G, mapped_paths: [teams, t, '" + data + "/none/%{t}.yaml']}\n" +
		"- {name: H, path: h.yaml, datadir: '/%{x}/none'}\n",
		"data/e.yaml": "a: 1"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	expect(t, reportsOf(dir, &diags),
		"hiera.yaml:9:5 warning data_directory; "+seeCodedir,
		"hiera.yaml:10:5 warning data_directory; "+seeCodedir,
		"hiera.yaml:11:5 warning data_directory; "+seeCodedir,
		"hiera.yaml:13:19 warning data_directory; "+seeCodedir,
		"hiera.yaml:14:27 warning data_directory; "+seeCodedir,
		"hiera.yaml:15:3 warning data_directory; "+seeCodedir)
	expect(t, hieraLayers(data, site)[:4],
		"environment 0 only path: a.yaml 1",
		"environment 1 only path: production/d/b.yaml [%{environment}/d/b.yaml production/d/b.yaml] 1",
		"environment 2 only path: c/web.yaml [%{role}.yaml web.yaml] 1",
		"environment 3 only path: g/g1.yaml 1")
}

// Absolute paths in the hierarchy of a module are read like those of a site, but a missing file is not reported.
func TestMissingAbsolutePathsOfModulesAreNotReported(t *testing.T) {
	dir := writeSite(t, map[string]string{"modules/m/hiera.yaml": "version: 5\nhierarchy:\n" +
		"- {name: A, path: '/none/a.yaml'}\n- {name: B, path: b.yaml, datadir: /none}\n" +
		"- {name: C, path: '/srv/environments/%{environment}/c.yaml'}",
		"c.yaml": "m::a: 1"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{Codedir: "/srv/"}, &diags)
	expect(t, reportsOf(dir, &diags))
	expect(t, hieraLayers(dir, site), "module 2 only path: c.yaml 1")
}

// In an absolute path, the environment's directory is the one with its hiera.yaml. For a global hiera.yaml, it is the
// site.
func TestAbsolutePathsBelowCodedirAreInsideTheEnvironment(t *testing.T) {
	const hiera = "version: 5\nhierarchy: [{name: A, " +
		"path: '/etc/puppetlabs/code/environments/%{environment}/d/a.yaml'}]"
	dir := writeSite(t, map[string]string{"global/hiera.yaml": hiera, "site/d/a.yaml": "a: 1",
		"site/sub/hiera.yaml": hiera, "site/sub/d/a.yaml": "a: 1", "site/environment.conf": "",
		"site/binder_config.yaml": "version: 1\nlayers: [{name: l, include: ['hiera:/sub']}]"})
	load := func(opts loader.Options, want string) {
		var diags diag.List
		site := loader.Load(filepath.Join(dir, "site"), opts, &diags)
		expect(t, reportsOf(dir, &diags))
		expect(t, hieraLayers(dir, site), want)
	}
	load(loader.Options{}, "environment 0 only path, only entry: site/sub/d/a.yaml 1")
	if err := os.Remove(filepath.Join(dir, "site/binder_config.yaml")); err != nil {
		t.Fatal(err)
	}
	load(loader.Options{GlobalHiera: filepath.Join(dir, "global/hiera.yaml")},
		"global 0 only path, only entry: site/d/a.yaml 1")
}

// The option Codedir changes which absolute paths count as inside the site.
func TestCodedirDeterminesWhichAbsolutePathsAreInside(t *testing.T) {
	for codedir, want := range map[string][]string{
		"":           {"environment 1 only path: b/y.yaml 1"},
		"/srv/code/": {"environment 0 only path: a/x.yaml 1"},
	} {
		dir := writeSite(t, map[string]string{"hiera.yaml": "version: 5\nhierarchy:\n" +
			"- {name: A, path: x.yaml, datadir: '/srv/code/environments/%{environment}/a'}\n" +
			"- {name: B, path: y.yaml, datadir: '/etc/puppetlabs/code/environments/%{environment}/b'}\n",
			"a/x.yaml": "a: 1", "b/y.yaml": "a: 1"})
		var diags diag.List
		site := loader.Load(dir, loader.Options{Codedir: codedir}, &diags)
		expect(t, hieraLayers(dir, site), want...)
		found := diags.Sorted()
		if len(found) != 1 || found[0].Code != "data_directory" {
			t.Errorf("with the codedir '%s' found %v, want one warning", codedir, found)
		}
	}
}

// The messages are the same whether a file with an error is parsed before or after the directories of the hierarchy are
// checked.
func TestMessagesDoNotDependOnTiming(t *testing.T) {
	files := map[string]string{
		"hiera.yaml": "version: 5\nhierarchy:\n  - {name: a, path: common.yaml}\n" +
			"  - {name: b, datadir: '%{none}', path: x.yaml}\n",
		"data/common.yaml":              "a: 1\n",
		"modules/m/hiera.yaml":          "version: 5\nhierarchy: [{name: a, path: a.json, data_hash: json_data}]\n",
		"modules/m/data/a.json":         "{",
		"modules/m/data/unrelated.yaml": "b: 1\n",
	}
	_, first := loaded(t, files)
	for range 30 {
		if _, again := loaded(t, files); again != first {
			t.Fatalf("first\n%s\nthen\n%s", first, again)
		}
	}
	if strings.Contains(first, "data_directory") {
		t.Errorf("a missing directory is reported beside an error:\n%s", first)
	}
}
