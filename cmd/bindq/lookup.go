package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	bindings "bindc/runtime"
)

// lookupFlags are the flags of bindq lookup.
type lookupFlags struct {
	source
	typ         string
	fallback    string
	hasFallback bool
	render      string
}

func lookupCommand() *cobra.Command {
	var f lookupFlags
	cmd := &cobra.Command{
		Use:     "lookup KEY...",
		Short:   "Look keys up for a node",
		Example: "  bindq lookup ntp::servers -s site.bsnap --facts web1.json --environment staging\n  bindq lookup ntp::port -s site.bsnap --node web1.example.com --fact os.family=Debian --type Integer",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, keys []string) error {
			f.hasFallback = cmd.Flags().Changed("default")
			return f.run(cmd, keys)
		},
	}
	f.addRequest(cmd)
	cmd.Flags().StringVar(&f.typ, "type", "", "`TYPE` the value must have, as 'Array[String]'")
	cmd.Flags().StringVar(&f.fallback, "default", "", "`VALUE` to answer where a key is not found: JSON, else text")
	cmd.Flags().StringVar(&f.render, "render-as", "s", "`FORM` to print the answer in: "+strings.Join(renderings, ", "))
	return cmd
}

func (f *lookupFlags) run(cmd *cobra.Command, keys []string) error {
	if err := checkRendering(f.render); err != nil {
		return err
	}
	var typ *bindings.Type
	if f.typ != "" {
		var err error
		if typ, err = bindings.ParseType(f.typ); err != nil {
			return fmt.Errorf("--type: %w", err)
		}
	}
	snap, r, err := f.request(cmd)
	if err != nil {
		return err
	}
	return snap.Guard(func() error { return f.answer(cmd, r, keys, typ) })
}

func (f *lookupFlags) answer(cmd *cobra.Command, r *bindings.Request, keys []string, typ *bindings.Type) error {
	answers := hash{}
	all := true
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			continue
		}
		v, found, err := f.one(r, key, typ)
		if err != nil {
			return err
		}
		if all = all && found; found {
			answers = append(answers, entry{key, v.Reveal()}) // which was asked for
		}
	}
	if err := f.print(cmd.OutOrStdout(), keys, answers); err != nil {
		return err
	}
	if !all {
		return errNotFound
	}
	return nil
}

// one looks one key up; a default counts as found.
func (f *lookupFlags) one(r *bindings.Request, key string, typ *bindings.Type) (bindings.Value, bool, error) {
	v, found, err := r.Lookup(key)
	if err != nil {
		return v, false, withKey(key, err)
	}
	if !found && f.hasFallback {
		v, found = defaultValue(f.fallback), true
	}
	if found && typ != nil {
		err = v.Check(typ)
	}
	return v, found, withKey(key, err)
}

// withKey names the key that was asked for in an error of a lookup.
func withKey(key string, err error) error {
	if e, ok := err.(*bindings.Error); ok {
		named := *e
		named.Key = key
		return &named
	}
	return err
}

func defaultValue(text string) bindings.Value {
	v, err := bindings.ParseJSON([]byte(text))
	if err != nil {
		v, _ = bindings.ValueOf(text)
	}
	return v
}

// print shows the answer: the value of one key, or an object of several.
func (f *lookupFlags) print(w io.Writer, keys []string, answers hash) error {
	if len(keys) == 1 {
		if len(answers) == 0 {
			return nil
		}
		return printValue(w, f.render, answers[0].v)
	}
	return printHash(w, f.render, answers)
}
