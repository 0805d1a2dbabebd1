package compile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/loader"
)

// loops lists sites with loops that depend on bindings that may decline, or on contributions. See reports for the form.
var loops = []struct{ name, site, module, want string }{
	{"loop: earlier key is a rebinding with a value on one node",
		"{name: a, to_first_found: [b, c]}\n{rebind: b}\n{name: c, to_lookup_of: a}",
		`{when: {node: n}, bind: [[b, 1]]}`, `1 error loop: 3`},
	{"no loop: earlier key is a rebinding with a value",
		"{name: a, to_first_found: [b, c]}\n{rebind: b}\n{name: c, to_lookup_of: a}", `[b, 1]`, ``},
	{"no loop: below an optional registered producer", `{name: a, to_producer: p, optional: true}`,
		`{name: a, to_lookup_of: a}`, ``},
	{"no loop: registered producer has the name of a key",
		`{name: a, to_producer: b, transformer: "|$v| { lookup('c') }"}`, "{name: b, to_lookup_of: a}\n[c, 1]", ``},
	{"loop: earlier key is an optional lookup of undef",
		"{name: a, to_first_found: [b, z]}\n{name: b, to_lookup_of: c, optional: true}\n" +
			"{name: c, to_lookup_of: d, optional: true}\n[d, null]\n{name: z, to_lookup_of: a}", ``, `1 error loop: 5`},
	{"no loop: earlier key is an optional lookup of a value",
		"{name: a, to_first_found: [b, z]}\n{name: b, to_lookup_of: c, optional: true}\n" +
			"{name: c, to_lookup_of: d, optional: true}\n[d, 1]\n{name: z, to_lookup_of: a}", ``, ``},
	{"loop: earlier key looks itself up", "{name: a, to_expression: \"lookup('a')\", optional: true}\n" +
		"{name: b, to_first_found: [a, c]}\n{name: c, to_lookup_of: b}", `[a, null]`, `1 error loop:`},
	{"loop: next to contributions that nothing collects", "[m, 1]\n{name: a, to_lookup_of: a}",
		"{name: m, multibind_id: l, type: Array}\n{in: l, multibind_id: p, type: Array}\n" +
			"{in: p, multibind_id: l, type: Array}",
		"1 warning multibind_hidden: m1\n2 error loop:\nm3 warning multibind_id: m1"},
	{"loop: two lists contribute to each other under conditions", "{in: l, to: 1}\n{in: m, to: 1}",
		"{name: l, multibind_id: l, type: Array}\n{when: {environment: e}, bind: [{in: l, to_lookup_of: m}]}\n" +
			"{name: m, multibind_id: m, type: Array}\n{when: {osfamily: f}, bind: [{in: m, to_lookup_of: l}]}",
		`m1 error loop: m2 m3 m4`},
	{"loop: two hashes contribute to each other, overriding others", "" +
		"{name: h, multibind_id: h, type: Hash}\n{name: g, multibind_id: g, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: x, to: 1}, {in: g, name: x, to: 1}]}\n" +
		"{when: {osfamily: f}, bind: [{in: h, name: x, to: 1}]}\n" +
		"{when: {environment: z}, bind: [{in: g, name: x, to: 1}]}\n" +
		"{when: {node: n, osfamily: o}, bind: [{in: h, name: x, to_lookup_of: g}]}\n" +
		"{when: {node: n, environment: e}, bind: [{in: g, name: x, to_lookup_of: h}]}", ``, `1 error loop: 6 2 7`},
	{"no loop: renamed contribution wins",
		"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{name: a, to_renamed: x}",
		"{name: h, multibind_id: h, type: Hash}\n{when: {node: n}, bind: [{in: h, name: x, to_lookup_of: h}]}", ``},
}

func TestReportsLoopsThroughDecliningBindings(t *testing.T) {
	for _, c := range loops {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(compiled(t, c.site, c.module), "\n"); got != c.want {
				t.Errorf("reported is\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}

// A path binds a key of a loop with the same precedence as another binding. If a request can find both, this is a
// conflict, and the loop is still reported.
func TestReportsLoopDespiteConflict(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"binder_config.yaml": "version: 1\ncategories: [[one, '${a}']]\n" +
			"layers: [{name: site, include: ['confdir:/default', 'confdir-hiera:/']}]\n",
		"hiera.yaml":   "version: 2\nhierarchy: [[one, '${a}', 'd/${upcase($a)}/${b}/${a}']]\n",
		"d/N/b/n.yaml": "{k: 2, l: 2}"} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	writeBindings(t, filepath.Join(dir, "bindings"), "default",
		"{when: {one: n}, bind: [{name: k, to_lookup_of: k}]}\n{when: {one: n}, bind: [[l, null]]}\n"+
			"{when: {one: n}, bind: [{name: a, to_first_found: [b, a]}]}\n{name: b, to_lookup_of: l, optional: true}")
	var diags diag.List
	Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	var got []string
	for _, d := range diags.Sorted() {
		got = append(got, lineOf(d.Pos)+" "+string(d.Code))
	}
	if want := []string{"1 loop", "1 conflict", "2 conflict", "3 loop"}; !slices.Equal(got, want) {
		t.Errorf("reported are %q, want %q", got, want)
	}
}

// The search follows a condition separately for each way in which it can hold. With too many ways, it follows all of
// them together, and the hint says so.
func TestReportsLoopForEachWayToMatchCondition(t *testing.T) {
	const ring = "{when: {ab: %s}, bind: [{name: k, to_lookup_of: l}]}\n{name: l, to_lookup_of: k}\n"
	const otherWise = "{when: {a: x}, bind: [[l, 1]]}\n"
	tooMany := "x" + strings.Repeat("-y", 65)
	const hint = "the condition can hold in too many ways to check each"
	for _, c := range []struct{ name, ab, breaks, want string }{
		{"no loop: broken in both ways to match the condition", "x-y-y", otherWise + "{when: {a: x-y}, bind: [[l, 2]]}", ""},
		{"loop: broken in one of two ways to match the condition", "x-y-y", otherWise, "loop where ab is 'x-y-y'"},
		{"no loop: broken in the only way to match the condition", "x-y", otherWise, ""},
		{"no loop: broken in both ways, by different variables", "x-y-y", otherWise + "{when: {b: 'y'}, bind: [[l, 2]]}", ""},
		{"loop: broken in one way only, by different variables", "x-y-y",
			otherWise + "{when: {b: z}, bind: [[l, 2]]}", "loop where ab is 'x-y-y'"},
		{"loop: further condition leaves one way", "x-y-y",
			otherWise + "{when: {b: 'y'}, bind: [{name: l, to_lookup_of: k}]}", "loop where ab is 'x-y-y'"},
		{"loop: too many ways to match the condition", tooMany, otherWise,
			"loop where ab is '" + tooMany + "' " + hint},
		{"no loop: further condition leaves one of many ways", tooMany + ", a: x", otherWise, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := loopsOfTwoVariables(t, fmt.Sprintf(ring, c.ab)+c.breaks, hint); got != c.want {
				t.Errorf("reported is %q, want %q", got, c.want)
			}
		})
	}
}

// loopsOfTwoVariables compiles bindings with the categories a, b and ab. It returns the code and the condition of each
// diagnostic, followed by hint if its hint begins with that.
func loopsOfTwoVariables(t *testing.T, bindings, hint string) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "binder_config.yaml"), "version: 1\n"+
		"categories: [[a, '${a}'], [b, '${b}'], [ab, '${a}-${b}']]\nlayers: [{include: 'confdir:/default'}]\n")
	writeBindings(t, filepath.Join(dir, "bindings"), "default", bindings)
	var diags diag.List
	Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	var got []string
	for _, d := range diags.Sorted() {
		_, where, _ := strings.Cut(d.Message, " where ")
		line := string(d.Code) + " where " + where
		if strings.HasPrefix(d.Hint, hint) {
			line += " " + hint
		}
		got = append(got, line)
	}
	return strings.Join(got, "\n")
}

func TestLoopSearchTakesLinearTime(t *testing.T) {
	testmode.SkipUnderRace(t)
	chain := func(last string) string {
		var b strings.Builder
		for i := range 5_000 {
			fmt.Fprintf(&b, "{name: k%d, to_lookup_of: k%d}\n", i, i+1)
		}
		return b.String() + last
	}
	if got := compiled(t, chain(`[k5000, 1]`), ``); len(got) > 0 {
		t.Errorf("of a chain is reported %.200s", got)
	}
	if got := compiled(t, chain(`{name: k5000, to_lookup_of: k0}`), ``); len(got) != 1 {
		t.Errorf("of a ring are reported %d problems, want one", len(got))
	}
	var b strings.Builder // each key has different bindings for different nodes, so that many conditions meet
	for i := range 400 {
		fmt.Fprintf(&b, "{when: {node: n%d, osfamily: o%d}, bind: [{name: k%d, to_lookup_of: k%d}]}\n",
			i%20, i/20, i, (i+1)%400)
		fmt.Fprintf(&b, "{when: {environment: e%d}, bind: [{name: k%d, to_lookup_of: k%d}]}\n", i, i, (i+7)%400)
	}
	if got := compiled(t, b.String()+`{name: a, to_lookup_of: a}`, ``); !slices.Contains(got, "801 error loop:") {
		t.Errorf("the loop of few conditions is not found among many: %.200s", got)
	}
}

func TestLongLoopMessageNamesFirstBindings(t *testing.T) {
	for n, want := range map[int]string{2: "'k0' depends on itself: k0 -> k1 -> k0", 20: " -> k18 -> k19 -> k0",
		21: " -> k19 -> (1 others) -> k0", 30: " -> k19 -> (10 others) -> k0"} {
		dir := t.TempDir()
		link := func(i int) string { return fmt.Sprintf("{name: k%d, to_lookup_of: k%d}", i, (i+1)%n) }
		writeBindings(t, filepath.Join(dir, "bindings"), "default", lines(n, link))
		var diags diag.List
		Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
		found := diags.Sorted()
		if len(found) != 1 || !strings.HasSuffix(found[0].Message, want) || len(found[0].Notes) != min(n, 20)-1 {
			t.Errorf("%d: found %v, want one that ends in %q", n, found, want)
		}
	}
}
