package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"bindc/diag"
)

// programOf maps verbs to the programs that have them. It is used for the error message if a user
// calls a verb of the wrong program.
var programOf = map[string]string{
	"adopt":        "bindc",
	"blame":        "bindc",
	"build":        "bindc",
	"check":        "bindc",
	"convert":      "bindc",
	"enc":          "bindc",
	"environments": "bindc",
	"explore":      "bindc",
	"eyaml":        "bindc",
	"facts":        "bindc",
	"fmt":          "bindc",
	"init":         "bindc",
	"link":         "bindc",
	"lsp":          "bindc",
	"migrate":      "bindc",
	"plan":         "bindc",
	"push":         "bindc",
	"schema":       "bindc",
	"slice":        "bindc",
	"test":         "bindc",

	"batch":        "bindq",
	"diff":         "bindq",
	"dump":         "bindq",
	"explain":      "bindq",
	"hiera-config": "bindq",
	"info":         "bindq",
	"keys":         "bindq",
	"lookup":       "bindq",
	"nodes":        "bindq",
	"serve":        "bindq",
	"values":       "bindq",
	"verify":       "bindq",

	"activate": "bindsync",
	"follow":   "bindsync",
	"gc":       "bindsync",
	"pull":     "bindsync",
	"reset":    "bindsync",
	"rollback": "bindsync",
	"status":   "bindsync",
}

// commandOf maps verbs of kubectl, git, hiera and r10k that users might try to our commands. If one
// of our programs precedes the verb, the entry applies only to that program.
var commandOf = map[string]string{
	"validate": "bindc check CONFDIR", "lint": "bindc check CONFDIR --lint",
	"compile": "bindc build CONFDIR -o FILE", "log": "bindc blame KEY", "who": "bindc blame KEY",
	"show": "bindc plan COMMIT^!", "preview": "bindc plan", "encrypt": "bindc eyaml encrypt",

	"get": "bindq lookup KEY", "query": "bindq lookup KEY", "why": "bindq explain KEY", "describe": "bindq explain KEY",
	"search": "bindq values KEY VALUE", "find": "bindq values KEY VALUE", "list": "bindq keys", "ls": "bindq keys",

	"deploy": "bindsync pull SOURCE --name NAME", "fetch": "bindsync pull SOURCE --name NAME",
	"undo": "bindsync rollback NAME", "revert": "bindsync rollback NAME", "history": "bindsync status --history",
	"switch": "bindsync activate NAME DIGEST", "use": "bindsync activate NAME DIGEST",
	"bindsync list": "bindsync status", "bindsync ls": "bindsync status", "bindsync show": "bindsync status",
	"bindsync log": "bindsync status --history",
}

// suggestVerb returns an error for an unknown verb. It suggests a similar verb if there is one.
func suggestVerb(parent *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, verb := range parent.Commands() {
		names = append(names, verb.Name())
	}
	if program := programOf[args[0]]; program != "" && !parent.HasParent() {
		return fmt.Errorf("'%s' is a verb of %s: run '%s %s'", args[0], program, program, args[0])
	}
	if run := cmp.Or(commandOf[parent.Name()+" "+args[0]], commandOf[args[0]]); run != "" && !parent.HasParent() {
		return fmt.Errorf("unknown verb '%s'; run '%s'", args[0], run)
	}
	if hint := diag.DidYouMean(args[0], names); hint != "" {
		return fmt.Errorf("unknown verb '%s'; %s", args[0], hint)
	}
	return fmt.Errorf("unknown verb '%s' (see %s --help)", args[0], parent.CommandPath())
}
