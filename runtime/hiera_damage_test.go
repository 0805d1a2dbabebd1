package runtime_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Without Hiera 5, merge strategies have no effect and dots in keys have no meaning. After Close, merged lookups
// fail.
func TestMergesAndDotsHaveNoEffectWithoutHiera(t *testing.T) {
	s := hieraSnapshot(t, "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[a, {b: [1]}], "+
		"{name: optional.b, to_expression: $nothing, optional: true}]}",
		bindings.Options{})
	req := requestFor(t, s, "{}")
	unique, err := parseJSON([]byte(`"unique"`))
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{resultText(lookupMerged(req, "a", unique)), resultText(lookupEntries(req, "a", 1, 1,
		unique))} {
		if got != `{"b":[1]}` {
			t.Errorf("a is %s", got)
		}
	}
	for _, key := range []string{"a.b", "optional.b"} {
		if got := resultText(req.Lookup(key)); got != "not found" || (*lookup.Snapshot)(s).Hiera() {
			t.Errorf("%s is %s, of Hiera 5 %t", key, got, (*lookup.Snapshot)(s).Hiera())
		}
		e, err := engine(req).Explain(key)
		if bound := key == "optional.b"; err != nil || e.Root != "" || bound != (len(e.Candidates) == 1) {
			t.Errorf("%s is explained by %+v of '%s', %v", key, e.Candidates, e.Root, err)
		}
	}
	of5 := hieraSnapshot(t, everyPart, bindings.Options{})
	requests := []*bindings.Request{req, requestFor(t, of5, "{}")}
	if !(*lookup.Snapshot)(of5).Hiera() {
		t.Error("a snapshot without Hiera 5 reports a hierarchy")
	}
	s.Close()
	of5.Close()
	for _, req := range requests {
		_, found, merged := lookupMerged(req, "a", unique)
		_, there, entries := lookupEntries(req, "a", 0, 1, unique)
		if found || there || !errors.Is(merged, fs.ErrClosed) || !errors.Is(entries, fs.ErrClosed) {
			t.Errorf("of a closed snapshot: %t %v, %t %v", found, merged, there, entries)
		}
	}
}

// In a file without Hiera 5, a merge recipe is damage.
func TestMergeRecipeWithoutHieraIsDamage(t *testing.T) {
	merged := snapshot.Stored{Computed: true, Bytes: string(recipe.Append(nil, &recipe.Recipe{Kind: recipe.Merged}))}
	s := openFile(t, &snapshot.Content{Layers: []string{"l"}, Keys: []snapshot.Key{{Name: "a", Default: 0}},
		Values: []snapshot.Stored{merged}}, bindings.Options{}, nil)
	var damage *bindings.DamageError
	if err := s.Verify(); !errors.As(err, &damage) || damage.Section != "recipes" {
		t.Errorf("Verify says %v", err)
	}
	_, found, err := requestFor(t, s, "{}").Lookup("a")
	if found || !errors.As(err, &damage) || damage.Section != "recipes" {
		t.Errorf("a lookup says %v", err)
	}
}

// Lookups ignore a description of hierarchies in a file that declares none, and invalid options in a merge recipe.
func TestForgedHierarchiesAreIgnored(t *testing.T) {
	const site = "-- hiera.yaml --\nversion: 5\nhierarchy: [{name: N, path: '%{os.family}.yaml'}]\n" +
		"-- data/x.yaml --\na: [1]\nlookup_options: {a: {merge: '%{how}'}}\n"
	content := hieraContent(t, site)
	content.Hiera = nil
	var damage *bindings.DamageError
	s := openFile(t, content, bindings.Options{}, nil)
	if err := s.Verify(); !errors.As(err, &damage) {
		t.Errorf("Verify says %v", err)
	}
	for _, facts := range []string{`{"os": "x"}`, `{"os": {"family": "y"}}`} {
		if got := resultText(requestFor(t, s, facts).Lookup("absent")); got != "not found" {
			t.Errorf("absent of %s is %s", facts, got)
		}
	}
	content = hieraContent(t, "-- hiera.yaml --\nversion: 5\n-- data/common.yaml --\na: [1]\n"+
		"lookup_options: {a: {merge: unique}}\n")
	for i, v := range content.Values {
		if r, err := recipe.Decode(v.Bytes); v.Computed && err == nil && r.Kind == recipe.Merged {
			r.Value = value.FromString("unique")
			content.Values[i].Bytes = string(recipe.Append(nil, r))
		}
	}
	req := requestFor(t, openFile(t, content, bindings.Options{}, nil), "{}")
	if got := resultText(req.Lookup("a")); got != "[1]" {
		t.Errorf("a, with invalid options, is %s", got)
	}
}

// In a damaged file, every lookup, explanation and LookupEntries call returns its normal result or reports damage.
func TestDamagedHierarchiesAreReported(t *testing.T) {
	content := hieraContent(t, everyPart)
	facts := `{"os": {"family": "Debian"}, "role": "web"}`
	sound := requestN1(t, openFile(t, content, bindings.Options{}, nil), facts)
	strategies := []bindings.Value{{}}
	for _, name := range []string{`"first"`, `"unique"`} {
		v, err := parseJSON([]byte(name))
		if err != nil {
			t.Fatal(err)
		}
		strategies = append(strategies, v)
	}
	type sections func(name string) []byte
	fill := func(b []byte, with byte) {
		for i := range b {
			b[i] = with
		}
	}
	for name, damage := range map[string]func(sections){
		"recipes":                 func(of sections) { fill(of("recipes"), 0xff) },
		"the table of recipes":    func(of sections) { fill(of("recipetab"), 0xff) },
		"values":                  func(of sections) { fill(of("keys")[64*len(content.Keys):], 0x0b) },
		"candidates":              func(of sections) { fill(of("origins"), 0) },
		"the table of candidates": func(of sections) { fill(of("origintab"), 0xff) },
		"the values of the paths": func(of sections) { fill(of("dicts"), 0xff) },
	} {
		s := openFile(t, content, bindings.Options{}, func(of func(string) []byte) { damage(of) })
		f, err := parseFacts([]byte(facts), bindings.FactsOptions{Node: "n1"})
		if err != nil {
			t.Fatal(err)
		}
		req, err := s.Request(f)
		if err != nil {
			if !errors.As(err, new(*bindings.DamageError)) {
				t.Errorf("%s: a request says %v", name, err)
			}
			continue
		}
		damaged := 0
		same := func(what, key, got, want string, err error) {
			switch {
			case errors.As(err, new(*bindings.DamageError)), strings.HasPrefix(got, "snapshot damaged: "):
				damaged++ // the damage of a value is reported when it is read
			case got != want && name != "the values of the paths":
				t.Errorf("%s of %s where %s are damaged: %s, expected %s", what, key, name, got, want)
			}
		}
		for _, c := range hieraLookups {
			for i, strategy := range strategies {
				v, found, err := lookupMerged(req, c.key, strategy)
				same("lookup", c.key, resultText(v, found, err), resultText(lookupMerged(sound, c.key, strategy)), err)
				v, found, err = lookupEntries(req, c.key, i, -1, strategy)
				want := resultText(lookupEntries(sound, c.key, i, -1, strategy))
				same("entries", c.key, resultText(v, found, err), want, err)
			}
			e, err := engine(req).Explain(c.key)
			if err == nil {
				err = e.Outcome.Err
			}
			same("explanation", c.key, "", "", err)
		}
		if damaged == 0 {
			t.Errorf("%s: nothing reports the damage", name)
		}
	}
}
