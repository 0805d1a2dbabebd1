package loader_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/loader"
)

// Statements that bind more than one key, or reserved ones (language.md, sections 14.3 and 14.4), with the bindings and
// diagnostics. After @ is the text at the place.
var statements = []struct {
	name, text string
	want       []string
}{
	{"a class is included", "{include: ntp}", []string{`in /classes ntp "include" @ntp`}},
	{"classes are excluded", "{exclude: [ntp, apt::keys]}",
		[]string{`in /classes ntp "exclude" @ntp`, `in /classes apt::keys "exclude" @apt::keys`}},
	{"classes of a condition", "{when: {node: [a, b]}, bind: [{include: ntp}]}",
		[]string{`in /classes ntp "include" @ntp [node a] [node b]`}},
	{"classes of conditions within one another, each of several alternatives",
		"{when: {node: [a, b], osfamily: c}, bind: [{when: {environment: [d, e]}, bind: [{include: x}]}, " +
			"{when: {environment: f}, bind: [{include: y}]}, {include: z}]}",
		[]string{`in /classes x "include" @x ` +
			`[node a] [osfamily c] [environment d] [node a] [osfamily c] [environment e] ` +
			`[node b] [osfamily c] [environment d] [node b] [osfamily c] [environment e]`,
			`in /classes y "include" @y ` +
				`[node a] [osfamily c] [environment f] [node b] [osfamily c] [environment f]`,
			`in /classes z "include" @z [node a] [osfamily c] [node b] [osfamily c]`}},
	{"classes as the documents have them", "{to: [ntp, apt], in: included_classes}",
		[]string{`in /classes ntp "include" @ntp`, `in /classes apt "include" @apt`}},
	{"a class as the documents have it", "{to: ntp, in: excluded_classes}",
		[]string{`in /classes ntp "exclude" @ntp`}},
	{"what is not a name of a class", "{include: [Ntp, 1, '', 'a b', 'a::B', ntp]}", []string{
		"attribute @Ntp", "attribute @1", "attribute @''", "attribute @'a b'", "attribute @'a::B'",
		`in /classes ntp "include" @ntp`}},
	{"classes that are computed", "{to_expression: '$classes', in: included_classes}", []string{"attribute @{"}},
	{"classes that are transformed", "{to: ntp, transformer: '|$x| { $x }', in: included_classes}",
		[]string{"attribute @{"}},
	{"classes, one of them invalid", "{to: [ntp, Apt], in: included_classes}", []string{"attribute @{"}},
	{"classes that are known all the same", "{to: ['${\"ntp\"}', apt], in: included_classes}",
		[]string{`in /classes ntp "include" @'${"ntp"}'`, `in /classes apt "include" @apt`}},
	{"classes that an expression has", `{to_expression: "['ntp'] + ['apt']", in: included_classes}`, []string{
		`in /classes ntp "include" @"['ntp'] + ['apt']"`, `in /classes apt "include" @"['ntp'] + ['apt']"`}},
	{"classes, one of them computed", "{to: [ntp, '${x}'], in: included_classes}", []string{"attribute @{"}},
	{"no classes", "{in: included_classes}", []string{"attribute @{"}},
	{"a list of no classes", "{to: [], in: included_classes}", nil},
	{"classes that are looked up", "{to_lookup_of: apt, in: included_classes}", []string{"attribute @{"}},
	{"classes that are collected", "{multibind_id: apt, in: included_classes}", []string{"attribute @{"}},
	{"classes of two producers", "{to: ntp, to_lookup_of: apt, in: included_classes}", []string{"attribute @{"}},
	{"classes that cannot be read", "{to: '${', in: included_classes}", []string{"interpolation @${'"}},

	{"a contribution to what is sensitive", "{to: 1, in: m}\n- {name: m, multibind_id: m, sensitive: true}",
		[]string{"in m sensitive 1 @{", "sensitive m = null @m"}},
	{"ids that are reserved", "{name: a, multibind_id: included_classes}\n- {to: 1, in: /dependencies}\n" +
		"- {name: b, multibind_id: m}", []string{"reserved @included_classes", "reserved @/dependencies", "a = null @a",
		"in /dependencies 1 @{", "b = null @b"}},
	{"a value that is the id of one that is reserved", "{name: a, to: included_classes}",
		[]string{`a = "included_classes" @a`}},

	{"a map that is rebound", "{rebind: /map/Web/Sql}", []string{`/map/Web/Sql = null @/map/Web/Sql`}},
	{"a map that is rebound, and computed", "{rebind: /map/Web/Sql, transformer: '|$m| { $m }'}",
		[]string{"attribute @/map/Web/Sql", `/map/Web/Sql = null @/map/Web/Sql`}},
	{"a map that is rebound, and computed, and something else",
		"{rebind: /map/Web/Sql, to: 1, transformer: '|$m| { $m }'}",
		[]string{"attribute @1", "/map/Web/Sql = null @/map/Web/Sql"}},
	{"what a map is, and computed", "{name: a, to_lookup_of: /map/Web/Sql, transformer: '|$m| { $m }'}",
		[]string{`a = null @a`}},
	{"another key that is rebound, and computed", "{rebind: a, transformer: '|$m| { $m }'}", []string{`a = null @a`}},
	{"nothing that is computed", "{name: a, transformer: '|$m| { $m }'}", []string{"attribute @{", "a = null @a"}},

	{"parameters of a class", "{parameters: ntp, to: {enable: true, servers: [a]}}",
		[]string{"ntp::enable = true @enable", `ntp::servers = ["a"] @servers`}},
	{"a class as Puppet writes it", "{parameters: 'Class[Apt::Keys]', to: {enable: true}}",
		[]string{"apt::keys::enable = true @enable"}},
	{"parameters of a type", "{parameters: Web::App, to: {port: 80}}",
		[]string{"/param/Web::App/port = 80 @port"}},
	{"parameters of an instance", "{parameters: 'Web[one]', to: {port: 80}}",
		[]string{"/param/Web[one]/port = 80 @port"}},
	{"an instance whose name is written in keys otherwise", `{parameters: "File['/a[b]%c']", to: {mode: x}}`,
		[]string{`/param/File[%2Fa%5Bb%5D%25c]/mode = "x" @mode`}},
	{"an instance in double quotes", `{parameters: 'Web["one"]', to: {port: 80}}`,
		[]string{"/param/Web[one]/port = 80 @port"}},
	{"a quote as the name of an instance", `{parameters: 'Web["''"]', to: {port: 80}}`,
		[]string{"/param/Web[']/port = 80 @port"}},
	{"a quote in the name of an instance", `{parameters: "Web[it's]", to: {port: 80}}`,
		[]string{"/param/Web[it's]/port = 80 @port"}},
	{"an instance of one quote", `{parameters: "Web[']", to: {port: 80}}`, []string{`attribute @"Web[']"`}},
	{"an instance of two quotes", `{parameters: "Web['']", to: {port: 80}}`, []string{`attribute @"Web['']"`}},
	{"a name with a comma", `{parameters: "Web['a, b']", to: {port: 80}}`, []string{"/param/Web[a, b]/port = 80 @port"}},
	{"several instances", "{parameters: 'Web[a, b]', to: {port: 80}}", []string{"attribute @'Web[a, b]'"}},
	{"several instances in quotes", `{parameters: "Web['a', 'b']", to: {port: 80}}`,
		[]string{`attribute @"Web['a', 'b']"`}},
	{"an invalid instance of Class", "{parameters: 'Class[a b]', to: {port: 80}}",
		[]string{"/param/Class[a b]/port = 80 @port"}},
	{"a class in quotes", `{parameters: "Class['ntp']", to: {port: 80}}`, []string{"ntp::port = 80 @port"}},
	{"a class without the end of its quotes", `{parameters: "Class['ntp]", to: {port: 80}}`,
		[]string{`attribute @"Class['ntp]"`}},
	{"parameters of nothing", "{parameters: 'web[one]', to: {port: 80}}", []string{"attribute @'web[one]'"}},
	{"an instance without its end", "{parameters: 'Web[one', to: {port: 80}}", []string{"attribute @'Web[one'"}},
	{"an instance without a name", "{parameters: 'Web[]', to: {port: 80}}", []string{"attribute @'Web[]'"}},
	{"parameters of a number", "{parameters: 1, to: {port: 80}}", []string{"attribute @1"}},
	{"what is said of all of them",
		"{parameters: ntp, type: Integer, override: true, sensitive: true, to: {a: 1, b: 2}}", []string{
			"override sensitive Integer ntp::a = 1 @a", "override sensitive Integer ntp::b = 2 @b"}},
	{"parameters that are optional", "{parameters: ntp, optional: true, to_expression: '{ a => $x }'}",
		[]string{"optional ntp::a = $x @'{ a => $x }'"}},
	{"a value with the wrong type", "{parameters: ntp, type: Integer, to: {a: x, b: 1}}",
		[]string{"type_mismatch @x", "Integer ntp::a = null @a", "Integer ntp::b = 1 @b"}},
	{"an invalid parameter", "{parameters: ntp, to: {a/b: 1, Up: 2, 3: 4, _ok: 5}}",
		[]string{"attribute @a/b", "attribute @Up", "attribute @3", "ntp::_ok = 5 @_ok"}},
	{"parameters of a condition", "{when: {node: n}, bind: [{parameters: ntp, to: {a: 1}}]}",
		[]string{"ntp::a = 1 @a [node n]"}},
	{"parameters that interpolate", "{parameters: ntp, to: {a: '${x}', b: '${1 + 1}', c: [1]}}",
		[]string{`ntp::a = "${x}" @a`, `ntp::b = "2" @b`, "ntp::c = [1] @c"}},
	{"names that interpolate", "{parameters: ntp, to: {'${x}': 1, a: 2}}",
		[]string{"attribute @'${x}'", "ntp::a = 2 @a"}},
	{"names that an expression computes", "{parameters: ntp, to_expression: '{ $x => 1, a => 2 }'}",
		[]string{"attribute @'{ $x => 1, a => 2 }'", "ntp::a = 2 @'{ $x => 1, a => 2 }'"}},
	{"names that are known all the same", "{parameters: ntp, to: {'${\"port\"}': '${x}'}}",
		[]string{`ntp::port = "${x}" @{`}},
	{"a list of parameters", "{parameters: ntp, to: [a]}", []string{"attribute @["}},
	{"an expression that is not a hash", "{parameters: ntp, to_expression: '$x'}", []string{"attribute @'$x'"}},
	{"no parameters", "{parameters: ntp}", []string{"attribute @{"}},
	{"parameters in two ways", "{parameters: ntp, to: {a: 1}, to_expression: '{ a => 1 }'}", []string{"attribute @{"}},
	{"parameters that cannot be read", "{parameters: ntp, to_expression: '{'}", []string{"expression @'"}},
	{"abstract parameters", "{parameters: ntp, to: [a, b], abstract: true}",
		[]string{"abstract ntp::a @a", "abstract ntp::b @b"}},
	{"abstract parameters that an expression has",
		`{parameters: ntp, to_expression: "['a'] + ['b']", abstract: true}`,
		[]string{`abstract ntp::a @"['a'] + ['b']"`, `abstract ntp::b @"['a'] + ['b']"`}},
	{"abstract parameters, one of them computed", "{parameters: ntp, to: [a, '${x}'], abstract: true}",
		[]string{"attribute @["}},
	{"abstract parameters of another target", "{parameters: Web, to: Sql, abstract: true}", []string{"attribute @Sql"}},
	{"abstract parameters without names", "{parameters: ntp, abstract: true}", []string{"attribute @{"}},
	{"abstract parameters with values", "{parameters: ntp, to: {a: 1}, abstract: true}", []string{"attribute @{"}},
	{"abstract parameters that are computed", "{parameters: ntp, to_expression: '[$x]', abstract: true}",
		[]string{"attribute @'[$x]'"}},
	{"abstract parameters of an expression", "{parameters: ntp, to_expression: '{ a => $x }', abstract: true}",
		[]string{"attribute @'{ a => $x }'"}},
	{"parameters that are known all the same", "{parameters: ntp, to: {a: '${1 + 1}', b: ['${1 + 2}']}}",
		[]string{`ntp::a = "2" @a`, `ntp::b = ["3"] @b`}},
	{"options of parameters that have none", "{parameters: ntp, to: {a: 1}, options: {map: {a: b}}}",
		[]string{"attribute @{"}},

	{"parameters of another target", "{parameters: 'Web[a/b]', to: 'Sql[one]'}", []string{
		"Web[a/b] <- Sql[one]: /param/Web[a%2Fb]/ <- /param/Sql[one]/, /param/Web/, /map/Web/Sql @'Web[a/b]'"}},
	{"parameters of another class", "{parameters: ntp, to: chrony, optional: true, type: Integer, sensitive: true}",
		[]string{"ntp <- chrony: ntp:: <- chrony::, ntp::, /map/ntp/chrony sensitive optional Integer @ntp"}},
	{"parameters of another target that are named", "{parameters: Web, to: Sql, options: {map: {a: b, c: d}}}",
		[]string{"Web <- Sql: /param/Web/ <- /param/Sql/, /param/Web/, /map/Web/Sql, a=b @a, c=d @c @Web"}},
	{"no parameter is named", "{parameters: Web, to: Sql, options: {map: {}}}",
		[]string{"Web <- Sql: /param/Web/ <- /param/Sql/, /param/Web/, /map/Web/Sql, none @Web"}},
	{"parameters of nothing else", "{parameters: Web, to: 'sql[one]'}", []string{"attribute @'sql[one]'"}},
	{"parameters with another option", "{parameters: Web, to: Sql, options: {maps: {a: b}}}", []string{"attribute @{"}},
	{"parameters with an option more", "{parameters: Web, to: Sql, options: {map: {a: b}, x: 1}}",
		[]string{"attribute @{"}},
	{"a map that is a list", "{parameters: Web, to: Sql, options: {map: [a]}}", []string{"attribute @["}},
	{"a map of what is not a name", "{parameters: Web, to: Sql, options: {map: {A: b, c: 1}}}",
		[]string{"attribute @A", "attribute @1"}},
	{"parameters of another target, computed", "{parameters: Web, to_expression: \"\\\"${x}\\\"\"}",
		[]string{`attribute @"\"${x}\""`}},
	{"parameters of another target, of no type", "{parameters: Web, to: Sql, type: Integr}", []string{"type @Integr"}},

	{"variables", "{variables: {role: web, size: 1}}", []string{`/var/role = "web" @role`, "/var/size = 1 @size"}},
	{"variables that are computed", `{variables: '{ role => $x, "size" => 1 }'}`,
		[]string{`/var/role = $x @'{ role => $x, "size" => 1 }'`, `/var/size = 1 @'{ role => $x, "size" => 1 }'`}},
	{"variables that are computed in another way", "{variables: '{ a => 1 }.filter |$k, $v| { $x }'}",
		[]string{"attribute @'{ a => 1 }.filter |$k, $v| { $x }'"}},
	{"an invalid variable", "{variables: {Role: web}}", []string{"attribute @Role"}},
	{"abstract variables", "{variables: [role], abstract: true}", []string{"abstract /var/role @role"}},
	{"variables that are a list", "{variables: [role]}", []string{"attribute @["}},

	{"a map", "{map: [Web, Sql], to: {dbuser: user}}", []string{`/map/Web/Sql = {"dbuser":"user"} @[`}},
	{"a map of types with several names", "{map: [A::B, C], to: {}}", []string{"/map/A::B/C = {} @["}},
	{"an abstract map", "{map: [Web, Sql], abstract: true}", []string{"abstract /map/Web/Sql @["}},
	{"a map of no types", "{map: [web, 'Sql[one]'], to: {a: b}}", []string{"attribute @web", "attribute @'Sql[one]'"}},
	{"a map of one type", "{map: [Web, 1], to: {a: b}}", []string{"attribute @1"}},
	{"a map to one type", "{map: [1, Web], to: {a: b}}", []string{"attribute @1"}},
	{"a map that cannot be read", "{map: [Web, Sql], to: '${'}", []string{"interpolation @${'"}},
	{"a map that is known all the same", "{map: [Web, Sql], to: {a: '${\"user\"}'}}",
		[]string{`/map/Web/Sql = {"a":"user"} @[`}},
	{"a map without parameters", "{map: [Web, Sql]}", []string{"attribute @{"}},
	{"a map that is text", "{map: [Web, Sql], to: user}", []string{"attribute @user"}},
	{"a map that is not known", "{map: [Web, Sql], to: {a: '${x}'}}", []string{"attribute @{"}},
	{"a map of no names", "{map: [Web, Sql], to: {a/b: user, c: '1'}}", []string{"attribute @a/b", "attribute @'1'"}},

	{"a dependency", `{dependency: ["File['/etc/x']", Service]}`, []string{"attribute @Service"}},
	{"a dependency that notifies", `{dependency: ["File['/etc/x']", 'A::B[c]'], kind: '~>'}`,
		[]string{`in /dependencies {"from":"File[/etc/x]","to":"A::B[c]","kind":"~>"} @{`}},
	{"dependencies of lists", "{dependency: [['A[a]', 'B[b]'], ['C[c]', 'D[d]']]}", []string{
		`in /dependencies {"from":"A[a]","to":"C[c]","kind":"->"} @{`,
		`in /dependencies {"from":"A[a]","to":"D[d]","kind":"->"} @{`,
		`in /dependencies {"from":"B[b]","to":"C[c]","kind":"->"} @{`,
		`in /dependencies {"from":"B[b]","to":"D[d]","kind":"->"} @{`}},
	{"a dependency of a condition", "{when: {node: n}, bind: [{dependency: ['A[a]', 'B[b]']}]}",
		[]string{`in /dependencies {"from":"A[a]","to":"B[b]","kind":"->"} @{ [node n]`}},
	{"a dependency on what is nothing", "{dependency: [1, ['A[a]', 'b[c]', 'D']]}",
		[]string{"attribute @1", "attribute @'b[c]'", "attribute @'D'"}},
}

func TestStatements(t *testing.T) {
	for _, c := range statements {
		t.Run(c.name, func(t *testing.T) {
			text := "bindings_version: 1\nname: default\nbind:\n- " + c.text + "\n"
			expect(t, cameTo(t, "default.yaml", text, loader.Options{}), c.want...)
		})
	}
}

// The same in the syntax of Puppet, where the places differ.
func TestStatementsInTheSyntaxOfPuppet(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"abstract parameters", "bind abstract parameters ntp to ['a', 'b']",
			[]string{"abstract ntp::a @'a'", "abstract ntp::b @'b'"}},
		{"an abstract variable", "bind abstract variables to 'role'", []string{"abstract /var/role @'role'"}},
		{"parameters, some computed", "bind parameters Web[one] to { port => $x + 1, host => 'h', size => 1 + 1 }",
			[]string{"/param/Web[one]/port = $x + 1 @port", `/param/Web[one]/host = "h" @host`,
				"/param/Web[one]/size = 2 @size"}},
		{"a name that is computed", "bind parameters Web[one] to { $x => 1, port => $y }",
			[]string{"attribute @$x", "/param/Web[one]/port = $y @port"}},
		{"parameters of another target", "bind parameters Web[one] to Sql['a b'] { map => { user => name } }", []string{
			"Web[one] <- Sql[a b]: /param/Web[one]/ <- /param/Sql[a b]/, /param/Web/, /map/Web/Sql, " +
				"user=name @user @Web[one"}},
		{"a map with what is not a name", "bind map Web to Sql { a => 'B' }", []string{"attribute @'B'"}},
		{"a map that is computed", "bind map Web to Sql { a => $x }", []string{"attribute @{"}},
		{"a dependency", "bind dependency [File['a'], File['b']] ~> Service['c']", []string{
			`in /dependencies {"from":"File[a]","to":"Service[c]","kind":"~>"} @bind`,
			`in /dependencies {"from":"File[b]","to":"Service[c]","kind":"~>"} @bind`}},
		{"a dependency that is computed", "bind dependency [File['a'], $x] -> Service['c']", []string{"attribute @$x"}},
		{"a dependency on a pattern", "bind dependency [File['a'], /B[b]/] -> Service['c']",
			[]string{"attribute @/B[b"}},
		{"a name that is a pattern", "bind parameters Web[one] to { /port/ => 1, host => 2 }",
			[]string{"attribute @/port/", "/param/Web[one]/host = 2 @host"}},
		{"a class", "include Ntp", []string{"syntax @Ntp", "incomplete"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "bindings default {\n" + c.text + "\n}\n"
			expect(t, cameTo(t, "default.pp", text, loader.Options{}), c.want...)
		})
	}
}

// A statement counts as many times as it makes bindings, so that short statements are limited like long ones. Under two
// alternatives each binding counts one, and the condition itself another.
func TestStatementsAreLimited(t *testing.T) {
	when := func(text string) string {
		return "bindings_version: 1\nname: default\nbind:\n- {when: {node: [x, y]}, bind: [" + text + "]}\n"
	}
	const both = " [node x] [node y]"
	for _, c := range []struct {
		text   string
		enough int
		want   int // bindings
		fewer  int // where that is not enough
	}{
		{"{include: a}", 2, 1, 0},
		{"{include: [a, b]}", 4, 2, 1}, // each with the room that the list takes
		{"{parameters: ntp, to: {a: 1, b: 2, c: 3}}", 4, 3, 0},
		{"{variables: {a: 1, b: 2}}", 3, 2, 0},
		{"{dependency: ['A[a]', ['B[b]', 'C[c]', 'D[d]']]}", 4, 3, 0},
		// 3, and 2 for what the lists multiply out to
		{"{dependency: [['A[a]', 'B[b]'], ['C[c]', 'D[d]']]}", 7, 4, 0},
	} {
		got := cameTo(t, "default.yaml", when(c.text), loader.Options{Alternatives: c.enough})
		if len(got) != c.want || slices.ContainsFunc(got, func(s string) bool { return !strings.HasSuffix(s, both) }) {
			t.Errorf("%s of %d alternatives comes to %q", c.text, c.enough, got)
		}
		got = cameTo(t, "default.yaml", when(c.text), loader.Options{Alternatives: c.enough - 1})
		if len(got) != 2+c.fewer || !strings.HasPrefix(got[0], "when @") || got[1] != "incomplete" {
			t.Errorf("%s of %d alternatives comes to %q", c.text, c.enough-1, got)
		}
	}
}

// Messages about invalid statements say what was expected and what was found.
func TestMessagesOfStatements(t *testing.T) {
	const categories = "; it has 'node', 'osfamily', 'environment' and 'common'"
	const hash, list = "a hash of names to values", "a list of names, as they are abstract"
	for _, c := range []struct{ text, want string }{
		{"{parameters: 'Web[a, b]', to: {a: 1}}", "expected one instance, its name in quotes if there is a comma in it," +
			` as "Web['a, b']", found the string 'Web[a, b]'`},
		{"{parameters: 'web[a]', to: {a: 1}}", "expected a class, a type or an instance, as 'ntp', 'Web' or " +
			"'Web[one]', found the string 'web[a]'"},
		{"{parameters: ntp}", "expected the parameters: " + hash},
		{"{parameters: ntp, to: 1}", "expected the parameters: " + hash + ", found the integer 1"},
		{"{parameters: ntp, to_expression: '$x'}", "expected the parameters: an expression that is " + hash +
			", found the string '$x'"},
		{"{parameters: ntp, to: 1, abstract: true}", "expected the parameters: " + list + ", found the integer 1"},
		{"{variables: 1, abstract: true}", "expected the variables: " + list + ", found the integer 1"},
		{"{variables: {A: 1}}", "expected the name of a variable, as 'port', found the string 'A'"},
		{"{to: [A, b], in: excluded_classes}", "expected names of classes, known when the site is built, " +
			"as 'to' of a contribution to 'excluded_classes'"},
		{"{include: A}", "expected the name of a class, as 'ntp::server', found the string 'A'"},
		{"{map: [Web, 1], to: {}}", "expected the name of a type, as 'Web', found the integer 1"},
		{"{map: [Web, Sql]}", "expected 'to', a hash of the parameters of Web to those of Sql"},
		{"{map: [Web, Sql], to: {a: 1}}", "expected the name of a parameter, as 'port', found the integer 1"},
		{"{dependency: ['A[a]', 'B']}",
			`expected a reference to a resource, such as "File['/etc/ntp.conf']", found the string 'B'`},
		{"{when: {1: x}, bind: []}", "the site has no category the integer 1" + categories},
		{"{when: {nobody: x}, bind: []}", "the site has no category 'nobody'" + categories},
		{"{name: a, multibind_id: /classes}", "the id '/classes' of a multibinding is reserved"},
	} {
		var diags diag.List
		only(t, c.text, &diags)
		if found := diags.Sorted(); len(found) != 1 || found[0].Message != c.want {
			t.Errorf("%s: found %v, expected %s", c.text, found, c.want)
		}
	}
}

// cameTo returns the diagnostics of a set, whether bindings may be missing, and the bindings of its statements.
func cameTo(t *testing.T, name, text string, opts loader.Options) []string {
	t.Helper()
	dir := writeSite(t, map[string]string{"bindings/" + name: text})
	var diags diag.List
	site := loader.Load(dir, opts, &diags)
	r := reader{t, strings.Split(text, "\n"), site}
	var out []string
	for _, d := range diags.Sorted() {
		out = append(out, string(d.Code)+r.at(d.Pos))
	}
	if diags.Incomplete() {
		out = append(out, "incomplete")
	}
	for _, layer := range site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Bindings {
				out = append(out, r.binding(&c.Bindings[i]))
			}
			for i := range c.Transfers {
				out = append(out, r.transfer(&c.Transfers[i]))
			}
		}
	}
	return out
}

// reader describes in a line the contents of one file of a site.
type reader struct {
	t     *testing.T
	lines []string
	site  *loader.Site
}

var word = regexp.MustCompile(`^('[^']*'|"([^"\\]|\\.)*"|[{[]|([^\s,:}\]]|:\S)+)`)

// at returns the word that stands at a place.
func (r reader) at(p diag.Pos) string {
	if p.Line < 1 || p.Line > len(r.lines) || p.Col < 1 || p.Col > len(r.lines[p.Line-1]) {
		return " " + p.String()
	}
	return " @" + word.FindString(r.lines[p.Line-1][p.Col-1:])
}

func (r reader) binding(b *loader.Binding) string {
	out := said(b.More) + b.Key
	if b.More.In != nil {
		out = strings.TrimSpace("in "+b.More.In.ID+" "+out) + " " + result(b.More.Recipe)
	} else if !b.More.Abstract {
		out += " = " + r.stored(b)
	}
	out += r.at(b.Pos)
	for _, when := range b.When {
		out += terms(r.site, when)
	}
	return out
}

// stored returns the stored value of a binding, which must equal that of its recipe.
func (r reader) stored(b *loader.Binding) string {
	if r.site.Keys[b.Number] != b.Key {
		r.t.Errorf("%s has the number of %s", b.Key, r.site.Keys[b.Number])
	}
	stored := r.site.Values[b.Value]
	if stored[0] == recipe.CompiledConstant {
		v, _, err := value.View(stored[1:])
		if err != nil {
			r.t.Fatal(err)
		}
		return string(value.AppendJSON(nil, v))
	}
	made, err := recipe.Decode(stored[1:])
	if err != nil {
		r.t.Fatal(err)
	}
	return result(made)
}

// said returns the attributes of a binding other than its value.
func said(b *bindingsfile.Compiled) string {
	out := ""
	for _, f := range []struct {
		name string
		set  bool
	}{{"abstract ", b.Abstract}, {"override ", b.Override}, {"sensitive ", b.Recipe != nil && b.Recipe.Sensitive},
		{"optional ", b.Recipe != nil && b.Recipe.Optional}} {
		if f.set {
			out += f.name
		}
	}
	if b.Type != nil {
		out += fmt.Sprint(b.Type, " ")
	}
	return out
}

func result(r *recipe.Recipe) string {
	if r.Kind == recipe.Expression {
		return syntax.Print(r.Expr)
	}
	return string(value.AppendJSON(nil, r.Value))
}

func (r reader) transfer(t *loader.Transfer) string {
	out := fmt.Sprintf("%s <- %s: %s <- %s, %s, %s", t.Target, t.From, t.Keys, t.FromKeys, t.TypeKeys, t.Map)
	if t.Given != nil && len(t.Given) == 0 {
		out += ", none"
	}
	for _, p := range t.Given {
		out += ", " + p.Name + "=" + p.From + r.at(p.Pos)
	}
	if extra := strings.TrimSpace(said(t.Like)); extra != "" {
		out += " " + extra
	}
	return out + r.at(t.Pos)
}
