// Package schema contains JSON Schemas for the files of a site. Editors use them for completion and validation.
package schema

import (
	"embed"
	"fmt"

	"bindc/diag"
)

// Names returns the names of all schemas. A schema has the name of the file, or of the directory of
// the files, that it describes.
func Names() []string { return []string{"binder_config", "bindings", "hiera", "policies", "tests"} }

//go:embed *.json
var files embed.FS

// Named returns the JSON Schema with the given name. An unknown name is an error that suggests a
// similar one.
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
