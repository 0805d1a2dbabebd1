package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bindc/diag"
)

// advice says what to use instead of a flag of another program.
type advice struct {
	flag string // our flag for the same purpose; "" if a verb replaces it
	text string
}

var (
	asFormat  = advice{"format", "write --format FORM"}
	asJSON    = advice{"format", "write --format json"}
	asYAML    = advice{"format", "write --format yaml"}
	asExplain = advice{"", "run 'bindq explain KEY'"}
	asLookup  = advice{"", "only 'bindq lookup' has it"}
	asFacts   = advice{"facts", "write --facts FILE"}
	asDir     = advice{"facts-dir", "write --facts-dir DIR"}
	asUnique  = advice{"merge", "write --merge unique"}
	asHash    = advice{"merge", "write --merge hash"}
	asNode    = advice{"node", "write --node NAME"}
)

// foreign lists flags of kubectl, puppet lookup and hiera that users might try. One-letter flags
// are without their dash.
var foreign = map[string]advice{
	"json": asJSON, "yaml": asYAML, "o": asFormat, "output": asFormat, "f": asFormat, "render-as": asFormat,

	"n": asNode, "certname": asNode, "host": asNode, "nodes": asDir, "inventory": asDir,
	"C": {"site", "write --site DIR after the verb"},

	// for puppet lookup
	"explain": asExplain, "explain-options": asExplain, "merge": asLookup, "default": asLookup, "type": asLookup,
	"facts":              asDir,
	"knock-out-prefix":   {"merge", `write --merge '{"strategy": "deep", "knockout_prefix": PREFIX}'`},
	"sort-merged-arrays": {"merge", `write --merge '{"strategy": "deep", "sort_merged_arrays": true}'`},
	"merge-hash-arrays":  {"merge", `write --merge '{"strategy": "deep", "merge_hash_arrays": true}'`},
	"compile":            {"var", "write --var NAME=TEXT for each variable of a manifest that data uses"},

	// for hiera
	"c": {"snapshot", "write -s FILE, the snapshot"}, "config": {"snapshot", "write -s FILE, the snapshot"},
	"d": asExplain, "debug": asExplain, "a": asUnique, "array": asUnique, "hash": asHash, "y": asFacts, "j": asFacts,
	"i": asDir, "inventory-service": asDir,
}

// advise returns advice about an unknown flag, or "". It never suggests a flag that the verb does
// not have.
func advise(cmd *cobra.Command, name, asWritten string) string {
	to := foreign[name]
	if to.flag != "" && cmd.Flags().Lookup(to.flag) == nil {
		return ""
	}
	if to == asFormat && (asWritten == "-ojson" || asWritten == "-oyaml") {
		return "write --format " + asWritten[len("-o"):]
	}
	return to.text
}

// suggestFlag rewrites cobra's error about a flag. It suggests a similar flag if there is one.
func suggestFlag(cmd *cobra.Command, err error) error {
	if !cmd.HasParent() && cmd.Flags().NArg() > 0 { // the error is about the unknown verb before the flag
		return suggestVerb(cmd, cmd.Flags().Args())
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return unknownFlag(cmd, unknown)
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = fmt.Errorf("--%s: %w, found '%s'", invalid.GetFlag().Name, expectedOf(invalid), invalid.GetValue())
	}
	return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
}

// expectedOf returns an error that describes valid values of a flag. It replaces the errors of packages strconv and
// time, which pflag passes on.
func expectedOf(invalid *pflag.InvalidValueError) error {
	switch invalid.GetFlag().Value.Type() {
	case "duration":
		return errors.New("expected a time such as 30s or 5m")
	case "int", "int64":
		return errors.New("expected a whole number")
	}
	return invalid.Unwrap()
}

func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name := unknown.GetSpecifiedName()
	written, hint := "--"+name, ""
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		written = "-" + letters
	} else {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		hint = diag.DidYouMean(written, names)
	}
	if better := advise(cmd, name, written); better != "" {
		hint = better
	}
	if hint != "" {
		return fmt.Errorf("unknown flag: %s; %s", written, hint)
	}
	return fmt.Errorf("unknown flag: %s (see %s --help)", written, cmd.CommandPath())
}

// plain returns a plainer error if err is cobra's error for flags that exclude each other, and otherwise err.
func plain(err error) error {
	_, rest, isExclusive := strings.Cut(err.Error(), " are set none of the others can be; [")
	if !isExclusive || !strings.HasPrefix(err.Error(), "if any flags in the group [") {
		return err
	}
	names, _, _ := strings.Cut(rest, "]")
	return errors.New("expected only one of --" + strings.Join(strings.Fields(names), " and --"))
}
