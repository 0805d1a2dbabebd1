package decision

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/secret/seal"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// contentOf compiles a site from files, given as alternating names and contents.
func contentOf(t *testing.T, files ...string) *snapshot.Content {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	return content
}

// binds returns the file of a set of bindings.
func binds(name, statements string) string {
	return "bindings_version: 1\nname: " + name + "\nbind:\n" + statements
}

// bindingText formats the binding of a row.
func bindingText(r *Row) string {
	if r == nil {
		return "nothing"
	}
	text := r.Computed
	switch {
	case r.Erased:
		text = "erased"
	case r.Abstract:
		text = "abstract"
	case r.Sealed:
		text = "sealed"
	case text == "":
		text = string(value.AppendJSON(nil, r.Value))
	}
	for _, property := range []struct {
		holds bool
		text  string
	}{{r.Declines, " declines"}, {r.Sensitive, " sensitive"}, {r.Name != "", " named " + r.Name},
		{r.dynamic, " dynamic"}} {
		if property.holds {
			text += property.text
		}
	}
	return text
}

func termsOf(ts []lookup.Term) string {
	var all []string
	for _, t := range ts {
		all = append(all, t.Name+"="+t.Value)
	}
	return "[" + strings.Join(all, " ") + "]"
}

// linesOf formats rows with their conditions and origins.
func linesOf(rows []Row) (out []string) {
	for i := range rows {
		r := &rows[i]
		out = append(out, fmt.Sprintf("%s %s (%s %s)", termsOf(r.When), bindingText(r), r.Layer, r.At))
	}
	return out
}

// tables formats the table of each key, with its contributions.
func tables(t *testing.T, b *Tables, keys ...string) (out []string) {
	t.Helper()
	for _, key := range keys {
		all, err := b.Values(key)
		if err != nil {
			t.Fatal(key, err)
		}
		options := ""
		if all.HasOptions {
			options = fmt.Sprintf(" merged %v by %s", all.Merged, value.AppendJSON(nil, all.Options))
		}
		out = append(append(out, key+options), linesOf(all.Rows)...)
		for _, line := range linesOf(all.Contributions) {
			out = append(out, "+ "+line)
		}
	}
	return out
}

// equalLines compares lines, and shows both sides if they differ.
func equalLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nexpected\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The bindings of a key are in order of precedence: by layer, then by category. Guards are shown as variables. Reading
// one table gives the same result as reading all.
func TestTablesListBindingsInOrderOfPrecedence(t *testing.T) {
	content := contentOf(t,
		"binder_config.yaml", `
version: 1
layers:
  - {name: top, include: 'confdir:/top'}
  - {name: site, include: ['confdir:/default', 'confdir-hiera:/']}
  - {name: low, include: 'confdir:/low'}
categories:
  - [node, '${fqdn}']
  - [os, '${osname}-${major}']
  - [role, '${role}']
`,
		"hiera.yaml", `
version: 2
hierarchy:
  - [node, '${fqdn}', 'data/dc/${datacenter}/${fqdn}']
  - [os, '${osname}-${major}', 'data/os/${osname}/${major}']
  - [common, 'true', 'data/common']
`,
		"data/dc/fra/web1.yaml", "gateway: near\n",
		"data/dc/ams/web1.yaml", "gateway: far\n",
		"data/os/debian/12.yaml", "kernel: six\ngateway: of debian\n",
		"data/common.yaml", "kernel: unknown\n",
		"bindings/default.yaml", binds("default", `
  - when: {role: web}
    bind:
      - [workers, 8]
      - {when: {node: n1}, bind: [[workers, 16]]}
      - {name: wanted, abstract: true}
  - [workers, 1]
  - {name: wanted, abstract: true}
  - {name: token, to: t0, sensitive: true}
`),
		"bindings/top.yaml", binds("top", "  - [wanted, found]\n"),
		"bindings/low.yaml", binds("low", `
  - {when: {node: n1}, bind: [[workers, 99]]}
  - [gateway, last]
  - {name: kernel, to_expression: '$kernel'}
`))
	want := []string{
		"gateway",
		"[node=web1 $datacenter=ams] \"far\" (site data/dc/ams/web1.yaml:1:1)",
		"[node=web1 $datacenter=fra] \"near\" (site data/dc/fra/web1.yaml:1:1)",
		"[os=debian-12] \"of debian\" (site data/os/debian/12.yaml:2:1)",
		"[] \"last\" (low bindings/low.yaml:6:6)",
		"kernel",
		"[os=debian-12] \"six\" (site data/os/debian/12.yaml:1:1)",
		"[] \"unknown\" (site data/common.yaml:1:1)",
		"[] $kernel (low bindings/low.yaml:7:12)", // no request reaches this row
		"workers",
		"[node=n1 role=web] 16 (site bindings/default.yaml:8:36)",
		"[role=web] 8 (site bindings/default.yaml:7:10)",
		"[] 1 (site bindings/default.yaml:10:6)",
		"[node=n1] 99 (low bindings/low.yaml:5:32)",
		"wanted",
		"[] \"found\" (top bindings/top.yaml:4:6)",
		"[role=web] abstract (site bindings/default.yaml:9:16)",
		"[] abstract (site bindings/default.yaml:11:12)",
		"token",
		"[] \"t0\" sensitive (site bindings/default.yaml:12:12)",
		"absent",
	}
	keys := []string{"gateway", "kernel", "workers", "wanted", "token", "absent"}
	whole := bookOf(t, content)
	equalLines(t, "all read", tables(t, whole, keys...), want)
	alone, err := NewTables(whole.snap, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	equalLines(t, "each by itself", tables(t, alone, keys...), want)
}

// twoLayers returns the tables of a site with two bindings files; the layer default is above the layer low.
func twoLayers(t *testing.T, site, low string) *Tables {
	t.Helper()
	return bookOf(t, contentOf(t,
		"binder_config.yaml", `
version: 1
layers:
  - {name: site, include: 'confdir:/default'}
  - {name: low, include: 'confdir:/low'}
`,
		"bindings/default.yaml", binds("default", site), "bindings/low.yaml", binds("low", low)))
}

// A computed value is shown as an expression, for data in YAML and in Puppet syntax, and its lookups are listed.
func TestComputedValuesAreShownAsExpressions(t *testing.T) {
	b := twoLayers(t, `
  - [a, 1]
  - [hash, {port: 80}]
  - {name: is_lookup, to_lookup_of: a}
  - {name: is_first, to_first_found: [b, a]}
  - {name: is_part, to_hash_lookup: {name: hash, key: port}}
  - {name: is_text, to: "a is ${lookup('a')}"}
  - {name: is_transformed, to: 1, transformer: "|$x| { $x + lookup('a') }"}
  - {name: is_optional, to_expression: '$db', optional: true}
  - {name: is_alias, to_alias_of: a}
  - {name: is_below, to_renamed: old}
  - [b, 3]
  - {name: any, to_expression: 'lookup($db)'}
  - {name: in_lambda, to_expression: '[1].map |$x| { lookup("b") }'}
  - {name: in_default, to: 1, transformer: "|$x, $y = [lookup('b')]| { $x }"}
  - {name: no_argument, to_expression: '[$db, lookup("a")]'}
`, "  - [old, 2]\n")
	keys := []string{"is_lookup", "is_first", "is_part", "is_text", "is_transformed", "is_optional", "is_alias",
		"is_below", "old", "any", "in_lambda", "in_default", "no_argument"}
	var got []string
	for _, key := range keys {
		rows, err := b.Table(key)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			uses := slices.Clone(rows[i].uses)
			slices.Sort(uses)
			got = append(got, fmt.Sprintf("%s: %s, uses %q", key, bindingText(&rows[i]), slices.Compact(uses)))
		}
	}
	equalLines(t, "computed", got, []string{
		`is_lookup: lookup('a'), uses ["a"]`,
		`is_first: first_found('b', 'a'), uses ["a" "b"]`,
		`is_part: lookup('hash')['port'], uses ["hash"]`,
		`is_text: "a is ${lookup('a')}", uses ["a"]`,
		`is_transformed: with(1) |$x| { $x + lookup('a') }, uses ["a"]`,
		`is_optional: optional($db) declines, uses ["is_optional"]`,
		`is_alias: alias('a') declines, uses ["a" "is_alias"]`,
		`is_below: below('old') declines, uses ["is_below" "old"]`,
		`old: erased, uses []`,
		`old: 2, uses []`,
		`any: lookup($db) dynamic, uses []`,
		`in_lambda: map([1]) |$x| { lookup('b') }, uses ["b"]`,
		`in_default: with(1) |$x, $y = ([lookup('b')])| { $x }, uses ["b"]`,
		`no_argument: [$db, lookup('a')], uses ["a"]`,
	})
}

// The table of a multibinding lists the contributions with their conditions, names and order.
func TestTableListsContributionsOfMultibinding(t *testing.T) {
	b := twoLayers(t, `
  - {name: users, multibind_id: people, type: 'Hash[String, Any]'}
  - {name: ann, in: people, to: 1}
  - {name: bob, in: people, to_lookup_of: other}
  - {name: joe, in: people, to: hidden, sensitive: true}
  - {name: root, to_renamed: admin}
  - {name: wheel, to_alias_of: root}
  - when: {osfamily: debian}
    bind: [{name: ann, in: people, to: 2}, {name: eve, in: people, to: null, optional: true}]
  - [other, 1]
  - name: all
    multibind_id: all
    type: Array
    options: {combinator: '|$memo, $x| { $memo + lookup("other") }'}
  - {in: all, to: [1]}
  - {in: all, to: [2]}
`, `
  - {name: admin, in: people, to: 3}
  - {in: all, to: [3]}
  - {when: {osfamily: debian}, bind: [{in: all, to: [4]}]}
`)
	want := []string{
		"users",
		"[] multibind('people') (site bindings/default.yaml:5:12)",
		"+ [osfamily=debian] 2 named ann (site bindings/default.yaml:12:19)",
		"+ [osfamily=debian] optional(undef) declines named eve (site bindings/default.yaml:12:51)",
		"+ [] 1 named ann (site bindings/default.yaml:6:12)",
		"+ [] lookup('other') named bob (site bindings/default.yaml:7:12)",
		`+ [] "hidden" sensitive named joe (site bindings/default.yaml:8:12)`,
		"+ [] renamed_contributions('admin') named root (site bindings/default.yaml:9:12)",
		"+ [] alias_of_contributions('root') named wheel (site bindings/default.yaml:10:12)",
		"+ [] 3 named admin (low bindings/low.yaml:5:12)",
		"all",
		"[] multibind('all') |$memo, $x| { $memo + lookup('other') } (site bindings/default.yaml:14:11)",
		"+ [] [1] (site bindings/default.yaml:18:5)",
		"+ [] [2] (site bindings/default.yaml:19:5)",
		"+ [osfamily=debian] [4] (low bindings/low.yaml:7:39)", // below all of the layer default
		"+ [] [3] (low bindings/low.yaml:6:5)",
	}
	equalLines(t, "multibindings", tables(t, b, "users", "all"), want)
	alone, err := NewTables(b.snap, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	equalLines(t, "multibindings, each by itself", tables(t, alone, "users", "all"), want)
}

// A sealed value is hidden without the key and complete with it. With another key, the error names the right one.
func TestSealedValuesNeedTheKey(t *testing.T) {
	site := func() *snapshot.Content {
		return contentOf(t, "bindings/default.yaml", binds("default", `
  - {name: token, to: t0, sensitive: true}
  - [plain, 1]
  - {name: users, multibind_id: users, type: 'Array'}
  - {in: users, name: a, to: 1, sensitive: true}
  - {in: users, name: d, to: 4}
  - when: {node: n1}
    bind: [{in: users, name: b, to: 2}, {in: users, name: c, to: 3}, [token, t1]]
  - {name: groups, multibind_id: groups, type: 'Array'}
  - {when: {node: n1}, bind: [{in: groups, name: e, to: 5, sensitive: true}]}
  - {in: groups, name: f, to: 6}
`))
	}
	key := seal.NewKey()
	box, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	content := site()
	if err := compile.Seal(content, key, []byte("wrapped")); err != nil {
		t.Fatal(err)
	}
	sealed := bookOf(t, content)
	keys := []string{"token", "plain", "users", "groups"}
	equalLines(t, "sealed", tables(t, sealed, keys...), []string{
		"token",
		`[node=n1] "t1" (site bindings/default.yaml:11:71)`,
		"[] sealed sensitive (site bindings/default.yaml:5:12)",
		"plain",
		"[] 1 (site bindings/default.yaml:6:6)",
		"users",
		"[] multibind('users') (site bindings/default.yaml:7:12)",
		"+ [node=n1] 2 named b (site bindings/default.yaml:11:30)",
		"+ [node=n1] 3 named c (site bindings/default.yaml:11:59)",
		"+ [] sealed sensitive (site bindings/default.yaml:8:23)",
		"+ [] sealed sensitive (site bindings/default.yaml:9:23)",
		"groups",
		"[] multibind('groups') (site bindings/default.yaml:12:12)",
		"+ [node=n1] sealed sensitive (site bindings/default.yaml:13:50)",
		"+ [] 6 named f (site bindings/default.yaml:14:24)",
	})
	opened, err := NewTables(sealed.snap, true, box)
	if err != nil {
		t.Fatal(err)
	}
	equalLines(t, "opened", tables(t, opened, keys...), tables(t, bookOf(t, site()), keys...))
	wrong, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	locked, err := NewTables(sealed.snap, true, wrong)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"token", "users"} {
		if _, err := locked.Values(key); err == nil || !strings.Contains(err.Error(), "'"+key+"' cannot be decrypted") {
			t.Errorf("%s by another key: %v", key, err)
		}
	}
	if _, err := Diff(sealed, locked, func() {}); err == nil {
		t.Error("a comparison by another key finds no fault")
	}
}

// If lookup_options of Hiera 5 merge a key, its rows are the values of the levels, and the options are shown.
func TestMergedHiera5KeyListsItsValues(t *testing.T) {
	b := bookOf(t, contentOf(t,
		"hiera.yaml", `
version: 5
hierarchy:
  - {name: Nodes, path: 'nodes/%{trusted.certname}.yaml'}
  - {name: Roles, path: 'roles/%{role}.yaml'}
  - {name: Common, path: common.yaml}
`,
		"bindings/default.yaml", binds("default", "  - {when: {environment: test}, bind: [[users, [eve]]]}\n"),
		"data/nodes/n1.yaml", "users: [ann]\nport: 1\nweb::x: [1]\n",
		"data/roles/web.yaml", "users: [bob]\nlookup_options:\n  late: {merge: unique}\n",
		"data/common.yaml", `
users: [joe]
port: 2
text: 'is %{lookup("port")}'
late: [1]
web::x: [2]
web::y: 3
lookup_options:
  users: {merge: unique}
  port: {convert_to: String}
`,
		"modules/web/hiera.yaml", "version: 5\n",
		"modules/web/data/common.yaml", "web::x: [3]\nlookup_options:\n  web::x: {merge: unique}\n"))
	const node = "[nodes/%{trusted.certname}.yaml=nodes/n1.yaml] "
	equalLines(t, "Hiera 5", tables(t, b, "users", "port", "text", "late", "web::x", "web::y"), []string{
		`users merged true by {"users":{"merge":"unique"}}`,
		`[environment=test] ["eve"] (site bindings/default.yaml:4:41)`, // above the hierarchy
		node + `["ann"] (environment: Nodes data/nodes/n1.yaml:1:1)`,
		`[roles/%{role}.yaml=roles/web.yaml] ["bob"] (environment: Roles data/roles/web.yaml:1:1)`,
		`[] ["joe"] (environment: Common data/common.yaml:2:1)`,
		`port merged false by {"port":{"convert_to":"String"}}`,
		node + `1 (environment: Nodes data/nodes/n1.yaml:2:1)`,
		`[] 2 (environment: Common data/common.yaml:3:1)`,
		`text`,
		`[] "is %{lookup('port')}" (environment: Common data/common.yaml:4:1)`,
		`late merged true by null`, // for one role only
		`[] [1] (environment: Common data/common.yaml:5:1)`,
		`web::x merged true by {"web::x":{"merge":"unique"}}`,
		node + `[1] (environment: Nodes data/nodes/n1.yaml:3:1)`,
		`[] [2] (environment: Common data/common.yaml:6:1)`,
		`[] [3] (module: Common modules/web/data/common.yaml:1:1)`,
		`web::y`,
		`[] 3 (environment: Common data/common.yaml:7:1)`,
	})
}

// Rows report whether conditions can hold together, and whether one implies the other.
func TestMeetsAndCoversCompareConditions(t *testing.T) {
	b := bookOf(t, contentOf(t,
		"binder_config.yaml", "version: 1\n"+
			"categories: [[node, '${fqdn}'], [both, '${role}-${site}'], [role, '${role}']]\n",
		"bindings/default.yaml", binds("default", `
  - {when: {node: n1}, bind: [[a, 1]]}
  - {when: {node: n2}, bind: [[a, 2]]}
  - {when: {both: web-osl}, bind: [[a, 3]]}
  - {when: {role: web}, bind: [[a, 4]]}
  - {when: {role: db}, bind: [[a, 5]]}
  - [a, 6]
`)))
	rows, err := b.Table("a")
	if err != nil || len(rows) != 6 {
		t.Fatal(rows, err)
	}
	checkRelations(t, rows, []string{"x-xxxx", "-xxxxx", "xxx-xx", "xx-x-x", "xxx-xx", "xxxxxx"},
		[]string{"x-----", "-x----", "--x---", "---x--", "--x-x-", "xxxxxx"})
}

// checkRelations checks which rows meet and which cover others. It prints a line per row, with an x for each row that
// it meets or covers.
func checkRelations(t *testing.T, rows []Row, meet, cover []string) {
	t.Helper()
	for i := range rows {
		for j := range rows {
			if got, want := rows[i].Meets(&rows[j]), meet[i][j] == 'x'; got != want {
				t.Errorf("%s meets %s: %v", bindingText(&rows[i]), bindingText(&rows[j]), got)
			}
			if got, want := rows[i].Covers(&rows[j]), cover[i][j] == 'x'; got != want {
				t.Errorf("%s covers %s: %v", bindingText(&rows[i]), bindingText(&rows[j]), got)
			}
		}
	}
}

// Answers depend on the variables of categories, guards and computed values, but not on variables that every node has
// or that an expression sets itself.
func TestCustomVariablesOmitsVariablesThatEveryNodeHas(t *testing.T) {
	b := bookOf(t, contentOf(t,
		"binder_config.yaml", "version: 1\ncategories: [[node, '${fqdn}'], [role, '${role}']]\n",
		"bindings/default.yaml", binds("default", `
  - [text, "${rack} ${osfamily} ${facts['site']}"]
  - {name: own, to_expression: '[1].map |$x| { $x + $y }'}
  - {name: transformed, to: 1, transformer: '|$value, $more = $limit| { $value + $extra }'}
  - name: users
    multibind_id: users
    type: Array
    options: {combinator: '|$memo, $x| { $memo + [$combined] }'}
  - {in: users, to: "${contributed}"}
  - {name: secret, to: "${hidden}", sensitive: true}
`)))
	want := []string{"combined", "contributed", "extra", "hidden", "limit", "rack", "role", "site", "y"}
	got, err := CustomVariables(b.snap)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, expected %q", got, err, want)
	}
	sealed := contentOf(t, "bindings/default.yaml", binds("default",
		"  - {name: secret, to: '${hidden}', sensitive: true}\n  - {name: open, to: '${shown}'}\n"))
	if err := compile.Seal(sealed, seal.NewKey(), []byte("wrapped")); err != nil {
		t.Fatal(err)
	}
	if got, err := CustomVariables(bookOf(t, sealed).snap); err != nil || !slices.Equal(got, []string{"shown"}) {
		t.Errorf("of what is sealed: %q, %v", got, err)
	}
}

// A guard holds if its variable has the value. A guard of a category also requires that the request has that category.
func TestMeetsAndCoversRespectGuards(t *testing.T) {
	for _, path := range []string{"role/${rack}", "role/${role}/${rack}"} {
		file := strings.NewReplacer("${role}", "web", "${rack}", "r1").Replace(path) + ".yaml"
		b := bookOf(t, contentOf(t,
			"binder_config.yaml", "version: 1\n"+
				"categories: [[role, '${role}'], [site, '${site}'], [place, '${rack}']]\n"+
				"layers: [{name: s, include: ['confdir:/default', 'confdir-hiera:/']}]\n",
			"hiera.yaml", "version: 2\nhierarchy:\n  - [role, '${role}', '"+path+"']\n"+
				"  - [site, '${site}', 'site/${rack}']\n  - [common, 'true', 'common/${rack}']\n",
			file, "a: role\n", "site/r1.yaml", "a: site\n", "common/r1.yaml", "a: common\n",
			"bindings/default.yaml", binds("default", "  - {when: {place: r1}, bind: [[a, here]]}\n"+
				"  - {when: {place: r2}, bind: [[a, there]]}\n")))
		rows, err := b.Table("a")
		var values []string
		for i := range rows {
			values = append(values, rows[i].Value.Text())
		}
		if strings.Join(values, " ") != "role site here there common" {
			t.Fatal(values, err)
		}
		checkRelations(t, rows, []string{"xxx-x", "xxx-x", "xxx-x", "---x-", "xxx-x"},
			[]string{"x----", "-x---", "xxx-x", "---x-", "xxx-x"})
	}
}
