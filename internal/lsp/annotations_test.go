package lsp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"bindc/internal/testmode"
)

// everything turns on what is off by default.
const everything = `{"codeLens": true, "inlayHints": true, "semanticTokens": true}`

// lenses returns the texts of the code lenses of a document, by line.
func (e *editor) lenses(name string) (out []string) {
	e.t.Helper()
	list, err := e.server.CodeLens(e.t.Context(), &protocol.CodeLensParams{TextDocument: e.id(name)})
	if err != nil {
		e.t.Fatal(err)
	}
	for i := range list {
		l, err := e.server.CodeLensResolve(e.t.Context(), &list[i])
		if err != nil {
			e.t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%d %s", l.Range.Start.Line, l.Command.Title))
	}
	return out
}

// hints returns the inlay hints of a document, by line and column.
func (e *editor) hints(name string) (out []string) {
	e.t.Helper()
	list, err := e.server.InlayHint(e.t.Context(), &protocol.InlayHintParams{TextDocument: e.id(name),
		Range: protocol.Range{End: protocol.Position{Line: 1 << 20}}})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, h := range list {
		out = append(out, fmt.Sprintf("%d:%d %s", h.Position.Line, h.Position.Character, h.Label.(protocol.String)))
	}
	return out
}

// tokens returns the semantic tokens of a document: the type, and the text.
func (e *editor) tokens(name, text string) (out []string) {
	e.t.Helper()
	found, err := e.server.SemanticTokensFull(e.t.Context(), &protocol.SemanticTokensParams{TextDocument: e.id(name)})
	if err != nil {
		e.t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	line, col := 0, 0
	for t := range slices.Chunk(found.Data, 5) {
		if line += int(t[0]); t[0] > 0 {
			col = 0
		}
		col += int(t[1])
		units := []rune(lines[line]) // these tests have no characters outside of the basic plane
		out = append(out, string(tokenTypes[t[3]])+" "+string(units[col:col+int(t[2])]))
	}
	return out
}

func TestAnnotationsAreOffByDefault(t *testing.T) {
	e := start(t, site(t, control), withLints())
	c := e.inside.capabilities(protocol.PositionEncodingKindUTF16)
	if c.CodeLensProvider != nil || c.InlayHintProvider != nil || c.SemanticTokensProvider != nil {
		t.Errorf("the server announces %v, %v, %v", c.CodeLensProvider, c.InlayHintProvider, c.SemanticTokensProvider)
	}
	e = startWith(t, site(t, control), withLints(), everything)
	c = e.inside.capabilities(protocol.PositionEncodingKindUTF16)
	if c.CodeLensProvider == nil || c.InlayHintProvider == nil || c.SemanticTokensProvider == nil {
		t.Errorf("the server does not announce what the settings turn on: %v", c)
	}
}

func TestWithoutFactsLensesAndHintsCountBindings(t *testing.T) {
	e := startWith(t, site(t, control), withLints(), everything)
	e.open("data/common.yaml", "")
	e.open("data/os/Debian.yaml", "")
	e.settle()
	if got, want := e.lenses("data/os/Debian.yaml"), []string{"0 3 bindings"}; !slices.Equal(got, want) {
		t.Errorf("the lenses are %q, expected %q", got, want)
	}
	if got, want := e.hints("data/os/Debian.yaml"), []string{"0:15 precedence 2 of 3"}; !slices.Equal(got, want) {
		t.Errorf("the hints are %q, expected %q", got, want)
	}
	if got, want := e.hints("data/common.yaml"), []string{"0:13 precedence 3 of 3"}; !slices.Equal(got, want) {
		t.Errorf("the hints are %q, expected %q", got, want)
	}
	e.change("data/os/Debian.yaml", "# 🙂\n"+e.texts["data/os/Debian.yaml"])
	if got, want := e.hints("data/os/Debian.yaml"), []string{"1:15 precedence 2 of 3"}; !slices.Equal(got, want) {
		t.Errorf("after a change, the hints are %q, expected %q", got, want)
	}
}

func TestNoLensesOutsideOfSites(t *testing.T) {
	e := startWith(t, site(t, "-- x.yaml --\na: 1\n"), withLints(), everything)
	e.open("x.yaml", "")
	if got := e.lenses("x.yaml"); len(got) > 0 {
		t.Errorf("the lenses are %q", got)
	}
}

func TestWithFactsLensesAndHintsCountNodes(t *testing.T) {
	dir := t.TempDir()
	for name, family := range map[string]string{"web1": "Debian", "web2": "Debian", "db": "RedHat"} {
		text := fmt.Sprintf(`{"os": {"family": %q}, "trusted": {"certname": %q}}`, family, name)
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := withLints()
	options.FactsDir = dir
	for _, test := range []struct {
		settings             string
		common, debian, lens string
	}{
		{everything, "0:13 wins for 1 of 3 nodes", "0:15 wins for 1 of 3 nodes", "0 3 bindings, for 3 of 3 nodes"},
		{`{"node": "web2"}`, "0:13 overridden for web2", "0:15 wins for web2", "0 3 bindings, for 3 of 3 nodes"},
		{`{"node": "db"}`, "0:13 wins for db", "0:15 not for db", "0 3 bindings, for 3 of 3 nodes"},
	} {
		e := startWith(t, site(t, control), options, test.settings)
		e.open("data/common.yaml", "")
		e.open("data/os/Debian.yaml", "")
		e.settle()
		for name, want := range map[string]string{"data/common.yaml": test.common, "data/os/Debian.yaml": test.debian} {
			if got := e.hints(name); len(got) == 0 || got[0] != want {
				t.Errorf("%s: the hints of %s are %q, expected %q", test.settings, name, got, want)
			}
		}
		if got := e.lenses("data/os/Debian.yaml"); len(got) != 1 || got[0] != test.lens {
			t.Errorf("%s: the lenses are %q, expected %q", test.settings, got, test.lens)
		}
	}
}

// A binding with several conditions has several rows in the table of its key. Its hint counts the nodes of all rows.
func TestHintCountsNodesOfAllConditionsOfBinding(t *testing.T) {
	dir := t.TempDir()
	for name, family := range map[string]string{"a": "Debian", "b": "Debian", "c": "RedHat", "d": "Suse"} {
		testmode.WriteFiles(t, dir, map[string]string{name + ".json": fmt.Sprintf(`{"os": {"family": %q}}`, family)})
	}
	options := withLints()
	options.FactsDir = dir
	for settings, want := range map[string]string{everything: "3:62 wins for 3 of 4 nodes",
		`{"node": "a"}`: "3:62 wins for a", `{"node": "c"}`: "3:62 wins for c", `{"node": "d"}`: "3:62 not for d"} {
		e := startWith(t, site(t, "-- bindings/default.yaml --\nbindings_version: 1\nname: default\nbind:\n"+
			"- {when: {osfamily: [Debian, RedHat]}, bind: [[app::port, 1]]}\n- [app::port, 2]\n"), options, settings)
		e.open("bindings/default.yaml", "")
		e.settle()
		if got := e.hints("bindings/default.yaml"); len(got) != 2 || got[0] != want {
			t.Errorf("%s: the hints are %q, expected %q", settings, got, want)
		}
	}
}

func TestSemanticTokensCoverDataAndPuppetSyntax(t *testing.T) {
	e := startWith(t, site(t, control+"-- bindings/x.pp --\nbindings x {}\n"), withLints(), everything)
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"data/common.yaml": {"a: \"名 %{lookup('app::name')} %{facts.os.family}\"\nlookup_options:\n  a: {}\n",
			[]string{"property a", "property app::name", "variable facts.os.family", "property lookup_options", "property a"}},
		"bindings/x.pp": {"bindings x {\n  when role web {\n    bind 'a' to lookup('b')\n  }\n}\n",
			[]string{"keyword bindings", "keyword when", "enum role", "enumMember web", "keyword bind", "property a",
				"keyword to", "property b"}},
	} {
		e.open(name, test.text)
		if got := e.tokens(name, test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: the tokens are\n%q, expected\n%q", name, got, test.want)
		}
	}
}

// The annotations after edits equal those of a server that starts with the last texts.
func TestAnnotationsEqualThoseOfFreshServer(t *testing.T) {
	rounds := 6
	if testmode.Thorough() {
		rounds = 100
	}
	checkState(t, rounds, everything, func(e *editor, open map[string]string) string {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(open)) {
			fmt.Fprintf(&b, "%s %q %q\n", name, e.lenses(name), e.hints(name))
			tokens, err := e.server.SemanticTokensFull(t.Context(),
				&protocol.SemanticTokensParams{TextDocument: e.id(name)})
			fmt.Fprintln(&b, tokens, err)
		}
		return b.String()
	})
}
