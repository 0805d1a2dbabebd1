package testprograms

// The programs import these packages. go test compiles them before it runs a test that imports this package. Without
// them, the test would build the programs while go test still compiles the same packages.
import (
	_ "bindc/internal/adopt"
	_ "bindc/internal/enc"
	_ "bindc/internal/explore"
	_ "bindc/internal/fix"
	_ "bindc/internal/gate"
	_ "bindc/internal/identity"
	_ "bindc/internal/lsp"
	_ "bindc/internal/migrate/proof"
	_ "bindc/internal/puppetdb"
	_ "bindc/internal/query"
	_ "bindc/internal/report/affected"
	_ "bindc/internal/report/slice"
	_ "bindc/internal/revision"
	_ "bindc/serve"
	_ "bindc/ship/oci"
)
