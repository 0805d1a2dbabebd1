package lsp

import (
	"slices"
	"testing"

	"go.lsp.dev/protocol"
)

// After merge: and strategy: in lookup_options, completion offers the strategies, and no keys.
func TestCompletionOffersMergeStrategies(t *testing.T) {
	const data = "data/common.yaml"
	e := start(t, site(t, control), withLints())
	e.open(data, "app::port: 80\nlookup_options:\n  app::port:\n    merge: u\n")
	e.settle()
	found, err := e.server.Completion(t.Context(),
		&protocol.CompletionParams{TextDocumentPositionParams: e.at(data, 3, 12)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range found.(*protocol.CompletionList).Items {
		got = append(got, item.Label)
	}
	if !slices.Equal(got, []string{"unique"}) {
		t.Errorf("offered are %q, expected unique", got)
	}
}
