package bindingsfile

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/layout"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Equivalent statements in both syntaxes (language.md, section 14.1). Each is read and converted to the other syntax.
var both = []struct{ name, yaml, puppet string }{
	{"text", `
- [a, text]`, `
bind 'a' to 'text'`},
	{"text that interpolates", `
- [a, '${x} and \$y']`, `
bind 'a' to "${x} and \$y"`},
	{"values of every kind", `
- [a, 1]
- [b, -2.5]
- [c, true]
- [d, null]
- [e, "true"]
- name: f
  to_expression: -9223372036854775807 - 1`, `
bind 'a' to 1
bind 'b' to -2.5
bind 'c' to true
bind 'd' to undef
bind 'e' to 'true'
bind 'f' to -9223372036854775807 - 1`},
	{"lists and hashes", `
- name: a
  to:
    - 1
    - b: ${x}`, `
bind 'a' to [1, { 'b' => "${x}" }]`},
	{"long and multi-line values use the long form", `
- name: a
  to: |
    one
    two
- name: b
  to: '0123456789012345678901234567890123456789012345678901234567890'`, `
bind 'a' to "one\ntwo\n"
bind 'b' to '0123456789012345678901234567890123456789012345678901234567890'`},
	{"text that would be split in brackets", `
- ['a,b', '[c]']
- ['it''s {x}', 'x: y']`, `
bind 'a,b' to '[c]'
bind 'it\'s {x}' to 'x: y'`},
	{"an expression", `
- name: a
  to_expression: $x + 1
- name: b
  to_expression: map($x) |$y| { [1, $y] }`, `
bind 'a' to $x + 1
bind 'b' to map($x) |$y| { [1, $y] }`},
	{"a type and all flags", `
- name: a
  type: Integer
  abstract: true
  override: true
  sensitive: true`, `
bind abstract override sensitive Integer, 'a'`},
	{"value with one attribute", `
- name: a
  abstract: true
  to: 1
- name: b
  override: true
  to: 1
- name: c
  sensitive: true
  to: 1
- name: d
  to: x
  optional: true
- name: e
  to: 1
  options:
    x: 1`, `
bind abstract 'a' to 1
bind override 'b' to 1
bind sensitive 'c' to 1
bind 'd' to optional 'x'
bind 'e' to 1 { options => { 'x' => 1 } }`},
	{"values with a type", `
- name: a
  type: String
  to: \$y
- name: b
  type: String
  to: ${y}
- name: c
  type: Optional[String]
  to: null`, `
bind String, 'a' to '$y'
bind String, 'b' to "${y}"
bind Optional[String], 'c' to undef`},
	{"list and hash use the long form", `
- name: a
  to:
    - 1
- name: b
  to:
    c: 1`, `
bind 'a' to [1]
bind 'b' to { 'c' => 1 }`},
	{"longest text in the short form, and a longer one", `
- [a, aaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffg]
- name: b
  to: aaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgh`, `
bind 'a' to 'aaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffg'
bind 'b' to 'aaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgh'`},
	{"text with an escape and a comma", `
- [a, "\a, b"]`, `
bind 'a' to "\u{7}, b"`},
	{"regular expressions and default", `
- name: a
  to_expression: /a.c/
- name: b
  to_expression: default
- name: c
  to_expression: '[1, /a.c/]'`, `
bind 'a' to /a.c/
bind 'b' to default
bind 'c' to [1, /a.c/]`},
	{"lists, hashes and the smallest integer in an expression", `
- name: a
  to_expression: $x + {'b' => ['c']}
- name: d
  to_expression: $x + (-9223372036854775807 - 1)
- name: e
  to_expression: map($x) |$y, $z = ({'b' => 'c'})| { $y + {'d' => [$z]} + {'e' => 'f'} }`, `
bind 'a' to $x + { 'b' => ['c'] }
bind 'd' to $x + (-9223372036854775807 - 1)
bind 'e' to map($x) |$y, $z = ({ 'b' => 'c' })| { $y + { 'd' => [$z] } + { 'e' => 'f' } }`},
	{"an optional query", `
- name: a
  to_query: Sql[?? 'x' == 1]
  optional: true`, `
bind 'a' to optional Sql[?? 'x' == 1]`},
	{"combinator with uniq", `
- name: all
  type: Array[Integer]
  multibind_id: all
  options:
    combinator: '|$memo, $x| { $memo + $x }'
    uniq: true`, `
multibind Array[Integer], 'all' { combinator => |$memo, $x| { $memo + $x }, uniq => true }`},
	{"computed parameters and abstract ones", `
- parameters: ntp
  to_expression: $x['ntp']
- parameters: Web
  abstract: true`, `
bind parameters ntp to $x['ntp']
bind abstract parameters Web`},
	{"an optional producer", `
- name: a
  to_expression: $x['a']
  optional: true`, `
bind 'a' to optional $x['a']`},
	{"an optional lookup", `
- name: a
  to_lookup_of: b
  optional: true`, `
bind 'a' { to_lookup_of => 'b', optional => true }`},
	{"producers without a keyword", `
- name: a
  to_first_found:
    - b
    - - Integer
      - c
- name: d
  to_hash_lookup:
    name: e
    key: f
- name: g
  to_instance:
    - P
    - 1`, `
bind 'a' { to_first_found => ['b', ['Integer', 'c']] }
bind 'd' { to_hash_lookup => { 'name' => 'e', 'key' => 'f' } }
bind 'g' { to_instance => ['P', 1] }`},
	{"registered producer with arguments", `
- name: a
  to_producer: p
  options:
    x: 1`, `
bind 'a' to producer 'p' { producer_args => { 'x' => 1 } }`},
	{"registered producer with a list", `
- name: a
  to_producer:
    - p
    - 1`, `
bind 'a' { to_producer => ['p', 1] }`},
	{"a query", `
- name: a
  to_query: Sql[?? 'name' == 'one' and 'port' > 80]
  transformer: '|$found| { $found[0] }'`, `
bind 'a' to Sql[?? 'name' == 'one' and 'port' > 80] { transformer => |$found| { $found[0] } }`},
	{"a transformer with a type and a default", `
- name: a
  to: 1
  transformer: '|Integer $x, $y = ([1, ''z''])| { [$x, $y] }'`, `
bind 'a' to 1 { transformer => |Integer $x, $y = ([1, 'z'])| { [$x, $y] } }`},
	{"aliases and renamed keys", `
- name: new
  to_alias_of: old
- name: new
  type: String
  to_renamed: old
- rebind: a
- type: Integer
  abstract: true
  rebind: a`, `
bind alias 'old' as 'new'
bind renamed 'old' as String, 'new'
rebind 'a'
rebind abstract Integer, 'a'`},
	{"aliases and renamed keys with a transformer", `
- name: new
  to_alias_of: old
  transformer: '|$x| { $x + 1 }'
- name: newer
  to_renamed: older
  transformer: '|$x| { $x + 1 }'
- rebind: a
  transformer: '|$x| { $x + 1 }'`, `
bind alias 'old' as 'new' { transformer => |$x| { $x + 1 } }
bind renamed 'older' as 'newer' { transformer => |$x| { $x + 1 } }
rebind 'a' { transformer => |$x| { $x + 1 } }`},
	{"a multibinding whose id is its key", `
- name: users
  multibind_id: users`, `
multibind 'users'`},
	{"a multibinding and a contribution", `
- name: users
  type: Array[String]
  multibind_id: site::users
  options:
    uniq: true
    flatten: 2
- to: Mary
  in: site::users
- name: tom
  to: Tom
  in: site::users`, `
multibind Array[String], 'users' as 'site::users' { uniq => true, flatten => 2 }
bind to 'Mary' in 'site::users'
bind 'tom' to 'Tom' in 'site::users'`},
	{"a multibinding with a combinator", `
- name: sum
  type: Integer
  multibind_id: sum
  options:
    combinator: '|$memo, $x| { $memo + $x }'`, `
multibind Integer, 'sum' { combinator => |$memo, $x| { $memo + $x } }`},
	{"a multibinding that contributes to another", `
- name: a
  multibind_id: inner
  in: outer
  options:
    uniq: true`, `
bind 'a' in 'outer' { multibind_id => 'inner', uniq => true }`},
	{"an alias that contributes", `
- name: a
  to_alias_of: b
  in: c`, `
bind 'a' in 'c' { to_alias_of => 'b' }`},
	{"conditions", `
- when:
    osfamily:
      - debian
      - red hat
    virtual: "true"
  bind:
    - [a, 1]
    - when:
        - node: b
        - release: "6.10"
      bind:
        - [a, 2]
- when:
    common: "true"
  bind:
    []`, `
when osfamily [debian, 'red hat'] and virtual true {
  bind 'a' to 1
  when node b or release 6.10 {
    bind 'a' to 2
  }
}
when common true {}`},
	{"classes", `
- include: a
- exclude:
    - b::c
    - d`, `
include a
exclude [b::c, d]`},
	{"parameters", `
- parameters: ntp
  to:
    enable: true
- parameters: Web[one]
  type: Integer
  override: true
  to_expression: '{''port'' => $x + 1}'
- parameters: Web
  abstract: true
  to:
    - port`, `
bind parameters ntp to { 'enable' => true }
bind override parameters Web[one] to { 'port' => $x + 1 } { 'type' => 'Integer' }
bind abstract parameters Web to ['port']`},
	{"parameters of another target", `
- parameters: Web[one]
  to: Sql[it's]
  optional: true
  options:
    map:
      dbuser: user
- parameters: ntp
  to: chrony`, `
bind parameters Web[one] to optional Sql['it\'s'] { map => { 'dbuser' => 'user' } }
bind parameters ntp to 'chrony'`},
	{"variables that are computed", `
- variables: '{''role'' => $x, ''size'' => 1}'`, `
bind variables to { 'role' => $x, 'size' => 1 }`},
	{"variables", `
- type: Integer
  sensitive: true
  variables:
    size: 1
- abstract: true
  variables:
    - role`, `
bind sensitive variables Integer to { 'size' => 1 }
bind abstract variables to ['role']`},
	{"maps", `
- map:
    - Web
    - A::Sql
  to:
    dbuser: user
- map:
    - Web
    - Sql
  abstract: true`, `
bind map Web to A::Sql { 'dbuser' => 'user' }
bind abstract map Web to Sql`},
	{"dependencies", `
- dependency:
    - File[/etc/x]
    - - Service[a]
      - B::C[d]
  kind: ~>
- dependency:
    - A[a]
    - B[b]
  kind: ->`, `
bind dependency 'File[/etc/x]' ~> ['Service[a]', 'B::C[d]']
bind dependency 'A[a]' -> 'B[b]'`},
}

// Equivalent ways to write a statement are converted to the same form.
func TestConvertsVariantsToOneForm(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"comma after a type is added", "s.pp", "bind Integer 'a' to 1", "bind Integer, 'a' to 1"},
		{"keywords become lower case",
			"s.pp", "bind TO 'x' IN 'm'\nmultibind 'a' AS 'm'", "bind to 'x' in 'm'\nmultibind 'a' as 'm'"},
		{"'variable' becomes 'variables'", "s.pp", "bind variable to { a => 1 }", "bind variables to { 'a' => 1 }"},
		{"abstract variable becomes a list",
			"s.pp", "bind abstract variable to 'a'", "bind abstract variables to ['a']"},
		{"everybody", "s.pp", "when common { bind 'a' to 1 }", "when common true {\n  bind 'a' to 1\n}"},
		{"select_result becomes transformer",
			"s.pp", "bind 'a' to Sql[?? port == 1] { select_result => |$x| { $x[0] } }",
			"bind 'a' to Sql[?? 'port' == 1] { transformer => |$x| { $x[0] } }"},
		{"names in a map are quoted", "s.pp", "bind parameters Web to Sql { map => { a => b } }",
			"bind parameters Web to Sql { map => { 'a' => 'b' } }"},
		{"Class[ntp] is kept",
			"s.pp", "bind parameters Class[ntp] to { a => 1 }", "bind parameters Class[ntp] to { 'a' => 1 }"},
		{"regular expression in a query becomes text",
			"s.pp", "bind 'a' to Sql[?? name =~ /a.c/]", "bind 'a' to Sql[?? 'name' =~ 'a.c']"},
		{"type of an old key moves to the new one", "s.pp", "bind alias Integer, 'b' as 'a'",
			"bind alias 'b' as Integer, 'a'"},
		{"instances in dependencies become text", "s.pp", "bind dependency File['a'] -> [Service[b], 'C[c]']",
			"bind dependency 'File[a]' -> ['Service[b]', 'C[c]']"},
		{"constant expression becomes its value", "s.pp", "bind 'a' to 1 + 1", "bind 'a' to 2"},
		{"multibind_id option becomes multibind", "s.pp", "bind 'a' { multibind_id => 'm', uniq => true }",
			"multibind 'a' as 'm' { uniq => true }"},
		{"options of a multibinding are unwrapped", "s.pp", "multibind 'a' { options => { uniq => true } }",
			"multibind 'a' { uniq => true }"},
		{"empty options are kept", "s.yaml", "- {name: a, multibind_id: a, options: {}}",
			"multibind 'a' { options => {} }"},
		{"list with one class becomes the class", "s.yaml", "- {include: [a]}", "include a"},
		{"flags that are false are dropped",
			"s.yaml", "- {name: a, to: 1, abstract: false, override: false, sensitive: false, optional: false}",
			"bind 'a' to 1"},
		{"numbers as category values", "s.yaml", "- {when: {release: 6.10, virtual: true, n: 0x1F}, bind: [[a, 1]]}",
			"when release 6.10 and virtual true and n '0x1F' {\n  bind 'a' to 1\n}"},
		{"quotes of category values are dropped if possible",
			"s.yaml", "- {when: {node: \"it's\", release: '6.10'}, bind: [[a, 1]]}",
			"when node 'it\\'s' and release 6.10 {\n  bind 'a' to 1\n}"},
		{"lists as ids and keys are kept", "s.yaml", "- {name: a, multibind_id: [x]}\n- {name: a, to_alias_of: [x]}",
			"bind 'a' { multibind_id => ['x'] }\nbind 'a' { to_alias_of => ['x'] }"},
		{"constant to_expression becomes its value", "s.yaml", "- {name: a, to_expression: '1 + 1'}", "bind 'a' to 2"},
		{"producer options with names of attributes", "s.pp",
			"bind 'a' to Sql[?? port == 1] { options => { b => 1 } }\n" +
				"bind 'a' to producer 'p' { to_lookup_of => 'b' }\n" +
				"bind 'a' to producer 'p' { producer_args => { combinator => 1 } }",
			"bind 'a' to Sql[?? 'port' == 1] { options => { 'b' => 1 } }\n" +
				"bind 'a' to producer 'p' { to_lookup_of => 'b' }\n" +
				"bind 'a' to producer 'p' { producer_args => { 'combinator' => 1 } }"},
		{"multibinding options with names of attributes", "s.pp",
			"multibind 'a' { select_result => 1, type => 'x', producer_args => 2 }",
			"multibind 'a' { select_result => 1, 'type' => 'x', producer_args => 2 }"},
		{"options of parameters with and without a map", "s.yaml",
			"- {parameters: Web, type: X, to: Sql, options: {map: {a: b}}}\n" +
				"- {parameters: Web, to: Sql, options: {x: 1}}\n" +
				"- {parameters: Web, to: Sql, options: {map: {a: b}, x: 1}}",
			"bind parameters Web to Sql { map => { 'a' => 'b' }, 'type' => 'X' }\n" +
				"bind parameters Web to Sql { options => { 'x' => 1 } }\n" +
				"bind parameters Web to Sql { options => { 'map' => { 'a' => 'b' }, 'x' => 1 } }"},
		{"splat in a list is expanded", "s.pp", "bind 'a' to [*[1, 2], 3]\nbind Array 'b' to [*[1], 2]",
			"bind 'a' to [1, 2, 3]\nbind Array, 'b' to [1, 2]"},
		{"True becomes true", "s.yaml", "- {when: {virtual: True}, bind: [[a, 1]]}",
			"when virtual true {\n  bind 'a' to 1\n}"},
		{"abstract variables as a string", "s.yaml", "- {abstract: true, variables: my role}",
			"bind abstract variables to 'my role'"},
		{"target that looks like an expression stays text", "s.yaml",
			"- {parameters: Web, to: a(1)}\n- {parameters: Web, to: z(1)}\n- {parameters: Web, to: 'true'}",
			"bind parameters Web to 'a(1)'\nbind parameters Web to 'z(1)'\nbind parameters Web to 'true'"},
		{"several instances are quoted", "s.yaml", "- {parameters: 'Web[a, b]', to: {c: 1}}",
			"bind parameters Web['a', 'b'] to { 'c' => 1 }"},
		{"nested lists in a dependency are flattened", "s.pp",
			"bind dependency [File['a', 'b'], [Web[c]], 'X[y]'] -> [['A[b]'], C[d]]",
			"bind dependency ['File[a]', 'File[b]', 'Web[c]', 'X[y]'] -> ['A[b]', 'C[d]']"},
		{"computed sides of a dependency are kept", "s.pp", "bind dependency $x -> $y['b']",
			"bind dependency $x -> $y['b']"},
		{"to_expression that is a number", "s.yaml", "- {name: a, to_expression: 42}", "bind 'a' to 42"},
		{"empty condition becomes 'common true'",
			"s.yaml", "- {when: {}, bind: [[a, 1]]}", "when common true {\n  bind 'a' to 1\n}"},
		{"instances of one type in a dependency become a list",
			"s.pp", "bind dependency File['a', 'b'] -> [Web[1], Web['c, d'], 'X[y]']",
			"bind dependency ['File[a]', 'File[b]'] -> ['Web[1]', 'Web[\\'c, d\\']', 'X[y]']"},
		{"quoted instance name with a comma", "s.yaml", "- {parameters: \"Web['a, b']\", to: {c: 1}}",
			"bind parameters Web['a, b'] to { 'c' => 1 }"},
		{"dependency without a kind gets ->", "s.yaml", "- {dependency: ['A[a]', 'B[b]']}",
			"bind dependency 'A[a]' -> 'B[b]'"},
		{"YAML alias is expanded", "s.yaml", "- &x {name: a, to: [1]}\n- {name: b, to: *x}",
			"bind 'a' to [1]\nbind 'b' to { 'name' => 'a', 'to' => [1] }"},
	} {
		text := inYAML("\n" + c.text)
		if c.file == "s.pp" {
			text = inPuppet("\n" + c.text)
		}
		s, reported := read(t, c.file, text)
		if reported != "" {
			t.Errorf("%s: reported is %s", c.name, reported)
		} else if got, want := asPuppet(t, s), inPuppet("\n"+c.want); got != want {
			t.Errorf("%s: it is\n%s\nexpected\n%s", c.name, got, want)
		}
	}
}

// Errors are reported at their position, and the other statements of the file are kept.
func TestReportsErrorsAndKeepsOtherStatements(t *testing.T) {
	for _, c := range []struct{ name, file, text, reported, left string }{
		{"bind that is a hash", "s.yaml", " {a: 1}", "3:7 error bindings", ""},
		{"several instances as a target", "s.pp",
			"\nbind parameters Web[a, b] to { c => 1 }\nbind parameters Web[c] to Sql[d, e]\nbind 'a' to 1",
			"2:19 error attribute, 3:29 error attribute", "bind parameters Web[c] to undef\nbind 'a' to 1"},
		{"computed instances and empty names", "s.pp",
			"\nbind parameters Web[$x] to { c => 1 }\nbind dependency File[$x] -> [Web[''], Web[[a]]]\nbind 'a' to 1",
			"2:19 error attribute, 3:19 error attribute, 3:32 error attribute", "bind 'a' to 1"},
		{"computed instance on either side", "s.pp",
			"\nbind dependency File[$x] -> Web[a]\nbind dependency Web[a] -> File[$x]\n" +
				"bind map Web to Sql[$x] { a => b }\nbind map Web[$x] to Sql { a => b }",
			"2:19 error attribute, 3:29 error attribute, 4:19 error attribute, 5:12 error attribute", ""},
		{"name in include and parameters", "s.yaml",
			"\n- {include: a, name: b}\n- {parameters: a, name: b, to: {c: 1}}\n- [b, 1]",
			"4:18 error attribute, 5:21 error attribute", "bind 'b' to 1"},
		{"options both in 'options' and outside",
			"s.pp", "\nmultibind 'm' { options => { uniq => true }, flatten => true }\n" +
				"bind parameters Web to Sql { map => { a => b }, options => { x => 1 } }",
			"2:48 error attribute, 3:32 error attribute",
			"multibind 'm' { uniq => true }\nbind parameters Web to Sql { options => { 'x' => 1 } }"},
		{"combinator in a string", "s.pp", "\nmultibind 'm' { options => { combinator => '|$m, $x| { $m }' } }",
			"2:17 error attribute", "multibind 'm' { combinator => '|$m, $x| { $m }' }"},
		{"Ruby class as producer",
			"s.pp", "\nbind 'a' to producer Foo\nbind 'b' to 1", "2:24 error catalog", "bind 'b' to 1"},
		{"invalid regular expression", "s.pp", "\nbind 'a' to $x =~ '('", "2:21 error regexp", "*"},
		{"duplicate keys in hashes", "s.pp",
			"\nbind 'a' to { x => 1, x => 2, y => { 1 => 2, 1 => 3 } }\nbind map A to B { a => b, 'a' => c }",
			"2:25 error syntax, 2:48 error syntax, 3:29 error syntax",
			"bind 'a' to {'x' => 2, 'y' => {1 => 3}}\nbind map A to B {'a' => 'c'}"},
		{"duplicate options", "s.pp", "\nmultibind Array, 'm' { uniq => true, uniq => false }", "2:40 error syntax",
			"multibind Array, 'm' { uniq => false }"},
		{"options that do not fit the statement", "s.pp",
			"\nbind parameters a to { b => 1 } { to_lookup_of => 'c', multibind_id => 'd' }\n" +
				"bind variables to { b => 1 } { transformer => |$x| { 1 } }\nrebind 'a' { to_lookup_of => 'b' }\n" +
				"bind alias 'b' as 'a' { to_lookup_of => 'c' }\nbind renamed 'b' as 'a' { to_lookup_of => 'c' }",
			"2:37 error attribute, 2:58 error attribute, 3:34 error attribute, 4:16 error attribute, " +
				"5:27 error attribute, 6:29 error attribute",
			"bind parameters a to {'b' => 1}\nbind variables to {'b' => 1}\nrebind 'a'\nbind alias 'b' as 'a'\n" +
				"bind renamed 'b' as 'a'"},
		{"statement that is a string", "s.yaml", "\n- a\n- [b, 1]", "4:5 error bindings", "bind 'b' to 1"},
		{"short form with three elements", "s.yaml", "\n- [a, 1, 2]\n- [b, 1]", "4:5 error bindings", "bind 'b' to 1"},
		{"key that is a number", "s.yaml", "\n- [1, a]\n- {name: 1, to: a}\n- [b, 1]", "4:6 error key, 5:12 error key",
			"bind 'b' to 1"},
		{"when without bind, and bind without when",
			"s.yaml", "\n- when: {node: n}\n- bind: [[a, 1]]", "4:5 error bindings, 5:5 error bindings", ""},
		{"extra attribute next to when",
			"s.yaml", "\n- {when: {node: n}, bind: [[a, 1]], to: 1}", "4:39 error bindings",
			"when node n {\n  bind 'a' to 1\n}"},
		{"nested list of category values",
			"s.yaml", "\n- {when: {node: [[n]]}, bind: [[a, 1]]}", "4:20 error when", ""},
		{"empty list of category values", "s.yaml", "\n- {when: {node: []}, bind: [[a, 1]]}", "4:19 error when", ""},
		{"empty list of alternatives", "s.yaml", "\n- {when: [], bind: [[a, 1]]}", "4:12 error when", ""},
		{"alternative that is a string", "s.yaml", "\n- {when: [{node: n}, x], bind: [[a, 1]]}", "4:24 error when", ""},
		{"unknown attribute of a binding",
			"s.yaml", "\n- {name: a, to: 1, typ: Integer}", "4:22 error attribute", "bind 'a' to 1"},
		{"unknown attribute of include and map",
			"s.yaml", "\n- {include: a, to: 1}\n- {map: [A, B], to: {a: b}, type: Integer}",
			"4:18 error attribute, 5:31 error attribute", "include a\nbind map A to B {'a' => 'b'}"},
		{"flags that are not true or false",
			"s.yaml", "\n- {name: a, to: 1, abstract: 'x', override: 1, optional: null}",
			"4:32 error attribute, 4:47 error attribute, 4:60 error attribute", "bind 'a' to 1"},
		{"invalid expressions", "s.yaml", "\n- {name: a, to_expression: [1]}\n- {name: a, to_expression: '1 +'}\n" +
			"- {name: a, to_expression: 'nope(1)'}\n- {name: a, to: '${'}\n- {name: b, to: [1], type: Array}",
			"4:30 error attribute, 5:34 error expression, 6:31 error name, 7:20 error interpolation", "*"},
		{"map and dependency as hashes", "s.yaml", "\n- {map: {A: B}, to: {a: b}}\n- {dependency: {'A[a]': 'B[b]'}}",
			"4:11 error attribute, 5:18 error attribute", ""},
		{"options that are a list are checked later",
			"s.yaml", "\n- {name: a, multibind_id: a, options: [combinator, x]}", "",
			"multibind 'a' { options => ['combinator', 'x'] }"},
		{"two keywords in one statement",
			"s.yaml", "\n- {include: a, exclude: b}\n- {include: c}", "4:5 error attribute", "include c"},
		{"map with three types and with one",
			"s.yaml", "\n- {map: [A, B, C], to: {a: b}}\n- {map: A}\n- [b, 1]", "4:11 error attribute, 5:11 error attribute",
			"bind 'b' to 1"},
		{"dependency with one side", "s.yaml", "\n- {dependency: ['A[a]']}\n- {dependency: 'A[a]'}\n- [b, 1]",
			"4:18 error attribute, 5:18 error attribute", "bind 'b' to 1"},
		{"unknown kind of dependency", "s.yaml", "\n- {dependency: ['A[a]', 'B[b]'], kind: '=>'}\n- [b, 1]",
			"4:42 error attribute", "bind 'b' to 1"},
		{"invalid queries", "s.yaml", "\n- {name: a, to_query: 1}\n- {name: a, to_query: 'Sql[?? x]'}\n" +
			"- {name: a, to_query: 'Sql[?? x == $y]'}\n- [b, 1]", "4:25 error attribute, 5:34 error expression, 6:25 error attribute", "*"},
		{"invalid transformers",
			"s.yaml", "\n- {name: a, to: 1, transformer: 1}\n- {name: a, to: 1, transformer: x}\n" +
				"- {name: a, to: 1, transformer: '|$x| { nope($x) }'}",
			"4:35 error attribute, 5:35 error expression, 6:43 error name", "*"},
		{"combinator that is a number", "s.yaml", "\n- {name: a, multibind_id: m, options: {combinator: 1}}",
			"4:54 error attribute", "*"},
		{"combinator without a multibinding is checked later",
			"s.yaml", "\n- {name: a, to: 1, options: {combinator: 1}}", "",
			"bind 'a' to 1 { options => { 'combinator' => 1 } }"},

		{"an empty key", "s.pp", "\nbind '' to 1\nbind 'b' to 1", "2:8 error key", "bind 'b' to 1"},
		{"key with a NUL byte", "s.pp", "\nbind \"a\\u{0}\" to 1\nbind 'b' to 1", "2:8 error key", "bind 'b' to 1"},
		{"lookup of a computed key", "s.pp", "\nbind 'a' { to_lookup_of => $x }\nbind 'b' to 1 in 'm'\nbind 'b' to 1",
			"2:30 error attribute", "*"},
		{"computed keys in a list and in a hash", "s.pp", "\nbind 'a' { to_first_found => ['x', $y] }\n" +
			"bind 'a' { to_first_found => [$x, 'y'] }\nbind 'a' { to_hash_lookup => { 'name' => $x } }",
			"2:32 error attribute, 3:32 error attribute, 4:32 error attribute", "*"},
		{"unknown option of a producer",
			"s.pp", "\nbind 'a' to producer 'p' { arguments => 1 }", "2:30 error attribute",
			"bind 'a' to producer 'p'"},
		{"computed, empty and several instances", "s.pp", "\nbind parameters Web[$x] to { a => 1 }\n" +
			"bind parameters Web to Sql[\"${x}\"]\nbind dependency File['a', 'b'] -> [File[''], File['c']]\n" +
			"bind parameters Class[Ntp] to {}", "2:19 error attribute, 3:26 error attribute, 4:38 error attribute",
			"*"},
		{"an unknown function", "s.pp", "\nbind 'a' to nope(1)\nbind 'b' to 1", "2:15 error name", "*"},
		{"misspelt fact", "s.pp", "\nbind 'a' to $fqdm", "2:15 warning fact", "bind 'a' to $fqdm"},
		{"an unknown option", "s.pp", "\nbind 'a' to 1 { transfomer => 1 }", "2:19 error attribute", "bind 'a' to 1"},
		{"keyword written as an option",
			"s.pp", "\nbind 'a' to 1 { sensitive => true }", "2:19 error attribute", "bind 'a' to 1"},
		{"options of other producers", "s.pp", "\nbind 'a' to 1 { producer_args => 1 }\nbind 'b' to 1 { map => 1 }\n" +
			"bind 'c' to 1 { select_result => |$x| { $x } }\nbind 'd' to 1 { type => 'Integer' }\n" +
			"bind 'e' to 1 { uniq => true }\nbind 'f' { to_lookup_of => 'g', uniq => true }",
			"2:19 error attribute, 3:19 error attribute, 4:19 error attribute, 5:19 error attribute, " +
				"6:19 error attribute, 7:35 error attribute",
			"bind 'a' to 1\nbind 'b' to 1\nbind 'c' to 1\nbind 'd' to 1\nbind 'e' to 1\n" +
				"bind 'f' { to_lookup_of => 'g' }"},
		{"optional that is not true or false", "s.pp", "\nbind 'a' { to_lookup_of => 'b', optional => 1 }\n" +
			"bind 'a' { to_lookup_of => 'b', optional => $x }", "2:47 error attribute, 3:47 error attribute",
			"bind 'a' { to_lookup_of => 'b' }\nbind 'a' { to_lookup_of => 'b' }"},
		{"invalid transformers in Puppet syntax",
			"s.pp", "\nbind 'a' to 1 { transformer => 1 }\nbind 'a' to 1 { transformer => |$x| { nope($x) } }",
			"2:34 error attribute, 3:41 error name", "*"},
		{"lambda in place of a key", "s.pp", "\nbind 'a' { to_lookup_of => |$x| { $x } }", "2:14 error attribute", "*"},
		{"combinator that is a number", "s.pp", "\nmultibind 'a' { combinator => 1 }", "2:33 error attribute", "*"},
		{"two statements with syntax errors",
			"s.pp", "\nbnd 'a' to 1\nbind 'b' to 1 in\nbind 'c' to 1", "2:3 error syntax, 4:3 error syntax",
			"bind 'c' to 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, left := inYAML(c.text), c.left
			if c.file == "s.pp" {
				text = inPuppet(c.text)
			}
			s, reported := read(t, c.file, text)
			if reported != c.reported {
				t.Errorf("reported is %q, expected %q", reported, c.reported)
			}
			if left != "" {
				left = "\n" + left
			}
			if left == "\n*" { // the error is in the binding of 'a'
				for _, b := range s.Statements {
					if b.Keyword == Bind && b.Value == nil && b.Broken != (b.Key == "a") {
						t.Errorf("that '%s' is broken is %v", b.Key, b.Broken)
					}
				}
				return
			}
			if s == nil {
				return
			}
			if got := asPuppet(t, s); got != formattedBy(t, layout.Puppet, inPuppet(left)) {
				t.Errorf("what is left is\n%s\nexpected\n%s", got, inPuppet(left))
			}
		})
	}
}

// For a misspelt word, the hint suggests the likely one.
func TestSuggestsMisspeltWords(t *testing.T) {
	for _, c := range []struct{ file, text, says, hint string }{
		{"s.yaml", "\n- {inclde: ntp}", "inclde", "did you mean 'include'?"},
		{"s.yaml", "\n- {name: a, to: 1, overide: true}", "overide", "did you mean 'override'?"},
		{"s.yaml", "\n- {name: a, to: 1, inclde: ntp}", "inclde", ""},
		{"s.yaml", "\n- {parameters: a, name: b, to: {c: 1}}", "'parameters', which binds a key for each parameter",
			"remove 'name', or make two entries of 'bind': one with 'parameters', one with 'name'"},
		{"s.yaml", " {a: 1}", "a list",
			"begin each binding with '- ', or put brackets around: bind: [[key, value], {name: …}]"},
		{"s.yaml", " a", "a list", ""},
		{"s.pp", "\nbind 'a' to producer 'p' { producer_arg => 1 }", "producer_arg", "did you mean 'producer_args'?"},
		{"s.pp", "\nbind 'a' to Sql[?? x == 1] { select_resul => 1 }", "select_resul", "did you mean 'select_result'?"},
		{"s.pp", "\nbind 'a' to 1 { select_resul => 1 }", "select_resul", ""},
		{"s.pp", "\nbind 'a' to 1 { producer_arg => 1 }", "producer_arg", ""},
		{"s.pp", "\nbind parameters Web to Sql { mapp => 1 }", "mapp", "did you mean 'map'?"},
		{"s.pp", "\nbind 'a' to 1 { override => true }", "Puppet syntax has a keyword for it", "write bind override 'key' …"},
		{"s.pp", "\nbind 'a' { to_lookup_of => |$x| { $x } }", "found a lambda", ""},
	} {
		text := inYAML(c.text)
		if c.file == "s.pp" {
			text = inPuppet(c.text)
		}
		_, diags := reading(c.file, text)
		found := diags.Sorted()
		if len(found) != 1 || found[0].Hint != c.hint || !strings.Contains(found[0].Message, c.says) {
			t.Errorf("%s: %v, expected %s and the hint %s", c.text, found, c.says, c.hint)
		}
	}
}

// A literal is written as a plain value, even if its strings interpolate. Other expressions are not.
func TestOnlyLiteralsBecomePlainValues(t *testing.T) {
	for text, plain := range map[string]bool{
		"1": true, "-1": true, "'x'": true, "\"${x}\"": true, "undef": true, "[1, { a => \"${x}\" }]": true, "{}": true,
		"1 + 1": false, "-$x": false, "!true": false, "$x": false, "[$x]": false, "{ a => [$x] }": false,
		"{ $x => 1 }": false, "lookup('b')": false, "Integer": false} {
		s, reported := read(t, "s.pp", inPuppet("\nbind 'a' to "+text))
		b := s.Statements[0]
		isPlain := b.Value != nil
		if reported != "" || isPlain != plain {
			t.Errorf("%s is plain: %v, %s", text, isPlain, reported)
		} else if !isPlain && b.Producers[0].Name != "to_expression" {
			t.Errorf("%s is produced by '%s'", text, b.Producers[0].Name)
		}
	}
}

// In YAML, a constant expression becomes its value.
func TestFoldsConstantExpressionsInYAML(t *testing.T) {
	for text, known := range map[string]bool{"to: [1]": true, "to: ['${1 + 1}']": true, "to: ['${x}']": false,
		"to_expression: '[1] + [2]'": true, "to_expression: '[$x]'": false} {
		s, _ := read(t, "s.yaml", inYAML("\n- {name: a, type: Array, "+text+"}"))
		b := s.Statements[0]
		if p := b.Producers[0]; (p.Expr == nil) != known || p.Argument == nil || b.KeyPos.Col != 12 || b.Pos.Col != 5 {
			t.Errorf("%s: it is %+v", text, b)
		}
	}
}

// In Puppet syntax, a constant expression becomes its value.
func TestFoldsConstantExpressionsInPuppet(t *testing.T) {
	for text, known := range map[string]bool{"[1]": true, "[1] + [2]": true, "[*[1], 2]": true, "[$x]": false} {
		s, _ := read(t, "s.pp", inPuppet("\nbind Array, 'a' to "+text))
		p := s.Statements[0].Producers[0]
		if (p.Expr == nil) != known || known && p.Argument.Value.Kind() != value.Array {
			t.Errorf("%s: it is %+v", text, p)
		}
	}
}

// The value of an expression does not include its position, so that equal expressions are stored once.
func TestEqualExpressionsHaveEqualValues(t *testing.T) {
	for _, text := range []string{"\"${x} and ${y}\"", "$x + $y['a']", "$x.map |Integer $a, $b = $y| { $a + $b }"} {
		s, _ := read(t, "s.pp", inPuppet("\nbind 'a' to "+text+"\n  bind 'b'   to "+text))
		first, second := s.Statements[0], s.Statements[1]
		if first.Value != nil {
			if !bytes.Equal(first.Value, second.Value) {
				t.Errorf("%s is two values", text)
			}
		} else if !reflect.DeepEqual(first.Producers[0].Expr, second.Producers[0].Expr) {
			t.Errorf("%s is two expressions", text)
		}
	}
}

// Each statement has its position, in both syntaxes.
func TestStatementsHavePositions(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"s.yaml", "\n- [a, 1]\n- name: b\n  to: [1]\n- when: {node: n}\n  bind: [[c, 1]]\n- {include: d}\n" +
			"- {variables: {e: 1}}\n- {map: [F, G], to: {}}\n- {dependency: ['H[h]', 'I[i]']}\n- {parameters: j, to: {}}",
			"4:6 5:5 7:11 9:5 10:5 11:5 12:5 13:5"},
		{"s.pp", "\nbind 'a' to 1\nbind 'b' to [$x]\nwhen node n { }\ninclude d\nbind variables to { e => 1 }\n" +
			"bind map F to G { }\nbind dependency H[h] -> I[i]\nbind parameters j to { }", "2:8 3:3 4:3 5:3 6:3 7:3 8:3 9:3"},
	} {
		text := inYAML(c.text)
		if c.file == "s.pp" {
			text = inPuppet(c.text)
		}
		s, reported := read(t, c.file, text)
		var got []string
		for _, s := range s.Statements {
			got = append(got, fmt.Sprintf("%d:%d", s.Pos.Line, s.Pos.Col))
		}
		if at := strings.Join(got, " "); at != c.want || reported != "" {
			t.Errorf("%s: the statements are at %s, expected %s; %s", c.file, at, c.want, reported)
		}
	}
}

// A file that is not a bindings file, or has another version, gives nil and an error.
func TestRejectsOtherFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "1:1 error bindings",
		"[1]":                             "1:1 error bindings",
		"{name: s, bind: []}":             "1:1 error version",
		"{bindings_version: 2, bind: []}": "1:20 error version",
	} {
		if s, reported := read(t, "s.yaml", text); s != nil || reported != want {
			t.Errorf("%q: %v, reported is %q, expected %q", text, s, reported, want)
		}
	}
	s, reported := read(t, "s.yaml", "{bindings_version: 1, binds: []}")
	if s == nil || s.Name != nil || reported != "1:23 error bindings" {
		t.Errorf("without bindings it is %v, reported is %q", s, reported)
	}
	if s, reported := read(t, "s.pp", "bindings s { bind 'a' to \xff }"); s != nil || reported != "1:26 error syntax" {
		t.Errorf("what is no UTF-8 is %v, reported is %q", s, reported)
	}
}

func inYAML(bind string) string { return "bindings_version: 1\nname: s\nbind:" + indented(bind) + "\n" }

func inPuppet(statements string) string { return "bindings s {" + indented(statements) + "\n}\n" }

func indented(lines string) string { return strings.ReplaceAll(lines, "\n", "\n  ") }

func TestConvertsStatementsBothWays(t *testing.T) {
	for _, c := range both {
		t.Run(c.name, func(t *testing.T) {
			y, reported := read(t, "s.yaml", inYAML(c.yaml))
			if reported != "" {
				t.Fatal(reported)
			}
			if got := asPuppet(t, y); got != inPuppet(c.puppet) {
				t.Errorf("in Puppet syntax it is\n%s\nexpected\n%s", got, inPuppet(c.puppet))
			}
			p, reported := read(t, "s.pp", inPuppet(c.puppet))
			if reported != "" {
				t.Fatal(reported)
			}
			if got := asYAML(t, p); got != inYAML(c.yaml) {
				t.Errorf("in YAML it is\n%s\nexpected\n%s", got, inYAML(c.yaml))
			}
		})
	}
}

// read reads a bindings file. It returns its statements and the diagnostics as "line:column severity code".
func read(t *testing.T, file, text string) (*File, string) {
	t.Helper()
	s, diags := reading(file, text)
	var reported []string
	for _, d := range diags.Sorted() {
		if (d.Code == "attribute" || d.Code == "name") && !d.InValue {
			t.Errorf("%s: the other bindings are not judged", d.Message)
		}
		reported = append(reported, fmt.Sprintf("%d:%d %v %s", d.Pos.Line, d.Pos.Col, d.Severity, d.Code))
	}
	return s, strings.Join(reported, ", ")
}

func reading(file, text string) (*File, *diag.List) {
	var diags diag.List
	var source Source
	if strings.HasSuffix(file, ".pp") {
		if p := ParsePuppet(file, []byte(text), &diags); p != nil {
			source = p
		}
	} else if doc, ok := yaml.Parse(file, []byte(text), yaml.Options{}, &diags); ok {
		source = YAML{Document: doc}
	}
	var s *File
	if source != nil {
		secrets := map[string]bool{}
		source.Secrets(secrets)
		s = source.Read(secrets, &diags)
	}
	return s, &diags
}

func asPuppet(t *testing.T, s *File) string {
	t.Helper()
	b, err := puppetText(s, "s", comments{})
	if err != nil {
		t.Fatal(err)
	}
	return formattedBy(t, layout.Puppet, string(b))
}

func asYAML(t *testing.T, s *File) string {
	t.Helper()
	out, err := yamlText(s, "s", comments{})
	if err != nil {
		t.Fatal(err)
	}
	return formattedBy(t, layout.YAML, string(out))
}

// formattedBy formats a string like bindc fmt.
func formattedBy(t *testing.T, lay func(string, []byte, *diag.List) ([]byte, bool), text string) string {
	t.Helper()
	var diags diag.List
	out, ok := lay("", []byte(text), &diags)
	if !ok {
		t.Fatalf("%s\n%v", text, diags.Sorted())
	}
	return string(out)
}
