package lsp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// structured is a site with structured bindings.
const structured = `
-- binder_config.yaml --
version: 1
categories:
  - [node, "${fqdn}"]
  - [role, "${role}"]
layers:
  - {name: site, include: "confdir:/default"}
-- bindings/default.yaml --
bindings_version: 1
name: default
bind:
  - [app::port, 80]
  - {name: app::copy, to_lookup_of: app::port}
  - {name: app::users, multibind_id: users}
  - {name: root, in: users, to: {uid: 0}}
  - when: {role: web}
    bind:
      - [app::port, 8080]
-- modules/app/manifests/init.pp --
class app (Integer $port, String $banner) {
  $p = lookup('app::port')
}
`

// complete returns the labels of a completion at the character ^ in a line that replaces a line of a file.
func (e *editor) complete(t *testing.T, name string, line int, text string) (labels []string) {
	t.Helper()
	first := text[:strings.Index(text, "^")]
	col := len(first) - 1 - strings.LastIndexByte(first, '\n')
	whole := e.texts[name]
	defer func() { e.texts[name] = whole }()
	lines := strings.Split(whole, "\n")
	lines[line] = strings.Replace(text, "^", "", 1)
	e.change(name, strings.Join(lines, "\n"))
	found, err := e.server.Completion(t.Context(),
		&protocol.CompletionParams{TextDocumentPositionParams: e.at(name, line+strings.Count(first, "\n"), col)})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range found.(*protocol.CompletionList).Items {
		labels = append(labels, item.Label)
	}
	return labels
}

func TestCompletionWorksInBrokenFiles(t *testing.T) {
	e := start(t, site(t, control), withLints())
	e.open("data/common.yaml", "")
	s := start(t, site(t, structured), withLints())
	s.open("bindings/default.yaml", "")
	s.open("binder_config.yaml", "")
	for _, test := range []struct {
		e          *editor
		file       string
		line       int
		text       string
		want, none []string
	}{
		{e, "data/common.yaml", 0, "app::p^", []string{"app::port", "app::password"}, []string{"app::host"}},
		{e, "data/common.yaml", 0, `app::x: "%{lookup('app::n^`, []string{"app::name"}, []string{"app::port"}},
		{e, "data/common.yaml", 0, `app::x: "%{facts.os.f^`, []string{"facts.os.family"}, []string{"app::port"}},
		{s, "bindings/default.yaml", 3, "  - {name: x, to_lookup_of: app::^", []string{"app::port", "app::copy"}, nil},
		{s, "bindings/default.yaml", 3, "  - {name: x, in: ^", []string{"users"}, []string{"app::port"}},
		{s, "bindings/default.yaml", 3, "  - when: {^", []string{"role", "node"}, []string{"app::port"}},
		{s, "bindings/default.yaml", 3, "  - when: {role: ^", []string{"web"}, []string{"node"}},
		{s, "bindings/default.yaml", 3, "  - when:\n      ^", []string{"role", "node"}, []string{"to", "app::port"}},
		{s, "bindings/default.yaml", 3, "  - when:\n      node: a\n      ro^", []string{"role"}, []string{"to"}},
		{s, "bindings/default.yaml", 3, "  - when:\n      role: ^", []string{"web"}, []string{"node"}},
		{s, "bindings/default.yaml", 3, "  - when:\n      role:\n        - ^", []string{"web"}, []string{"node"}},
		{s, "bindings/default.yaml", 3, "  - when:\n      - {ro^", []string{"role"}, []string{"to"}},
		{s, "bindings/default.yaml", 3, "  - {name: x,\n     when: {node: a,\n       ^", []string{"role"}, []string{"to"}},
		{s, "bindings/default.yaml", 3, "  - name: x\n    to_l^", []string{"to_lookup_of"}, []string{"when"}},
		{s, "bindings/default.yaml", 3, "  - {name: x,\n     to_l^", []string{"to_lookup_of"}, []string{"when"}},
		{s, "bindings/default.yaml", 3, "  - {name: x, type: Int^", []string{"Integer"}, []string{"String"}},
		{s, "bindings/default.yaml", 3, "  - {name: x, to_l^", []string{"to_lookup_of"}, []string{"when"}},
		{s, "bindings/default.yaml", 3, "  - [app::b^", []string{"app::banner"}, []string{"app::copy"}},
	} {
		got := test.e.complete(t, test.file, test.line, test.text)
		for _, want := range test.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: the suggestions are %q, expected %q", test.text, got, want)
			}
		}
		for _, none := range test.none {
			if slices.Contains(got, none) {
				t.Errorf("%s: the suggestions are %q, expected no %q", test.text, got, none)
			}
		}
	}
}

func TestReferencesFindDataAndManifests(t *testing.T) {
	e := start(t, site(t, structured), withLints())
	e.open("bindings/default.yaml", "")
	for declarations, want := range map[bool][]string{
		false: {"bindings/default.yaml:4:36", "modules/app/manifests/init.pp:0:20", "modules/app/manifests/init.pp:1:15"},
		true: {"bindings/default.yaml:3:5", "bindings/default.yaml:4:36", "bindings/default.yaml:9:9",
			"modules/app/manifests/init.pp:0:20", "modules/app/manifests/init.pp:1:15"},
	} {
		found, err := e.server.References(t.Context(), &protocol.ReferenceParams{
			TextDocumentPositionParams: e.at("bindings/default.yaml", 3, 8),
			Context:                    protocol.ReferenceContext{IncludeDeclaration: declarations}})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.places(found); !slices.Equal(got, want) {
			t.Errorf("with declarations %v, the references are %q, expected %q", declarations, got, want)
		}
	}
}

func TestHighlightsSameNameInFile(t *testing.T) {
	e := start(t, site(t, structured), withLints())
	e.open("bindings/default.yaml", "")
	found, err := e.server.DocumentHighlight(t.Context(),
		&protocol.DocumentHighlightParams{TextDocumentPositionParams: e.at("bindings/default.yaml", 3, 8)})
	if err != nil || len(found) != 3 {
		t.Errorf("%d places are marked, expected 3: %v %v", len(found), found, err)
	}
}

func TestSymbolsListKeysOfDocumentAndSites(t *testing.T) {
	e := start(t, site(t, structured), withLints())
	e.open("bindings/default.yaml", "")
	found, err := e.server.DocumentSymbol(t.Context(),
		&protocol.DocumentSymbolParams{TextDocument: e.id("bindings/default.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found.(protocol.DocumentSymbolSlice) {
		got = append(got, fmt.Sprintf("%s %d-%d", s.Name, s.Range.Start.Line, s.Range.End.Line))
	}
	want := []string{"app::port 3-3", "app::copy 4-4", "app::users 5-5", "app::port 7-9"}
	if !slices.Equal(got, want) {
		t.Errorf("the symbols are %q, expected %q", got, want)
	}
	all, err := e.server.Symbols(t.Context(), &protocol.WorkspaceSymbolParams{Query: "COP"})
	list, ok := all.(protocol.SymbolInformationSlice)
	if err != nil || !ok || len(list) != 1 || list[0].Name != "app::copy" {
		t.Errorf("the search finds %v, %v; expected app::copy", all, err)
	}
}
