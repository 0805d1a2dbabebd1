package runtime_test

import (
	"errors"
	"slices"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/testmode"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Each kind of recipe is put into each place that has one. Verify accepts the kinds that format.md allows there. In
// an accepted file, no lookup reports damage.
func TestVerifyAcceptsRecipesWhereLookupsDo(t *testing.T) {
	testmode.SkipUnderRace(t)
	const site = `
-- binder_config.yaml --
version: 1
layers: [{name: hiera, include: 'hiera:/'}, {name: site, include: 'confdir:/default'}]
-- bindings/default.yaml --
bindings_version: 1
name: default
bind: [{name: list, multibind_id: list, type: Array}, {in: list, to: 1}, [plain, 1], {name: alias, to_alias_of: plain}]
-- hiera.yaml --
version: 5
hierarchy: [{name: N, path: "%{os.name}.yaml"}, {name: C, path: common.yaml}]
-- data/x.yaml --
merged: [2]
-- data/common.yaml --
lookup_options: {merged: {merge: unique}}
merged: [1]
`
	kinds := map[string]*recipe.Recipe{
		"a constant":           {Kind: recipe.Constant},
		"an expression":        {Kind: recipe.Expression, Expr: &expr.Node{Op: expr.Var, Name: "nothing"}},
		"a lookup":             {Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: "plain"}}},
		"the first found":      {Kind: recipe.FirstFound, Targets: []recipe.Target{{Key: "plain"}}},
		"a hash lookup":        {Kind: recipe.HashLookup, Targets: []recipe.Target{{Key: "plain"}}},
		"a producer":           {Kind: recipe.Custom, Name: "p"},
		"an abstract recipe":   {Kind: recipe.Abstract},
		"a multibinding":       {Kind: recipe.Multibind, Name: "\x00list", Options: &recipe.Options{Array: true}},
		"contributions":        {Kind: recipe.Contributions, Parts: []recipe.Part{{Recipe: &recipe.Recipe{}}}},
		"a merge":              {Kind: recipe.Merged},
		"an alias":             {Kind: recipe.AliasOf, Targets: []recipe.Target{{Key: "plain"}}},
		"a rebinding":          {Kind: recipe.Below, Name: "plain"},
		"a renamed key":        {Kind: recipe.Erased},
		"an optional constant": {Kind: recipe.Constant, Optional: true},
	}
	alone := []string{"a constant", "an expression", "a lookup", "the first found", "a hash lookup", "a producer",
		"an abstract recipe", "a multibinding", "an optional constant"}
	inPart := append(slices.Clone(alone), "an alias")
	underKeys := append(slices.Clone(inPart), "a merge", "a rebinding", "a renamed key")
	places := map[string]struct {
		key   string
		part  bool
		sound []string
	}{
		"under a key":                       {"plain", false, underKeys},
		"under a key of Hiera 5":            {"merged", false, underKeys},
		"as contributions":                  {"\x00list", false, []string{"contributions"}},
		"as one contribution":               {"\x00list", true, inPart},
		"as the options of a merge":         {recipe.MergeKey("merged"), false, alone},
		"as lookup_options":                 {recipe.LookupOptionsKey, false, alone},
		"as the description of hierarchies": {recipe.HierarchiesKey, false, nil},
	}
	for place, p := range places {
		for kind, r := range kinds {
			if p.part {
				r = &recipe.Recipe{Kind: recipe.Contributions, Parts: []recipe.Part{{Recipe: r}}}
			}
			s := openFile(t, rebind(hieraContent(t, site), p.key, r), bindings.Options{}, nil)
			err := s.Verify()
			if damaged := errors.As(err, new(*bindings.DamageError)); damaged == slices.Contains(p.sound, kind) {
				t.Errorf("%s %s: Verify says %v", kind, place, err)
			} else if err == nil {
				notDamaged(t, kind+" "+place, s)
			}
		}
	}
}

// rebind binds key to r in all its bindings.
func rebind(c *snapshot.Content, key string, r *recipe.Recipe) *snapshot.Content {
	n := slices.IndexFunc(c.Keys, func(k snapshot.Key) bool { return k.Name == key })
	if c.Keys[n].Default >= 0 {
		c.Keys[n].Default = len(c.Values)
	}
	for _, l := range c.Levels {
		for _, s := range l.Scopes {
			for i := range s.Entries {
				if int(s.Entries[i].Key) == n {
					s.Entries[i].Value = uint32(len(c.Values))
				}
			}
		}
	}
	c.Values, c.ARM8 = append(c.Values, computed(r)), true
	return c
}

// notDamaged checks that no call on the snapshot reports damage.
func notDamaged(t *testing.T, what string, s *bindings.Snapshot) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if errors.As(err, new(*bindings.DamageError)) {
			t.Errorf("Verify takes %s, and then: %v", what, err)
		}
	}
	strategy := strategyOf(t, `"unique"`)
	for _, facts := range []string{`{"os": {"name": "x"}}`, `{"os": "x"}`} {
		req := requestFor(t, s, facts)
		for _, key := range []string{"plain", "alias", "merged", "merged.0", "list", "absent", "lookup_options"} {
			_, _, err := req.Lookup(key)
			check(err)
			_, _, err = lookupMerged(req, key, strategy)
			check(err)
			_, _, err = lookupEntries(req, key, 0, 1, strategy)
			check(err)
			_, err = engine(req).Effective(key)
			check(err)
			e, err := engine(req).Explain(key)
			if check(err); err == nil {
				check(e.Outcome.Err)
			}
		}
	}
	_, _, _, err := (*lookup.Snapshot)(s).Needs()
	check(err)
}
