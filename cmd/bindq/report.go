package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/internal/snapfile"
	"bindc/origin"
	"bindc/snapshot"
)

func keysCommand() *cobra.Command {
	var s source
	var prefix string
	cmd := &cobra.Command{
		Use:     "keys [FILE]",
		Short:   "List the keys of a snapshot",
		Long:    "keys prints all keys, sorted, one per line.\n\nExit status: 0, or 2 an error.",
		Example: "  bindq keys -s site.bsnap --prefix ntp::",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.only(args)
			if err != nil {
				return err
			}
			return s.ask(path, func(snap *lookup.Snapshot) error {
				out := bufio.NewWriter(cmd.OutOrStdout())
				keys := sortedKeys(snap, prefix)
				notePrefix(cmd, snap, prefix, len(keys))
				for _, key := range keys {
					fmt.Fprintln(out, diag.Visible(key)) // one line a key, whatever is in it; an error is that of Flush
				}
				return out.Flush()
			})
		},
	}
	s.addSnapshot(cmd)
	cmd.Flags().StringVar(&prefix, "prefix", "", "only keys that begin with `TEXT`")
	cli.AllowEmpty(cmd, "prefix")
	s.completePrefix(cmd)
	return cmd
}

// notePrefix prints a note if no key begins with prefix. It suggests the start of a key up to a '::'.
func notePrefix(cmd *cobra.Command, snap *lookup.Snapshot, prefix string, n int) {
	if n > 0 || prefix == "" {
		return
	}
	starts := map[string]bool{}
	for key := range snap.Keys() {
		for i := 0; ; {
			next := strings.Index(key[i:], "::")
			if next < 0 {
				break
			}
			i += next + len("::")
			starts[key[:i]] = true
		}
	}
	text := "no key begins with '" + prefix + "'"
	if hint := diag.DidYouMean(prefix, slices.Sorted(maps.Keys(starts))); hint != "" {
		text += "; " + hint
	}
	note(cmd, text)
}

// sortedKeys are the keys that begin with prefix.
func sortedKeys(snap *lookup.Snapshot, prefix string) []string {
	var out []string
	for key := range snap.Keys() {
		if strings.HasPrefix(key, prefix) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

func verifyCommand() *cobra.Command {
	var s source
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check a snapshot from end to end, and who signed it",
		Long: "verify checks every checksum and every reference in a snapshot, and with\n" +
			"--allowed-signers who signed it.\n\n" +
			"Exit status: 0 sound, 1 a signature is refused, 2 damaged, or another error.",
		Example: "  bindq verify site.bsnap",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.only(args)
			if err != nil {
				return err
			}
			policy, err := s.signers.Policy()
			if err != nil {
				return err
			}
			return snapfile.Use(path, func(f *snapshot.Snapshot) error {
				return verifyFile(cmd.OutOrStdout(), path, f, policy)
			})
		},
	}
	s.addSnapshot(cmd)
	return cmd
}

// verifyFile says that a snapshot is sound, and where it comes from if there is a policy.
func verifyFile(out io.Writer, path string, f *snapshot.Snapshot, policy *origin.Policy) (err error) {
	var from origin.Origin
	sum := f.Sum()
	if policy != nil {
		if from, err = policy.Check(path, sum); err != nil {
			return err
		}
	}
	if err := snapfile.Verify(f); err != nil {
		return err
	}
	in := f.Info()
	text := fmt.Sprintf("%s: sound, %s, %d bytes, sha256 %x\n",
		diag.Visible(path), diag.Count(in.Keys, "key"), in.Size, sum)
	if policy != nil {
		text += fmt.Sprintf("signed by %s (%s): '%s', revision '%s', %s\n", diag.Visible(from.Signer), from.Key,
			diag.Visible(from.Name), diag.Visible(from.Revision), from.Created.Format(time.RFC3339))
	}
	_, err = io.WriteString(out, text)
	return err
}

func infoCommand() *cobra.Command {
	var s source
	var dump, reveal bool
	cmd := &cobra.Command{
		Use:   "info [FILE]",
		Short: "Say what a snapshot is and what is in it",
		Long: "info prints the format, SHA-256 and counts of a snapshot, its categories,\n" +
			"layers, sections and their sizes, and the files it was made from. 'content' is\n" +
			"the SHA-256 in its header, of all behind that: the digest of bindq serve.\n\n" +
			"Exit status: 0, or 2 an error.",
		Example: "  bindq info site.bsnap",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.only(args)
			if err != nil {
				return err
			}
			return s.signers.Use(path, func(f *snapshot.Snapshot) error {
				if dump {
					text := describeRecipe
					if reveal {
						text = revealRecipe
					}
					return f.Dump(cmd.OutOrStdout(), text, describeProgram)
				}
				return info(cmd.OutOrStdout(), f)
			})
		},
	}
	s.addSnapshot(cmd)
	cmd.Flags().BoolVar(&dump, "dump", false,
		"show every record instead: its offset, its bytes and their meaning")
	addShowSensitive(cmd, &reveal)
	return cmd
}

// info prints what f is.
func info(out io.Writer, f *snapshot.Snapshot) error {
	inputs, err := f.Inputs()
	if err != nil {
		return err
	}
	secrets, err := sensitive(f)
	if err != nil {
		return err
	}
	asked, err := decision.CustomVariables(f)
	if err != nil {
		return err
	}
	return printInfo(out, f.Info(), f.Sum(), inputs, secrets, asked)
}

// sensitive says how many sensitive values there are, and how they are kept.
func sensitive(f *snapshot.Snapshot) (string, error) {
	n, ofEyaml, err := snapfile.SensitiveValues(f)
	if err != nil {
		return "", err
	}
	_, sealed := f.Seal()
	switch {
	case n == 0:
		return "no values", nil
	case sealed:
		return diag.Count(n, "value") + ", encrypted", nil
	case ofEyaml == n:
		return diag.Count(n, "value") + ", encrypted by eyaml", nil
	case ofEyaml > 0:
		return fmt.Sprintf("%s, %d encrypted by eyaml, %d in clear", diag.Count(n, "value"), ofEyaml, n-ofEyaml), nil
	}
	return diag.Count(n, "value") + ", in clear", nil
}

// paths returns the number of paths of a hierarchy entry as text, or "" if there is only one.
func paths(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d paths)", n)
}

func printInfo(out io.Writer, in snapshot.Info, sum [32]byte, inputs []snapshot.Input, secrets string,
	asked []string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "format\t%s %d\n", snapshot.Magic, in.Version)
	fmt.Fprintf(w, "sha256\t%x\n", sum)
	fmt.Fprintf(w, "content\t%s\n", in.Digest)
	fmt.Fprintf(w, "bytes\t%d\n", in.Size)
	fmt.Fprintf(w, "keys\t%d\n", in.Keys)
	fmt.Fprintf(w, "bindings\t%d\n", in.Bindings)
	fmt.Fprintf(w, "levels\t%d\n", in.Levels)
	fmt.Fprintf(w, "sensitive\t%s\n", secrets)
	for _, t := range in.Slice {
		fmt.Fprintf(w, "slice\t%s is %s\n", diag.Visible(in.Dimensions[t.Dimension].Name), diag.Visible(t.Value))
	}
	fmt.Fprintln(w, "\nlayers, highest first")
	for i := 0; i < len(in.Layers); {
		same := 1 // paths of one entry of a hierarchy
		for i+same < len(in.Layers) && in.Layers[i+same] == in.Layers[i] {
			same++
		}
		fmt.Fprintf(w, "  %s%s\n", diag.Visible(in.Layers[i]), paths(same))
		i += same
	}
	fmt.Fprintln(w, "\ncategories, highest first")
	for _, d := range in.Dimensions {
		if !d.Guard {
			fmt.Fprintf(w, "  %s\n", diag.Visible(d.Name))
		}
	}
	fmt.Fprintln(w, "  common")
	if len(asked) > 0 {
		fmt.Fprintln(w, "\nvariables asked for, of custom facts or --var")
	}
	for _, name := range asked {
		fmt.Fprintf(w, "  %s\n", diag.Visible(name))
	}
	fmt.Fprintln(w, "\nsection\toffset\tbytes")
	for _, s := range in.Sections {
		fmt.Fprintf(w, "  %s\t%d\t%d\n", s.Name, s.Offset, s.Bytes)
	}
	fmt.Fprintf(w, "\ninput files\t%d\n", len(inputs))
	for _, i := range inputs {
		fmt.Fprintf(w, "  %s\t%d\t%016x\n", diag.Visible(i.Path), i.Size, i.Hash)
	}
	return w.Flush()
}
