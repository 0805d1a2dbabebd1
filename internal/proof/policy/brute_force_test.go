package policy_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/facts"
	"bindc/internal/fsx"
	"bindc/internal/lookup"
	"bindc/internal/proof/policy"
	"bindc/internal/testmode"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Each variable of a random site has one of these texts in a request. "" means that it is not set, and no condition of
// a site uses the last one.
var texts = []string{"x", "y", "", "elsewhere"}

var variables = []string{"fqdn", "osfamily", "environment", "role"}

// categories are the categories of the random sites. Some are computed from variables that others use too.
const categories = `categories: [[node, '${fqdn}'], [both, '${osfamily}-${environment}'], [osfamily, '${osfamily}'],
  [role, '${role}'], [environment, '${environment}'], [common, 'true']]
`

var values = map[string][]string{"node": {"x", "y"}, "both": {"x-x", "x-y", "y-x"}, "osfamily": {"x", "y"},
	"role": {"x", "y"}, "environment": {"x", "y"}}

// generator generates sites and policies.
type generator struct {
	*rand.Rand
	computed bool // the site has values that depend on facts
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// when returns a random condition, such as {node: x, role: [x, y]}.
func (g *generator) when() string {
	var out []string
	for _, name := range []string{"node", "both", "osfamily", "role", "environment"} {
		if g.IntN(4) > 0 {
			continue
		}
		text := pick(g, values[name])
		if g.IntN(4) == 0 {
			text = "[" + strings.Join(values[name], ", ") + "]"
		}
		out = append(out, name+": "+text)
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// bindings returns the bindings of a random layer.
func (g *generator) bindings() string {
	out := ""
	for range 1 + g.IntN(5) {
		key := pick(g, []string{"m::a", "m::b", "n::a"})
		attributes := "to: " + pick(g, []string{"1", "2", "one", "null", "[1]"})
		if g.computed && g.IntN(4) == 0 {
			attributes = pick(g, []string{"to: 'is ${role}'", "to_lookup_of: m::b", "abstract: true",
				"to_expression: '$role', optional: true", "to: 2, sensitive: true"})
		}
		binding := "{name: '" + key + "', " + attributes + "}"
		if when := g.when(); when != "{}" {
			binding = "{when: " + when + ", bind: [" + binding + "]}"
		}
		out += "  - " + binding + "\n"
	}
	return out
}

// structured writes a site of structured bindings in two layers.
func (g *generator) structured(files map[string]string) {
	files["binder_config.yaml"] = "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, " +
		"{name: low, include: 'confdir:/low'}]\n" + categories
	for _, layer := range []string{"top", "low"} {
		files["bindings/"+layer+".yaml"] = "bindings_version: 1\nname: " + layer + "\nbind:\n" + g.bindings()
	}
}

// hiera5 writes a control repository.
func (g *generator) hiera5(files map[string]string) {
	files["binder_config.yaml"] = "version: 1\nlayers: [{name: hiera, include: 'hiera:/'}]\n" + categories
	files["hiera.yaml"] = "version: 5\nhierarchy:\n" +
		"  - {name: Nodes, path: 'nodes/%{fqdn}.yaml'}\n" +
		"  - {name: Both, path: 'both/%{osfamily}/%{environment}.yaml'}\n" +
		"  - {name: Roles, path: 'roles/%{::role}.yaml'}\n  - {name: Families, path: 'os/%{facts.os.family}.yaml'}\n" +
		"  - {name: Common, path: common.yaml}\n"
	for _, file := range []string{"nodes/x", "nodes/y", "both/x/x", "both/x/y", "both/y/x", "roles/x",
		"roles/y", "os/x", "common"} {
		data := ""
		for _, key := range []string{"m::a", "m::b", "n::a"} {
			if g.IntN(4) == 0 {
				data += key + ": " + pick(g, []string{"1", "2", "one", "~", "[1]"}) + "\n"
			}
		}
		if g.computed && g.IntN(4) == 0 {
			data += pick(g, []string{"m::c: 'of %{role}'\n", "m::c: \"%{alias('m::a')}\"\n",
				"lookup_options: {'m::a': {merge: unique}}\n"})
		}
		if data != "" {
			files["data/"+file+".yaml"] = data
		}
	}
}

// statement is a policy as source and as functions in Go, which decide the same.
type statement struct {
	source string
	key    func(string) bool
	region func(r *bindings.Request, given map[string]string) bool
	broken func(v value.Value, found bool, layer string) bool
}

// holds reports whether a request meets a condition that is written as generator.when writes it.
func holds(when string, r *bindings.Request) bool {
	for rest := strings.Trim(when, "{}"); rest != ""; {
		name, after, _ := strings.Cut(rest, ": ")
		var accepted []string
		if list, isList := strings.CutPrefix(after, "["); isList {
			list, rest, _ = strings.Cut(list, "]")
			accepted = strings.Split(list, ", ")
		} else {
			accepted = []string{after}
			accepted[0], rest, _ = strings.Cut(after, ", ")
		}
		rest = strings.TrimPrefix(rest, ", ")
		if text, _ := r.Category(name); !slices.Contains(accepted, text) {
			return false
		}
	}
	return true
}

// statement returns a random policy.
func (g *generator) statement(name string, layers []string) statement {
	s := statement{source: "  - name: " + name + "\n"}
	if g.IntN(2) == 0 {
		key := pick(g, []string{"m::a", "m::b", "n::a"})
		s.source += "    key: " + key + "\n"
		s.key = func(k string) bool { return k == key }
	} else {
		patterns := map[string]func(string) bool{"m::*": func(k string) bool { return strings.HasPrefix(k, "m::") },
			"**::a": func(k string) bool { return strings.HasSuffix(k, "::a") },
			"**":    func(string) bool { return true }}
		pattern := pick(g, []string{"m::*", "**::a", "**"})
		s.source, s.key = s.source+"    keys: '"+pattern+"'\n", patterns[pattern]
	}
	when, unless := g.when(), g.when()
	if when != "{}" {
		s.source += "    when: " + when + "\n"
	}
	fact := g.IntN(3)
	s.region = func(r *bindings.Request, given map[string]string) bool {
		excluded := holds(unless, r) && unless != "{}"
		switch fact {
		case 1:
			excluded = given["role"] == "x" || given["role"] == "y"
		case 2:
			excluded = given["role"] != "x" || given["osfamily"] == "y"
		}
		return holds(when, r) && !excluded
	}
	switch {
	case fact == 1:
		s.source += "    unless: {facts: '$facts[role] in [x, y]'}\n"
	case fact == 2:
		s.source += "    unless: {facts: '$role != x or $osfamily == \"Y\"'}\n"
	case unless != "{}":
		s.source += "    unless: " + unless + "\n"
	}
	g.claim(&s, layers)
	return s
}

// claim adds a random requirement.
func (g *generator) claim(s *statement, layers []string) {
	one := value.FromInt(1)
	number, _ := types.Parse("Integer")
	name := pick(g, layers)
	c := pick(g, []struct {
		source string
		broken func(v value.Value, found bool, layer string) bool
	}{
		{"equals: 1", func(v value.Value, found bool, _ string) bool { return found && !value.Identical(v, one) }},
		{"type: Integer", func(v value.Value, found bool, _ string) bool { return found && number.Check(v) != nil }},
		{"satisfies: '|$x| { $x == 1 or $x =~ Array }'", func(v value.Value, found bool, _ string) bool {
			return found && !value.Identical(v, one) && v.Kind() != value.Array
		}},
		{"bound: true", func(_ value.Value, found bool, _ string) bool { return !found }},
		{"bound: false", func(_ value.Value, found bool, _ string) bool { return found }},
		{"layers: ['" + name + "']", func(_ value.Value, found bool, layer string) bool {
			return found && layer != name
		}},
	})
	s.source, s.broken = s.source+"    "+c.source+"\n", c.broken
}

// requests returns all requests over the variables.
func requests(t *testing.T) (all []*bindings.Facts, given []map[string]string) {
	t.Helper()
	for n := range len(texts) * len(texts) * len(texts) * len(texts) {
		var hash value.Builder
		g := map[string]string{}
		for _, name := range variables {
			text := texts[n%len(texts)]
			n /= len(texts)
			if g[name] = text; text == "" {
				continue
			}
			hash.Set(value.FromString(name), value.FromString(text))
			if name == "osfamily" {
				hash.Set(value.FromString("os"), value.FromPairs(value.Pair{Key: value.FromString("family"),
					Value: value.FromString(text)}))
			}
		}
		all, given = append(all, factsOf(t, hash.Hash())), append(given, g)
	}
	return all, given
}

func factsOf(t *testing.T, v value.Value) *bindings.Facts {
	t.Helper()
	f, err := bindings.NewFacts(bindings.Value(lookup.FromValue(v)), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// written writes a site to a new directory.
func written(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	testmode.WriteFiles(t, dir, files)
}

// site is a compiled site with the results of its policies.
type site struct {
	snap   *bindings.Snapshot
	list   []diag.Diagnostic
	proven []string
}

// proved compiles the site in dir and proves its policies. It returns nil if the site is invalid.
func proved(t testing.TB, dir string) *site {
	t.Helper()
	var diags, own diag.List
	loaded := loader.Load(dir, loader.Options{}, &diags)
	content := compile.Compile(loaded, compile.Options{}, &diags)
	if diags.Failed() {
		return nil
	}
	own.All = true
	policies := policy.Read(dir, nil, fsx.Disk{}, &own)
	of := policy.Input{Content: content, Files: func(input string) string { return input }}
	result, err := policy.Prove(of, policies, &own)
	if err != nil {
		t.Fatal(err)
	}
	result.Report(&own)
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	out := &site{list: own.Sorted()}
	if out.snap, err = bindings.Open(path, bindings.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range result.Proven {
		out.proven = append(out.proven, p.Name)
	}
	return out
}

// verdict returns what a proof says about a policy: proven, broken, open, or the message of a policy without effect.
func (s *site) verdict(name string) string {
	out := ""
	if slices.Contains(s.proven, name) {
		out = "proven"
	}
	for _, d := range s.list {
		switch {
		case !strings.Contains(d.Message, "policy '"+name+"'"):
		case d.Severity == diag.Error:
			return "broken"
		case strings.Contains(d.Message, "not proven"):
			out += "open"
		case strings.Contains(d.Message, "applies to no"), strings.Contains(d.Message, "matches no"):
			out += d.Message
		}
	}
	return out
}

// breaks reports whether the answer for a key breaks a policy. An abstract binding is not found. A lookup that fails
// for another reason breaks nothing.
func (s *statement) breaks(t *testing.T, r *bindings.Request, key string) bool {
	t.Helper()
	_, _, err := r.Lookup(key)
	if err != nil && lookup.CodeOf(err) != lookup.CodeAbstract {
		return false
	}
	return s.broken(s.lookup(t, r, key))
}

// lookup returns the answer for a key, with its layer if the policy is about layers.
func (s *statement) lookup(t *testing.T, r *bindings.Request, key string) (v value.Value, found bool, layer string) {
	t.Helper()
	got, found, err := r.Lookup(key)
	if err != nil || !found {
		return v, false, ""
	}
	if v, err = lookup.Value(got).Whole(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.source, "layers:") {
		return v, true, ""
	}
	e, err := (*lookup.Request)(r).Explain(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range e.Candidates {
		if c.State == lookup.Wins || c.State == lookup.Merged && layer == "" {
			layer = c.Layer
		}
	}
	return v, true, layer
}

// isBroken tries all requests. It also reports whether the policy concerns any of them.
func (s *statement) isBroken(t *testing.T, of *site, all []*bindings.Facts, given []map[string]string) (is, any bool) {
	t.Helper()
	keys := slices.Sorted(of.snap.Keys())
	for _, key := range []string{"m::a", "m::b", "n::a"} {
		if strings.Contains(s.source, "key: "+key) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for i, f := range all {
		r, err := of.snap.Request(f)
		if err != nil {
			t.Fatal(err)
		}
		if !s.region(r, given[i]) {
			continue
		}
		any = true
		for _, key := range keys {
			if s.key(key) && s.breaks(t, r, key) {
				return true, true
			}
		}
	}
	return false, any
}

// checkWitnesses looks up the key of each violation with the facts that the violation names.
func checkWitnesses(t *testing.T, of *site, statements map[string]statement) {
	t.Helper()
	for _, d := range of.list {
		if d.Severity != diag.Error {
			continue
		}
		parts := strings.Split(d.Message, "'")
		key, name := parts[1], parts[3]
		var v bindings.Value
		if _, list, some := strings.Cut(d.Hint, "with the facts "); some {
			var err error
			if v, err = facts.With("--fact", v, strings.Split(list, ", ")); err != nil {
				t.Fatal(err)
			}
		}
		node := facts.Node{Facts: v}
		f, err := facts.Variables(node, bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := of.snap.Request(f)
		if err != nil {
			t.Fatal(err)
		}
		s := statements[name]
		if !s.breaks(t, r, key) {
			t.Errorf("%s: a lookup does not confirm it; %s\n%s", d.Message, d.Hint, s.source)
		}
	}
}

// For random sites and policies, each verdict agrees with lookups for all requests. Only policies about sites with
// computed values may stay open. A lookup confirms the facts that a violation names.
func TestVerdictsEqualBruteForceOverAllRequests(t *testing.T) {
	testmode.SkipUnderRace(t)
	sites := testmode.Number(80, 10_000)
	if testing.Short() {
		sites = 60
	}
	all, given := requests(t)
	dir := filepath.Join(t.TempDir(), "site")
	counts := map[string]int{}
	for n := range sites {
		g := &generator{rand.New(rand.NewPCG(uint64(n), 29)), n%3 == 2}
		files, layers := map[string]string{}, []string{"top", "low"}
		if n%2 == 0 {
			g.structured(files)
		} else {
			g.hiera5(files)
			layers = []string{"environment: Nodes", "environment: Common"}
		}
		statements := map[string]statement{}
		text := "policy_version: 1\npolicies:\n"
		for i := range 6 {
			name := fmt.Sprintf("p%d", i)
			statements[name] = g.statement(name, layers)
			text += statements[name].source
		}
		files["policies/p.yaml"] = text
		written(t, dir, files)
		of := proved(t, dir)
		if of == nil {
			counts["invalid"]++
			continue
		}
		for name, s := range statements {
			broken, any := s.isBroken(t, of, all, given)
			verdict := of.verdict(name)
			wrong := broken && (verdict == "proven" || strings.HasPrefix(verdict, "the policy")) ||
				!broken && verdict == "broken" || verdict == "" ||
				verdict == "open" && !g.computed || strings.Contains(verdict, "no request") == any
			kind, _, _ := strings.Cut(verdict, " ")
			if counts[kind]++; wrong {
				t.Errorf("site %d: brute force says broken: %t, any request: %t; the proof says %q\n%s\n%v\n%v", n, broken,
					any, verdict, s.source, files, of.list)
			}
		}
		checkWitnesses(t, of, statements)
		of.snap.Close()
		if t.Failed() {
			break
		}
	}
	t.Logf("verdicts: %v", counts)
	if counts["proven"] < sites/2 || counts["broken"] < sites/2 || counts["invalid"] > sites/2 {
		t.Errorf("too few verdicts of a kind: %v", counts)
	}
}

// A policy that requires a value is not proven for a value that may look up an abstract binding.
func TestValueThatMayLookUpAbstractBindingIsNotProven(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	written(t, dir, map[string]string{
		"binder_config.yaml": "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, {name: low, include: " +
			"'confdir:/low'}]\ncategories: [[node, '${fqdn}'], [role, '${role}'], [environment, '${environment}'], " +
			"[common, 'true']]\n",
		"bindings/low.yaml": "bindings_version: 1\nname: low\nbind:\n" +
			"  - {when: {environment: x}, bind: [{name: 'm::b', abstract: true}]}\n" +
			"  - {when: {node: x}, bind: [{name: 'm::b', to: one}]}\n",
		"bindings/top.yaml": "bindings_version: 1\nname: top\nbind:\n" +
			"  - {when: {role: x}, bind: [{name: 'm::a', to_lookup_of: m::b}]}\n",
		"policies/p.yaml": "policy_version: 1\npolicies:\n" +
			"  - {name: p, key: 'm::a', when: {environment: x, role: x}, bound: true}\n"})
	of := proved(t, dir)
	if of == nil {
		t.Fatal("the site has errors")
	}
	defer of.snap.Close()
	if got := of.verdict("p"); got == "proven" {
		t.Errorf("the policy is proven, although the lookup fails in the environment x")
	}
}
