package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	bindings "bindc/runtime"
)

var renderings = []string{"s", "json", "yaml"}

func checkRendering(name string) error {
	if !slices.Contains(renderings, name) {
		return fmt.Errorf("--render-as: expected one of %s, found '%s'", strings.Join(renderings, ", "), name)
	}
	return nil
}

type lookupFlags struct {
	source
	typ      string
	fallback string
	hasDef   bool
	render   string
}

func lookupCommand() *cobra.Command {
	var f lookupFlags
	cmd := &cobra.Command{
		Use:     "lookup KEY...",
		Short:   "Look keys up for a node",
		Example: "  bindq lookup ntp::servers -s site.bsnap --facts web1.json --environment staging\n  bindq lookup ntp::port -s site.bsnap --node web1.example.com --fact os.family=Debian --type Integer",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, keys []string) error {
			f.hasDef = cmd.Flags().Changed("default")
			return f.run(cmd, keys)
		},
	}
	f.addRequest(cmd)
	cmd.Flags().StringVar(&f.typ, "type", "", "type the value must have, as 'Array[String]'")
	cmd.Flags().StringVar(&f.fallback, "default", "", "answer where a key is not found: JSON, else text")
	cmd.Flags().StringVar(&f.render, "render-as", "s", "how to print the answer: "+strings.Join(renderings, ", "))
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
	_, r, err := f.request(cmd)
	if err != nil {
		return err
	}
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
			answers = append(answers, entry{key, v})
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
	if !found && f.hasDef {
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

func printValue(w io.Writer, render string, v bindings.Value) error {
	switch {
	case render == "yaml":
		return writeYAML(w, v)
	case render == "s" && v.Kind() == bindings.String:
		_, err := fmt.Fprintln(w, v.Text())
		return err
	}
	text, err := v.MarshalJSON() // json.Marshal would escape it for HTML
	if err != nil {
		return err
	}
	return writeJSON(w, text, render == "s")
}

// entry and hash are answers in the order they were asked for.
type entry struct {
	key string
	v   bindings.Value
}
type hash []entry

func printHash(w io.Writer, render string, h hash) error {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, e := range h {
		key, err := json.Marshal(e.key)
		if err != nil {
			return err
		}
		val, err := e.v.MarshalJSON()
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(append(append(key, ':'), val...))
	}
	out.WriteByte('}')
	if render == "yaml" {
		v, err := bindings.ParseJSON(out.Bytes())
		if err != nil {
			return err
		}
		return writeYAML(w, v)
	}
	return writeJSON(w, out.Bytes(), render == "s")
}

func writeJSON(w io.Writer, text []byte, indent bool) error {
	var out bytes.Buffer
	if indent {
		if err := json.Indent(&out, text, "", "  "); err != nil {
			return err
		}
	} else {
		out.Write(text)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

func dumpCommand() *cobra.Command {
	var f lookupFlags
	var prefix string
	cmd := &cobra.Command{
		Use:     "dump",
		Short:   "Print every key of a node with its value",
		Example: "  bindq dump -s site.bsnap --facts web1.json --prefix ntp::",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.dump(cmd, prefix)
		},
	}
	f.addRequest(cmd)
	cmd.Flags().StringVar(&prefix, "prefix", "", "only keys that begin with this")
	cmd.Flags().StringVar(&f.render, "render-as", "json", "how to print the answer: json, yaml, or s for indented JSON")
	return cmd
}

// redacted stands for a sensitive value where nobody asked for that key.
const redacted = "Sensitive [value redacted]"

func (f *lookupFlags) dump(cmd *cobra.Command, prefix string) error {
	if err := checkRendering(f.render); err != nil {
		return err
	}
	snap, r, err := f.request(cmd)
	if err != nil {
		return err
	}
	answers := hash{}
	var failed error
	for _, key := range sortedKeys(snap, prefix) {
		v, found, err := r.Lookup(key)
		if err != nil { // the other keys are printed all the same
			failed = withKey(key, err)
			fmt.Fprintln(cmd.ErrOrStderr(), "bindq:", message(failed))
			continue
		}
		if v.Sensitive() {
			v, _ = bindings.ValueOf(redacted)
		}
		if found {
			answers = append(answers, entry{key, v})
		}
	}
	if err := printHash(cmd.OutOrStdout(), f.render, answers); err != nil || failed == nil {
		return err
	}
	return errReported
}

func sortedKeys(snap *bindings.Snapshot, prefix string) []string {
	var out []string
	for key := range snap.File().Keys() {
		if strings.HasPrefix(key, prefix) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
