package cli

import (
	"bufio"
	"bytes"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestDescribesVersion(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123abc"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		release string
		info    *debug.BuildInfo
		want    string
	}{
		{"", built(""), "devel"},
		{"", built("(devel)", commit), "devel, commit 0123abc"},
		{"", built("v1.4.0", commit, changed), "v1.4.0, commit 0123abc with changes"},
		{"", built("", changed), "devel"},
		{"1.5", built("v1.4.0", commit), "1.5, commit 0123abc"},
	} {
		if got := describe(c.release, c.info); got != c.want {
			t.Errorf("release %q of %+v is %q, expected %q", c.release, c.info, got, c.want)
		}
	}
}

func TestAtLeastOneRejectsOtherValues(t *testing.T) {
	n := 7
	for _, text := range []string{"0", "-1", "", "many", "1.5", "99999999999999999999"} {
		if err := AtLeastOne(&n).Set(text); err == nil || n != 7 {
			t.Errorf("%q is taken for %d", text, n)
		}
	}
	if err := AtLeastOne(&n).Set("3"); err != nil || n != 3 || AtLeastOne(&n).String() != "3" {
		t.Errorf("3 is %d, %v", n, err)
	}
	if text := AtLeastOne(new(int)).String(); text != "" {
		t.Errorf("no default is shown as %q", text)
	}
}

// The line of progress is redrawn, and removed at the end.
func TestProgressRedrawsAndRemovesLineOnTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := &Progress{out: w, stop: make(chan struct{})}
	p.Begin("reading files", 2)
	p.Found()
	p.Done()
	p.idle.Go(func() { p.show(0) })
	first, err := bufio.NewReader(r).ReadString('3')
	if want := "\r\x1b[Kreading files: 1 of 3"; err != nil || first != want {
		t.Errorf("drawn is %q (%v), expected %q", first, err, want)
	}
	p.End()
	w.Close()
	var rest bytes.Buffer
	if _, err := rest.ReadFrom(r); err != nil || !strings.HasSuffix("3"+rest.String(), "\r\x1b[K") {
		t.Errorf("the line is not removed: %q (%v)", rest.String(), err)
	}
}

func TestProgressPrintsNothingWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.Begin("composing", 0)
	if line := p.line(); line != "composing" {
		t.Errorf("the line is %q", line)
	}
	p.Done()
	if line := p.line(); line != "composing: 1" {
		t.Errorf("the line is %q", line)
	}
	p.Begin("reading files", 50310)
	p.done.Store(3120)
	if line := p.line(); line != "reading files: 3 120 of 50 310" {
		t.Errorf("the line is %q", line)
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", 1234567: "1 234 567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %q, expected %q", n, got, want)
		}
	}
	p.End()
	if out.Len() > 0 {
		t.Errorf("what is no terminal is shown %q", out.String())
	}
}

// Text in a manual page is escaped, so that it cannot contain roff commands.
func TestManualPagesEscapeCommands(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "Do this - and that"}
	verb := &cobra.Command{Use: "verb FILE", Short: "Do it", Example: "  tool verb 'x'\n  .dot",
		Long: "text\n.TH\n\n  \\block\n  'quoted\n\nExit status: 0, or 2.", Run: func(*cobra.Command, []string) {}}
	verb.Flags().StringP("output", "o", "there", "the `FILE` to write")
	root.AddCommand(verb)
	page := string(manPage(verb))
	for _, want := range []string{".TH TOOL-VERB 1 ", "tool\\-verb \\- Do it\n", "\n\\fBtool verb\\fR FILE [flags]\n",
		"\ntext\n\\&.TH\n", "\n\\eblock\n\\(aqquoted\n", ".SH EXIT STATUS\n.PP\n0, or 2.\n",
		"\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\nthe FILE to write (default there)\n",
		".SH EXAMPLES\n.PP\n.RS 4\n.nf\ntool verb \\(aqx\\(aq\n\\&.dot\n.fi\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// A flag with an empty string is an error, unless the flag allows it.
func TestRejectsEmptyFlags(t *testing.T) {
	for line, want := range map[string]string{
		"--file=":           "--file: expected FILE, found an empty string; is a shell variable unset?",
		"--key a --key=":    "--key: expected NAME, found an empty string; is a shell variable unset?",
		"--prefix=":         "",
		"--file a --key b":  "",
		"":                  "",
		"--words= --file a": "",
		"--file= --prefix=": "--file: expected FILE, found an empty string; is a shell variable unset?",
	} {
		verb := &cobra.Command{Use: "verb", RunE: func(*cobra.Command, []string) error { return nil }}
		verb.Flags().String("file", "", "a `FILE`")
		verb.Flags().String("prefix", "", "a `TEXT`")
		verb.Flags().StringArray("key", nil, "a `NAME`")
		verb.Flags().StringSlice("words", nil, "some `WORDS`")
		AllowEmpty(verb, "prefix")
		root := &cobra.Command{Use: "program", SilenceUsage: true, SilenceErrors: true}
		Finish(root, Verbs{"verb": func() *cobra.Command { return verb }}, []string{"verb"})
		root.SetArgs(append([]string{"verb"}, strings.Fields(line)...))
		got := ""
		if err := root.Execute(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: '%s', expected '%s'", line, got, want)
		}
	}
}
