package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bindc/internal/recipe"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

const writtenSite = `
-- hiera.yaml --
version: 5
hierarchy:
  - {name: Roles, paths: ['role/%{::role}.yaml', 'role/none.yaml', 'zone/%{zone}.yaml']}
  - {name: Globs, glob: 'glob/*.yaml'}
  - {name: Common, path: common.yaml}
-- data/role/web.yaml --
text: 'x%{role}%{role}%{::zone.a}'
other: 1
-- data/glob/a.yaml --
text: glob
-- data/common.yaml --
text: common
m::a: 2
lookup_options: {m::a: {merge: first}}
-- modules/m/hiera.yaml --
version: 5
-- modules/m/data/common.yaml --
m::a: 1
`

// entriesOf lists the entries that Explain returns, as text.
func entriesOf(t *testing.T, r *bindings.Request, key string) (out []string) {
	t.Helper()
	e, err := engine(r).Explain(key)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range e.Locations {
		if i == 0 || e.Locations[i-1].Number != l.Number || e.Locations[i-1].Config != l.Config {
			out = append(out, fmt.Sprintf("%s %s%s %d %s", l.Part, l.Module, l.Config, l.Number, l.Entry))
		}
		line := fmt.Sprintf("  %s %s %s %v", l.Kind, l.Original, l.Path, l.Exists)
		for _, v := range l.Found {
			line += fmt.Sprintf(" [%s %v %s", v.At, v.Outcome.Value, v.Text)
			for _, of := range v.Variables {
				line += fmt.Sprintf(" %s=%v %v", of.Name, of.Outcome.Value, of.Outcome.Found)
			}
			line += "]"
		}
		out = append(out, line)
	}
	return out
}

func TestExplainNamesAllHiera5Entries(t *testing.T) {
	r := strictRequest(t, hieraSnapshot(t, writtenSite, bindings.Options{}), `{"role": "web"}`, false)
	environment := func(found ...string) []string {
		lines := []string{"environment hiera.yaml 0 Roles", "  path role/%{::role}.yaml data/role/web.yaml true",
			"  path role/none.yaml data/role/none.yaml false", "  path zone/%{zone}.yaml data/zone/.yaml false",
			"environment hiera.yaml 1 Globs", "  glob glob/*.yaml data/glob/*.yaml false",
			"environment hiera.yaml 2 Common", "  path common.yaml data/common.yaml true"}
		for i := 0; i < len(found); i += 2 {
			at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, found[i]) })
			lines[at] = found[i] + found[i+1]
		}
		return lines
	}
	module := []string{"module mmodules/m/hiera.yaml 0 Common", "  path common.yaml modules/m/data/common.yaml true"}
	for key, want := range map[string][]string{
		"text": environment(
			"  path role/%{::role}.yaml data/role/web.yaml true",
			" [data/role/web.yaml:1:1 xwebweb x%{role}%{role}%{::zone.a} role=web true zone.a= false]",
			"  glob glob/*.yaml data/glob/*.yaml ", "true [data/glob/a.yaml:1:1 glob ]",
			"  path common.yaml data/common.yaml true", " [data/common.yaml:1:1 common ]"),
		"other.x": environment("  path role/%{::role}.yaml data/role/web.yaml true", " [data/role/web.yaml:2:1 1 ]"),
		"nobody":  environment(),
		"m::a": append(environment("  path common.yaml data/common.yaml true", " [data/common.yaml:2:1 2 ]"),
			module[0], module[1]+" [modules/m/data/common.yaml:1:1 1 ]"),
		"m::b": append(environment(), module...),
	} {
		if got := entriesOf(t, r, key); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nexpected\n%s", key, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if got := entriesOf(t, r, "lookup_options"); !strings.Contains(strings.Join(got, "\n"), "data/common.yaml:3:1") {
		t.Errorf("lookup_options: %q", got)
	}
	if got := entriesOf(t, r, recipe.HierarchiesKey); got != nil {
		t.Errorf("an internal key: %q", got)
	}
}

func TestExplainFindsValueInFileWithColonInItsName(t *testing.T) {
	r := strictRequest(t, hieraSnapshot(t, `
-- hiera.yaml --
version: 5
hierarchy: [{name: Cards, path: '%{mac}.yaml'}]
-- data/00:11.yaml --
text: found
`, bindings.Options{}), `{"mac": "00:11"}`, false)
	want := []string{"environment hiera.yaml 0 Cards", "  path %{mac}.yaml data/00:11.yaml true " +
		"[data/00:11.yaml:1:1 found ]"}
	if got := entriesOf(t, r, "text"); !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
}

// Explain omits Hiera 5 entries if the file has no description of them, or an invalid one.
func TestExplainOmitsInvalidEntries(t *testing.T) {
	text, number := value.FromString, value.FromInt
	list := func(of ...value.Value) value.Value { return value.FromSlice(of) }
	hierarchy := func(entries value.Value) value.Value { return list(list(number(2), text(""), text("h"), entries)) }
	for name, c := range map[string]struct {
		written value.Value
		entries int
	}{
		"nothing":                        {value.Value{}, 0},
		"a string":                       {text("x"), 0},
		"an array of strings":            {list(text("x")), 0},
		"a hierarchy without entries":    {list(list(number(2), text(""), text("h"))), 0},
		"a string instead of the layer":  {list(list(text("2"), text(""), text("h"), list())), 0},
		"a number instead of the module": {list(list(number(2), number(2), text("h"), list())), 0},
		"a number instead of the file":   {list(list(number(2), text(""), number(2), list())), 0},
		"invalid entries":                {hierarchy(text("x")), 0},
		"an entry without a name":        {hierarchy(list(list())), 0},
		"an entry with a number":         {hierarchy(list(list(number(1)))), 0},
		"an invalid location":            {hierarchy(list(list(text("n"), text("x")))), 0},
		"a location of numbers": {hierarchy(list(list(text("n"),
			list(number(1), number(1), number(1), number(1))))), 0},
		"a location without a path": {hierarchy(list(list(text("n"),
			list(text("path"), text("a"), text("b"), list())))), 0},
		"an unknown dimension": {hierarchy(list(list(text("n"),
			list(text("path"), text("a"), text("b"), number(99))))), 1},
		"an entry without locations": {hierarchy(list(list(text("n")))), 1},
		"a negative dimension": {hierarchy(list(list(text("n"),
			list(text("path"), text("a"), text("b"), number(-1))))), 1},
	} {
		content := hieraContent(t, writtenSite)
		all := value.FromPairs(value.Pair{Key: text("paths"), Value: value.FromPairs()},
			value.Pair{Key: text("options"), Value: list()}, value.Pair{Key: text("written"), Value: c.written})
		n := slices.IndexFunc(content.Keys, func(k snapshot.Key) bool { return k.Name == recipe.HierarchiesKey })
		for _, l := range content.Levels {
			for _, s := range l.Scopes {
				for _, e := range s.Entries {
					if int(e.Key) == n {
						content.Values[e.Value] = snapshot.Stored{Bytes: string(value.Append(nil, all))}
					}
				}
			}
		}
		s := openFile(t, content, bindings.Options{}, nil)
		e, err := engine(strictRequest(t, s, `{}`, false)).Explain("text")
		if err != nil || e.Outcome.Err != nil || len(e.Locations) != c.entries {
			t.Errorf("%s: %v, %v", name, e, err)
		}
		if err == nil && c.entries == 1 && e.Locations[0].Path != "" {
			t.Errorf("%s: %v", name, e.Locations)
		}
	}
}
