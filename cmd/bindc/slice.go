package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/report/slice"
	"bindc/internal/snapfile"
	"bindc/snapshot"
)

func sliceCommand() *cobra.Command {
	var signers snapfile.Signers
	var given string
	var when []string
	var out string
	cmd := &cobra.Command{
		Use:   "slice [FILE] --when CATEGORY=VALUE -o OUT",
		Short: "Write a snapshot that holds only the data for some requests",
		Long: "slice writes the same snapshot as 'bindc build --slice': it omits bindings,\n" +
			"values, keys and file names that only requests with another value of the\n" +
			"category can reach. Requests with that value get the same answers as before;\n" +
			"others are refused. Encrypted values stay encrypted. OUT is not signed, because\n" +
			"the signature covers the whole snapshot.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindc slice -s site.snap --when environment=production -o part.snap",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := snapshotOf(args, given)
			if err != nil {
				return err
			}
			return signers.UseCopy(path, func(f *snapshot.Snapshot) error {
				written, err := writeSlice(f, when, out)
				if err == nil {
					for _, doubt := range written.doubts {
						fmt.Fprintln(cmd.ErrOrStderr(), "bindc: note: --when:", diag.Visible(doubt))
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %d bytes, sha256 %x\n", diag.Visible(out),
						diag.Count(written.bindings, "binding"), written.Size, written.Sum)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&given, "snapshot", "s", "", "`FILE` of the snapshot (default $BINDQ_SNAPSHOT)")
	signers.AddFlags(cmd.Flags())
	cmd.Flags().StringArrayVar(&when, "when", nil, "`CATEGORY=VALUE` that requests have (repeatable)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write")
	cli.Required(cmd, "output")
	cli.Required(cmd, "when")
	completeWhen(cmd, func(args []string) (string, error) { return snapshotOf(args, given) })
	return cmd
}

// completeWhen completes --when from the snapshot: first a category with '=', and then a value that conditions compare
// with the category.
func completeWhen(cmd *cobra.Command, path func(args []string) (string, error)) {
	err := cmd.RegisterFlagCompletionFunc("when", func(_ *cobra.Command, args []string, typed string) (
		words []string, how cobra.ShellCompDirective) {
		file, err := path(args)
		if err == nil {
			err = snapfile.Use(file, func(f *snapshot.Snapshot) error {
				words = wordsOfWhen(f, typed)
				return nil
			})
		}
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		if !strings.Contains(typed, "=") {
			how = cobra.ShellCompDirectiveNoSpace
		}
		return words, how | cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // only if the flag does not exist
	}
}

func wordsOfWhen(f *snapshot.Snapshot, typed string) (words []string) {
	name, _, hasValue := strings.Cut(typed, "=")
	for i, d := range f.Dimensions() {
		if d.Guard {
			continue
		}
		if !hasValue {
			words = append(words, strings.Clone(d.Name)+"=")
		} else if d.Name == name {
			for value := range f.ValuesOf(i) {
				words = append(words, name+"="+value)
			}
		}
	}
	return slices.DeleteFunc(words, func(word string) bool {
		return !strings.HasPrefix(word, typed) || diag.Visible(word) != word
	})
}

// snapshotOf returns the snapshot's path: the argument, the value of -s, or $BINDQ_SNAPSHOT.
func snapshotOf(args []string, given string) (string, error) {
	if len(args) > 0 && given != "" {
		return "", fmt.Errorf("expected one snapshot, found '%s' in addition to -s '%s'", args[0], given)
	}
	path := cmp.Or(append(args, given, os.Getenv("BINDQ_SNAPSHOT"))...)
	if path == "" {
		return "", errors.New("expected -s FILE, the snapshot, or BINDQ_SNAPSHOT in the environment")
	}
	return path, nil
}

type part struct {
	snapshot.Written
	bindings int
	doubts   []string
}

// writeSlice writes to out the data of f that requests with the given category values can reach.
func writeSlice(f *snapshot.Snapshot, when []string, out string) (part, error) {
	terms, err := slice.Parse(f.Dimensions(), when)
	if err != nil {
		return part{}, fmt.Errorf("--when: %w", err)
	}
	if err := snapfile.Verify(f); err != nil {
		return part{}, err
	}
	content, err := f.Content()
	if err != nil {
		return part{}, err
	}
	doubts := slice.Misspelt(content, terms)
	before := content.Bindings
	if err := slice.Cut(content, terms); err != nil {
		return part{}, err
	}
	if before > 0 && content.Bindings == 0 {
		return part{}, fmt.Errorf("--when %s: the slice would have no bindings", strings.Join(when, " --when "))
	}
	if err := refuseStored(out); err != nil {
		return part{}, err
	}
	written, err := snapshot.Write(out, content)
	return part{written, content.Bindings, doubts}, err
}
