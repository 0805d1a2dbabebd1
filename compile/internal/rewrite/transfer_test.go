package rewrite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/loader"
)

// The number of transferred parameters can be the product of the numbers of targets and parameters.
func TestEffortLimitsTransferredParameters(t *testing.T) {
	dir := t.TempDir()
	var entries string
	for i := range 100 {
		entries += fmt.Sprintf("p%d: 1, ", i)
	}
	text := "{bindings_version: 1, name: default, bind: [{parameters: Sql, to: {" + entries + "}},\n" +
		"{parameters: Web, to: {" + entries + "}}, {parameters: 'Web[one]', to: Sql}]}"
	file := filepath.Join(dir, "bindings", "default.yaml")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	e := pass.NewEnv(site, false, 1000, &diags)
	if n := len(transferParameters(e, place.Bindings(site, place.RankConditions(site)))); n == 0 || n > 20 {
		t.Errorf("%d of a hundred parameters are bound", n)
	}
}
