package runtime_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"bindc/internal/lookup"
	"bindc/internal/testmode"
	bindings "bindc/runtime"
)

// hostile returns a site whose bindings cause exponential work unless one lookup has one set of bounds. Some requests
// cannot resolve a path of its hierarchy, others get invalid lookup_options.
func hostile(levels int) string {
	var b strings.Builder
	b.WriteString(`
-- hiera.yaml --
version: 5
hierarchy:
- {name: OS, path: "os/%{facts.os.family}.yaml"}
- {name: Role, path: "role/%{role}.yaml"}
- {name: Common, path: common.yaml}
-- data/os/Debian.yaml --
os: 1
-- data/role/wrong.yaml --
lookup_options: {'^x(': {merge: hash}}
-- data/common.yaml --
common: 1
`)
	for i := range levels {
		fmt.Fprintf(&b, "marked%d: \"%%{lookup('through%d')}\"\n", i, i)
	}
	fmt.Fprintf(&b, "marked%d: \"%%{lookup('through%d')}\"\n", levels, levels)
	b.WriteString(`
-- bindings/default.yaml --
bindings_version: 1
name: default
bind:
- {name: one, to_expression: "if $word { lookup('other') }", optional: true}
- {name: other, to_expression: "if $word { lookup('one') }", optional: true}
- {name: one.dotted, to_expression: "if $word { lookup('other.dotted') }", optional: true}
- {name: other.dotted, to_expression: "if $word { lookup('one.dotted') }", optional: true}
- {name: counted, to_producer: count}
- {name: asks_itself, to_producer: [ask, asks_itself]}
- {name: asks_twice, to_producer: [ask, twice, twice]}
- {name: list, multibind_id: list, type: Array}
`)
	fmt.Fprintf(&b, "- [alias%d, 1]\n- {name: twice%d, to_lookup_of: counted}\n", levels, levels)
	fmt.Fprintf(&b, "- [dotted.alias%d, 1]\n- {name: through%d, to_alias_of: secret}\n", levels, levels)
	b.WriteString("- {name: secret, to: 2, sensitive: true}\n")
	b.WriteString("- {name: alias, to_alias_of: alias0}\n- {name: dotted.alias, to_alias_of: dotted.alias0}\n" +
		"- {name: twice, to_lookup_of: twice0}\n- {in: list, to_lookup_of: twice}\n" +
		"- {in: list, to_lookup_of: twice0}\n- {in: list, to_lookup_of: twice1}\n")
	for i := range levels {
		fmt.Fprintf(&b, "- {name: alias%d, to_alias_of: alias%d}\n", i, i+1)
		fmt.Fprintf(&b, "- {name: dotted.alias%d, to_alias_of: dotted.alias%d}\n", i, i+1)
		fmt.Fprintf(&b, "- {name: through%d, to_alias_of: marked%d}\n", i, i+1)
		fmt.Fprintf(&b, "- {name: twice%d, to_expression: \"[lookup('twice%d'), lookup('twice%[2]d')][0]\", "+
			"optional: true}\n", i, i+1)
	}
	return b.String()
}

// asks returns every way to look a key up, by name. Each call starts a new lookup.
func asks(t *testing.T) map[string]func(r *bindings.Request, key string) (string, error) {
	merged := func(text string) func(r *bindings.Request, key string) (string, error) {
		strategy := strategyOf(t, text)
		return func(r *bindings.Request, key string) (string, error) {
			v, found, err := lookupMerged(r, key, strategy)
			return resultText(v, found, err), err
		}
	}
	entries := func(text string) func(r *bindings.Request, key string) (string, error) {
		strategy := strategyOf(t, text)
		return func(r *bindings.Request, key string) (string, error) {
			v, found, err := lookupEntries(r, key, 0, -1, strategy)
			return resultText(v, found, err), err
		}
	}
	return map[string]func(r *bindings.Request, key string) (string, error){
		"Lookup": func(r *bindings.Request, key string) (string, error) {
			v, found, err := r.Lookup(key)
			return resultText(v, found, err), err
		},
		"LookupMerged first": merged(`"first"`), "LookupMerged unique": merged(`"unique"`),
		"LookupEntries first": entries(`"first"`), "LookupEntries unique": entries(`"unique"`),
		"Explain": func(r *bindings.Request, key string) (string, error) {
			e, err := engine(r).Explain(key)
			if err != nil {
				return "", err
			}
			return resultText(public(e.Outcome.Value), e.Outcome.Found, e.Outcome.Err), e.Outcome.Err
		},
		"Candidates": func(r *bindings.Request, key string) (string, error) {
			cs, err := engine(r).Candidates(key)
			if err != nil {
				return "", err
			}
			for _, c := range cs {
				if c.State == lookup.Wins {
					return resultText(public(c.Outcome.Value), c.Outcome.Found, c.Outcome.Err), c.Outcome.Err
				}
			}
			return resultText(bindings.Value{}, false, nil), nil
		},
		"Effective": func(r *bindings.Request, key string) (string, error) {
			cs, err := engine(r).Effective(key)
			if err != nil || len(cs) == 0 {
				return resultText(bindings.Value{}, false, err), err
			}
			return resultText(public(cs[0].Value), cs[0].Found, cs[0].Err), cs[0].Err
		},
	}
}

// A call of the package and all lookups that it causes share one set of limits and one chain of keys. So a loop is
// found across nested calls, and work that doubles at every level ends at the limit.
func TestNestedLookupsShareBounds(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	const levels, maxLookups = 40, 100_000
	var calls atomic.Int64
	producers := map[string]bindings.Producer{
		"count": func(*bindings.Request, bindings.Value) (bindings.Value, error) {
			calls.Add(1)
			return parseJSON([]byte("1"))
		},
		"ask": func(r *bindings.Request, keys bindings.Value) (v bindings.Value, err error) {
			for key := range keys.Elems() {
				for _, ask := range []func(string) (bindings.Value, bool, error){r.Lookup, func(key string) (
					bindings.Value, bool, error) {
					e, err := engine(r).Explain(key)
					if err != nil {
						return bindings.Value{}, false, err
					}
					return public(e.Outcome.Value), e.Outcome.Found, e.Outcome.Err
				}} {
					if v, _, err = ask(textOf(key)); err != nil {
						return v, err
					}
				}
			}
			return v, nil
		},
	}
	s := hieraSnapshot(t, hostile(levels), bindings.Options{Producers: producers})
	for state, facts := range map[string]string{
		"sound":                          `{"word": 1}`,
		"a path that cannot be resolved": `{"word": 1, "os": "Debian"}`,
		"invalid lookup_options":         `{"word": 1, "role": "wrong"}`,
	} {
		for how, ask := range asks(t) {
			for _, c := range []struct{ key, want string }{
				{"one", "loop"}, {"one.dotted", "loop"}, {"alias", "1"}, {"dotted.alias", "1"}, {"twice", "evaluation"},
				{"list", "evaluation"}, {"asks_itself", "loop"}, {"asks_twice", "evaluation"}, {"through0", "sensitive 2"},
			} {
				heavy := c.key == "twice" || c.key == "list" || c.key == "asks_twice" // each of these takes a second
				few := c.key == "twice" && (how == "Lookup" || testmode.Asked(t))
				entries, unevaluable := strings.HasPrefix(how, "LookupEntries"), strings.HasPrefix(state, "a path")
				switch {
				case heavy && (!unevaluable || !few && !testmode.Thorough()):
					continue
				// its value comes from the hierarchy, whose lookups fail here
				case c.key == "through0" && state != "sound":
					continue
				// LookupEntries fails for every key, or does not find this one
				case entries && (unevaluable || strings.Contains(c.key, ".")):
					continue
				case how == "Candidates" && strings.Contains(c.key, "."): // candidates belong to the root of the key
					continue
				}
				calls.Store(0)
				got, err := ask(requestFor(t, s, facts), c.key)
				var failed *bindings.Error
				// the error of a nested lookup is the cause of the Producer's
				for e := err; errors.As(e, &failed); e = failed.Err {
					got = string(failed.Code)
				}
				want := c.want
				switch listed := how == "LookupMerged unique"; {
				case listed && c.key == "alias": // 'unique' makes a list
					want = "[1]"
				case listed && c.key == "through0":
					want = `sensitive ["2"]`
				}
				if got != want && !(c.key == "through0" && got == `sensitive "2"`) {
					t.Errorf("%s: %s of %s is %s (%v), expected %s", state, how, c.key, got, err, want)
				}
				if n := calls.Load(); n > 2*maxLookups+2 {
					t.Errorf("%s: %s of %s made %d lookups", state, how, c.key, n)
				}
			}
		}
	}
}

// An explanation records a limited number of lookups and counts the rest.
func TestExplanationOfManyLookupsIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: k, to: '${word}'}
  - {name: list, multibind_id: list, type: Array}
  - {in: list, to: "${lookup('k')}"}
  - {name: all, to_expression: "length(2500.map |$i| { lookup('list') })"}
`)
	e, err := engine(requestOf(t, path, "n1", map[string]any{"word": "w"})).Explain("all")
	if err != nil {
		t.Fatal(err)
	}
	var count func(e *lookup.Explanation) int
	count = func(e *lookup.Explanation) int {
		n := 1
		if e.Key == "list" && (len(e.Contributions) != 1 || e.Contributions[0].State != lookup.Wins) {
			t.Errorf("the contributions to %s are %+v", e.Key, e.Contributions)
		}
		for _, inner := range e.Lookups {
			n += count(inner)
		}
		return n
	}
	if n := count(e); n != 1000 || e.Unexplained != 1+2*2500-n {
		t.Errorf("it explains %d lookups and counts %d others", n, e.Unexplained)
	}
	if text := resultText(public(e.Outcome.Value), e.Outcome.Found, e.Outcome.Err); text != "2500" {
		t.Errorf("all is %s", text)
	}
}

// Expressions nested across a chain of 500 lookups share one depth limit, which bounds the stack.
func TestNestingAcrossLookupsIsBounded(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	const keys, levels = 400, 150
	var b strings.Builder
	b.WriteString("bindings_version: 1\nname: default\nbind:\n")
	for i := range keys {
		fmt.Fprintf(&b, "  - {name: k%d, to_expression: \"lookup('k%d')%s\"}\n", i, i+1, strings.Repeat(" + 1", levels))
	}
	fmt.Fprintf(&b, "  - {name: k%d, to_expression: '$word'}\n", keys)
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, b.String())
	req := requestOf(t, path, "n1", map[string]any{"word": 1})
	if got := outcomeOf(req.Lookup("k0")); got != "evaluation" {
		t.Errorf("%d expressions of %d levels inside one another are %s", keys, levels, got)
	}
	if got, want := outcomeOf(req.Lookup("k100")), fmt.Sprint(1+levels*(keys-100)); got != want {
		t.Errorf("%d expressions of %d levels inside one another are %s, expected %s", keys-100, levels, got, want)
	}
}
