package decision

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// For every kind of recipe in a forged file, making and comparing tables succeeds or reports damage.
func TestMisplacedRecipesAreShownOrReportedAsDamage(t *testing.T) {
	sound := bookOf(t, &snapshot.Content{Layers: []string{"l"}})
	for kind := recipe.Constant; kind <= recipe.AliasedPart; kind++ {
		r := &recipe.Recipe{Kind: kind, Name: "\x00k", Targets: []recipe.Target{{Key: "k"}}, Options: &recipe.Options{}}
		if kind == recipe.Below {
			r.Name = "k"
		}
		if kind == recipe.Expression {
			r.Kind = recipe.Abstract
		}
		for _, key := range []string{"k", "\x00k", recipe.MergeKey("k")} {
			b := bookOf(t, &snapshot.Content{Layers: []string{"l"},
				Hiera:  []snapshot.HieraPlace{{Part: snapshot.HieraEnvironment}},
				Keys:   []snapshot.Key{{Name: key, Default: 0, Cold: []snapshot.Cold{{}}}},
				Values: []snapshot.Stored{{Computed: true, Bytes: string(recipe.Append(nil, r))}}})
			what := fmt.Sprintf("kind %d under %q", kind, key)
			wrong := (kind == recipe.Contributions) != (key == "\x00k") || kind >= recipe.RenamedPart
			_, err := b.Values("k")
			wrongTable := wrong && key != "\x00k"
			if wrongTable != errors.As(err, new(*snapshot.DamageError)) || !wrongTable && err != nil {
				t.Errorf("%s: the table says %v", what, err)
			}
			d, err := Diff(sound, b, func() {})
			if wrong != errors.As(err, new(*snapshot.DamageError)) || !wrong && key == "k" && len(d.Keys) != 1 {
				t.Errorf("%s: compared: %+v, %v", what, d, err)
			}
		}
	}
}

// Recipes that never occur in the table of a valid site are also shown: programs, parts, and recipes without
// arguments.
func TestShowsRecipesThatNoSiteHas(t *testing.T) {
	none := &expr.Node{Op: expr.Call, Name: "lookup"}
	x := value.FromString("x")
	for _, c := range []struct {
		r    recipe.Recipe
		want string
		uses int
	}{
		{recipe.Recipe{Kind: recipe.Custom, Name: "vault", Value: x}, "vault('x') dynamic", 0},
		{recipe.Recipe{Kind: recipe.Expression, Expr: none}, "lookup()", 0},
		{recipe.Recipe{Kind: recipe.Expression, Expr: call("lookup", constant(value.FromInt(1)))},
			"lookup(1) dynamic", 0},
		{recipe.Recipe{Kind: recipe.Expression, Expr: call("lookup", constant(x))}, "lookup('x')", 1},
		{recipe.Recipe{Kind: recipe.Expression, Expr: call("fact", constant(x))}, "fact('x')", 0},
		{recipe.Recipe{Kind: recipe.Constant, Value: x, Optional: true}, "optional('x') declines", 1},
		{recipe.Recipe{Kind: recipe.Merged, Value: x, Sensitive: true}, "merged as lookup_options say sensitive", 1},
		{recipe.Recipe{Kind: recipe.AliasedPart, Name: "k"}, "alias_of_contributions('k')", 0},
		{recipe.Recipe{Kind: recipe.RenamedPart, Name: "k"}, "renamed_contributions('k')", 0},
		{recipe.Recipe{Kind: recipe.Contributions}, "contributions()", 0},
		{recipe.Recipe{Kind: recipe.Erased}, "erased", 0},
		{recipe.Recipe{Kind: recipe.Abstract}, "abstract", 0},
	} {
		row := Row{key: "k"}
		row.setRecipe(&c.r)
		if got := bindingText(&row); got != c.want || len(row.uses) != c.uses {
			t.Errorf("%s, which uses %q, expected %s", got, row.uses, c.want)
		}
	}
}

// Unreadable parts of a forged file are reported as damage, whichever of the two files has them.
func TestUnreadablePartIsReportedAsDamage(t *testing.T) {
	sound := &snapshot.Content{Layers: []string{"l"}}
	of := func(program, recipe string) *snapshot.Content {
		return &snapshot.Content{Layers: []string{"l"},
			Dimensions: []snapshot.Dimension{{Name: "node", Category: -1, Program: []byte(program)}},
			Keys:       []snapshot.Key{{Name: "k", Default: 0, Cold: []snapshot.Cold{{}}}},
			Values:     []snapshot.Stored{{Computed: true, Bytes: recipe}}}
	}
	node := string(expr.Append(nil, &expr.Node{Op: expr.Var, Name: "fqdn"}))
	bad := bookOf(t, of(node, "\xff"))
	for _, books := range [][2]*Tables{{bad, bookOf(t, sound)}, {bookOf(t, sound), bad}} {
		if d, err := Diff(books[0], books[1], func() {}); !errors.As(err, new(*snapshot.DamageError)) {
			t.Errorf("compared: %v, %v", d, err)
		}
	}
	for what, c := range map[string]*snapshot.Content{"recipe": of(node, "\xff"), "program": of("\xff", "\xff")} {
		f := fileOf(t, c)
		if names, err := CustomVariables(f); !errors.As(err, new(*snapshot.DamageError)) {
			t.Errorf("%s: it asks for %v, %v", what, names, err)
		}
		b, err := NewTables(f, false, nil)
		if what == "recipe" && err == nil {
			_, err = b.Values("k")
		}
		if !errors.As(err, new(*snapshot.DamageError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// If a section of a file is overwritten, every function that needs the section reports damage.
func TestOverwrittenSectionIsReportedAsDamage(t *testing.T) {
	site := contentOf(t, "bindings/default.yaml", binds("default", `
  - [text, a text]
  - {name: asks, to_expression: '$x'}
  - {name: list, multibind_id: list, type: Array}
  - {in: list, name: one, to: 1}
  - {when: {node: n1}, bind: [[asks, 1]]}
`))
	damaged := func(what string, err error) {
		t.Helper()
		if !errors.As(err, new(*snapshot.DamageError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	sound := bookOf(t, site)
	compared := func(what string, b *Tables) {
		t.Helper()
		for _, books := range [][2]*Tables{{b, sound}, {sound, b}} {
			_, err := Diff(books[0], books[1], func() {})
			damaged(what+", compared", err)
		}
	}
	_, err := NewTables(overwritten(t, site, "inputs"), false, nil)
	damaged("inputs", err)
	origins := overwritten(t, site, "origins")
	_, err = NewTables(origins, true, nil)
	damaged("origins of all keys", err)
	alone, err := NewTables(origins, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	compared("origins", alone)
	for _, key := range []string{"text", "asks", "list"} {
		_, err = alone.Values(key)
		damaged("origins of "+key, err)
	}
	_, err = alone.Contributions([]Row{{uses: []string{recipe.ContributionKey("list")}}})
	damaged("origins of contributions", err)
	for _, section := range []string{"recipetab", "recipes"} {
		f := overwritten(t, site, section)
		_, err = CustomVariables(f)
		damaged(section+" that are asked", err)
		whole, err := NewTables(f, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		compared(section, whole)
		_, err = whole.Values("asks")
		damaged(section+" of asks", err)
		_, err = whole.Contributions([]Row{{uses: []string{recipe.ContributionKey("list")}}})
		damaged(section+" of contributions", err)
	}
}

// overwritten returns the file of c with one section replaced by other bytes.
func overwritten(t *testing.T, c *snapshot.Content, section string) *snapshot.Snapshot {
	t.Helper()
	path := written(t, c)
	for _, s := range openedAt(t, path).Info().Sections {
		if s.Name != section {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copy(text[s.Offset:], bytes.Repeat([]byte{0x41}, int(s.Bytes)))
		if err := os.WriteFile(path+".damaged", text, 0o666); err != nil {
			t.Fatal(err)
		}
		return openedAt(t, path+".damaged")
	}
	t.Fatal("no section", section)
	return nil
}

// A forged file may have content that no site has: a constant under the key of contributions, contributions under
// another key, places in missing files, invalid options.
func TestTablesHandleForgedContent(t *testing.T) {
	one := snapshot.Stored{Bytes: string(value.Append(nil, value.FromInt(1)))}
	of := func(name string, cold snapshot.Cold, v snapshot.Stored) *Tables {
		c := &snapshot.Content{Layers: []string{"l"}, Inputs: []snapshot.Input{{Path: "f.yaml"}},
			Hiera:  []snapshot.HieraPlace{{Part: snapshot.HieraEnvironment}},
			Keys:   []snapshot.Key{{Name: name, Default: 0, Cold: []snapshot.Cold{cold}}},
			Values: []snapshot.Stored{v}}
		if cold.Contribution {
			c.Keys[0].Cold = append(c.Keys[0].Cold, snapshot.Cold{})
		}
		return bookOf(t, c)
	}
	contributions := []Row{{uses: []string{recipe.ContributionKey("k")}}}
	rows, err := of(recipe.ContributionKey("k"), snapshot.Cold{}, one).Contributions(contributions)
	if len(rows) > 0 || err != nil {
		t.Errorf("a constant that is contributed: %v, %v", rows, err)
	}
	rows, err = of("k", snapshot.Cold{Contribution: true}, one).Table("k")
	if err != nil || len(rows) != 2 {
		t.Errorf("a contribution to a key: %v, %v", rows, err)
	}
	for origin, want := range map[snapshot.Origin]string{{}: "an unknown place", {Line: 2, Col: 3}: "f.yaml:2:3",
		{Input: 1, Line: 2, Col: 3}: "an unknown place"} {
		rows, err = of("k", snapshot.Cold{Origin: origin}, one).Table("k")
		if err != nil || len(rows) != 1 || rows[0].At != want {
			t.Errorf("%v: %v, %v", origin, rows, err)
		}
	}
	for _, options := range []value.Value{value.FromString("x"), value.FromString("")} {
		merged := &recipe.Recipe{Kind: recipe.Merged, Value: options}
		table, err := of("k", snapshot.Cold{}, snapshot.Stored{Computed: true,
			Bytes: string(recipe.Append(nil, merged))}).Values("k")
		if err != nil || takesFirst(options) {
			t.Errorf("options that are none: %+v, %v", table, err)
		}
	}
	_, err = of("k", snapshot.Cold{}, snapshot.Stored{Bytes: "\xff"}).Table("k")
	if !errors.As(err, new(*snapshot.DamageError)) {
		t.Errorf("no value: %v", err)
	}
}

func written(t *testing.T, c *snapshot.Content) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, c); err != nil {
		t.Fatal(err)
	}
	return path
}

func openedAt(t *testing.T, path string) *snapshot.Snapshot {
	t.Helper()
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func fileOf(t *testing.T, c *snapshot.Content) *snapshot.Snapshot {
	t.Helper()
	return openedAt(t, written(t, c))
}

func bookOf(t *testing.T, c *snapshot.Content) *Tables {
	t.Helper()
	f := fileOf(t, c)
	b, err := NewTables(f, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
