package lsp

import (
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// choosing is a module with a class whose parameters name their values.
const choosing = `
-- modules/ntp/types/mode.pp --
type Ntp::Mode = Enum['client', 'server', 'off']
-- modules/ntp/manifests/init.pp --
class ntp (
  Optional[Ntp::Mode] $mode = undef,
  Variant[Enum['auto'], Boolean] $keys = true,
  String $driftfile = '/var/lib/ntp/drift',
) { }
`

// offered returns the words that completion offers at the end of a line.
func (e *editor) offered(t *testing.T, name string, line int) (out []string) {
	t.Helper()
	text := strings.Split(e.texts[name], "\n")[line]
	found, err := e.server.Completion(t.Context(),
		&protocol.CompletionParams{TextDocumentPositionParams: e.at(name, line, len(text))})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range found.(*protocol.CompletionList).Items {
		out = append(out, item.TextEdit.(*protocol.TextEdit).NewText)
	}
	return out
}

// Completion in data offers what may be at the cursor, and nothing else.
func TestCompletionFollowsContextInData(t *testing.T) {
	const data = "data/common.yaml"
	e := start(t, site(t, control+choosing), withLints())
	e.open(data, "")
	for _, test := range []struct {
		name, text string
		line       int
		want       []string
	}{
		{"strategy", "app::port: 80\nlookup_options:\n  app::port:\n    merge: u\n", 3, []string{"unique"}},
		{"name of an option", "app::port: 80\nlookup_options:\n  app::port:\n    mer\n", 3, []string{"merge"}},
		{"name of an option in braces", "app::port: 80\nlookup_options:\n  app::port: {con\n", 2,
			[]string{"convert_to"}},
		{"option of a strategy", "lookup_options:\n  app::port:\n    merge:\n      strategy: deep\n      kno\n", 4,
			[]string{"knockout_prefix"}},
		{"option of a strategy in braces", "lookup_options:\n  app::port: {merge: {strategy: deep, sor\n", 1,
			[]string{"sort_merged_arrays"}},
		{"switch", "lookup_options:\n  app::port: {merge: {strategy: deep, sort_merged_arrays: t\n", 1,
			[]string{"true"}},
		{"type to convert to", "lookup_options:\n  app::port:\n    convert_to: Sens\n", 2, []string{"Sensitive"}},
		{"key", "lookup_options:\n  app::pas\n", 1, []string{"app::password"}},
		{"alias of an Enum", "ntp::mode: \n", 0, []string{"\"off\"", "client", "server"}},
		{"start of a value of an Enum", "ntp::mode: ser\n", 0, []string{"server"}},
		{"value of an Enum in quotes", "ntp::mode: 'o\n", 0, []string{"off"}},
		{"Enum or Boolean", "ntp::keys: \n", 0, []string{"auto", "false", "true"}},
		{"String", "ntp::driftfile: \n", 0, nil},
	} {
		e.change(data, test.text)
		e.settle()
		if got := e.offered(t, data, test.line); !slices.Equal(got, test.want) {
			t.Errorf("%s: offered are %q, expected %q", test.name, got, test.want)
		}
	}
}
