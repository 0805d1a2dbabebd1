package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestCommittedDiagramIsCurrent(t *testing.T) {
	g, err := list("../..")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	g.print(&want)
	got, err := os.ReadFile("../../docs/imports.md")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != want.String() {
		t.Error("docs/imports.md is stale; run: go run ./tools/importgraph > docs/imports.md")
	}
}

func TestReduceDropsImpliedImportsOnly(t *testing.T) {
	g := graph{"a": {"b", "c", "d"}, "b": {"c"}, "c": {}, "d": {"c"}}
	for name, want := range map[string][]string{"a": {"b", "d"}, "b": {"c"}, "d": {"c"}, "c": {}} {
		if got := g.reduce()[name]; !slices.Equal(got, want) {
			t.Errorf("%s keeps the imports %v, expected %v", name, got, want)
		}
	}
}

func TestGroupIsTheHalfThatUsesThePackage(t *testing.T) {
	g := graph{
		"cmd/bindc": {"compile", "lint"}, "cmd/bindq": {"runtime"}, "lint": {"loader"},
		"compile": {"loader", "snapshot"}, "loader": {"yaml", "value"}, "runtime": {"snapshot", "facts"},
		"snapshot": {"value"}, "yaml": {}, "facts": {}, "value": {},
	}
	for name, want := range map[string]string{
		"cmd/bindc": "Programs", "lint": "Around the stages", "loader": "Building only", "yaml": "Building only",
		"snapshot": "Both halves", "value": "Both halves", "runtime": "Answering only", "facts": "Answering only",
	} {
		if got := g.group(name); got != want {
			t.Errorf("%s is in %q, expected %q", name, got, want)
		}
	}
}
