// Package schema holds JSON Schemas of the files of a site, for editors.
package schema

import (
	"embed"
	"fmt"

	"bindc/diag"
)

// Names are the schemas there are, each named after the file it is for.
func Names() []string { return []string{"binder_config", "bindings", "hiera"} }

//go:embed *.json
var files embed.FS

// Named is the text of a schema.
func Named(name string) ([]byte, error) {
	for _, known := range Names() {
		if name == known {
			return files.ReadFile(name + ".json")
		}
	}
	message := fmt.Sprintf("there is no schema '%s'; expected one of %s", name, diag.Quoted(Names()))
	if hint := diag.DidYouMean(name, Names()); hint != "" {
		message += "; " + hint
	}
	return nil, fmt.Errorf("%s", message)
}
