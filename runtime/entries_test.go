package runtime_test

import (
	"testing"

	bindings "bindc/runtime"
)

// Puppet searches some entries of a hierarchy itself and asks LookupEntries for the rest. Structured bindings above
// the hierarchy count as part of the first entry; bindings below it and data of modules, as part of the last.
func TestLookupEntriesReturnsValueOfGivenEntries(t *testing.T) {
	req := requestN1(t, hieraSnapshot(t, everyPart, bindings.Options{}), `{"os": {"family": "Debian"}, "role": "web"}`)
	below := requestFor(t, hieraSnapshot(t, betweenBindings, bindings.Options{}), `{}`)
	const first, unique, hash = `"first"`, `"unique"`, `"hash"`
	for _, c := range []struct {
		req      *bindings.Request
		key      string
		from, to int
		merge    string
		want     string
	}{
		{req, "plain", 0, 0, first, `"of node"`},
		{req, "plain", 0, -1, first, `"of node"`},
		{req, "plain", 1, 1, first, `"of os"`},
		{req, "plain", 1, -1, first, `"of os"`},
		{req, "plain", 2, 2, first, "not found"},
		{req, "plain", 2, -1, first, `"common"`},
		{req, "top", 0, 0, first, "not found"},
		{req, "m::plain", 0, 0, first, "not found"},
		{below, "c", 0, 0, first, "not found"},
		{req, "plain", 0, 3, unique, `["of node","of os","common"]`},
		{req, "top", 0, 3, first, `"common"`}, // not of the global layer, which Puppet searches itself
		{req, "everywhere", 0, 2, unique, `["node","both","web","all"]`},
		{req, "everywhere", 2, 3, unique, `["web","all","common","both"]`},
		{req, "everywhere", 2, 2, first, `["web"]`},
		{req, "everywhere", 0, -1, "", `["node","both"]`},
		{req, "everywhere", 0, -1, `"uniq"`, "usage: 'everywhere': unknown merge strategy 'uniq', expected " +
			"first, " +
			"unique, hash or deep"},
		{req, "everywhere", 0, -1, hash, "evaluation: 'everywhere': the merge strategy 'hash' needs Hashes of " +
			"Data with " +
			"Strings as keys, and this is of the kind Array"},
		{req, "hash", 0, 3, hash, `{"a":1,"in":{"x":1},"b":2}`},
		{req, "secret", 0, 0, first, `{"user":"me"}`},
		{req, "shown", 3, 3, first, `"xSensitive [value redacted]"`},
		{req, "shout", 3, 3, first, `sensitive {"password":"s3cr3t","user":"me"}`},
		{req, "nested", 0, -1, hash, `sensitive {"a":{"password":"s3cr3t","user":"me"}}`},
		{req, "number", 0, -1, first, `"12"`},
		{req, "dotted.key", 0, -1, first, `"dotted"`},
		{req, `'do"tted'`, 0, -1, first, "not found"},
		{req, "absent", 0, -1, first, "not found"},
		{req, "absent", 0, -1, unique, "not found"},
		{req, "structured", 0, 0, first, `{"a":{"b":1}}`},
		{req, "structured", 0, -1, hash, `{"a":{"b":1}}`},
		{req, "structured", 1, -1, first, "not found"},
		{req, "from", 0, 1, first, `"3"`},
		{req, "loop", 0, -1, unique, "loop: 'loop' depends on itself: loop -> loop2 -> loop"},
		{req, "m::plain", 0, 2, first, "not found"},
		{req, "m::plain", 0, -1, first, `"module"`},
		{req, "m::plain", 3, -1, first, `"module"`},
		{req, "m::own", 0, -1, unique, `["node"]`},
		{req, "m::own", 1, -1, first, `["module"]`},
		{req, "m::only", 0, -1, first, `"default"`}, // from the default_hierarchy of the module
		{req, "m::only", 0, -1, unique, "not found"},
		{req, "lookup_options", 0, 0, first, `{"depends":{"merge":"unique"}}`},
		{req, "lookup_options", 1, 2, first, "not found"},
		{below, "a", 0, 0, first, `"above"`},
		{below, "a", 1, -1, first, `"below"`},
		{below, "a", 0, -1, unique, `"above"`},
		{below, "s", 0, -1, first, `sensitive "above"`},
		{below, "s", 0, 0, unique, `sensitive "above"`},
		{below, "n", 0, 0, unique, `"above"`},
		{below, "over", 0, -1, first, `"above"`},
		{below, "over", 1, 1, first, `"again"`},
		{below, "b", 0, 0, first, `"hiera"`},
		{below, "b", 0, -1, unique, `["hiera","again"]`},
		{below, "b", 1, 1, first, `"again"`},
		{below, "late", 0, -1, hash, "evaluation: 'late': the merge strategy 'hash' needs Hashes of Data with " +
			"Strings as keys, and this is of the kind String"},
		{below, "loops", 0, -1, first, `"above"`},
		// the loop is reported although entry 0 has a value
		{below, "loops", 1, -1, first, "loop: 'loops' depends on itself: loops -> loops"},
		{below, "c", 0, 1, first, "not found"},
		{below, "c", 1, -1, first, `"below"`},
		{below, "c", 0, -1, first, `"below"`},
	} {
		strategy := strategyOf(t, c.merge)
		if got := resultText(lookupEntries(c.req, c.key, c.from, c.to, strategy)); got != c.want {
			t.Errorf("%s of %d to %d by %s is %s, expected %s", c.key, c.from, c.to, c.merge, got, c.want)
		}
	}
}

const moduleWithVault = `
-- hiera.yaml --
version: 5
hierarchy: [{name: Common, path: common.yaml}]
-- data/common.yaml --
m::site: site
-- modules/m/hiera.yaml --
version: 5
defaults: {data_hash: yaml_data, datadir: data}
hierarchy: [{name: Vault, lookup_key: vault}, {name: Common, path: common.yaml}]
-- modules/m/data/common.yaml --
m::site: module
m::own: module
-- modules/n/hiera.yaml --
version: 5
hierarchy: [{name: Common, path: common.yaml}]
-- modules/n/data/common.yaml --
n::own: module
`

// Data below an entry that Puppet searches itself is not found, because that entry may take
// precedence.
func TestLookupEntriesSkipsDataBelowForeignEntry(t *testing.T) {
	req := requestFor(t, hieraSnapshot(t, moduleWithVault, bindings.Options{}), `{}`)
	for key, want := range map[string]string{"m::site": `"site"`, "m::own": "not found", "n::own": `"module"`} {
		if got := resultText(lookupEntries(req, key, 0, -1, bindings.Value{})); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}
