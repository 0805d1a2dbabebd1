package main

import (
	"github.com/spf13/cobra"

	"bindc/internal/schema"
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
		ValidArgs: schema.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := schema.Named(args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}
