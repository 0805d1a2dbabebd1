//go:build unix

package loader_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/testmode"
	"bindc/loader"
)

// A file that several layers and entries use is read once. Only two operations are repeated: directories are listed
// again to find unused files, and each layer may read a hiera.yaml to determine its version.
func TestFilesAreReadOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  map[string]int // expected number of calls, by operation and path
	}{
		{"Hiera 2", map[string]string{"binder_config.yaml": "version: 1\nlayers: [{include: 'confdir-hiera:/'}, " +
			"{include: ['confdir-hiera:/', 'confdir:/a']}, {include: 'confdir:/a'}]",
			"hiera.yaml": "version: 2\nhierarchy:\n- [node, '${fqdn}', 'd/${fqdn}']\n- [osfamily, '${osfamily}', " +
				"'e/${osfamily}']\n- [environment, '${environment}', 'd/${environment}']\n",
			"d/x.yaml": "a: 1", "e/x.yaml": "a: 1", "bindings/a.yaml": set("a")},
			map[string]int{"list d": 1, "list e": 1, "open hiera.yaml": 1, "open d/x.yaml": 1,
				"open bindings/a.yaml": 1}},
		{"Hiera 5", map[string]string{"binder_config.yaml": "version: 1\nlayers: [{include: 'hiera:/'}, " +
			"{include: 'hiera:/'}]", "hiera.yaml": "version: 5\nhierarchy: [{name: A, paths: ['d/%{a}.yaml', " +
			"'e/%{a}.yaml', 'd/%{b}.yaml']}]", "data/d/x.yaml": "a: 1", "data/e/x.yaml": "a: 1"},
			map[string]int{"list data/d": 1, "list data/e": 1, "open hiera.yaml": 4, "open data/d/x.yaml": 1}},
	} {
		dir := writeSite(t, c.files)
		got := map[string]int{}
		d := fsx.Disk{Fault: testmode.NumberCalls(func(a testmode.Access) error {
			if a.Op == fsx.Open || a.Op == fsx.List {
				rel, _ := filepath.Rel(dir, a.Path)
				if name := fmt.Sprint(a.Op, " ", rel); c.want[name] > 0 {
					got[name] = a.Nth
				}
			}
			return nil
		})}
		var diags diag.List
		loader.Load(dir, loader.Options{Jobs: 1, Disk: d}, &diags)
		if !maps.Equal(got, c.want) || !diags.Empty() {
			t.Errorf("%s: found %v, expected %v; %v", c.name, got, c.want, diags.Sorted())
		}
	}
}
