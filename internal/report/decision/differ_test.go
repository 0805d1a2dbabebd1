package decision

import (
	"testing"

	"bindc/compile"
	"bindc/internal/secret/seal"
)

// differ formats the differences of two sites.
func differ(t *testing.T, before, after *Tables) []string {
	t.Helper()
	d, err := Diff(before, after, func() {})
	if err != nil {
		t.Fatal(err)
	}
	out := diffLines(d)
	for _, key := range d.Dynamic {
		out = append(out, "dynamic "+key)
	}
	for _, name := range d.Categories {
		out = append(out, "category "+name)
	}
	return out
}

// Each case has the statements of two sites, and the differences that requests see.
func TestDiffReportsChangesThatRequestsSee(t *testing.T) {
	for _, c := range []struct {
		what, before, after string
		want                []string
	}{
		{"a contribution to a multibinding with its key as id changes its value",
			"- {name: users, multibind_id: users, type: Array}\n- {in: users, name: a, to: 1}\n",
			"- {name: users, multibind_id: users, type: Array}\n- {in: users, name: a, to: 2}\n",
			[]string{"users for []: multibind('users'), multibind('users') through users",
				"contributed to users for []: 1 named a, 2 named a"}},
		{"contributions are added, removed, and change their condition",
			"- {name: users, multibind_id: u, type: Array}\n- {in: u, name: a, to: 1}\n- {in: u, to: 5}\n" +
				"- {when: {role: web}, bind: [{in: u, name: c, to: 3}]}\n",
			"- {name: users, multibind_id: u, type: Array}\n- {in: u, name: b, to: 1}\n" +
				"- {in: u, to: 5}\n- {in: u, to: 5}\n" +
				"- {when: {role: db}, bind: [{in: u, name: c, to: 3}]}\n",
			[]string{`users for []: multibind('u'), multibind('u') through u`,
				`contributed to users for [role=web]: 3 named c, nothing`,
				`contributed to users for []: 1 named a, nothing`,
				`contributed to users for [role=db]: nothing, 3 named c`,
				`contributed to users for []: nothing, 1 named b`,
				`contributed to users for []: nothing, 5`}},
		{"a contribution looks up a changed key",
			"- {name: users, multibind_id: u, type: Array}\n- {in: u, name: a, to_lookup_of: x}\n- [x, 1]\n",
			"- {name: users, multibind_id: u, type: Array}\n- {in: u, name: a, to_lookup_of: x}\n- [x, 2]\n",
			[]string{`users for []: multibind('u'), multibind('u') through u`,
				`contributed to users for []: lookup('x') named a, lookup('x') named a through x`,
				`x for []: 1, 2`}},
		{"a value becomes computed and sensitive",
			"- [a, 1]\n- [b, 1]\n- {name: c, to: 1, sensitive: true}\n",
			"- {name: a, to_expression: '1 + $x'}\n- {name: b, to: 1, sensitive: true}\n" +
				"- {name: c, to: 2, sensitive: true}\n",
			[]string{`a for []: 1, 1 + $x`, `b for []: 1, 1 sensitive`, `c for []: 1 sensitive, 2 sensitive`}},
		{"a binding moves to another condition and hides a lower one",
			"- {when: {role: web}, bind: [[a, 1]]}\n- [a, 2]\n",
			"- {when: {node: n1}, bind: [[a, 1]]}\n- [a, 2]\n",
			[]string{`a for [role=web]: 1, 2 except [node=n1]`, `a for [node=n1]: 2, 1 except [role=web]`}},
		{"only the default changes",
			"- {when: {role: web}, bind: [[a, 1]]}\n- {when: {node: n1, role: web}, bind: [[a, 4]]}\n- [a, 2]\n",
			"- {when: {role: web}, bind: [[a, 1]]}\n- {when: {node: n1, role: web}, bind: [[a, 4]]}\n- [a, 3]\n",
			[]string{`a for []: 2, 3 except [role=web]`}},
		{"a chain of lookups",
			"- [a, 1]\n- {name: b, to_lookup_of: a}\n- {name: c, to_lookup_of: b}\n" +
				"- {name: d, to: \"${lookup('c')} ${lookup('a')}\"}\n",
			"- [a, 2]\n- {name: b, to_lookup_of: a}\n- {name: c, to_lookup_of: b}\n" +
				"- {name: d, to: \"${lookup('c')} ${lookup('a')}\"}\n",
			[]string{`a for []: 1, 2`,
				`b for []: lookup('a'), lookup('a') through a`,
				`c for []: lookup('b'), lookup('b') through b`,
				`d for []: "${lookup('c')} ${lookup('a')}", "${lookup('c')} ${lookup('a')}" through c a`}},
		{"a contribution gets another name",
			"- {name: users, multibind_id: u, type: Hash}\n- {in: u, name: a, to: 1}\n",
			"- {name: users, multibind_id: u, type: Hash}\n- {in: u, name: b, to: 1}\n",
			[]string{`users for []: multibind('u'), multibind('u') through u`,
				`contributed to users for []: 1 named a, nothing`,
				`contributed to users for []: nothing, 1 named b`}},
		{"a contribution no longer looks up a changed key",
			"- {name: users, multibind_id: u, type: Array}\n- {in: u, name: a, to_lookup_of: x}\n- [x, 1]\n",
			"- {name: users, multibind_id: u, type: Array}\n- {in: u, name: a, to: 1}\n- [x, 2]\n",
			[]string{`users for []: multibind('u'), multibind('u') through u`,
				`contributed to users for []: lookup('x') named a, 1 named a`, `x for []: 1, 2`}},
		{"a value that may decline, with changes in a key it looks up and below it",
			"- {when: {node: n1}, bind: [{name: a, to_lookup_of: b, optional: true}]}\n- [a, 1]\n- [b, 1]\n",
			"- {when: {node: n1}, bind: [{name: a, to_lookup_of: b, optional: true}]}\n- [a, 2]\n- [b, 2]\n",
			[]string{`a for [node=n1]: optional(lookup('b')) declines, optional(lookup('b')) declines through b`,
				`a for []: 1, 2`, `b for []: 1, 2`}},
		{"a value that may decline looks up a key with a change below it",
			"- {when: {role: web}, bind: [{name: a, to_expression: '$x', optional: true}]}\n" +
				"- {name: a, to: \"${lookup('b')}\"}\n- [b, 1]\n",
			"- {when: {node: n1}, bind: [[a, 0]]}\n" +
				"- {when: {role: web}, bind: [{name: a, to_expression: '$x', optional: true}]}\n" +
				"- {name: a, to: \"${lookup('b')}\"}\n- [b, 2]\n",
			[]string{`a for [node=n1 role=web]: optional($x) declines, 0`,
				`a for [role=web]: optional($x) declines, optional($x) declines below`,
				`a for [node=n1]: "${lookup('b')}", 0`,
				`a for []: "${lookup('b')}", "${lookup('b')}" through b`, `b for []: 1, 2`}},
		{"an optional binding with a change below it",
			"- {when: {node: n1}, bind: [{name: a, to_expression: '$x', optional: true}]}\n" +
				"- {name: a, to_lookup_of: b}\n- [b, 1]\n",
			"- {when: {node: n1}, bind: [{name: a, to_expression: '$x', optional: true}]}\n" +
				"- {name: a, to_lookup_of: b}\n- [b, 2]\n",
			[]string{`a for [node=n1]: optional($x) declines, optional($x) declines below`,
				`a for []: lookup('b'), lookup('b') through b`,
				`b for []: 1, 2`}},
		{"an optional binding changes",
			"- {when: {node: n1}, bind: [{name: a, to_expression: '$x', optional: true}]}\n- [a, 1]\n",
			"- {when: {node: n1}, bind: [{name: a, to_expression: '$y', optional: true}]}\n- [a, 1]\n",
			[]string{`a for [node=n1]: optional($x) declines, optional($y) declines`}},
		{"a new binding above an optional one",
			"- {when: {role: web}, bind: [{name: a, to_expression: '$x', optional: true}]}\n- [a, 1]\n",
			"- {when: {node: n1}, bind: [[a, 0]]}\n" +
				"- {when: {role: web}, bind: [{name: a, to_expression: '$x', optional: true}]}\n" +
				"- [a, 1]\n",
			[]string{`a for [node=n1 role=web]: optional($x) declines, 0`, `a for [node=n1]: 1, 0 except [role=web]`}},
		{"lookups in parameters of a transformer",
			"- {name: a, to: 1, transformer: \"|$x, $y = [lookup('b')]| { $x }\"}\n- [b, 1]\n",
			"- {name: a, to: 1, transformer: \"|$x, $y = [lookup('b')]| { $x }\"}\n- [b, 2]\n",
			[]string{"a for []: with(1) |$x, $y = ([lookup('b')])| { $x }, " +
				"with(1) |$x, $y = ([lookup('b')])| { $x } through b",
				"b for []: 1, 2"}},
		{"a lookup in a combinator",
			"- {name: a, multibind_id: m, type: Array, options: {combinator: '|$m, $x| { $m + [lookup(\"b\")] }'}}\n" +
				"- {in: m, to: 1}\n- [b, 1]\n",
			"- {name: a, multibind_id: m, type: Array, options: {combinator: '|$m, $x| { $m + [lookup(\"b\")] }'}}\n" +
				"- {in: m, to: 1}\n- [b, 2]\n",
			[]string{"a for []: multibind('m') |$m, $x| { $m + [lookup('b')] }, " +
				"multibind('m') |$m, $x| { $m + [lookup('b')] } through b", "b for []: 1, 2"}},
		{"an alias and its target",
			"- {name: a, to_alias_of: b}\n- [b, 1]\n- [c, 1]\n",
			"- {name: a, to_alias_of: c}\n- [b, 2]\n- [c, 1]\n",
			[]string{"a for []: alias('b') declines, alias('c') declines", "b for []: 1, 2"}},
		{"lookups in branches of each other",
			"- {name: a, to_expression: 'if $x { lookup(\"b\") } else { 1 }'}\n" +
				"- {name: b, to_expression: 'if $x { 1 } else { lookup(\"a\") }'}\n- [c, 1]\n",
			"- {name: a, to_expression: 'if $x { lookup(\"b\") } else { 1 }'}\n" +
				"- {name: b, to_expression: 'if $x { 2 } else { lookup(\"a\") }'}\n- [c, 1]\n",
			[]string{`a for []: if $x { lookup('b') } else { 1 }, if $x { lookup('b') } else { 1 } through b`,
				`b for []: if $x { 1 } else { lookup('a') }, if $x { 2 } else { lookup('a') }`}},
		{"a key looked up twice, next to an unchanged one",
			"- {name: a, to: \"${lookup('b')} ${lookup('b')} ${lookup('c')}\"}\n- [b, 1]\n- [c, 1]\n",
			"- {name: a, to: \"${lookup('b')} ${lookup('b')} ${lookup('c')}\"}\n- [b, 2]\n- [c, 1]\n",
			[]string{"a for []: \"${lookup('b')} ${lookup('b')} ${lookup('c')}\", " +
				"\"${lookup('b')} ${lookup('b')} ${lookup('c')}\" through b", "b for []: 1, 2"}},
		{"each exception is listed once",
			"- {when: {node: n1}, bind: [[a, 1]]}\n- {when: {node: n2}, bind: [[a, 2]]}\n" +
				"- {when: {node: n2, role: web}, bind: [[a, 3]]}\n- [a, 4]\n",
			"- {when: {node: n1}, bind: [[a, 1]]}\n- {when: {node: n2}, bind: [[a, 2]]}\n" +
				"- {when: {node: n2, role: web}, bind: [[a, 3]]}\n- [a, 5]\n",
			[]string{"a for []: 4, 5 except [node=n1] except [node=n2]"}},
		{"a new type that the value already has",
			"- [a, 1]\n- {name: b, to: 1, type: Integer, sensitive: true}\n",
			"- {name: a, to: 1, type: Integer}\n- {name: b, to: 1, sensitive: true}\n", nil},
		{"an optional lookup of a changed key",
			"- {name: a, to_lookup_of: b, optional: true}\n- {when: {role: web}, bind: [[b, 1]]}\n- [b, 0]\n",
			"- {name: a, to_lookup_of: b, optional: true}\n- {when: {role: web}, bind: [[b, 2]]}\n- [b, 0]\n",
			[]string{`a for []: optional(lookup('b')) declines, optional(lookup('b')) declines through b`,
				`b for [role=web]: 1, 2`}},
	} {
		before, after := siteOf(t, "${role}", c.before), siteOf(t, "${role}", c.after)
		equalLines(t, c.what, differ(t, before, after), c.want)
		equalLines(t, c.what+": from itself", differ(t, before, siteOf(t, "${role}", c.before)), nil)
	}
}

// Diff reports categories and guards that the other site computes differently or lacks. Guards of a single variable do
// not change.
func TestDiffReportsChangedCategoriesAndGuards(t *testing.T) {
	const usual = "[[node, '${fqdn}'], [role, '${role}']]"
	of := func(categories, entry string, files ...string) *Tables {
		return bookOf(t, contentOf(t, append(files,
			"binder_config.yaml", "version: 1\ncategories: "+categories+
				"\nlayers: [{name: site, include: 'confdir-hiera:/'}]\n",
			"hiera.yaml", "version: 2\nhierarchy:\n  - [node, '${fqdn}', '"+entry+"']\n  - [common, 'true', common]\n",
			"common.yaml", "a: 0\n")...))
	}
	plain := of(usual, "${rack}/${fqdn}", "r1/n1.yaml", "a: 1\n")
	for _, c := range []struct {
		what string
		now  *Tables
		want []string
	}{
		{"the same categories", of(usual, "${rack}/${fqdn}", "r1/n1.yaml", "a: 1\n"), nil},
		{"another order of categories", of("[[role, '${role}'], [node, '${fqdn}']]", "${rack}/${fqdn}", "r1/n1.yaml", "a: 1\n"), nil},
		{"another expression of a category", of("[[node, '${fqdn}'], [role, 'r-${role}']]", "${rack}/${fqdn}", "r1/n1.yaml", "a: 1\n"),
			[]string{`category role`}},
		{"another rack",
			of(usual, "${rack}/${fqdn}", "r2/n1.yaml", "a: 1\n"), []string{`a for [$rack=r1 node=n1]: 1, 0`,
				`a for [$rack=r2 node=n1]: 0, 1`}},
		{"another guard",
			of(usual, "${row}/${fqdn}", "r1/n1.yaml", "a: 1\n"), []string{`a for [$rack=r1 node=n1]: 1, 0 except [$row=r1]`,
				`a for [$row=r1 node=n1]: 0, 1 except [$rack=r1]`,
				`category $rack`,
				`category $row`}},
		{"a guard that is computed", of(usual, "${upcase($rack)}/${fqdn}", "R1/n1.yaml", "a: 1\n"),
			[]string{`a for [$rack=r1 node=n1]: 1, 0 except ["${upcase($rack)}"=r1]`,
				`a for ["${upcase($rack)}"=r1 node=n1]: 0, 1 except [$rack=r1]`,
				`category "${upcase($rack)}"`, "category $rack"}},
		{"an additional category",
			of("[[node, '${fqdn}'], [role, '${role}'], [site, '${site}']]", "${rack}/${fqdn}", "r1/n1.yaml", "a: 1\n"),
			[]string{`category site`}},
	} {
		equalLines(t, c.what, differ(t, plain, c.now), c.want)
	}
	guarded := func(entry string) *Tables {
		return bookOf(t, contentOf(t, "binder_config.yaml", "version: 1\ncategories: "+usual+
			"\nlayers: [{name: site, include: 'confdir-hiera:/'}]\n",
			"hiera.yaml", "version: 2\nhierarchy:\n  - [node, '${fqdn}', 'n/${rack}/${fqdn}']\n"+entry,
			"n/r1/n1.yaml", "a: 1\n", "r/r1/web.yaml", "a: 2\n"))
	}
	equalLines(t, "a guard of another category too", differ(t, guarded("  - [common, 'true', common]\n"),
		guarded("  - [role, '${role}', 'r/${rack}/${role}']\n")), []string{
		`a for [$rack=r1 role=web]: nothing, 2 except [$rack=r1 node=n1]`})
}

// If the sites have different expressions for a category, Diff derives nothing about other categories from its
// value.
func TestDiffDoesNotRelateCategoryWithChangedExpression(t *testing.T) {
	of := func(role, statements string) *Tables {
		return bookOf(t, contentOf(t, "binder_config.yaml", "version: 1\ncategories: [[role, '"+role+"'], [kind, '${role}']]\n",
			"bindings/default.yaml", binds("default", statements)))
	}
	const before, after = "- {when: {role: r-web}, bind: [[a, 1]]}\n", "- {when: {kind: web}, bind: [[a, 2]]}\n"
	want := []string{`a for [kind=web role=r-web]: 1, 2`, `a for [role=r-web]: 1, nothing`,
		`a for [kind=web]: nothing, 2`, "category role"}
	equalLines(t, "now with a prefix", differ(t, of("${role}", before), of("r-${role}", after)), want)
	equalLines(t, "no longer with a prefix", differ(t, of("r-${role}", before), of("${role}", after)), want)
	equalLines(t, "never with a prefix", differ(t, of("${role}", before), of("${role}", after)),
		[]string{`a for [role=r-web]: 1, nothing`, `a for [kind=web]: nothing, 2`})
	equalLines(t, "always with a prefix", differ(t, of("r-${role}", before), of("r-${role}", after)),
		[]string{`a for [kind=web role=r-web]: 1, 2`})
}

// Reordering the categories changes precedence but no condition.
func TestDiffReportsReorderedCategories(t *testing.T) {
	of := func(categories string) *Tables {
		return bookOf(t, contentOf(t, "binder_config.yaml", "version: 1\ncategories: "+categories+"\n",
			"bindings/default.yaml", binds("default", `
  - {when: {role: web, site: osl}, bind: [[a, 1], [c, 1], {in: m, name: x, to: 1}]}
  - [a, 2]
  - {name: b, to_lookup_of: a}
  - {name: list, multibind_id: m, type: Array}
  - {when: {role: web}, bind: [[c, 2], [d, 2]]}
  - {when: {site: osl}, bind: [[c, 3], [d, 3]]}
  - {name: e, to_lookup_of: d}
`)))
	}
	before := of("[[role, '${role}'], [site, '${site}']]")
	equalLines(t, "the other way round", differ(t, before, of("[[site, '${site}'], [role, '${role}']]")), []string{
		"d for [role=web site=osl]: 2, 3", "e for []: lookup('d'), lookup('d') through d"})
}

// Differences of sealed values show only with the keys.
func TestDiffOfSealedValuesNeedsTheKeys(t *testing.T) {
	sealed := func(statements string) (closed, opened *Tables) {
		content := contentOf(t, "bindings/default.yaml", binds("default", statements))
		key := seal.NewKey()
		box, err := seal.New(key)
		if err == nil {
			err = compile.Seal(content, key, []byte("wrapped"))
		}
		if err != nil {
			t.Fatal(err)
		}
		closed = bookOf(t, content)
		if opened, err = NewTables(closed.snap, true, box); err != nil {
			t.Fatal(err)
		}
		return closed, opened
	}
	const statements = "- {name: users, multibind_id: users, type: Array}\n" +
		"- {in: users, name: u, to: 1, sensitive: true}\n- {name: token, to: t, sensitive: true}\n"
	closed, opened := sealed(statements)
	again, open := sealed(statements)
	_, otherOpen := sealed(statements + "- {name: more, to: 1, sensitive: true}\n")
	equalLines(t, "closed", differ(t, closed, again), []string{"token for []: sealed sensitive, sealed sensitive",
		"users for []: multibind('users'), multibind('users') through users",
		"contributed to users for []: sealed sensitive, sealed sensitive"})
	equalLines(t, "opened", differ(t, opened, open), nil)
	equalLines(t, "another", differ(t, opened, otherOpen), []string{"more for []: nothing, 1 sensitive"})
}

// In Hiera 5, a changed level of a merge is reported for the requests that have it.
func TestDiffReportsChangedHiera5MergeLevel(t *testing.T) {
	of := func(role, common string) *Tables {
		return bookOf(t, contentOf(t,
			"hiera.yaml", "version: 5\nhierarchy:\n  - {name: Roles, path: 'roles/%{role}.yaml'}\n"+
				"  - {name: Common, path: common.yaml}\n",
			"data/roles/web.yaml", role, "data/common.yaml", common))
	}
	for _, c := range []struct {
		what, role, common, newRole, newCommon string
		want                                   []string
	}{
		{"a level of a merge", "a: [1]\n", "a: [2]\nlookup_options: {a: {merge: unique}}\n",
			"a: [1]\n", "a: [3]\nlookup_options: {a: {merge: unique}}\n", []string{`contributed to a for []: [2], [3]`}},
		{"a new level", "b: 1\n", "a: [2]\nlookup_options: {a: {merge: unique}}\n",
			"a: [1]\nb: 1\n", "a: [2]\nlookup_options: {a: {merge: unique}}\n",
			[]string{`contributed to a for [roles/%{role}.yaml=roles/web.yaml]: nothing, [1]`}},
		{"changed lookup_options", "a: [1]\n", "a: [2]\nlookup_options: {a: {merge: unique}}\n",
			"a: [1]\n", "a: [2]\nlookup_options: {a: {merge: first}}\n",
			[]string{`a for [roles/%{role}.yaml=roles/web.yaml]: merged by unique, [1]`,
				`a for []: merged by unique, [2]`,
				`contributed to a for [roles/%{role}.yaml=roles/web.yaml]: [1], nothing`,
				`contributed to a for []: [2], nothing`}},
		{"lookup_options that depend on the request", "a: [1]\nlookup_options: {a: {merge: unique}}\n", "a: [2]\n",
			"a: [1]\nlookup_options: {a: {merge: first}}\n", "a: [2]\n",
			[]string{`a for [roles/%{role}.yaml=roles/web.yaml]: merged as lookup_options say, merged as lookup_options say through lookup_options`,
				`a for []: merged as lookup_options say, merged as lookup_options say through lookup_options`}},
		{"options of the module's keys", "a::x: [1]\nlookup_options: {'^a::.*': {merge: unique}}\n", "a::x: [2]\n",
			"a::x: [1]\nlookup_options: {'^a::.*': {merge: first}}\n", "a::x: [2]\n",
			[]string{`a::x for [roles/%{role}.yaml=roles/web.yaml]: merged as lookup_options say, merged as lookup_options say through lookup_options`,
				`a::x for []: merged as lookup_options say, merged as lookup_options say through lookup_options`}},
		{"options of another key", "b: [1]\nlookup_options: {b: {merge: unique}}\n",
			"a: [1]\nb: [1]\nlookup_options: {a: {merge: unique}}\n",
			"b: [1]\nlookup_options: {b: {merge: first}}\n", "a: [1]\nb: [1]\nlookup_options: {a: {merge: unique}}\n",
			[]string{
				"b for [roles/%{role}.yaml=roles/web.yaml]: merged as lookup_options say, merged as lookup_options say through lookup_options",
				"b for []: merged as lookup_options say, merged as lookup_options say through lookup_options"}},
		{"an interpolated lookup", "b: 1\n", "a: \"%{lookup('b')}\"\nb: 2\n",
			"b: 1\n", "a: \"%{lookup('b')}\"\nb: 3\n", []string{`a for []: "%{lookup('b')}", "%{lookup('b')}" through b`,
				`b for []: 2, 3 except [roles/%{role}.yaml=roles/web.yaml]`}},
		{"an alias", "b: 1\n", "a: \"%{alias('b')}\"\nb: 2\n",
			"b: 3\n", "a: \"%{alias('b')}\"\nb: 2\n", []string{`a for []: "%{alias('b')}", "%{alias('b')}" through b`,
				`b for [roles/%{role}.yaml=roles/web.yaml]: 1, 3`}},
	} {
		equalLines(t, c.what, differ(t, of(c.role, c.common), of(c.newRole, c.newCommon)), c.want)
	}
	module := func(strategy string) *Tables {
		return bookOf(t, contentOf(t, "hiera.yaml", "version: 5\n", "data/common.yaml", "m::x: [1]\n",
			"modules/m/hiera.yaml", "version: 5\nhierarchy:\n  - {name: Roles, path: 'roles/%{role}.yaml'}\n"+
				"  - {name: Common, path: common.yaml}\n",
			"modules/m/data/roles/web.yaml", "lookup_options: {'m::x': {merge: "+strategy+"}}\n",
			"modules/m/data/common.yaml", "m::x: [2]\n"))
	}
	equalLines(t, "options of a module", differ(t, module("unique"), module("first")),
		[]string{`m::x for []: merged as lookup_options say, merged as lookup_options say through lookup_options of the module m`})
	capitals := func(value string) *Tables {
		return bookOf(t, contentOf(t, "hiera.yaml", "version: 5\nhierarchy:\n"+
			"  - {name: Roles, path: 'Roles/%{role}.yaml'}\n  - {name: Late, path: 'late/%{role}.yaml'}\n",
			"data/Roles/Web.yaml", "a: "+value+"\n", "data/late/Web.yaml", "a: 9\n"))
	}
	equalLines(t, "paths with capitals", differ(t, capitals("1"), capitals("2")),
		[]string{`a for [Roles/%{role}.yaml=Roles/Web.yaml]: 1, 2`})
}
