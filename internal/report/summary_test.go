package report

import (
	"strings"
	"testing"
)

func TestPagesEscapeControlCharactersOfChangedFacts(t *testing.T) {
	d := &Diff{If: []string{"role=\x1b[31m"}}
	for name, draw := range map[string]func(p *Page){
		"text": func(p *Page) { p.Diff(d) }, "Markdown": func(p *Page) { p.Markdown(d) }} {
		var out strings.Builder
		if err := Print(&out, Screen{}, draw); err != nil || !strings.Contains(out.String(), `\x1b[31m`) {
			t.Errorf("%s: found %q, %v", name, out.String(), err)
		}
	}
}

func TestSummaryCountsKeysThatChangeForNodes(t *testing.T) {
	keys := func(names ...string) (out []Key) {
		for _, name := range names {
			out = append(out, Key{Key: name})
		}
		return out
	}
	group := func(nodes []string, names ...string) Group {
		g := Group{Nodes: nodes}
		for _, name := range names {
			g.Changes = append(g.Changes, KeyEffect{Key: name})
		}
		return g
	}
	two := []string{"n1", "n2"}
	for expected, d := range map[string]Diff{
		"Nothing changes.":                       {Fleet: 3},
		"1 key changes.":                         {Keys: keys("a")},
		"2 keys change.":                         {Keys: keys("a", "b")},
		"1 key changes, on 2 of 3 nodes.":        {Keys: keys("a"), Nodes: []Group{group(two, "a")}, Fleet: 3},
		"2 keys change, but on none of 3 nodes.": {Keys: keys("a", "b"), Nodes: []Group{}, Fleet: 3},
		"1 key changes, on 2 of 3 nodes; 2 more on none of them.": {Keys: keys("a", "b", "c"),
			Nodes: []Group{group(two, "b")}, Fleet: 3},
		"2 keys change, on 3 of 3 nodes; 1 more on none of them.": {Keys: keys("a", "b", "c"),
			Nodes: []Group{group(two, "b"), group([]string{"n3"}, "b", "c")}, Fleet: 3},
		"No binding changes, but values do, on 2 of 3 nodes.": {Nodes: []Group{group(two, "b")}, Fleet: 3},
		"With f=x, nothing changes.":                          {If: []string{"f=x"}, Fleet: 3},
		"With f=x, answers change, on 2 of 3 nodes.": {If: []string{"f=x"}, Nodes: []Group{group(two, "b")},
			Fleet: 3},
	} {
		if found := d.Summary(); found != expected {
			t.Errorf("found '%s', expected '%s'", found, expected)
		}
	}
}
