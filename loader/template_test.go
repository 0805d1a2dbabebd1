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

func TestPathsAreReadBackwards(t *testing.T) {
	tests := []struct {
		name, template, path string
		want                 [][]string // values of the references in the order they occur
	}{
		{"one variable takes what the text leaves", "data/${role}", "data/web", [][]string{{"web"}}},
		{"text on both sides", "data/${role}/x", "data/web/x", [][]string{{"web"}}},
		{"other text", "data/${role}", "date/web", nil},
		{"other text after it", "data/${role}/x", "data/web/y", nil},
		{"text that is a number", "data/${1}", "data/1", [][]string{{"1"}}},
		{"dots after a variable", "${role}./b", "x./b", [][]string{{"x"}}},
		{"dots that mean nothing", "./a/./${role}//b", "a/x/b", [][]string{{"x"}}},
		{"the texts overlap", "aba${role}ba", "aba", nil},
		{"a role may have a slash", "data/${role}", "data/mediawiki/appserver", [][]string{{"mediawiki/appserver"}}},
		{"a node has none", "data/${fqdn}", "data/env/production", nil},
		{"nor in braces and from the top", "data/${::fqdn}", "data/env/production", nil},
		{"nor in facts", "data/${facts['fqdn']}", "data/env/production", nil},
		{"nor the family of an OS", "${facts['os']['family']}", "tasks/init", nil},
		{"nor without facts", "${os['name']}", "tasks/init", nil},
		{"nor in networking", "${facts['networking']['ip']}", "tasks/init", nil},
		{"nor a certname", "${trusted['certname']}", "tasks/init", nil},
		{"nor one in quotes", `${"${fqdn}"}`, "tasks/init", nil},
		{"two in quotes may", `${"${fqdn}${role}"}`, "tasks/init", [][]string{{"tasks/init"}}},
		{"nor its parts", "${trusted['hostname']}${trusted['domain']}", "a/b", nil},
		{"a key of one may", "${fqdn['x']}", "tasks/init", [][]string{{"tasks/init"}}},
		{"all of networking may", "${networking}", "tasks/init", [][]string{{"tasks/init"}}},
		{"what is computed of one may", "${networking + 'x'}", "tasks/init", [][]string{{"tasks/init"}}},
		{"a key of what is computed may", "${downcase('x')['fqdn']}", "tasks/init", [][]string{{"tasks/init"}}},
		{"a number for a key may", "${os[0]}", "tasks/init", [][]string{{"tasks/init"}}},
		{"an extension of a certificate may", "${trusted['extensions']}", "tasks/init", [][]string{{"tasks/init"}}},
		{"a release may", "${facts['os']['release']['full']}", "bookworm/sid", [][]string{{"bookworm/sid"}}},
		{"a function of one may", "${regsubst($fqdn, '[.]', '/')}", "tasks/init", [][]string{{"tasks/init"}}},
		{"the slash of the text is between them", "${role}/${fqdn}", "a/b/c.x", [][]string{{"a/b", "c.x"}}},
		{"two of which either may have a slash", "${role}/${tier}", "a/b/c", [][]string{{"a", "b/c"}, {"a/b", "c"}}},
		{"two without", "${osfamily}/${environment}", "a-b/c", [][]string{{"a-b", "c"}}},
		{"a separator that both may have", "${a}-${b}", "x-y-z", [][]string{{"x", "y-z"}, {"x-y", "z"}}},
		{"one in more ways than two", "${a}-${b}", "w-x-y-z", [][]string{{"w", "x-y-z"}, {"w-x", "y-z"}}},
		{"one that ends in the text after it", "${a}-${b}x", "p-qxx", [][]string{{"p", "qx"}}},
		{"one that begins with a slash", "${fqdn}${role}", "/x", [][]string{{"", "/x"}}},
		{"a separator that occurs once", "${a}-${b}", "x-y", [][]string{{"x", "y"}}},
		{"one variable twice", "${a}/${a}", "x/x", [][]string{{"x"}}},
		{"in another case", "${a}/${a}", "x/X", [][]string{{"x"}}},
		{"with other values", "${a}/${a}", "x/y", nil},
		{"with a shorter one", "${a}/${a}", "xy/x", nil},
		{"an undefined variable is empty", "a${x}b${x}", "ab", [][]string{{""}}},
		{"hidden files are not data", "${role}", ".travis", nil},
		{"nor in hidden directories", "data/${role}", "data/.git/config", nil},
		{"unless they are asked for", ".data/${role}", ".data/x", [][]string{{"x"}}},
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

func TestValuesDetermineVariables(t *testing.T) {
	tests := []struct {
		template, text string
		want           bool
	}{
		{"${role}", "a-b", true},
		{"x-${role}-y", "x-a-y", true},
		{"${a}-${a}", "x-x-x", true}, // both are as long
		{"${a}-${b}", "x-y", true},
		{"${a}-${b}", "x-y-z", false},
		{"${a}-${b}", "x--y", false},
		{"${a}${b}", "xy", false},
		{"${a}${b}", "x", false}, // one of them is empty
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

func TestSearchDepthOfPaths(t *testing.T) {
	tests := []struct {
		template, dir string
		depth         int
	}{
		{"data/common", "data/", 0},
		{"common", "", 0},
		{"data/${fqdn}", "data/", 0},
		{"./data//${environment}/os/${osfamily}", "data/", 2},
		{"data/./x/${fqdn}", "data/x/", 0},
		{"d/${networking['a/b']}/x", "d/", 1}, // the slash is in a key
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

// trimQuotes returns the source of a template without the quotes of a string: "${x}" is $x.
func trimQuotes(source string) string {
	source = strings.Trim(source, `"'`)
	if inner, ok := strings.CutPrefix(source, "${"); ok && strings.IndexByte(inner, '}') == len(inner)-1 {
		return "$" + strings.TrimPrefix(strings.TrimSuffix(inner, "}"), "$")
	}
	return source
}
