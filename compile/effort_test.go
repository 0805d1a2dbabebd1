package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/loader"
)

// lines returns n lines. It calls line with the number of each.
func lines(n int, line func(i int) string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = line(i)
	}
	return strings.Join(out, "\n")
}

func numbered(format string) func(int) string {
	return func(i int) string { return strings.ReplaceAll(format, "#", fmt.Sprint(i)) }
}

// chain returns a site with n keys, each of which looks up the next one. The last one has a value.
func chain(n int) string {
	link := func(i int) string { return fmt.Sprintf("{name: k%d, to_lookup_of: k%d}", i, i+1) }
	return lines(n, link) + fmt.Sprintf("\n[k%d, 1]", n)
}

// hostile lists sites for which comparing all pairs would take quadratic time. A site has two or three lines per n.
var hostile = []struct {
	name string
	site func(n int) string
	code string // code of a diagnostic that must be reported
}{
	{"key bound many times", func(n int) string { return lines(n, numbered("[k, #]")) }, "conflict"},
	{"key bound many times under one condition", func(n int) string {
		return lines(n, numbered("{when: {node: n}, bind: [[k, #]]}"))
	}, "conflict"},
	{"many hidden bindings of a key", func(n int) string {
		return lines(n, numbered("{when: {node: n}, bind: [[k, #]]}")) +
			"\n{when: {node: n, osfamily: x}, bind: [[k, 1]]}"
	}, "conflict"},
	{"many overrides of unbound keys", func(n int) string {
		return lines(n, numbered("{name: 'some::key#', to: 1, override: true}"))
	}, "override"},
	{"abstract under many conditions", func(n int) string {
		return lines(n, numbered("{when: {node: 'n#'}, bind: [{name: k, abstract: true}]}")) + "\n[k, 1]"
	}, "abstract"},
	{"many contributions to unknown ids", func(n int) string {
		return lines(n, numbered("{name: 'm#', multibind_id: 'id#', type: 'Array[Data]'}")) + "\n" +
			lines(n, numbered("{in: 'other#', to: 1}"))
	}, "multibind_unknown"},
	{"many contributions with the same name", func(n int) string {
		return "{name: m, multibind_id: id}\n" + lines(n, numbered("{name: a, in: id, to: #}"))
	}, "duplicate"},
	{"chain of lookups", chain, ""},
	{"long loop", func(n int) string {
		return lines(n, func(i int) string { return fmt.Sprintf("{name: k%d, to_lookup_of: k%d}", i, (i+1)%n) })
	}, "loop"},
	{"chain of lookups under many conditions", func(n int) string {
		return chain(n) + "\n" + lines(n, numbered("{when: {node: 'n#'}, bind: [{name: k0, to_lookup_of: k1}]}"))
	}, ""},
	{"chain of lookups with two paths at each step", func(n int) string {
		step := numbered("{name: k#, to: \"${lookup('x#')}${lookup('y#')}\"}\n{name: x#, to_lookup_of: z#}\n" +
			"{name: y#, to_lookup_of: z#}")
		next := func(i int) string { return fmt.Sprintf("{name: z%d, to_lookup_of: k%d}", i, i+1) }
		return lines(n/2, step) + "\n" + lines(n/2, next) + fmt.Sprintf("\n[k%d, 1]\n", n/2) +
			"{name: a, to: \"${lookup('a')}${lookup('k0')}${lookup('o')}\"}\n{name: o, to: null, optional: true}"
	}, "loop"},
	{"lookups under two categories", func(n int) string {
		return lines(n, numbered("{when: {node: 'n#'}, bind: [{name: a, to_lookup_of: b}]}")) + "\n" +
			lines(n, numbered("{when: {osfamily: 'o#'}, bind: [{name: b, to_lookup_of: c}]}")) + "\n[c, 1]"
	}, ""},
}

func TestHostileSitesTakeLinearEffort(t *testing.T) {
	testmode.SkipUnderRace(t)
	for _, h := range testmode.Sample(t, hostile, 5) {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			once, _ := effortOf(t, h.site(500), 0)
			twice, found := effortOf(t, h.site(1000), 0)
			if twice > 2*once+2000 {
				t.Errorf("500 lines take %d comparisons, 1000 take %d", once, twice)
			}
			if h.code == "" {
				if len(found) > 0 {
					t.Errorf("reported is %s", found[0].Message)
				}
			} else if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return string(d.Code) == h.code }) {
				t.Errorf("%s is not reported", h.code)
			}
		})
	}
}

// The stack does not limit the length of a chain.
func TestLongChainIsFollowedWithoutRecursion(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	if _, found := effortOf(t, chain(testmode.Number(20_000, 100_000)), 0); len(found) > 0 {
		t.Errorf("reported is %s", found[0].Message)
	}
}

// Some sites need comparisons of all pairs, whose number is limited. Beyond the limit, the only error is that the site
// takes too much effort.
func TestSiteBeyondEffortIsRejected(t *testing.T) {
	testmode.SkipUnderRace(t)
	const override = "bind: [{name: k, to: 1, override: true}]}"
	many := func(line func(int) string) string { return lines(300, line) }
	manyParameters := strings.ReplaceAll(lines(400, numbered("p#: 1")), "\n", ", ")
	for name, site := range map[string]string{
		"nodes and families": many(numbered(
			"{when: {node: 'n#'}, " + override + "\n{when: {osfamily: 'o#'}, " + override)),
		"multibinds of one id": many(numbered("{name: 'm#', multibind_id: id, type: 'Array[Data]'}\n{in: id, to: 1}")),
		"classes included and excluded": many(numbered(
			"{when: {node: 'n#'}, bind: [{include: a}]}\n{when: {osfamily: 'o#'}, bind: [{exclude: a}]}")),
		"parameters of others": "{parameters: Web, to: {" + manyParameters + "}}\n" +
			"{parameters: Sql, to: {" + manyParameters + "}}\n{parameters: 'Web[one]', to: Sql}",
		"ambiguous conditions": many(numbered(
			"{when: {ab: 'a-#-b-c'}, bind: [[k, 1]]}\n{when: {ba: 'b-#-c'}, " + override)),
	} {
		t.Run(name, func(t *testing.T) {
			const limit = 20_000
			spent, found := effortOf(t, site, limit)
			last := found[len(found)-1]
			errors := slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
			if spent > limit || len(errors) != 1 || errors[0].Code != "effort" {
				t.Errorf("%d comparisons; the last of %d reports is %s", spent, len(found), last.Message)
			}
		})
	}
}

// effortOf compiles a list of bindings with a limit. It returns the effort spent and the diagnostics.
func effortOf(t *testing.T, list string, limit int) (spent int, found []diag.Diagnostic) {
	t.Helper()
	dir := t.TempDir()
	config := "version: 1\ncategories:\n  - [node, '${fqdn}']\n  - [osfamily, '${osfamily}']\n" +
		"  - [ab, '${a}-${b}']\n  - [ba, '${b}-${a}']\nlayers:\n  - {name: site, include: 'confdir:/default'}\n"
	if err := os.WriteFile(filepath.Join(dir, "binder_config.yaml"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	writeBindings(t, filepath.Join(dir, "bindings"), "default", list)
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	e := newEnv(site, Options{Effort: limit}, &diags)
	compose(e)
	return e.Effort.Limit - max(0, e.Effort.Left), diags.Sorted()
}

// Among several keys with the most bindings, the message names the first. Keys that need no comparison do not count.
func TestEffortErrorNamesTheMostBoundKey(t *testing.T) {
	bind := numbered("{when: {node: 'n#'}, bind: [{name: b, to: 1, override: true}, " +
		"{name: c, to: 1, override: true}]}\n" +
		"{when: {osfamily: 'o#'}, bind: [{name: b, to: 1}, {name: c, to: 1}]}")
	_, found := effortOf(t, "{when: {node: n}, bind: [{name: a, to: 1, override: true}]}\n[a, 1]\n"+
		lines(50, bind)+"\n{name: d, to: 1, override: true}\n{name: f, to_alias_of: e}\n"+
		lines(200, numbered("{when: {node: 'n#'}, bind: [[e, 1]]}")), 1000)
	if len(found) != 1 || len(found[0].Notes) != 1 {
		t.Fatalf("reported is %v", found)
	}
	if want := "'b' has the most: 100"; found[0].Notes[0].Message != want || found[0].Pos.Line != 4 {
		t.Errorf("line %d: %s, want %s", found[0].Pos.Line, found[0].Notes[0].Message, want)
	}
}

// The search for loops may not take more than the other checks.
func TestSmallSiteTakesLittleEffort(t *testing.T) {
	spent, found := effortOf(t, chain(3)+"\n{when: {node: n}, bind: [{name: k3, to_first_found: [none, k1]}]}", 20_000)
	if len(found) != 1 || found[0].Code != "loop" || spent > 2_000 {
		t.Errorf("%d comparisons, reported is %v", spent, found)
	}
}

// The search for loops may use a part of the effort. If it needs more, it is not complete, which is a warning.
func TestLoopSearchBeyondItsEffortIsAWarning(t *testing.T) {
	site := lines(40, func(i int) string {
		return fmt.Sprintf("{when: {node: n%d}, bind: [{name: k%d, to_lookup_of: k%d}]}\n", i, i, (i+1)%40) +
			fmt.Sprintf("{when: {osfamily: o%d}, bind: [{name: k%d, to_lookup_of: k%d}]}", i, i, (i+7)%40)
	})
	all, _ := effortOf(t, site, 0)
	spent, found := effortOf(t, site, all/2)
	if spent != all/2 || len(found) != 1 || found[0].Code != "effort" || found[0].Severity != diag.Warning ||
		!strings.HasSuffix(found[0].Hint, "raise --max-effort") {
		t.Errorf("%d of %d comparisons, reported is %v", spent, all/2, found)
	}
}

// Whatever the limit is, a loop is reported, or that its search was not complete.
func TestLoopIsReportedOrTheEffortIs(t *testing.T) {
	for limit := 1; limit <= 64; limit++ {
		if _, found := effortOf(t, "{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", limit); len(found) == 0 {
			t.Errorf("nothing is reported with %d comparisons", limit)
		}
	}
}

// Each binding of the chain may decline and needs comparisons. Their number grows with the length of the path to it.
func TestChainOfOptionalBindingsTakesEffort(t *testing.T) {
	site := func(n int) string {
		link := func(i int) string { return fmt.Sprintf("{name: k%d, to_lookup_of: k%d, optional: true}", i, i+1) }
		return lines(n, link) + fmt.Sprintf("\n[k%d, null]\n{name: a, to_first_found: [k0, a]}", n)
	}
	once, _ := effortOf(t, site(100), 0)
	twice, found := effortOf(t, site(200), 0)
	if twice < 2*once || len(found) != 1 || found[0].Code != "loop" {
		t.Errorf("100 links take %d comparisons, 200 take %d; reported is %v", once, twice, found)
	}
}
