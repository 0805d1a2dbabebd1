package compile

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/facts"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// answers lists sites, in the form of reports, and the expected results of lookups. "key@node" is a lookup for a node.
// Values are JSON. A dash means not found; an error is shown by its code.
var answers = []struct{ name, site, module, want string }{
	{"alias finds the value of another key", `{name: new, to_alias_of: old}`, "[old, 1]\n{when: {node: n}, bind: [[old, 2]]}",
		"new 1; new@n 2; old 1; old@n 2"},
	{"alias of a key bound on one node", `{name: new, to_alias_of: old}`,
		"{when: {node: n}, bind: [[old, 1]]}\n[new, 0]", "new 0; new@n 1; old -"},
	{"alias on one node", `{when: {node: n}, bind: [{name: new, to_alias_of: old}]}`, "[old, 1]\n[new, 0]",
		"new 0; new@n 1; old@n 1"},
	{"alias of a key bound in a higher layer", `[old, 1]`, `{name: new, to_alias_of: old}`, "new 1; old 1"},
	{"alias of undef is undef", `{name: new, to_alias_of: old}`, "[old, null]\n[new, 0]", "new null"},
	{"alias of an alias", "{name: a, to_alias_of: b}\n{name: b, to_alias_of: c}\n{name: c, to_alias_of: d}\n[d, 1]",
		``, "a 1; b 1; c 1"},
	{"alias of an alias that declines", "{name: a, to_alias_of: b}\n{name: b, to_alias_of: c}",
		"[a, 0]\n{when: {node: n}, bind: [[c, 1]]}", "a 0; a@n 1; b -; b@n 1"},

	{"renamed key is only found by its new name", `{name: new, to_renamed: old}`, "[old, 1]\n{when: {node: n}, bind: [[old, 2]]}",
		"new 1; new@n 2; old -; old@n -"},
	{"rename of a key that a higher layer binds on one node", "{when: {node: n}, bind: [[old, 3]]}\n{name: new, to_renamed: old}",
		`[old, 1]`, "new 1; new@n 1; old -; old@n 3"},
	{"rename on one node", `{when: {node: n}, bind: [{name: new, to_renamed: old}]}`, "[old, 1]\n[new, 0]",
		"new 0; new@n 1; old 1; old@n -"},
	{"rename of a key bound on one node", `{name: new, to_renamed: old}`,
		"{when: {node: n}, bind: [[old, 1]]}\n[new, 0]", "new 0; new@n 1; old -; old@n -"},
	{"rename on two nodes", `{when: {node: [n, m]}, bind: [{name: new, to_renamed: old}]}`, `[old, 1]`,
		"new -; new@n 1; new@m 1; old 1; old@n -; old@m -"},
	{"rename of a renamed key", `{name: a, to_renamed: b}`,
		"{when: {node: n}, bind: [{name: b, to_renamed: c}]}\n[c, 1]", "a -; a@n 1; b -; b@n -; c 1; c@n -"},
	{"alias of the old name declines", "{name: a, to_alias_of: old}\n{name: new, to_renamed: old}", "[old, 1]\n[a, 0]",
		"a 0; new 1; old -"},
	{"alias of the new name finds the value", "{name: a, to_alias_of: new}\n{name: new, to_renamed: old}", `[old, 1]`,
		"a 1; new 1; old -"},

	{"rebinding transforms the lower value", `{rebind: a, transformer: '|$v| { $v + 1 }'}`,
		"[a, 1]\n{when: {node: n}, bind: [[a, 5]]}", "a 2; a@n 6"},
	{"rebinding of a key bound on one node", `{rebind: a, transformer: '|$v| { $v + 1 }'}`,
		`{when: {node: n}, bind: [[a, 5]]}`, "a -; a@n 6"},
	{"two rebindings of a key", `{when: {node: n}, bind: [{rebind: a, transformer: '|$v| { $v * 2 }'}]}`,
		"{when: {node: n}, bind: [{rebind: a, transformer: '|$v| { $v + 1 }'}]}\n[a, 1]", "a 1; a@n 4"},

	{"optional binding declines", `{name: a, to_lookup_of: b, optional: true}`, "[a, 0]\n{when: {node: n}, bind: [[b, 1]]}",
		"a 0; a@n 1"},
	{"optional binding below a binding for a node", "{name: a, to_lookup_of: b, optional: true}\n" +
		"{when: {node: n}, bind: [[a, 2]]}", "", "a -; a@n 2"},
	{"hidden optional binding", "[a, 2]", "{name: a, to_lookup_of: b, optional: true}\n[b, 1]", "a 2"},

	{"alias of contributions adds a second name", `{name: wheel, to_alias_of: root}`,
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}\n" +
			"{in: users, name: joe, to: joe}",
		`users {"joe":"joe","root":"alice","wheel":"alice"}; wheel -; root -`},
	{"alias of an alias of contributions, named like a key",
		"{name: b, to_alias_of: a}\n{name: a, to_alias_of: root}\n[b, 1]",
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}",
		`users {"a":"alice","b":"alice","root":"alice"}; b 1; a -`},
	{"contributions named like an alias",
		"{name: y, to_alias_of: x}\n{name: x, to_alias_of: k}\n[k, 1]",
		"{name: l, multibind_id: l, type: Hash}\n{in: l, name: x, to: 2}", `l {"x":2,"y":2}; x 1; y 1`},
	{"alias of an alias of contributions", "{name: c, to_alias_of: b}\n{name: b, to_alias_of: a}\n" +
		"{name: a, to_alias_of: root}",
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}",
		`users {"a":"alice","b":"alice","c":"alice","root":"alice"}`},
	{"renamed contributions have only the new name", `{name: wheel, to_renamed: root}`,
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}\n" +
			"{in: users, name: joe, to: joe}", `users {"joe":"joe","wheel":"alice"}; wheel -`},
	{"contributions renamed on two nodes", `{when: {node: [n, m]}, bind: [{name: wheel, to_renamed: root}]}`,
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}",
		`users {"root":"alice"}; users@n {"wheel":"alice"}; users@m {"wheel":"alice"}`},
	{"contributions renamed, except in the higher layer", "{in: users, name: root, to: bob}", "" +
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}\n" +
		"{when: {node: n}, bind: [{name: wheel, to_renamed: root}]}",
		`users {"root":"bob"}; users@n {"root":"bob","wheel":"alice"}`},
	{"contributions to two multibindings renamed", `{name: wheel, to_renamed: root}`,
		"{name: a, multibind_id: a, type: Hash}\n{in: a, name: root, to: 1}\n" +
			"{name: b, multibind_id: b, type: Hash}\n{in: b, name: root, to: 2}\n" +
			"{name: c, multibind_id: c, type: Hash}\n{in: c, name: other, to: 3}",
		`a {"wheel":1}; b {"wheel":2}; c {"other":3}`},
	{"rename of a key and of contributions with the same name", `{name: wheel, to_renamed: root}`,
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}\n[root, 1]",
		`users {"wheel":"alice"}; root -; wheel 1`},
	{"alias of a key and of contributions with the same name", `{name: wheel, to_alias_of: root}`,
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}\n[root, 1]",
		`users {"root":"alice","wheel":"alice"}; root 1; wheel 1`},
	{"rebinding does not change contributions with the same name", `{rebind: root, transformer: '|$v| { $v + 1 }'}`,
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: 5}\n[root, 1]",
		`users {"root":5}; root 2`},
	{"contribution that declines is ignored", "{in: users, name: root, to_lookup_of: admin, optional: true}",
		"{name: users, multibind_id: users, type: Hash}\n{in: users, name: root, to: alice}\n" +
			"{when: {node: n}, bind: [[admin, bob]]}", `users {"root":"alice"}; users@n {"root":"bob"}`},

	{"included and excluded classes", "{include: [a, b]}\n{when: {node: n}, bind: [{exclude: a}, {include: c}]}", `{include: [d, a]}`,
		`/classes ["a","b","d"]; /classes@n ["c","b","d"]`},
	{"rebinding of /classes", `{rebind: /classes, transformer: "|$v| { $v + ['z'] }"}`,
		"{include: a}\n{when: {node: n}, bind: [{include: b}]}", `/classes ["a","z"]; /classes@n ["b","a","z"]`},
	{"rebinding of /classes, next to another key", "[b, 1]\n{rebind: /classes, transformer: '|$v| { $v.size }'}",
		`{include: a}`, `/classes 1; b 1`},
	{"/classes is unbound if no class is included", `{exclude: a}`, ``, "/classes -"},
	{"class included by a module only", ``, `{include: a}`, `/classes ["a"]`},
	{"chain of two resources", `{dependency: ['File[a]', 'File[b]']}`, ``,
		`/dependencies [{"from":"File[a]","kind":"->","to":"File[b]"}]`},
	{"dependencies", `{dependency: ['File[a]', 'File[b]']}`, "{dependency: ['File[a]', 'File[b]']}\n" +
		"{when: {node: n}, bind: [{dependency: ['File[b]', 'File[c]'], kind: '~>'}]}",
		`/dependencies [{"from":"File[a]","kind":"->","to":"File[b]"}]; ` +
			`/dependencies@n [{"from":"File[a]","kind":"->","to":"File[b]"},{"from":"File[b]","kind":"~>","to":"File[c]"}]`},

	{"transferred parameters are those in the map", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]', options: {map: {dbuser: user, dbport: port}}}\n" +
		"{parameters: 'Sql[one]', to: {user: wiki, port: 1, other: 2}}", ``,
		`/param/Web[one]/dbuser "wiki"; /param/Web[one]/dbport 1; /param/Web[one]/other -; /param/Web[one]/user -`},
	{"without a map, parameters that both targets have are transferred", "{parameters: 'Web[one]', to: 'Sql[one]'}",
		"{parameters: 'Sql[one]', to: {user: wiki, port: 1, other: 2}}\n{parameters: Web, to: {port: 80, size: 3}}\n" +
			"{parameters: 'Web[one]', to: {user: x}}",
		`/param/Web[one]/user "wiki"; /param/Web[one]/port 1; /param/Web[one]/other -; /param/Web[one]/size -; ` +
			`/param/Web/port 80`},
	{"transfer with the map of the two types", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{map: [Web, Sql], to: {dbuser: user}}", "{map: [Web, Sql], to: {dbport: port}}\n" +
		"{parameters: 'Sql[one]', to: {user: wiki, port: 1}}\n{parameters: Web, to: {port: 80}}",
		`/param/Web[one]/dbuser "wiki"; /param/Web[one]/dbport -; /param/Web[one]/port -; ` +
			`/map/Web/Sql {"dbuser":"user"}`},
	{"map in the transfer wins over the map of the types", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]', options: {map: {name: user}}}\n{map: [Web, Sql], to: {dbuser: user}}",
		"{parameters: 'Sql[one]', to: {user: wiki, port: 1}}\n{parameters: Web, to: {port: 80}}",
		`/param/Web[one]/name "wiki"; /param/Web[one]/dbuser -; /param/Web[one]/port -`},
	{"transfer with a different map on each node", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{when: {node: n}, bind: [{map: [Web, Sql], to: {dbuser: user}}]}\n" +
		"{when: {node: m}, bind: [{map: [Web, Sql], to: {dbuser: owner}}]}",
		"{parameters: 'Sql[one]', to: {user: wiki, owner: root}}\n{parameters: 'Web[one]', to: {dbuser: nobody}}",
		`/param/Web[one]/dbuser "nobody"; /param/Web[one]/dbuser@n "wiki"; /param/Web[one]/dbuser@m "root"`},
	{"transfer with a map of two entries on one node", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{when: {node: n}, bind: [{map: [Web, Sql], to: {dbuser: user, dbport: port}}]}",
		"{parameters: 'Sql[one]', to: {user: wiki, port: 1}}\n{parameters: 'Web[one]', to: {dbuser: x, dbport: 2}}",
		`/param/Web[one]/dbuser "x"; /param/Web[one]/dbport 2; /param/Web[one]/dbuser@n "wiki"; ` +
			`/param/Web[one]/dbport@n 1`},
	{"map on one node with a name that the other target has", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{when: {node: n}, bind: [{map: [Web, Sql], to: {port: user}}]}",
		"{parameters: 'Sql[one]', to: {user: wiki, port: 1}}", `/param/Web[one]/port -; /param/Web[one]/port@n "wiki"`},
	{"transfer whose map is renamed", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{name: other, to_renamed: /map/Web/Sql}", "{map: [Web, Sql], to: {dbuser: user}}\n" +
		"{parameters: 'Sql[one]', to: {user: wiki, port: 1}}\n{parameters: Web, to: {port: 80}}",
		`other {"dbuser":"user"}; /param/Web[one]/dbuser -; /param/Web[one]/port 1`},
	{"transfer whose map has an alias", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{name: other, to_alias_of: /map/Web/Sql}", "{map: [Web, Sql], to: {dbuser: user}}\n" +
		"{parameters: 'Sql[one]', to: {user: wiki}}", `other {"dbuser":"user"}; /param/Web[one]/dbuser "wiki"`},
	{"transfer whose map is renamed on one node", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{when: {node: n}, bind: [{name: other, to_renamed: /map/Web/Sql}]}", "" +
		"{map: [Web, Sql], to: {dbuser: user}}\n{parameters: 'Sql[one]', to: {user: wiki, port: 1}}\n" +
		"{parameters: Web, to: {port: 80}}",
		`/param/Web[one]/dbuser "wiki"; /param/Web[one]/port -; /param/Web[one]/dbuser@n -; /param/Web[one]/port@n 1`},
	{"transfer whose map is renamed on one node, with a map on another", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{when: {node: n}, bind: [{name: other, to_renamed: /map/Web/Sql}]}", "" +
		"{when: {node: m}, bind: [{map: [Web, Sql], to: {dbport: port}}]}\n{map: [Web, Sql], to: {dbuser: user}}\n" +
		"{parameters: 'Sql[one]', to: {user: wiki, port: 1}}\n{parameters: Web, to: {port: 80}}",
		`/param/Web[one]/dbuser "wiki"; /param/Web[one]/port@n 1; /param/Web[one]/dbuser@n -; ` +
			`/param/Web[one]/dbport@m 1; /param/Web[one]/port@m -`},
	{"transfer through a third target whose map is renamed",
		"{parameters: 'Web[one]', to: 'Pool[one]'}\n{name: other, to_renamed: /map/Web/Pool}\n" +
			"{parameters: 'Pool[one]', to: 'Sql[one]', options: {map: {port: port}}}",
		"{when: {node: n}, bind: [{map: [Web, Pool], to: {size: port}}]}\n{parameters: 'Sql[one]', to: {port: 1}}\n" +
			"{parameters: Web, to: {port: 80}}",
		`/param/Web[one]/port 1; /param/Web[one]/port@n 1; /param/Web[one]/size@n -`},
	{"transfer between classes, parameter is an alias", "{parameters: web, to: sql}",
		"{name: 'web::port', to_alias_of: k}\n[k, 1]\n{parameters: sql, to: {port: 5}}", `web::port 5`},
	{"transfer between classes, parameter is renamed", "{parameters: web, to: sql}\n" +
		"{name: other, to_renamed: web::size}",
		"{parameters: web, to: {port: 1, size: 2}}\n{parameters: sql, to: {port: 5}}",
		`web::port 5; other 2; web::size -`},
	{"transfer with a map for one node before the default map", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{when: {node: n}, bind: [{map: [Web, Sql], to: {dbuser: user}}]}\n{map: [Web, Sql], to: {dbuser: owner}}",
		"{parameters: 'Sql[one]', to: {user: wiki, owner: root, dbuser: x}}\n{parameters: Web, to: {user: nobody}}\n" +
			"{parameters: 'Web[one]', to: {user: nobody}}",
		`/param/Web[one]/dbuser "root"; /param/Web[one]/dbuser@n "wiki"; /param/Web[one]/user "nobody"`},
	{"transfer with the default map before a map for one node", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{map: [Web, Sql], to: {dbuser: owner}}\n{when: {node: n}, bind: [{map: [Web, Sql], to: {dbuser: user}}]}",
		"{parameters: 'Sql[one]', to: {user: wiki, owner: root}}",
		`/param/Web[one]/dbuser "root"; /param/Web[one]/dbuser@n "wiki"`},
	{"optional transfer with maps on some nodes", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]', optional: true}\n" +
		"{when: {node: n}, bind: [{map: [Web, Sql], to: {dbuser: user}}]}\n" +
		"{when: {node: m}, bind: [{map: [Web, Sql], to: {dbuser: owner}}]}",
		"{parameters: 'Sql[one]', to: {owner: root}}\n{parameters: 'Web[one]', to: {dbuser: nobody}}",
		`/param/Web[one]/dbuser "nobody"; /param/Web[one]/dbuser@n "nobody"; /param/Web[one]/dbuser@m "root"`},
	{"transfer of common parameters where no map is effective", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{when: {node: n}, bind: [{map: [Web, Sql], to: {port: owner}}]}",
		"{parameters: 'Sql[one]', to: {port: 1, owner: 2}}\n{parameters: Web, to: {port: 80}}",
		`/param/Web[one]/port 1; /param/Web[one]/port@n 2`},
	{"optional transfer omits unbound parameters", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]', optional: true, options: {map: {dbuser: user, dbport: port}}}",
		"{parameters: 'Web[one]', to: {dbuser: nobody}}\n{parameters: 'Sql[one]', to: {port: 1}}",
		`/param/Web[one]/dbuser "nobody"; /param/Web[one]/dbport 1`},
	{"optional transfer from a target without parameters", `{parameters: 'Web[one]', to: 'Sql[one]', optional: true}`, `[a, 1]`,
		`a 1; /param/Web[one]/user -`},
	{"transfer through a third target", "{parameters: 'Web[one]', to: 'Pool[one]'}\n" +
		"{parameters: 'Pool[one]', to: 'Sql[one]', options: {map: {port: port}}}",
		"{parameters: 'Sql[one]', to: {port: 1}}\n{parameters: Web, to: {port: 80}}",
		`/param/Pool[one]/port 1; /param/Web[one]/port 1`},
	{"transfer through a third target, with the map of its types", "{parameters: 'Web[one]', to: 'Pool[one]'}\n" +
		"{parameters: 'Pool[one]', to: 'Sql[one]'}\n{map: [Pool, Sql], to: {port: port}}",
		"{parameters: 'Sql[one]', to: {port: 1}}\n{parameters: Web, to: {port: 80}}",
		`/param/Pool[one]/port 1; /param/Web[one]/port 1`},
	{"optional transfer through a third target", "" +
		"{parameters: 'Web[one]', to: 'Pool[one]', optional: true, options: {map: {size: port}}}\n" +
		"{parameters: 'Pool[one]', to: 'Sql[one]'}",
		"{parameters: 'Sql[one]', to: {port: 1}}\n{parameters: Pool, to: {port: 80}}",
		`/param/Pool[one]/port 1; /param/Web[one]/size 1`},
	{"transfer on one node", "" +
		"{when: {node: n}, bind: [{parameters: 'Web[one]', to: 'Sql[one]', options: {map: {name: user}}}]}",
		"{parameters: 'Sql[one]', to: {user: wiki}}\n{parameters: 'Web[one]', to: {name: x}}",
		`/param/Web[one]/name "x"; /param/Web[one]/name@n "wiki"`},
	{"transfer between classes with a map", "{parameters: web, to: sql, options: {map: {dbuser: user}}}",
		`{parameters: sql, to: {user: wiki}}`, `web::dbuser "wiki"; sql::user "wiki"`},
	{"parameter transferred in two layers", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{parameters: 'Pool[one]', to: {port: 2}}", "{parameters: 'Sql[one]', to: {port: 1}}\n" +
		"{parameters: 'Web[one]', to: 'Pool[one]', options: {map: {port: port}}}", `/param/Web[one]/port 1`},
	{"map overrides an abstract map", "{parameters: 'Web[one]', to: 'Sql[one]'}\n" +
		"{map: [Web, Sql], to: {dbuser: user}}", "{map: [Web, Sql], abstract: true}\n" +
		"{parameters: 'Sql[one]', to: {user: wiki}}", `/param/Web[one]/dbuser "wiki"`},
}

func TestLookupsFindComposedBindings(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			checkLookups(t, built(t, c.site, c.module), c.want)
		})
	}
}

func checkLookups(t *testing.T, snap *bindings.Snapshot, all string) {
	t.Helper()
	for _, w := range strings.Split(all, "; ") {
		asked, want, _ := strings.Cut(w, " ")
		key, node, _ := strings.Cut(asked, "@")
		if got := found(t, snap, key, node); got != want {
			t.Errorf("%s is %s, expected %s", asked, got, want)
		}
	}
}

// built returns the open snapshot of a site and its module db.
func built(t *testing.T, site, module string) *bindings.Snapshot {
	t.Helper()
	dir := t.TempDir()
	writeBindings(t, filepath.Join(dir, "bindings"), "default", site)
	if module != "" {
		writeBindings(t, filepath.Join(dir, "modules", "db", "bindings"), "db::default", module)
	}
	var diags diag.List
	content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	for _, d := range diags.Sorted() {
		t.Errorf("%s: %s: %s", lineOf(d.Pos), d.Code, d.Message)
	}
	if diags.Failed() {
		t.FailNow()
	}
	return opened(t, dir, content)
}

// opened writes content to a file in dir and opens it.
func opened(t *testing.T, dir string, content *snapshot.Content) *bindings.Snapshot {
	t.Helper()
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	if err := snap.Verify(); err != nil {
		t.Error(err)
	}
	return snap
}

// found returns the result of a lookup for a node: JSON with sorted keys, a dash, or the code of an error.
func found(t *testing.T, snap *bindings.Snapshot, key, node string) string {
	t.Helper()
	return answerTo(t, snap, key, "{}", node)
}

// answerTo returns the result of a lookup with facts and a node, like found.
func answerTo(t *testing.T, snap *bindings.Snapshot, key, given, node string) string {
	t.Helper()
	facts, err := facts.ParseJSON([]byte(given), bindings.FactsOptions{Node: node})
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	v, found, err := r.Lookup(key)
	var refused *bindings.Error
	switch {
	case errors.As(err, &refused):
		return string(refused.Code)
	case err != nil:
		t.Fatal(err)
	case !found:
		return "-"
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	ordinary, err := v.Interface()
	if err == nil {
		err = e.Encode(ordinary)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
