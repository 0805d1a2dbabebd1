// Package schema contains JSON Schemas of the files of a site, for editors.
package schema

import (
	"embed"
	"fmt"

	"bindc/diag"
)

// Names returns the names of the schemas. Each is named after its file.
func Names() []string { return []string{"binder_config", "bindings", "hiera"} }

//go:embed *.json
var files embed.FS

// Named returns the text of a schema.
func Named(name string) ([]byte, error) {
	for _, known := range Names() {
		if name == known {
			return files.ReadFile(name + ".json")
		}
	}
	message := fmt.Sprintf("unknown schema '%s'; expected one of %s", name, diag.Quoted(Names()))
	if hint := diag.DidYouMean(name, Names()); hint != "" {
		message += "; " + hint
	}
	return nil, fmt.Errorf("%s", message)
}
