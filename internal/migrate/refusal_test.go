package migrate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/migrate"
	"bindc/loader"
)

// A site that uses more than Hiera 5 is not migrated. The error names the layer and its include.
func TestRejectsSitesWithMoreThanHiera5(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing": {map[string]string{"modules/m/README": ""},
			"expected a site with a version 5 hiera.yaml and its data files"},
		"Hiera 2": {map[string]string{
			"hiera.yaml":       "version: 2\nhierarchy: [[common, 'true', data/common]]\n",
			"data/common.yaml": "a: 1\n"},
			"expected a site with only Hiera 5, found confdir-hiera:/ in the layer 'site'"},
		"bindings in addition to Hiera 5": {map[string]string{
			"binder_config.yaml": "version: 1\nlayers:\n  - {name: own, include: ['confdir:/own']}\n" +
				"  - {name: hiera, include: ['hiera:/']}\n",
			"hiera.yaml":        "version: 5\n",
			"data/common.yaml":  "a: 1\n",
			"bindings/own.yaml": "bindings_version: 1\nname: own\nbind: [{name: b, to: 1}]\n"},
			"expected a site with only Hiera 5, found confdir:/own in the layer 'own'"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeSite(t, c.files)
			var diags diag.List
			site := loader.Load(dir, loader.Options{MayBeEmpty: true}, &diags)
			if diags.Failed() {
				t.Fatal(text(t, dir, &diags))
			}
			result, err := migrate.Site(dir, site, migrate.Options{}, &diags)
			if err != nil || result != nil {
				t.Fatalf("%v, %v", result, err)
			}
			if said := text(t, dir, &diags); !strings.Contains(said, c.want) {
				t.Errorf("%s\nwant %s", said, c.want)
			}
		})
	}
}

// An empty layer in addition to Hiera 5 does not prevent a migration.
func TestMigratesWithAnEmptyLayer(t *testing.T) {
	dir := writeSite(t, map[string]string{
		"binder_config.yaml": "version: 1\nlayers:\n  - {name: none, include: ['module:/*::default']}\n" +
			"  - {name: hiera, include: ['hiera:/']}\n",
		"hiera.yaml":       "version: 5\n",
		"data/common.yaml": "a: 1\n"})
	_, files := migrateSite(t, dir)
	if files["data/common.yaml"] != "a: 1\n" {
		t.Errorf("%q", files)
	}
}

// A file that is missing or has changed since the site was loaded is an error. It is never skipped.
func TestFailsIfFileChangesDuringMigration(t *testing.T) {
	site := map[string]string{
		"hiera.yaml":       "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n",
		"data/common.yaml": "a: 1\nb: '%{alias(\"c\")}'\n"}
	for name, change := range map[string]func(dir string) error{
		"a data file is removed": func(dir string) error { return os.Remove(filepath.Join(dir, "data/common.yaml")) },
		"a data file is broken":  func(dir string) error { return overwrite(dir, "data/common.yaml", "a: [\n") },
		"a data file is emptied": func(dir string) error { return overwrite(dir, "data/common.yaml", "") },
		"a key moves":            func(dir string) error { return overwrite(dir, "data/common.yaml", "\na: 1\n") },
		"hiera.yaml is removed":  func(dir string) error { return os.Remove(filepath.Join(dir, "hiera.yaml")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeSite(t, site)
			var diags diag.List
			loaded := loader.Load(dir, loader.Options{}, &diags)
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			result, err := migrate.Site(dir, loaded, migrate.Options{}, &diags)
			if err == nil {
				t.Errorf("%v, no error", result)
			}
		})
	}
}

func overwrite(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}
