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

// Statements that bind several keys, or reserved ones (language.md, sections 14.3 and 14.4), with the resulting
// bindings and diagnostics. "@" precedes the source text at the position.
var statements = []struct {
	name, text string
	want       []string
}{
	{"include adds a class to /classes", "{include: ntp}", []string{`in /classes ntp "include" @ntp`}},
	{"exclude adds classes to /classes", "{exclude: [ntp, apt::keys]}",
		[]string{`in /classes ntp "exclude" @ntp`, `in /classes apt::keys "exclude" @apt::keys`}},
	{"include in a condition", "{when: {node: [a, b]}, bind: [{include: ntp}]}",
		[]string{`in /classes ntp "include" @ntp [node a] [node b]`}},
	{"include in nested conditions with alternatives",
		"{when: {node: [a, b], osfamily: c}, bind: [{when: {environment: [d, e]}, bind: [{include: x}]}, " +
			"{when: {environment: f}, bind: [{include: y}]}, {include: z}]}",
		[]string{`in /classes x "include" @x ` +
			`[node a] [osfamily c] [environment d] [node a] [osfamily c] [environment e] ` +
			`[node b] [osfamily c] [environment d] [node b] [osfamily c] [environment e]`,
			`in /classes y "include" @y ` +
				`[node a] [osfamily c] [environment f] [node b] [osfamily c] [environment f]`,
			`in /classes z "include" @z [node a] [osfamily c] [node b] [osfamily c]`}},
	{"contribution to included_classes", "{to: [ntp, apt], in: included_classes}",
		[]string{`in /classes ntp "include" @ntp`, `in /classes apt "include" @apt`}},
	{"contribution to excluded_classes", "{to: ntp, in: excluded_classes}",
		[]string{`in /classes ntp "exclude" @ntp`}},
	{"invalid class names", "{include: [Ntp, 1, '', 'a b', 'a::B', ntp]}", []string{
		"attribute @Ntp", "attribute @1", "attribute @''", "attribute @'a b'", "attribute @'a::B'",
		`in /classes ntp "include" @ntp`}},
	{"class list from a variable is an error",
		"{to_expression: '$classes', in: included_classes}", []string{"attribute @{"}},
	{"class with a transformer is an error", "{to: ntp, transformer: '|$x| { $x }', in: included_classes}",
		[]string{"attribute @{"}},
	{"one invalid class rejects the contribution", "{to: [ntp, Apt], in: included_classes}", []string{"attribute @{"}},
	{"constant interpolation in a class", "{to: ['${\"ntp\"}', apt], in: included_classes}",
		[]string{`in /classes ntp "include" @'${"ntp"}'`, `in /classes apt "include" @apt`}},
	{"constant expression of classes", `{to_expression: "['ntp'] + ['apt']", in: included_classes}`, []string{
		`in /classes ntp "include" @"['ntp'] + ['apt']"`, `in /classes apt "include" @"['ntp'] + ['apt']"`}},
	{"one computed class rejects the contribution",
		"{to: [ntp, '${x}'], in: included_classes}", []string{"attribute @{"}},
	{"contribution without classes is an error", "{in: included_classes}", []string{"attribute @{"}},
	{"empty list of classes is accepted", "{to: [], in: included_classes}", nil},
	{"class from a lookup is an error", "{to_lookup_of: apt, in: included_classes}", []string{"attribute @{"}},
	{"class from a multibinding is an error", "{multibind_id: apt, in: included_classes}", []string{"attribute @{"}},
	{"class list with two producers is an error",
		"{to: ntp, to_lookup_of: apt, in: included_classes}", []string{"attribute @{"}},
	{"syntax error in a class", "{to: '${', in: included_classes}", []string{"interpolation @${'"}},

	{"contribution to a sensitive multibinding is sensitive",
		"{to: 1, in: m}\n- {name: m, multibind_id: m, sensitive: true}",
		[]string{"in m sensitive 1 @{", "sensitive m = null @m"}},
	{"reserved multibinding ids are errors",
		"{name: a, multibind_id: included_classes}\n- {to: 1, in: /dependencies}\n" +
			"- {name: b, multibind_id: m}", []string{"reserved @included_classes", "reserved @/dependencies", "a = null @a",
			"in /dependencies 1 @{", "b = null @b"}},
	{"reserved id as a value is accepted", "{name: a, to: included_classes}",
		[]string{`a = "included_classes" @a`}},

	{"map may be rebound", "{rebind: /map/Web/Sql}", []string{`/map/Web/Sql = null @/map/Web/Sql`}},
	{"rebound map with a transformer is an error", "{rebind: /map/Web/Sql, transformer: '|$m| { $m }'}",
		[]string{"attribute @/map/Web/Sql", `/map/Web/Sql = null @/map/Web/Sql`}},
	{"rebound map with a value and a transformer is an error",
		"{rebind: /map/Web/Sql, to: 1, transformer: '|$m| { $m }'}",
		[]string{"attribute @1", "/map/Web/Sql = null @/map/Web/Sql"}},
	{"lookup of a map may have a transformer", "{name: a, to_lookup_of: /map/Web/Sql, transformer: '|$m| { $m }'}",
		[]string{`a = null @a`}},
	{"other rebound key may have a transformer", "{rebind: a, transformer: '|$m| { $m }'}", []string{`a = null @a`}},
	{"transformer without a value is an error",
		"{name: a, transformer: '|$m| { $m }'}", []string{"attribute @{", "a = null @a"}},

	{"parameters of a class become its keys", "{parameters: ntp, to: {enable: true, servers: [a]}}",
		[]string{"ntp::enable = true @enable", `ntp::servers = ["a"] @servers`}},
	{"Class[name] is the same as the name", "{parameters: 'Class[Apt::Keys]', to: {enable: true}}",
		[]string{"apt::keys::enable = true @enable"}},
	{"parameters of a type have /param keys", "{parameters: Web::App, to: {port: 80}}",
		[]string{"/param/Web::App/port = 80 @port"}},
	{"parameters of an instance have /param keys", "{parameters: 'Web[one]', to: {port: 80}}",
		[]string{"/param/Web[one]/port = 80 @port"}},
	{"special characters of an instance name are escaped", `{parameters: "File['/a[b]%c']", to: {mode: x}}`,
		[]string{`/param/File[%2Fa%5Bb%5D%25c]/mode = "x" @mode`}},
	{"instance name in double quotes", `{parameters: 'Web["one"]', to: {port: 80}}`,
		[]string{"/param/Web[one]/port = 80 @port"}},
	{"instance name that is a quote", `{parameters: 'Web["''"]', to: {port: 80}}`,
		[]string{"/param/Web[']/port = 80 @port"}},
	{"instance name with an apostrophe", `{parameters: "Web[it's]", to: {port: 80}}`,
		[]string{"/param/Web[it's]/port = 80 @port"}},
	{"single quote as instance is an error", `{parameters: "Web[']", to: {port: 80}}`, []string{`attribute @"Web[']"`}},
	{"empty instance name in quotes is an error",
		`{parameters: "Web['']", to: {port: 80}}`, []string{`attribute @"Web['']"`}},
	{"quoted instance name may have a comma",
		`{parameters: "Web['a, b']", to: {port: 80}}`, []string{"/param/Web[a, b]/port = 80 @port"}},
	{"list of instances is an error", "{parameters: 'Web[a, b]', to: {port: 80}}", []string{"attribute @'Web[a, b]'"}},
	{"list of quoted instances is an error", `{parameters: "Web['a', 'b']", to: {port: 80}}`,
		[]string{`attribute @"Web['a', 'b']"`}},
	{"Class with an invalid name is an instance", "{parameters: 'Class[a b]', to: {port: 80}}",
		[]string{"/param/Class[a b]/port = 80 @port"}},
	{"class name in quotes", `{parameters: "Class['ntp']", to: {port: 80}}`, []string{"ntp::port = 80 @port"}},
	{"class name without a closing quote is an error", `{parameters: "Class['ntp]", to: {port: 80}}`,
		[]string{`attribute @"Class['ntp]"`}},
	{"lower-case instance is an error", "{parameters: 'web[one]', to: {port: 80}}", []string{"attribute @'web[one]'"}},
	{"instance without a closing bracket is an error",
		"{parameters: 'Web[one', to: {port: 80}}", []string{"attribute @'Web[one'"}},
	{"instance with an empty name is an error",
		"{parameters: 'Web[]', to: {port: 80}}", []string{"attribute @'Web[]'"}},
	{"number as target is an error", "{parameters: 1, to: {port: 80}}", []string{"attribute @1"}},
	{"attributes apply to each parameter",
		"{parameters: ntp, type: Integer, override: true, sensitive: true, to: {a: 1, b: 2}}", []string{
			"override sensitive Integer ntp::a = 1 @a", "override sensitive Integer ntp::b = 2 @b"}},
	{"optional parameters", "{parameters: ntp, optional: true, to_expression: '{ a => $x }'}",
		[]string{"optional ntp::a = $x @'{ a => $x }'"}},
	{"type mismatch is reported at the value", "{parameters: ntp, type: Integer, to: {a: x, b: 1}}",
		[]string{"type_mismatch @x", "Integer ntp::a = null @a", "Integer ntp::b = 1 @b"}},
	{"invalid parameter names", "{parameters: ntp, to: {a/b: 1, Up: 2, 3: 4, _ok: 5}}",
		[]string{"attribute @a/b", "attribute @Up", "attribute @3", "ntp::_ok = 5 @_ok"}},
	{"parameters in a condition", "{when: {node: n}, bind: [{parameters: ntp, to: {a: 1}}]}",
		[]string{"ntp::a = 1 @a [node n]"}},
	{"parameter values may interpolate", "{parameters: ntp, to: {a: '${x}', b: '${1 + 1}', c: [1]}}",
		[]string{`ntp::a = "${x}" @a`, `ntp::b = "2" @b`, "ntp::c = [1] @c"}},
	{"parameter name from a variable is an error", "{parameters: ntp, to: {'${x}': 1, a: 2}}",
		[]string{"attribute @'${x}'", "ntp::a = 2 @a"}},
	{"computed parameter name is an error", "{parameters: ntp, to_expression: '{ $x => 1, a => 2 }'}",
		[]string{"attribute @'{ $x => 1, a => 2 }'", "ntp::a = 2 @'{ $x => 1, a => 2 }'"}},
	{"constant interpolation in a parameter name", "{parameters: ntp, to: {'${\"port\"}': '${x}'}}",
		[]string{`ntp::port = "${x}" @{`}},
	{"list of parameters is an error unless abstract", "{parameters: ntp, to: [a]}", []string{"attribute @["}},
	{"expression for parameters must be a hash", "{parameters: ntp, to_expression: '$x'}", []string{"attribute @'$x'"}},
	{"parameters without values are an error", "{parameters: ntp}", []string{"attribute @{"}},
	{"parameters with two producers are an error",
		"{parameters: ntp, to: {a: 1}, to_expression: '{ a => 1 }'}", []string{"attribute @{"}},
	{"syntax error in parameters", "{parameters: ntp, to_expression: '{'}", []string{"expression @'"}},
	{"abstract parameters", "{parameters: ntp, to: [a, b], abstract: true}",
		[]string{"abstract ntp::a @a", "abstract ntp::b @b"}},
	{"abstract parameters from a constant expression",
		`{parameters: ntp, to_expression: "['a'] + ['b']", abstract: true}`,
		[]string{`abstract ntp::a @"['a'] + ['b']"`, `abstract ntp::b @"['a'] + ['b']"`}},
	{"computed abstract parameter is an error", "{parameters: ntp, to: [a, '${x}'], abstract: true}",
		[]string{"attribute @["}},
	{"abstract parameters as a target are an error",
		"{parameters: Web, to: Sql, abstract: true}", []string{"attribute @Sql"}},
	{"abstract parameters without names are an error", "{parameters: ntp, abstract: true}", []string{"attribute @{"}},
	{"abstract parameters with values are an error",
		"{parameters: ntp, to: {a: 1}, abstract: true}", []string{"attribute @{"}},
	{"abstract parameters from a variable are an error", "{parameters: ntp, to_expression: '[$x]', abstract: true}",
		[]string{"attribute @'[$x]'"}},
	{"abstract parameters from a hash expression are an error",
		"{parameters: ntp, to_expression: '{ a => $x }', abstract: true}",
		[]string{"attribute @'{ a => $x }'"}},
	{"constant expressions become values", "{parameters: ntp, to: {a: '${1 + 1}', b: ['${1 + 2}']}}",
		[]string{`ntp::a = "2" @a`, `ntp::b = ["3"] @b`}},
	{"options with given values are an error", "{parameters: ntp, to: {a: 1}, options: {map: {a: b}}}",
		[]string{"attribute @{"}},

	{"parameters transferred between instances", "{parameters: 'Web[a/b]', to: 'Sql[one]'}", []string{
		"Web[a/b] <- Sql[one]: /param/Web[a%2Fb]/ <- /param/Sql[one]/, /param/Web/, /map/Web/Sql @'Web[a/b]'"}},
	{"parameters transferred between classes",
		"{parameters: ntp, to: chrony, optional: true, type: Integer, sensitive: true}",
		[]string{"ntp <- chrony: ntp:: <- chrony::, ntp::, /map/ntp/chrony sensitive optional Integer @ntp"}},
	{"transfer with a map of parameters", "{parameters: Web, to: Sql, options: {map: {a: b, c: d}}}",
		[]string{"Web <- Sql: /param/Web/ <- /param/Sql/, /param/Web/, /map/Web/Sql, a=b @a, c=d @c @Web"}},
	{"transfer with an empty map", "{parameters: Web, to: Sql, options: {map: {}}}",
		[]string{"Web <- Sql: /param/Web/ <- /param/Sql/, /param/Web/, /map/Web/Sql, none @Web"}},
	{"transfer from a lower-case instance is an error",
		"{parameters: Web, to: 'sql[one]'}", []string{"attribute @'sql[one]'"}},
	{"transfer with an unknown option is an error",
		"{parameters: Web, to: Sql, options: {maps: {a: b}}}", []string{"attribute @{"}},
	{"transfer with a second option is an error", "{parameters: Web, to: Sql, options: {map: {a: b}, x: 1}}",
		[]string{"attribute @{"}},
	{"transfer with a list as map is an error",
		"{parameters: Web, to: Sql, options: {map: [a]}}", []string{"attribute @["}},
	{"transfer with invalid names in the map", "{parameters: Web, to: Sql, options: {map: {A: b, c: 1}}}",
		[]string{"attribute @A", "attribute @1"}},
	{"transfer from a computed target is an error", "{parameters: Web, to_expression: \"\\\"${x}\\\"\"}",
		[]string{`attribute @"\"${x}\""`}},
	{"transfer with an unknown type is an error", "{parameters: Web, to: Sql, type: Integr}", []string{"type @Integr"}},

	{"variables", "{variables: {role: web, size: 1}}", []string{`/var/role = "web" @role`, "/var/size = 1 @size"}},
	{"computed variables", `{variables: '{ role => $x, "size" => 1 }'}`,
		[]string{`/var/role = $x @'{ role => $x, "size" => 1 }'`, `/var/size = 1 @'{ role => $x, "size" => 1 }'`}},
	{"variables without constant names are an error", "{variables: '{ a => 1 }.filter |$k, $v| { $x }'}",
		[]string{"attribute @'{ a => 1 }.filter |$k, $v| { $x }'"}},
	{"invalid variable name", "{variables: {Role: web}}", []string{"attribute @Role"}},
	{"abstract variables", "{variables: [role], abstract: true}", []string{"abstract /var/role @role"}},
	{"list of variables is an error unless abstract", "{variables: [role]}", []string{"attribute @["}},

	{"a map", "{map: [Web, Sql], to: {dbuser: user}}", []string{`/map/Web/Sql = {"dbuser":"user"} @[`}},
	{"map of types with qualified names", "{map: [A::B, C], to: {}}", []string{"/map/A::B/C = {} @["}},
	{"an abstract map", "{map: [Web, Sql], abstract: true}", []string{"abstract /map/Web/Sql @["}},
	{"map of classes and instances is an error",
		"{map: [web, 'Sql[one]'], to: {a: b}}", []string{"attribute @web", "attribute @'Sql[one]'"}},
	{"map to a number is an error", "{map: [Web, 1], to: {a: b}}", []string{"attribute @1"}},
	{"map of a number is an error", "{map: [1, Web], to: {a: b}}", []string{"attribute @1"}},
	{"syntax error in a map", "{map: [Web, Sql], to: '${'}", []string{"interpolation @${'"}},
	{"constant interpolation in a map", "{map: [Web, Sql], to: {a: '${\"user\"}'}}",
		[]string{`/map/Web/Sql = {"a":"user"} @[`}},
	{"map without a value is an error", "{map: [Web, Sql]}", []string{"attribute @{"}},
	{"map that is a string is an error", "{map: [Web, Sql], to: user}", []string{"attribute @user"}},
	{"computed map is an error", "{map: [Web, Sql], to: {a: '${x}'}}", []string{"attribute @{"}},
	{"map with invalid parameter names",
		"{map: [Web, Sql], to: {a/b: user, c: '1'}}", []string{"attribute @a/b", "attribute @'1'"}},

	{"dependency on a type without an instance is an error",
		`{dependency: ["File['/etc/x']", Service]}`, []string{"attribute @Service"}},
	{"dependency with ~>", `{dependency: ["File['/etc/x']", 'A::B[c]'], kind: '~>'}`,
		[]string{`in /dependencies {"from":"File[/etc/x]","to":"A::B[c]","kind":"~>"} @{`}},
	{"dependency between lists orders each pair", "{dependency: [['A[a]', 'B[b]'], ['C[c]', 'D[d]']]}", []string{
		`in /dependencies {"from":"A[a]","to":"C[c]","kind":"->"} @{`,
		`in /dependencies {"from":"A[a]","to":"D[d]","kind":"->"} @{`,
		`in /dependencies {"from":"B[b]","to":"C[c]","kind":"->"} @{`,
		`in /dependencies {"from":"B[b]","to":"D[d]","kind":"->"} @{`}},
	{"dependency in a condition", "{when: {node: n}, bind: [{dependency: ['A[a]', 'B[b]']}]}",
		[]string{`in /dependencies {"from":"A[a]","to":"B[b]","kind":"->"} @{ [node n]`}},
	{"dependency with invalid references", "{dependency: [1, ['A[a]', 'b[c]', 'D']]}",
		[]string{"attribute @1", "attribute @'b[c]'", "attribute @'D'"}},
}

func TestStatementsInYAMLBecomeBindings(t *testing.T) {
	for _, c := range statements {
		t.Run(c.name, func(t *testing.T) {
			text := "bindings_version: 1\nname: default\nbind:\n- " + c.text + "\n"
			expect(t, outcome(t, "default.yaml", text, loader.Options{}), c.want...)
		})
	}
}

// Statements in Puppet syntax whose positions differ from the YAML ones.
func TestStatementsInPuppetSyntaxBecomeBindings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"abstract parameters", "bind abstract parameters ntp to ['a', 'b']",
			[]string{"abstract ntp::a @'a'", "abstract ntp::b @'b'"}},
		{"abstract variables", "bind abstract variables to 'role'", []string{"abstract /var/role @'role'"}},
		{"constant and computed parameters",
			"bind parameters Web[one] to { port => $x + 1, host => 'h', size => 1 + 1 }",
			[]string{"/param/Web[one]/port = $x + 1 @port", `/param/Web[one]/host = "h" @host`,
				"/param/Web[one]/size = 2 @size"}},
		{"computed parameter name in Puppet syntax is an error", "bind parameters Web[one] to { $x => 1, port => $y }",
			[]string{"attribute @$x", "/param/Web[one]/port = $y @port"}},
		{"parameters transferred between instances",
			"bind parameters Web[one] to Sql['a b'] { map => { user => name } }", []string{
				"Web[one] <- Sql[a b]: /param/Web[one]/ <- /param/Sql[a b]/, /param/Web/, /map/Web/Sql, " +
					"user=name @user @Web[one"}},
		{"map with an invalid parameter name", "bind map Web to Sql { a => 'B' }", []string{"attribute @'B'"}},
		{"map with a variable is an error", "bind map Web to Sql { a => $x }", []string{"attribute @{"}},
		{"dependency with ~> orders each pair", "bind dependency [File['a'], File['b']] ~> Service['c']", []string{
			`in /dependencies {"from":"File[a]","to":"Service[c]","kind":"~>"} @bind`,
			`in /dependencies {"from":"File[b]","to":"Service[c]","kind":"~>"} @bind`}},
		{"dependency on a variable is an error",
			"bind dependency [File['a'], $x] -> Service['c']", []string{"attribute @$x"}},
		{"dependency on a regular expression is an error", "bind dependency [File['a'], /B[b]/] -> Service['c']",
			[]string{"attribute @/B[b"}},
		{"regular expression as parameter name is an error", "bind parameters Web[one] to { /port/ => 1, host => 2 }",
			[]string{"attribute @/port/", "/param/Web[one]/host = 2 @host"}},
		{"include of a capitalized class is a syntax error", "include Ntp", []string{"syntax @Ntp", "incomplete"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "bindings default {\n" + c.text + "\n}\n"
			expect(t, outcome(t, "default.pp", text, loader.Options{}), c.want...)
		})
	}
}

// A statement counts as many times as it has bindings, so that the short form is limited like the long one. With two
// alternatives, each binding counts once, and so does the condition.
func TestBindingsOfOneStatementCountAgainstLimit(t *testing.T) {
	when := func(text string) string {
		return "bindings_version: 1\nname: default\nbind:\n- {when: {node: [x, y]}, bind: [" + text + "]}\n"
	}
	const both = " [node x] [node y]"
	for _, c := range []struct {
		text   string
		enough int
		want   int // bindings if the limit is enough
		fewer  int // bindings if it is one less
	}{
		{"{include: a}", 2, 1, 0},
		{"{include: [a, b]}", 4, 2, 1}, // checked class by class
		{"{parameters: ntp, to: {a: 1, b: 2, c: 3}}", 4, 3, 0},
		{"{variables: {a: 1, b: 2}}", 3, 2, 0},
		{"{dependency: ['A[a]', ['B[b]', 'C[c]', 'D[d]']]}", 4, 3, 0},
		// 3, and 2 for the pairs of the two lists
		{"{dependency: [['A[a]', 'B[b]'], ['C[c]', 'D[d]']]}", 7, 4, 0},
	} {
		got := outcome(t, "default.yaml", when(c.text), loader.Options{Alternatives: c.enough})
		if len(got) != c.want || slices.ContainsFunc(got, func(s string) bool { return !strings.HasSuffix(s, both) }) {
			t.Errorf("%s of %d alternatives has the outcome %q", c.text, c.enough, got)
		}
		got = outcome(t, "default.yaml", when(c.text), loader.Options{Alternatives: c.enough - 1})
		if len(got) != 2+c.fewer || !strings.HasPrefix(got[0], "when @") || got[1] != "incomplete" {
			t.Errorf("%s of %d alternatives has the outcome %q", c.text, c.enough-1, got)
		}
	}
}

// Messages about invalid statements say what was expected and what was found.
func TestMessagesAboutStatementsSayExpectedAndFound(t *testing.T) {
	const categories = "; it has 'node', 'osfamily', 'environment' and 'common'"
	const hash, list = "a hash whose keys are parameter names", "a list of names, because they are abstract"
	for _, c := range []struct{ text, want string }{
		{"{parameters: 'Web[a, b]', to: {a: 1}}",
			"expected one instance, its name in quotes if it contains a comma," +
				` such as "Web['a, b']", found the string 'Web[a, b]'`},
		{"{parameters: 'web[a]', to: {a: 1}}", "expected a class, a type or an instance, such as 'ntp', 'Web' or " +
			"'Web[one]', found the string 'web[a]'"},
		{"{parameters: ntp}", "expected the parameters: " + hash},
		{"{parameters: ntp, to: 1}", "expected the parameters: " + hash + ", found the integer 1"},
		{"{parameters: ntp, to_expression: '$x'}", "expected the parameters: an expression that is " + hash +
			", found the string '$x'"},
		{"{parameters: ntp, to: 1, abstract: true}", "expected the parameters: " + list + ", found the integer 1"},
		{"{variables: 1, abstract: true}", "expected the variables: " + list + ", found the integer 1"},
		{"{variables: {A: 1}}", "expected a variable name, such as 'port', found the string 'A'"},
		{"{to: [A, b], in: excluded_classes}", "expected constant class names " +
			"for 'to' of a contribution to 'excluded_classes'"},
		{"{include: A}", "expected a class name, such as 'ntp::server', found the string 'A'"},
		{"{map: [Web, 1], to: {}}", "expected a type name, such as 'Web', found the integer 1"},
		{"{map: [Web, Sql]}", "expected 'to', a hash that maps parameters of Web to parameters of Sql"},
		{"{map: [Web, Sql], to: {a: 1}}", "expected a parameter name, such as 'port', found the integer 1"},
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

// outcome loads a bindings file. It returns the diagnostics, "incomplete" if bindings may be missing, and the bindings.
func outcome(t *testing.T, name, text string, opts loader.Options) []string {
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

// reader formats the diagnostics and bindings of one file, each in one line.
type reader struct {
	t     *testing.T
	lines []string
	site  *loader.Site
}

var word = regexp.MustCompile(`^('[^']*'|"([^"\\]|\\.)*"|[{[]|([^\s,:}\]]|:\S)+)`)

// at returns " @" and the word at the position p.
func (r reader) at(p diag.Pos) string {
	if p.Line < 1 || p.Line > len(r.lines) || p.Col < 1 || p.Col > len(r.lines[p.Line-1]) {
		return " " + p.String()
	}
	return " @" + word.FindString(r.lines[p.Line-1][p.Col-1:])
}

func (r reader) binding(b *loader.Binding) string {
	out := attributes(b.More) + b.Key
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

// stored returns the stored value of a binding as JSON, or its recipe. It fails the test if
// b.Number is not the number of b.Key.
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

// attributes returns the attributes of a binding other than its value.
func attributes(b *bindingsfile.Compiled) string {
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
	if extra := strings.TrimSpace(attributes(t.Like)); extra != "" {
		out += " " + extra
	}
	return out + r.at(t.Pos)
}
