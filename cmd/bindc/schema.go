package main

import (
	"embed"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"bindc/diag"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema NAME",
		Short: "Print the JSON Schema of a kind of file, for editors",
		Long: "schema prints the JSON Schema (draft 7) of binder_config.yaml, of hiera.yaml\n" +
			"(version 2), or of a file of structured bindings, of policies or of tests. An\n" +
			"editor with a YAML language server, such as VS Code with its YAML extension,\n" +
			"then completes and checks such a file as you type. The first line of the file\n" +
			"names the schema, with a path relative to the file:\n\n" +
			"  # yaml-language-server: $schema=bindings.schema.json\n\n" +
			"Exit status: 0, or 2 if there is no such schema.",
		Example:   "  bindc schema bindings > bindings.schema.json",
		Args:      cobra.ExactArgs(1),
		ValidArgs: schemaNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := schemaNamed(args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}

// schemaNames returns the names of all JSON Schemas. A schema has the name of the file, or of the directory of the
// files, that it describes.
func schemaNames() []string {
	return []string{"binder_config", "bindings", "hiera", "policies", "tests"}
}

//go:embed schemas/*.json
var schemaFiles embed.FS

// schemaNamed returns the JSON Schema with the given name. An unknown name is an error that suggests a similar one.
func schemaNamed(name string) ([]byte, error) {
	if slices.Contains(schemaNames(), name) {
		return schemaFiles.ReadFile("schemas/" + name + ".json")
	}
	message := fmt.Sprintf("unknown schema '%s'; expected one of %s", name, diag.Quoted(schemaNames()))
	if hint := diag.DidYouMean(name, schemaNames()); hint != "" {
		message += "; " + hint
	}
	return nil, errors.New(message)
}
