package lint

import (
	"fmt"
	"strings"
	"testing"
)

// A typo of a value is reported at its first use in the order of files, not of layers. Of two similar values, the
// one with fewer uses is reported.
func TestReportsTypoOfValueAtItsFirstUse(t *testing.T) {
	const module = "version: 2\nhierarchy:\n  - [osfamily, '${osfamily}', 'data/${dc}/${osfamily}']\n"
	layers := func(first, second string) string {
		return "version: 1\nlayers: [{name: top, include: 'module-hiera:/" + first +
			"'}, {name: low, include: 'module-hiera:/" + second + "'}]\n"
	}
	modules := func(config, dcOfB string) site {
		return site{"binder_config.yaml": config, "modules/a/hiera.yaml": module, "modules/b/hiera.yaml": module,
			"modules/a/data/x/debain.yaml": "a::k: 1\n", "modules/b/data/" + dcOfB + "/debain.yaml": "b::k: 1\n"}
	}
	tiers := func(statements string) site {
		return site{"binder_config.yaml": "version: 1\ncategories: [[tier, '${tier}'], [dc, '${dc}'], [osfamily, '${osfamily}']]\n" +
			"layers: [{name: s, include: ['confdir:/default', 'confdir-hiera:/']}]\n",
			"hiera.yaml":            "version: 2\nhierarchy:\n  - [tier, '${tier}', 'data/${tier}']\n",
			"data/frontend.yaml":    "a: 1\nb: 1\nc: 1\n",
			"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n" + statements}
	}
	twoFiles := site{"binder_config.yaml": "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, " +
		"{name: low, include: 'confdir:/low'}]\n"}
	for _, name := range []string{"top", "low"} {
		twoFiles["bindings/"+name+".yaml"] = "bindings_version: 1\nname: " + name + "\nbind:\n" +
			"  - {when: {osfamily: debain}, bind: [[" + name + ", 1]]}\n"
	}
	oneLine := site{"bindings/default.yaml": "{bindings_version: 1, name: default, bind: [{when: {osfamily: debain}, bind: [[k, 1]]}]}"}
	for name, c := range map[string]struct {
		site site
		want string
	}{
		"the first module is above":               {modules(layers("a", "b"), "x"), "modules/a/data/x/debain.yaml"},
		"the second module is above":              {modules(layers("b", "a"), "x"), "modules/a/data/x/debain.yaml"},
		"the first module, in another dc":         {modules(layers("a", "b"), "y"), "modules/a/data/x/debain.yaml"},
		"the second module, in another dc":        {modules(layers("b", "a"), "y"), "modules/a/data/x/debain.yaml"},
		"in two files of bindings":                {twoFiles, "bindings/low.yaml:4:23"},
		"in a file of one line":                   {oneLine, "bindings/default.yaml:1:63"},
		"asked for by two bindings, not by three": {tiers("  - {when: {tier: frontent1d}, bind: [[d, 1], [e, 1]]}\n"), ""},
		"a typo that is asked for more often": {tiers("  - {when: {osfamily: debain}, bind: [[d, 1], [e, 1]]}\n" +
			"  - {when: {osfamily: debian}, bind: [[d, 2]]}\n"), "bindings/default.yaml:4:23"},
		"two bindings against a file of three": {tiers("  - {when: {tier: fronteend}, bind: [[d, 1], [e, 1]]}\n"),
			"bindings/default.yaml:4:19"},
		"twice two bindings against a file of three": {tiers("  - {when: {tier: fronteend}, bind: [[d, 1], [e, 1]]}\n" +
			"  - {when: {tier: fronteend, dc: x}, bind: [[d, 2], [e, 2]]}\n"), "data/frontend.yaml"},
	} {
		if got := strings.Join(c.site.advice(t, Options{})["near_value"], " "); got != c.want {
			t.Errorf("%s: advises at %q, expected %q", name, got, c.want)
		}
	}
}

// A dimension with too many values, such as names of nodes, is not checked.
func TestSkipsCategoriesWithTooManyValues(t *testing.T) {
	for values, want := range map[int]int{maxValues: 1, maxValues + 1: 0} {
		text := strings.Builder{}
		text.WriteString("bindings_version: 1\nname: default\nbind:\n")
		for i := range values - 2 {
			fmt.Fprintf(&text, "  - {when: {node: n%d}, bind: [[k, 1]]}\n", i)
		}
		text.WriteString("  - {when: {node: webserver}, bind: [[k, 1]]}\n  - {when: {node: websever}, bind: [[k, 1]]}\n")
		if got := (site{"bindings/default.yaml": text.String()}).advice(t, Options{})["near_value"]; len(got) != want {
			t.Errorf("%d values: advises at %v", values, got)
		}
	}
}
