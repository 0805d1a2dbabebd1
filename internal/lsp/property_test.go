package lsp

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"bindc/internal/lsp/buffer"
	"bindc/internal/testmode"
)

// pieces are the texts that the test types at random places: parts of keys, lookups and YAML, some of them broken or
// not ASCII.
var pieces = []string{"app::port: 1\n", "\n", "\"", "'", "%{lookup('app::name')}", "${lookup('app::port')}", ": ", "- ",
	"[", "]", "{", "}", "🙂", "名", "\t", "#", "lookup_options:\n  app::port: {merge: hash}\n", "x", "app::", "\r\n",
	"ENC[PKCS7,x]", "  - [app::new, 1]\n", "  - {name: app::x, to_lookup_of: app::port}\n", "&a ", "*a", "|", "---\n"}

// edit sends a random change of an open file, as a range or as a whole text, and returns the new text.
func (e *editor) edit(r *rand.Rand, name, text string) string {
	e.t.Helper()
	runes := []rune(text)
	from := r.IntN(len(runes) + 1)
	to := min(len(runes), from+r.IntN(8)*r.IntN(3))
	piece := pieces[r.IntN(len(pieces))]
	if r.IntN(3) == 0 {
		piece = ""
	}
	next := string(runes[:from]) + piece + string(runes[to:])
	place := func(before string) protocol.Position {
		p := buffer.New(before).Place(len(before), e.inside.settings.units)
		return protocol.Position{Line: p.Line, Character: p.Col}
	}
	change := protocol.TextDocumentContentChangeEvent(&protocol.TextDocumentContentChangePartial{Text: piece,
		Range: protocol.Range{Start: place(string(runes[:from])), End: place(string(runes[:to]))}})
	if r.IntN(4) == 0 || from > 0 && runes[from-1] == '\r' || to > 0 && runes[to-1] == '\r' {
		change = &protocol.TextDocumentContentChangeWholeDocument{Text: next}
	}
	err := e.server.DidChange(e.t.Context(), &protocol.DidChangeTextDocumentParams{
		TextDocument:   protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: e.id(name), Version: 2},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{change}})
	if err != nil {
		e.t.Fatal(err)
	}
	return next
}

// state describes what a server knows: all diagnostics, and the answers at some places of the open files.
func (e *editor) state(open map[string]string) string {
	e.t.Helper()
	e.settle()
	var b strings.Builder
	e.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(e.diags)) {
		fmt.Fprintf(&b, "%s: %q\n", name, e.diags[name])
	}
	e.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(open)) {
		for line := range strings.Count(open[name], "\n") + 1 {
			for _, col := range []int{0, 4, 14} {
				fmt.Fprintf(&b, "%s:%d:%d %q %q\n", name, line, col, e.hover(name, line, col),
					e.definition(name, line, col))
			}
		}
	}
	return b.String()
}

// After any sequence of edits, the state equals that of a server that starts with the last texts.
func TestStateEqualsThatOfFreshServer(t *testing.T) {
	checkState(t, testmode.Number(6, 400), "", (*editor).state)
}

// checkState makes random edits. After them, the state of the server must equal that of a server that starts with
// the last texts.
func checkState(t *testing.T, rounds int, settings string, state func(e *editor, open map[string]string) string) {
	t.Helper()
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		files := control + "-- manifests/site.pp --\ninclude app\n-- policies/port.yaml --\n" + portPolicy
		names := []string{"data/common.yaml", "data/os/Debian.yaml", "hiera.yaml", "modules/app/manifests/init.pp"}
		if seed%2 == 1 {
			files, names = structured, []string{"bindings/default.yaml", "binder_config.yaml"}
		}
		dir := site(t, files)
		e := startWith(t, dir, withLints(), settings)
		open := map[string]string{}
		for _, name := range names {
			src, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			open[name] = string(src)
			e.open(name, "")
		}
		for range 1 + r.IntN(20) {
			name := names[r.IntN(len(names))]
			open[name] = e.edit(r, name, open[name])
			if r.IntN(4) == 0 {
				e.settle()
			}
		}
		e.settle()
		got := state(e, open)
		fresh := startWith(t, dir, withLints(), settings)
		for _, name := range slices.Sorted(maps.Keys(open)) {
			if open[name] == "" {
				open[name] = "\n"
				e.change(name, "\n")
				e.settle()
				got = state(e, open)
			}
			fresh.open(name, open[name])
		}
		fresh.settle()
		if want := state(fresh, open); got != want {
			t.Errorf("seed %d: the texts are\n%q\n%s", seed, open, differences(got, want))
		}
	}
}

// differences lists the lines that only one of two states has.
func differences(got, want string) string {
	var b strings.Builder
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, line := range gotLines {
		if !slices.Contains(wantLines, line) {
			fmt.Fprintf(&b, "after edits: %s\n", line)
		}
	}
	for _, line := range wantLines {
		if !slices.Contains(gotLines, line) {
			fmt.Fprintf(&b, "fresh:       %s\n", line)
		}
	}
	return b.String()
}
