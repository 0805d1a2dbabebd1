package loader_test

import (
	"strings"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

// If no layer includes the output of a node classifier, a warning says so, both in a build and after bindc enc. The
// hint depends on whether the site configures its layers.
func TestWarnsAboutUnusedClassifierOutput(t *testing.T) {
	const include, write = "include 'enc:'", "write binder_config.yaml"
	said := map[string]string{"enc/web1.yaml": "classes: [ntp]\n"}
	for name, c := range map[string]struct {
		files map[string]string
		hint  string // "": no warning
		build bool   // the build gives the warning, too
	}{
		"Hiera 5":           {map[string]string{"hiera.yaml": "version: 5\n"}, write, true},
		"Hiera 2":           {map[string]string{"hiera.yaml": "version: 2\n"}, include, true},
		"other layers":      {map[string]string{"binder_config.yaml": "version: 1\nlayers: [{name: h, include: 'hiera:/'}]\n", "hiera.yaml": "version: 5\n"}, include, true},
		"a layer":           {map[string]string{"binder_config.yaml": "version: 1\nlayers: [{name: h, include: 'enc:'}]\n"}, "", false},
		"a part in a layer": {map[string]string{"binder_config.yaml": "version: 1\nlayers: [{name: h, include: 'enc:/classes'}]\n"}, "", false},
		"excluded": {map[string]string{"binder_config.yaml": "version: 1\nlayers: [{name: h, include: 'confdir:/*', " +
			"exclude: 'enc:'}]\n"}, "", false},
		"a broken configuration": {map[string]string{"binder_config.yaml": "version: 9\n"}, "", false},
		"no files":               {map[string]string{"hiera.yaml": "version: 5\n", "enc/web1.yaml": "", "enc/readme.md": "x"}, write, false},
	} {
		files := map[string]string{}
		for path, text := range said {
			files[path] = text
		}
		for path, text := range c.files {
			files[path] = text
		}
		if files["enc/web1.yaml"] == "" {
			delete(files, "enc/web1.yaml")
		}
		dir := writeSite(t, files)
		var built, asked diag.List
		loader.Load(dir, loader.Options{}, &built)
		loader.CheckClassified(dir, &asked)
		for what, list := range map[string]*diag.List{"build": &built, "enc": &asked} {
			hint := ""
			for _, d := range list.Sorted() {
				if strings.HasSuffix(d.Pos.File, "/enc") && d.Code == "not_included" {
					hint = d.Hint
				}
			}
			want := c.hint
			if what == "build" && !c.build {
				want = ""
			}
			if !strings.HasPrefix(hint, want) || (hint == "") != (want == "") {
				t.Errorf("%s: %s: %q, want %q", name, what, hint, want)
			}
		}
	}
}
