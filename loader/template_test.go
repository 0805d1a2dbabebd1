package loader

import (
	"reflect"
	"strings"
	"testing"

	"bindc/internal/syntax"
)

func parseTemplate(t *testing.T, text string) template {
	t.Helper()
	node, errs := syntax.ParseString(text)
	if len(errs) > 0 {
		t.Fatalf("%s: %v", text, errs)
	}
	return pathTemplate(node)
}

func TestTemplateFindsAllReadingsOfPath(t *testing.T) {
	tests := []struct {
		name, template, path string
		want                 [][]string // values of the references in each reading, in order
	}{
		{"variable at the end", "data/${role}", "data/web", [][]string{{"web"}}},
		{"variable between literals", "data/${role}/x", "data/web/x", [][]string{{"web"}}},
		{"text before does not match", "data/${role}", "date/web", nil},
		{"text after does not match", "data/${role}/x", "data/web/y", nil},
		{"numbered variable", "data/${1}", "data/1", [][]string{{"1"}}},
		{"dot after a variable", "${role}./b", "x./b", [][]string{{"x"}}},
		{"redundant dots and slashes", "./a/./${role}//b", "a/x/b", [][]string{{"x"}}},
		{"overlapping literals do not match", "aba${role}ba", "aba", nil},
		{"role may contain a slash", "data/${role}", "data/mediawiki/appserver", [][]string{{"mediawiki/appserver"}}},
		{"fqdn has no slash", "data/${fqdn}", "data/env/production", nil},
		{"top-scope fqdn has no slash", "data/${::fqdn}", "data/env/production", nil},
		{"fqdn in facts has no slash", "data/${facts['fqdn']}", "data/env/production", nil},
		{"OS family has no slash", "${facts['os']['family']}", "tasks/init", nil},
		{"OS name has no slash", "${os['name']}", "tasks/init", nil},
		{"IP address has no slash", "${facts['networking']['ip']}", "tasks/init", nil},
		{"certname has no slash", "${trusted['certname']}", "tasks/init", nil},
		{"quoted fqdn has no slash", `${"${fqdn}"}`, "tasks/init", nil},
		{"two variables in one string may contain a slash",
			`${"${fqdn}${role}"}`, "tasks/init", [][]string{{"tasks/init"}}},
		{"parts of the certname have no slash", "${trusted['hostname']}${trusted['domain']}", "a/b", nil},
		{"key of fqdn may contain a slash", "${fqdn['x']}", "tasks/init", [][]string{{"tasks/init"}}},
		{"networking as a whole may contain a slash", "${networking}", "tasks/init", [][]string{{"tasks/init"}}},
		{"computed value may contain a slash", "${networking + 'x'}", "tasks/init", [][]string{{"tasks/init"}}},
		{"key of a computed value may contain a slash",
			"${downcase('x')['fqdn']}", "tasks/init", [][]string{{"tasks/init"}}},
		{"element by number may contain a slash", "${os[0]}", "tasks/init", [][]string{{"tasks/init"}}},
		{"certificate extension may contain a slash",
			"${trusted['extensions']}", "tasks/init", [][]string{{"tasks/init"}}},
		{"OS release may contain a slash",
			"${facts['os']['release']['full']}", "bookworm/sid", [][]string{{"bookworm/sid"}}},
		{"result of a function may contain a slash",
			"${regsubst($fqdn, '[.]', '/')}", "tasks/init", [][]string{{"tasks/init"}}},
		{"only the first variable may contain a slash", "${role}/${fqdn}", "a/b/c.x", [][]string{{"a/b", "c.x"}}},
		{"either variable may contain the slash", "${role}/${tier}", "a/b/c", [][]string{{"a", "b/c"}, {"a/b", "c"}}},
		{"variables without slashes have one reading", "${osfamily}/${environment}", "a-b/c", [][]string{{"a-b", "c"}}},
		{"separator in both values gives two readings", "${a}-${b}", "x-y-z", [][]string{{"x", "y-z"}, {"x-y", "z"}}},
		{"more than two readings stop at two", "${a}-${b}", "w-x-y-z", [][]string{{"w", "x-y-z"}, {"w-x", "y-z"}}},
		{"value may end like the text after it", "${a}-${b}x", "p-qxx", [][]string{{"p", "qx"}}},
		{"value may begin with a slash", "${fqdn}${role}", "/x", [][]string{{"", "/x"}}},
		{"separator that occurs once gives one reading", "${a}-${b}", "x-y", [][]string{{"x", "y"}}},
		{"repeated variable", "${a}/${a}", "x/x", [][]string{{"x"}}},
		{"repeated variable may differ in case", "${a}/${a}", "x/X", [][]string{{"x"}}},
		{"repeated variable must not have two values", "${a}/${a}", "x/y", nil},
		{"repeated variable must not have a longer and a shorter value", "${a}/${a}", "xy/x", nil},
		{"variable may be empty", "a${x}b${x}", "ab", [][]string{{""}}},
		{"hidden file does not match", "${role}", ".travis", nil},
		{"file in a hidden directory does not match", "data/${role}", "data/.git/config", nil},
		{"hidden directory in the path matches", ".data/${role}", ".data/x", [][]string{{"x"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			template := parseTemplate(t, test.template)
			if got := template.readings(test.path); !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s is read by %s as %q, expected %q", test.path, test.template, got, test.want)
			}
		})
	}
}

// A path that takes too many steps counts as ambiguous, so that the whole path is the guard.
func TestTemplateWithManyReferencesStopsMatching(t *testing.T) {
	for text, want := range map[string]int{"${a}-${b}": 2, "${a}-${b}-${c}-${d}-${e}-${f}q${g}x": 2, "${a}-${b}q${c}x": 0} {
		template := parseTemplate(t, text)
		b := templateMatcher{parts: template.parts, values: make([]string, len(template.names)),
			assigned: make([]bool, len(template.names))}
		b.read(0, strings.Repeat("-", 100)+"x")
		if len(b.out) != want || b.steps > maxTemplateSteps+1000 {
			t.Errorf("%s: %d readings after %d steps, want %d", text, len(b.out), b.steps, want)
		}
	}
}

func TestTextDeterminesValuesUnlessAmbiguous(t *testing.T) {
	tests := []struct {
		template, text string
		want           bool
	}{
		{"${role}", "a-b", true},
		{"x-${role}-y", "x-a-y", true},
		{"${a}-${a}", "x-x-x", true}, // equal values have equal length
		{"${a}-${b}", "x-y", true},
		{"${a}-${b}", "x-y-z", false},
		{"${a}-${b}", "x--y", false},
		{"${a}${b}", "xy", false},
		{"${a}${b}", "x", false}, // one value is empty
		{"${a}X${b}", "aXbxc", false},
		{"${a}X${b}", "aXb", true},
		{"${osfamily}/${environment}", "a-b/c", true},
		{"${role}/${environment}", "a/b/c", true},
		{"${role}/${tier}", "a/b/c", false},
	}
	for _, test := range tests {
		template := parseTemplate(t, test.template)
		if got := template.determines(test.text); got != test.want {
			t.Errorf("%s determines %s: %v, expected %v", test.text, test.template, got, test.want)
		}
	}
}

func TestFixedDirectoryAndDepthOfTemplates(t *testing.T) {
	tests := []struct {
		template, dir string
		depth         int
	}{
		{"data/common", "data/", 0},
		{"common", "", 0},
		{"data/${fqdn}", "data/", 0},
		{"./data//${environment}/os/${osfamily}", "data/", 2},
		{"data/./x/${fqdn}", "data/x/", 0},
		{"d/${networking['a/b']}/x", "d/", 1}, // this slash is part of a key
		{"data/${role}", "data/", -1},
		{"d/${environment}${role}/x", "d/", -1},
	}
	for _, test := range tests {
		template := parseTemplate(t, test.template)
		if dir, depth := template.fixedDir(), template.depth(); dir != test.dir || depth != test.depth {
			t.Errorf("%s: %d below %q, expected %d below %q", test.template, depth, dir, test.depth, test.dir)
		}
	}
}

// trimQuotes removes the quotes of a string from the source of a template: "${x}" becomes $x.
func trimQuotes(source string) string {
	source = strings.Trim(source, `"'`)
	if inner, ok := strings.CutPrefix(source, "${"); ok && strings.IndexByte(inner, '}') == len(inner)-1 {
		return "$" + strings.TrimPrefix(strings.TrimSuffix(inner, "}"), "$")
	}
	return source
}
