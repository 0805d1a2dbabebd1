package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/proof/record"
	"bindc/internal/report/decision"
	"bindc/internal/snapfile"
	"bindc/snapshot"
)

func (g *globals) infoCommand() *cobra.Command {
	s := source{globals: g}
	var o output
	var dump, reveal bool
	cmd := &cobra.Command{
		Use:   "info [FILE]",
		Short: "Describe a snapshot and its content",
		Long: "info prints the format, SHA-256, numbers of keys and values, categories,\n" +
			"layers, sections and their sizes, and the files it was made from. 'content' is\n" +
			"the SHA-256 of everything after the header; bindq serve calls it the digest.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindq info site.snap",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.pathOrArgument(args)
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
				in, err := infoOf(f)
				if err == nil && o.format != "text" {
					err = printReport(cmd.OutOrStdout(), o.format, in)
				} else if err == nil {
					err = in.print(cmd.OutOrStdout())
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&dump, "dump", false,
		"print every record instead: its offset, its bytes and their meaning, as text")
	o.add(cmd, "text")
	cmd.MarkFlagsMutuallyExclusive("dump", "format")
	addShowSensitive(cmd, &reveal)
	cli.Needs(cmd, "dump", "show-sensitive")
	return cmd
}

// info is the output of 'bindq info'. Its lists are never null in JSON.
type info struct {
	Format     string          `json:"format"`
	Version    int             `json:"version"`
	SHA256     string          `json:"sha256"`
	Content    string          `json:"content"`
	Bytes      int             `json:"bytes"`
	Keys       int             `json:"keys"`
	Bindings   uint64          `json:"bindings"`
	Levels     int             `json:"levels"`
	Sensitive  sensitive       `json:"sensitive"`
	Slice      []sliceTerm     `json:"slice"`
	Policies   []record.Policy `json:"policies"`   // policies that were proven for all requests
	Layers     []string        `json:"layers"`     // highest first
	Categories []string        `json:"categories"` // highest first, without common
	Variables  []string        `json:"variables"`  // variables that the data uses, without those that every node has
	Sections   []infoSection   `json:"sections"`
	Inputs     []infoInput     `json:"inputs"`
}

// sensitive counts the sensitive values and describes how they are stored.
type sensitive struct {
	Values    int  `json:"values"`
	OfEyaml   int  `json:"eyaml"`     // number of values encrypted by eyaml
	Encrypted bool `json:"encrypted"` // whether --encrypt-to encrypted all sensitive values
}

// sliceTerm is a category value that all requests to a slice have.
type sliceTerm struct {
	Category string `json:"category"`
	Value    string `json:"value"`
}

type infoSection struct {
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	Bytes  uint64 `json:"bytes"`
}

type infoInput struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Hash  string `json:"xxhash64"`
}

func infoOf(f *snapshot.Snapshot) (*info, error) {
	inputs, err := f.Inputs()
	if err != nil {
		return nil, err
	}
	secrets, err := sensitiveIn(f)
	if err != nil {
		return nil, err
	}
	asked, err := decision.CustomVariables(f)
	if err != nil {
		return nil, err
	}
	proven, err := record.Read(f)
	if err != nil {
		return nil, err
	}
	in := f.Info()
	out := &info{Format: snapshot.Magic, Version: in.Version, SHA256: fmt.Sprintf("%x", f.Sum()),
		Content: fmt.Sprint(in.Digest), Bytes: in.Size, Keys: in.Keys, Bindings: in.Bindings, Levels: in.Levels,
		Sensitive: secrets, Slice: []sliceTerm{},
		Policies: append([]record.Policy{}, proven...),
		Layers:   append([]string{}, in.Layers...), Categories: []string{},
		Variables: append([]string{}, asked...), Sections: []infoSection{}, Inputs: []infoInput{}}
	for _, t := range in.Slice {
		out.Slice = append(out.Slice, sliceTerm{in.Dimensions[t.Dimension].Name, t.Value})
	}
	for _, d := range in.Dimensions {
		if !d.Guard {
			out.Categories = append(out.Categories, d.Name)
		}
	}
	for _, s := range in.Sections {
		out.Sections = append(out.Sections, infoSection{s.Name, s.Offset, s.Bytes})
	}
	for _, i := range inputs {
		out.Inputs = append(out.Inputs, infoInput{i.Path, i.Size, fmt.Sprintf("%016x", i.Hash)})
	}
	return out, nil
}

func sensitiveIn(f *snapshot.Snapshot) (sensitive, error) {
	n, ofEyaml, err := snapfile.SensitiveValues(f)
	_, sealed := f.Seal()
	return sensitive{Values: n, OfEyaml: ofEyaml, Encrypted: n > 0 && sealed}, err
}

func (s sensitive) String() string {
	count := diag.Count(s.Values, "value")
	switch {
	case s.Values == 0:
		return "no values"
	case s.Encrypted:
		return count + ", encrypted"
	case s.OfEyaml == s.Values:
		return count + ", encrypted by eyaml"
	case s.OfEyaml > 0:
		return fmt.Sprintf("%s, %d encrypted by eyaml, %d in clear", count, s.OfEyaml, s.Values-s.OfEyaml)
	}
	return count + ", in clear"
}

// paths describes how many paths a hierarchy entry has. It returns "" for a single path.
func paths(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d paths)", n)
}

func (in *info) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "format\t%s %d\n", in.Format, in.Version)
	fmt.Fprintf(w, "sha256\t%s\n", in.SHA256)
	fmt.Fprintf(w, "content\t%s\n", in.Content)
	fmt.Fprintf(w, "bytes\t%d\n", in.Bytes)
	fmt.Fprintf(w, "keys\t%d\n", in.Keys)
	fmt.Fprintf(w, "bindings\t%d\n", in.Bindings)
	fmt.Fprintf(w, "levels\t%d\n", in.Levels)
	fmt.Fprintf(w, "sensitive\t%s\n", in.Sensitive)
	for _, t := range in.Slice {
		fmt.Fprintf(w, "slice\t%s is %s\n", diag.Visible(t.Category), diag.Visible(t.Value))
	}
	if len(in.Policies) > 0 {
		fmt.Fprintln(w, "\nproven policy\tSHA-256 of the policy file")
	}
	for _, p := range in.Policies {
		fmt.Fprintf(w, "  %s\t%s\n", diag.Visible(p.Name), diag.Visible(p.Digest))
	}
	fmt.Fprintln(w, "\nlayers, highest first")
	for i := 0; i < len(in.Layers); {
		same := 1 // number of layers of this entry, which has a layer per path
		for i+same < len(in.Layers) && in.Layers[i+same] == in.Layers[i] {
			same++
		}
		fmt.Fprintf(w, "  %s%s\n", diag.Visible(in.Layers[i]), paths(same))
		i += same
	}
	fmt.Fprintln(w, "\ncategories, highest first")
	for _, name := range in.Categories {
		fmt.Fprintf(w, "  %s\n", diag.Visible(name))
	}
	fmt.Fprintln(w, "  common")
	if len(in.Variables) > 0 {
		fmt.Fprintln(w, "\nvariables that data uses, from custom facts or --var")
	}
	for _, name := range in.Variables {
		fmt.Fprintf(w, "  %s\n", diag.Visible(name))
	}
	fmt.Fprintln(w, "\nsection\toffset\tbytes")
	for _, s := range in.Sections {
		fmt.Fprintf(w, "  %s\t%d\t%d\n", s.Name, s.Offset, s.Bytes)
	}
	fmt.Fprintf(w, "\ninput files\t%d\n", len(in.Inputs))
	for _, i := range in.Inputs {
		fmt.Fprintf(w, "  %s\t%d\t%s\n", diag.Visible(i.Path), i.Bytes, i.Hash)
	}
	return w.Flush()
}
