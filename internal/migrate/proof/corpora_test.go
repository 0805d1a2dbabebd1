package proof_test

import (
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/migrate/proof"
	"bindc/internal/testmode"
	"bindc/loader"
)

// TestMigratesRealRepositories migrates real control repositories. Most keys move.
func TestMigratesRealRepositories(t *testing.T) {
	dirs, _ := filepath.Glob("../../../shared/corpora/hiera5/*/site")
	if len(dirs) == 0 || !testmode.Thorough() {
		t.Skip("the corpora are not here, or the test is to be short")
	}
	for _, dir := range dirs {
		var diags diag.List
		site := loader.Load(dir, loader.Options{}, &diags)
		files, report, err := proof.Migrate(dir, site, proof.Options{}, &diags)
		if err != nil || files == nil {
			t.Fatal(dir, err, diags.Sorted())
		}
		t.Log(dir + "\n" + strings.Join(report.Strings(), "\n"))
		if report.Moved*4 < report.Keys || report.Answers < 10*report.Keys {
			t.Errorf("%s: %d of %d keys moved, %d answers compared", dir, report.Moved, report.Keys, report.Answers)
		}
	}
}
