package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/loader"
	"bindc/ship/oci"
)

func (g *bounds) linkCommand() *cobra.Command {
	f := flags{bounds: g}
	var sign signing
	var pull pushing
	var out, dir string
	cmd := &cobra.Command{
		Use:   "link PACK... -o FILE",
		Short: "Compose the parts of a build into a snapshot",
		Long: "link composes the packs that 'bindc build --part' wrote for all parts of a site\n" +
			"into the snapshot FILE. A single build would write the same file and print the\n" +
			"same diagnostics. link reads the site again to check that it has not changed,\n" +
			"but does not parse the data files in the packs. It needs the flags of the parts.\n" +
			"PACK is a file, or oci://HOST/REPO:TAG to which 'bindc push' has pushed one.\n\n" +
			"Exit status: 0 FILE was written, 1 the site has errors, 2 another error: usage,\n" +
			"or a pack that does not belong to the site or to the other packs.",
		Example: "  bindc link part1.pack part2.pack -o site.snap --site site",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(cmd.OutOrStdout(), out, &f, &sign); err != nil {
				return err
			}
			if f.cache != "" {
				return errors.New("--cache: 'link' reads parsed files only from packs; omit this flag")
			}
			var err error
			if f.parts, err = pull.readParts(cmd, args); err != nil {
				return err
			}
			return build(cmd, dir, out, &f, &sign)
		},
	}
	f.add(cmd)
	sign.add(cmd)
	f.addToSnapshots(cmd)
	pull.addRegistry(cmd)
	cmd.Flags().Int64Var(&pull.maxSize, "max-size", defaultMaxPart, "allow at most `N` bytes in a pack from a registry")
	cmd.Flags().StringVar(&dir, "site", ".", "`DIR` of the site")
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write, or - for standard output")
	return cmd
}

// readParts reads the packs of a build. Each path is a file or oci://HOST/REPO:TAG.
func (p *pushing) readParts(cmd *cobra.Command, paths []string) ([]*datafile.Part, error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	dir, remove, err := fsx.Scratch("bindc-link-")
	if err != nil {
		return nil, err
	}
	defer remove()
	var parts []*datafile.Part
	for _, path := range paths {
		var part *datafile.Part
		if strings.HasPrefix(path, oci.Scheme) {
			part, err = p.pullPart(ctx, path, dir, cmd.InOrStdin())
		} else {
			part, err = datafile.ReadPart(path, path)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, checkComplete(parts)
}

// checkComplete returns an error unless parts are all parts of one build, each exactly once.
func checkComplete(parts []*datafile.Part) error {
	byNumber := map[int]*datafile.Part{}
	for _, p := range parts {
		if p.Of != parts[0].Of {
			return fmt.Errorf("%s is part %v but %s is part %v: all parts must be built with the same total",
				p.Path, p.Share, parts[0].Path, parts[0].Share)
		}
		if same := byNumber[p.Part]; same != nil {
			return fmt.Errorf("%s and %s are both part %v: give each part once", same.Path, p.Path, p.Share)
		}
		byNumber[p.Part] = p
	}
	for i := range parts[0].Of {
		if byNumber[i+1] == nil {
			missing := datafile.Share{Part: i + 1, Of: parts[0].Of}
			return fmt.Errorf("part %v is missing: %s is part %v; build the missing one with "+
				"'bindc build --part %v'", missing, parts[0].Path, parts[0].Share, missing)
		}
	}
	return nil
}

// linked sets options.Cache to the content of f.parts. It fails if a part was built with other flags.
func (f *flags) linked(options *loader.Options) error {
	for _, p := range f.parts {
		if given := f.siteFlags(); p.Options != given {
			return fmt.Errorf("%s was built with %s, but link has %s: use the same flags for all parts and for link",
				p.Path, describeFlags(p.Options), describeFlags(given))
		}
	}
	code, err := f.program()
	if err != nil {
		return fmt.Errorf("cannot link: %w", err)
	}
	options.Cache, err = datafile.Link(f.parts, code)
	return err
}

// siteFlags returns the given flags that affect which files a site has or how they are read.
func (f *flags) siteFlags() string {
	var given []string
	for _, flag := range [...]struct{ name, value string }{
		{"modulepath", f.modulePath}, {"binder-config", f.binderConfig},
		{"global-hiera", f.globalHiera}, {"codedir", f.codedir}} {
		if flag.value != "" && (flag.name != "codedir" || flag.value != loader.DefaultCodedir) {
			given = append(given, "--"+flag.name+" "+flag.value)
		}
	}
	if f.lenient {
		given = append(given, "--lenient")
	}
	if f.extensions {
		given = append(given, "--allow-extensions")
	}
	return strings.Join(given, " ")
}

func describeFlags(given string) string {
	if given == "" {
		return "no flags for the site"
	}
	return "'" + given + "'"
}

// checkParts returns an error unless the parts were built from exactly the files that inputs lists.
func checkParts(parts []*datafile.Part, dir string, inputs []loader.Input) error {
	now, paths := map[datafile.PartFile]bool{}, map[string]bool{}
	for _, in := range readFiles(inputs) {
		now[in], paths[in.Path] = true, true
	}
	seen := map[datafile.PartFile]bool{}
	for _, p := range parts {
		for _, in := range p.Read {
			if seen[in] = true; now[in] {
				continue
			}
			what := "has different content"
			if !paths[in.Path] {
				what = "is not read"
			}
			return fmt.Errorf("%s was built from another site or revision: '%s' %s in %s; build all parts and link "+
				"from the same revision", p.Path, in.Path, what, dir)
		}
	}
	for _, in := range readFiles(inputs) {
		if !seen[in] {
			share := slices.IndexFunc(parts, func(p *datafile.Part) bool { return p.Has(in.Path) })
			return fmt.Errorf("%s was built without '%s', which %s has: build all parts and link from the same revision",
				parts[share].Path, in.Path, dir)
		}
	}
	return nil
}

// readFiles returns the inputs that are files, not output of programs.
func readFiles(inputs []loader.Input) []datafile.PartFile {
	var out []datafile.PartFile
	for _, in := range inputs {
		if !in.Made {
			out = append(out, datafile.PartFile{Path: in.Path, Size: in.Size, Hash: in.Hash})
		}
	}
	return out
}

// buildPart parses one part of the site's data files, such as "1/3", and writes them to the pack out.
func buildPart(cmd *cobra.Command, dir, out, part string, f *flags) error {
	start := time.Now()
	for _, name := range []string{"cache", "sign", "name", "revision", "push", "source", "encrypt-to", "slice"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--part: expected no --%s; it has no meaning for a part", name)
		}
	}
	if out == "" || out == toStdout {
		return errors.New("--part: expected -o FILE, the pack to write")
	}
	share, err := datafile.ParseShare(part)
	if err != nil {
		return fmt.Errorf("--part: %w", err)
	}
	if err := f.begin(dir); err != nil {
		return err
	}
	code, err := f.program()
	if err != nil {
		return err
	}
	options := f.options()
	options.Context, options.Share, options.Cache = f.signals.stopped, share, datafile.NewCache(code)
	diags := diag.List{All: f.all || f.format != "text"}
	site := loader.Load(dir, options, &diags)
	if err := f.report(cmd, errorsIn(diags.Sorted(), &f.strict), len(site.Inputs)); err != nil {
		return err
	}
	head := datafile.PartHead{Share: share, Version: cli.Version(), Options: f.siteFlags(),
		Read: readFiles(site.Inputs)}
	f.signals.uninterrupted(func() { err = options.Cache.WritePart(out, head) })
	if err != nil {
		return fmt.Errorf("cannot write the pack: %w", err)
	}
	fmt.Fprintf(f.success(cmd), "%s: part %v, %s read, %s\n", diag.Visible(out), share,
		diag.Count(len(head.Read), "file"), time.Since(start).Round(time.Millisecond))
	return nil
}

// errorsIn returns the diagnostics that make a part invalid. 'bindc link' reports the others, once for all parts.
func errorsIn(list []diag.Diagnostic, strict *strictness) []diag.Diagnostic {
	return slices.DeleteFunc(list, func(d diag.Diagnostic) bool {
		return d.Severity != diag.Error && !strict.refuses(d)
	})
}
