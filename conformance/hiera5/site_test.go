package hiera5

import (
	"reflect"
	"strings"
	"testing"
)

func TestSeedDeterminesSite(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(50) {
		s := New(seed)
		if again := New(seed); s.Print() != again.Print() {
			t.Errorf("seed %d makes two sites:\n%s\n%s", seed, s, again)
		}
		if seen[s.Print()] {
			t.Errorf("two seeds have the site of seed %d", seed)
		}
		seen[s.Print()] = true
	}
}

func TestYAMLReadsBackAsWritten(t *testing.T) {
	got := yamlText(Map{{"plain", "common.yaml"}, {"a", "y"}, {1, nil}, {"q", "it's: #1"}, {"t", "x\ny"},
		{"n", []any{1, 1.0, 1e20, true, []any{}, Map{}, []any{"--x"}, Map{{"yes", "123"}}}}})
	want := `---
plain: common.yaml
'a': 'y'
1: ~
'q': 'it''s: #1'
't': "x\ny"
'n':
  - 1
  - 1.0
  - 1.0e+20
  - true
  - []
  - {}
  -
    - '--x'
  -
    'yes': '123'
`
	if got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

func TestShrinkKeepsTheDifference(t *testing.T) {
	s := &Site{
		Files: map[string]any{
			"site/hiera.yaml":       Map{{"version", 5}, {"hierarchy", []any{"one", "two"}}},
			"site/data/common.yaml": Map{{"a", 1}, {"b", []any{Map{{"c", "here"}, {"d", 2}}, 3}}},
		},
		Nodes:     []Node{{Facts: Map{{"os", Map{{"family", "Debian"}}}, {"num", 5}}, Vars: Map{{"role", "web"}}}},
		Questions: []Question{{Key: "b"}},
	}
	small := s.Shrink(func(s *Site) bool {
		return strings.Contains(s.String(), "here") && strings.Contains(s.String(), "web")
	})
	want := &Site{
		Files: map[string]any{"site/data/common.yaml": Map{{"b", []any{Map{{"c", "here"}}}}}},
		Nodes: []Node{{Facts: Map{}, Vars: Map{{"role", "web"}}}}, Questions: s.Questions,
	}
	if !reflect.DeepEqual(small, want) {
		t.Errorf("%v, expected %v", small, want)
	}
}

func TestVariablesHaveTextsOfTheirNodes(t *testing.T) {
	node := Node{Environment: "dev", Facts: Map{{"os", Map{{"family", "Debian"}}}, {"list", []any{"x", 7}}},
		Trusted: Map{{"certname", "n0"}}, Vars: Map{{"role", "web"}}}
	for _, c := range []struct {
		want string
		path []any
	}{
		{"Debian", []any{"facts", "os", "family"}}, {"Debian", []any{"os", "family"}}, {"7", []any{"list", 1}},
		{"", []any{"list", 2}}, {"", []any{"role", "x"}}, {"web", []any{"role"}}, {"dev", []any{"environment"}},
		{"n0", []any{"trusted", "certname"}}, {"", nil}, {"", []any{"nothing", "x"}},
	} {
		if got := node.known(variable{path: c.path}); got != c.want {
			t.Errorf("%v is %q, expected %q", c.path, got, c.want)
		}
	}
}
