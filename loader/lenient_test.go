//go:build unix

package loader_test

import (
	"errors"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/recipe"
	"bindc/loader"
)

// With Lenient, a data file that cannot be read becomes failing lookup_options, for the site or for its module.
func TestLenientUnreadableFilesFailLookups(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 5", "data/common.yaml": "a: [",
		"modules/m/hiera.yaml": "version: 5", "modules/m/data/common.yaml": "m::a: 1"})
	unreadable := loader.Options{Lenient: true, Disk: fsx.Disk{Fault: func(op fsx.Op, path string) error {
		if op == fsx.Open && strings.HasSuffix(path, "m/data/common.yaml") {
			return errors.New("no luck")
		}
		return nil
	}}}
	var diags diag.List
	site := loader.Load(dir, unreadable, &diags)
	expect(t, reportsOf(dir, &diags), "data/common.yaml:1:5 warning yaml_syntax",
		"modules/m/data/common.yaml warning read")
	var got []string
	for _, l := range site.Layers {
		for _, c := range l.Contributions {
			for _, f := range c.Files {
				for _, e := range f.Entries {
					r, err := recipe.Decode(site.Values[e.Value][1:])
					if err != nil || site.Values[e.Value][0] != recipe.CompiledRecipe || e.Line != 1 || e.Col != 1 {
						t.Fatalf("the entry is %+v: %v", e, err)
					}
					got = append(got, strings.TrimLeft(site.Keys[e.Key], "\x00")+" - "+r.Expr.Kids[0].Value.Text())
				}
			}
		}
	}
	const reaches = "this lookup reaches a file that cannot be read: "
	expect(t, got, "lookup_options - "+reaches+"data/common.yaml: line 1: yaml_syntax",
		"lookup_options m - "+reaches+"modules/m/data/common.yaml: it cannot be read")
}

// Without Lenient, and outside Hiera 5, a data file that cannot be read is an error.
func TestUnreadableDataFilesAreErrorsUnlessLenient(t *testing.T) {
	for name, hiera := range map[string]string{"data/common.yaml": "version: 5", "data/common.json": "version: 2"} {
		dir := writeSite(t, map[string]string{"hiera.yaml": hiera, name: "[}"})
		for _, lenient := range []bool{false, true} {
			var diags diag.List
			loader.Load(dir, loader.Options{Lenient: lenient}, &diags)
			if want := !lenient || hiera == "version: 2"; diags.Failed() != want {
				t.Errorf("%s, lenient %v: failed is %v", hiera, lenient, diags.Failed())
			}
		}
	}
}
