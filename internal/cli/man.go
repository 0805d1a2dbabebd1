package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand returns the verb man, which writes manual pages for packages.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory",
		Long: "man writes a manual page for the program and one for each verb into DIR, which\n" +
			"it creates if necessary.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindq man man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o775); err != nil {
				return err
			}
			return writePages(cmd.Root(), args[0])
		},
	}
}

func writePages(cmd *cobra.Command, dir string) error {
	path := filepath.Join(dir, pageName(cmd)+".1")
	if err := os.WriteFile(path, manPage(cmd), 0o666); err != nil {
		return err
	}
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			if err := writePages(verb, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

type page struct{ bytes.Buffer }

func manPage(cmd *cobra.Command) []byte {
	p := &page{}
	program := cmd.Root().Name()
	fmt.Fprintf(p, ".TH %s 1 \"\" \"%s\" \"%s manual\"\n", strings.ToUpper(pageName(cmd)), roff(program), roff(program))
	p.section("NAME", roff(pageName(cmd)+" - "+cmd.Short))
	line := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " VERB"
	}
	p.section("SYNOPSIS", `\fB`+roff(cmd.CommandPath())+`\fR`+roff(strings.TrimPrefix(line, cmd.CommandPath())))
	text, exit, _ := strings.Cut(cmd.Long, "Exit status: ")
	p.section("DESCRIPTION", "")
	p.prose(text)
	if cmd.HasAvailableSubCommands() {
		p.section("VERBS", "")
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() {
				fmt.Fprintf(p, ".TP\n\\fB%s\\fR(1)\n%s\n", roff(pageName(verb)), roff(verb.Short))
			}
		}
	}
	p.section("OPTIONS", "")
	cmd.InitDefaultHelpFlag()
	cmd.LocalFlags().VisitAll(p.flag)
	p.section("EXIT STATUS", "")
	p.prose(exit)
	p.section("EXAMPLES", "")
	p.block(cmd.Example)
	p.section("SEE ALSO", `\fBbindc\fR(1), \fBbindq\fR(1), \fBbindsync\fR(1)`)
	return p.Bytes()
}

func (p *page) section(name, text string) {
	fmt.Fprintf(p, ".SH %s\n", name)
	if text != "" {
		fmt.Fprintln(p, text)
	}
}

// prose writes paragraphs. Those that begin with two spaces keep their line breaks.
func (p *page) prose(text string) {
	for _, paragraph := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			p.block(paragraph)
		} else if paragraph != "" {
			fmt.Fprintf(p, ".PP\n%s\n", roff(paragraph))
		}
	}
}

func (p *page) block(text string) {
	fmt.Fprintf(p, ".PP\n.RS 4\n.nf\n%s\n.fi\n.RE\n", roff(strings.ReplaceAll("\n"+text, "\n  ", "\n")[1:]))
}

func (p *page) flag(f *pflag.Flag) {
	placeholder, text := pflag.UnquoteUsage(f)
	fmt.Fprint(p, ".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(p, `\fB%s\fR, `, roff("-"+f.Shorthand))
	}
	fmt.Fprintf(p, `\fB%s\fR`, roff("--"+f.Name))
	if placeholder != "" {
		fmt.Fprintf(p, ` \fI%s\fR`, roff(placeholder))
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
		text += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(p, "\n%s\n", roff(text))
}

// roff escapes characters that are special in roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
