package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/internal/report"
	bindings "bindc/runtime"
)

type lookupFlags struct {
	source
	typ         string
	fallback    string
	hasFallback bool
	output
	merge string

	why, every    bool // values of --explain and --all
	showSensitive bool
}

func (g *globals) lookupCommand() *cobra.Command {
	f := lookupFlags{source: source{globals: g}}
	cmd := &cobra.Command{
		Use:   "lookup KEY...",
		Short: "Look up keys for a node",
		Long: "lookup prints the winning value for the node. --explain adds the reason; --all\n" +
			"prints every value bound for the node, highest precedence first. As text, the\n" +
			"value of a single key is printed alone; other formats are a hash of the keys\n" +
			"that are found.\n\n" +
			"Exit status: 0 found, 1 not found, 2 on an error.",
		Example: "  bindq lookup ntp::package -s site.snap --facts web1.json --explain\n" +
			"  bindq lookup ntp::package -s site.snap --fact osfamily=Debian --type String",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, keys []string) error {
			f.hasFallback = cmd.Flags().Changed("default")
			return f.run(cmd, keys)
		},
	}
	f.addRequest(cmd)
	cmd.Flags().StringVar(&f.typ, "type", "", "`TYPE` that the value must have, such as 'Array[String]'")
	cmd.Flags().StringVar(&f.fallback, "default", "", "`VALUE` to return if a key is not found: JSON or text")
	cli.AllowEmpty(cmd, "default")
	f.output.add(cmd, "text")
	f.completeKeys(cmd, math.MaxInt)
	cmd.Flags().StringVar(&f.merge, "merge", "",
		"merge with `STRATEGY` instead of lookup_options: first, unique, hash, deep, or JSON with options")
	cli.Words(cmd, "merge", []string{"first", "unique", "hash", "deep"})
	cmd.Flags().BoolVar(&f.why, "explain", false, "also explain the answer, as the verb explain does")
	cmd.Flags().BoolVar(&f.every, "all", false,
		"print all values bound for the node, including hidden ones, highest precedence first")
	cmd.Flags().BoolVar(&f.showSensitive, "show-sensitive", false, "show sensitive values with --explain and --all")
	cmd.MarkFlagsMutuallyExclusive("explain", "merge")
	cmd.MarkFlagsMutuallyExclusive("all", "merge")
	return cmd
}

func (g *globals) explainCommand() *cobra.Command {
	f := lookupFlags{source: source{globals: g}, why: true}
	cmd := &cobra.Command{
		Use:   "explain KEY...",
		Short: "Explain where the value of a key comes from",
		Long: "explain looks up keys for the node. It prints the binding that wins, with its\n" +
			"position and condition, the bindings that it hides, and the lookups made to\n" +
			"compute the value. Bindings for other requests are only counted; --all shows\n" +
			"each.\n\n" +
			"Exit status: 0 found, 1 not found, 2 on an error.",
		Example: "  bindq explain ntp::package -s site.snap --facts web1.json",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, keys []string) error { return f.run(cmd, keys) },
	}
	f.addRequest(cmd)
	f.output.add(cmd, "text")
	f.completeKeys(cmd, math.MaxInt)
	cmd.Flags().BoolVar(&f.every, "all", false, "also show the bindings for other requests")
	cmd.Flags().BoolVar(&f.showSensitive, "show-sensitive", false, "show sensitive values")
	return cmd
}

func (f *lookupFlags) run(cmd *cobra.Command, keys []string) error {
	var typ *bindings.Type
	if f.typ != "" {
		var err error
		if typ, err = bindings.ParseType(f.typ); err != nil {
			return fmt.Errorf("--type: %w", err)
		}
	}
	return f.request(cmd, func(snap *lookup.Snapshot, r *lookup.Request) error {
		if f.merge != "" && !snap.Hiera() {
			note(cmd, "--merge has no effect: it applies only to Hiera 5 data, and the snapshot has none")
		}
		if err := f.checkDoubts(cmd, r, keys, f.merging()); err != nil {
			return err
		}
		missing, err := f.answer(cmd, r, keys, typ)
		if err != nil || len(missing) == 0 {
			return err
		}
		sayMissing(cmd, snap, missing, len(keys))
		return errNotFound
	})
}

// merging returns a function that looks up a key with the merge in the flags, or nil if the flags set no merge.
func (f *lookupFlags) merging() merging {
	switch {
	case f.every:
		return func(r *lookup.Request, key string) { r.Effective(key) }
	case f.merge != "" && f.merge != "first":
		return func(r *lookup.Request, key string) { f.lookUp(r, key) }
	}
	return nil
}

// answer prints the answers, and returns the keys that were not found.
func (f *lookupFlags) answer(cmd *cobra.Command, r *lookup.Request, keys []string, typ *bindings.Type) (
	missing []string, err error) {
	several := len(keys) > 1
	keys = distinct(keys)
	switch {
	case f.why:
		err = f.explain(cmd.OutOrStdout(), r, keys)
	case f.every:
		err = f.printAll(cmd.OutOrStdout(), r, keys)
	}
	if err != nil {
		return nil, err
	}
	answers := hash{}
	for _, key := range keys {
		v, found, err := f.lookUpOne(r, key, typ)
		if err != nil {
			return nil, err
		}
		if !found {
			missing = append(missing, key)
			continue
		}
		answers = append(answers, entry{key, v.Reveal()}) // the user named this key, so a sensitive value is shown
	}
	if !f.why && !f.every {
		err = f.print(cmd.OutOrStdout(), several, answers)
	}
	return missing, err
}

func distinct(keys []string) []string {
	var out []string
	for _, key := range keys {
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

func note(cmd *cobra.Command, text string) { say(cmd, "note: "+text) }

// say prints text to standard error. It makes control characters visible, so that they cannot harm a terminal.
func say(cmd *cobra.Command, text string) {
	fmt.Fprintln(cmd.ErrOrStderr(), "bindq:", diag.Visible(text))
}

// sayMissing prints the keys that were not found, with hints where possible. asked is the number of keys in the
// arguments.
func sayMissing(cmd *cobra.Command, snap *lookup.Snapshot, missing []string, asked int) {
	known := sortedKeys(snap, "")
	for _, key := range missing {
		_, bound := slices.BinarySearch(known, key)
		hint := ""
		switch {
		case bound:
			hint = "none of its bindings applies to this node ('bindq values " + key + "' lists them, and " +
				"--explain shows why)"
		case strings.Contains(key, "="): // the old hiera program accepted variables as NAME=VALUE
			hint = "for a fact, write --fact " + strings.TrimPrefix(key, "::")
		default:
			if hint = diag.DidYouMean(key, known); hint == "" && asked == 1 {
				hint = unboundHint(snap, known, key)
			}
		}
		text := key + ": not found"
		if hint != "" {
			text += "; " + hint
		}
		say(cmd, text)
	}
}

// unboundHint explains why a key that nothing binds is not found. If the key has dots, its root may be bound.
func unboundHint(snap *lookup.Snapshot, known []string, key string) string {
	const unbound = "nothing binds this key"
	root, path, dotted := strings.Cut(key, ".")
	_, bound := slices.BinarySearch(known, root)
	switch {
	case !dotted || !bound:
		return unbound
	case snap.Hiera():
		return "'" + root + "' is bound, but its value for this node has nothing at '" + path + "'"
	}
	return unbound + "; '" + root + "' is bound, but dots dig into values only in a Hiera 5 site"
}

// lookUpOne looks up one key. If the key is not found, the value of --default counts as found.
func (f *lookupFlags) lookUpOne(r *lookup.Request, key string, typ *bindings.Type) (bindings.Value, bool, error) {
	v, found, err := f.lookUp(r, key)
	if err != nil {
		return v, false, withKey(key, err)
	}
	if !found && f.hasFallback {
		v, found = report.ParseValue(f.fallback), true
	}
	if found && typ != nil {
		err = v.Check(typ)
	}
	return v, found, withKey(key, err)
}

// lookUp looks up key, with the strategy of --merge if that is set.
func (f *lookupFlags) lookUp(r *lookup.Request, key string) (bindings.Value, bool, error) {
	if f.merge == "" {
		v, found, err := r.Lookup(key)
		return bindings.Value(v), found, err
	}
	v, found, err := r.LookupMerged(key, lookup.Value(report.ParseValue(f.merge)))
	return bindings.Value(v), found, err
}

// withKey adds the key to err if err is a *bindings.Error.
func withKey(key string, err error) error {
	if e, ok := err.(*bindings.Error); ok {
		named := *e
		named.Key = key
		return &named
	}
	return err
}

// print prints the answers as a hash. As text, or with --render-as, it prints only the value of a single key.
func (f *lookupFlags) print(w io.Writer, several bool, answers hash) error {
	if !several && (f.bare || f.format == "text") {
		if len(answers) == 0 {
			return nil
		}
		return withKey(answers[0].key, printValue(w, f.format, answers[0].v))
	}
	return printHash(w, f.format, answers)
}
