package runtime_test

import (
	"testing"

	bindings "bindc/runtime"
)

// keysSite has plain, dotted and quoted keys, in data and in structured bindings.
const keysSite = `
-- hiera.yaml --
version: 5
hierarchy:
- {name: Node, path: "%{node}.yaml"}
- {name: Secrets, lookup_key: eyaml_lookup_key, path: secrets.eyaml}
- {name: Common, path: common.yaml}
-- data/n1.yaml --
lookup_options: {only: {convert_to: Integer}}
only: "12"
-- data/secrets.eyaml --
encrypted: ENC[PKCS7,secret]
reads: "%{lookup('db.password')}"
reads_no_key: "%{lookup('a..b')}"
reads_both: "%{lookup('encrypted')} %{lookup('encrypted.x')}"
reads_nothing: "<%{lookup('nothing')}>"
-- data/common.yaml --
lookup_options:
  lookup_options: {merge: hash}
  secret: {convert_to: Sensitive}
  wrong: {merge: "%{how}"}
'': empty
secret: s3cr3t
wrong: 1
quoted: '%{lookup("''quoted''")}'
alias: "%{alias('absent')}"
veiled: {a: "%{alias('secret')}", b: "%{lookup('only')}"}
'list.of': [1]
-- bindings/default.yaml --
bindings_version: 1
name: default
bind:
- {name: db.password, to: pa55, sensitive: true}
- {name: a..b, to: s6, sensitive: true}
- {name: hint, to: null, sensitive: true}
- {name: nothing, to_lookup_of: hint, optional: true}
- {name: moved, to_renamed: wrong}
- {name: maybe.there, to_expression: '$there', optional: true}
`

// Keys have the same meaning as in Puppet: dots dig, unless the whole key is bound or the dots are
// in quotes.
func TestHieraKeysAgreeWithPuppet(t *testing.T) {
	decrypt := func(string) (string, error) { return "plain", nil }
	snap := hieraSnapshot(t, keysSite, bindings.Options{Decrypt: decrypt})
	req := requestFor(t, snap, `{"node": "n1", "how": "first"}`)
	for _, c := range []struct{ key, merge, want string }{
		{"", "", "not found"}, // although the data has an entry with the empty key
		{"1", "", "not found"},
		{`a"b'c`, "", `evaluation: 'a"b'c' is not a valid key: quotes must enclose everything between two dots, ` +
			"and must not be empty"},
		{"only", "", "12"},
		{"'lookup_options'", "", `{"lookup_options":{"merge":"hash"},"secret":{"convert_to":"Sensitive"},` +
			`"wrong":{"merge":"first"},"only":{"convert_to":"Integer"}}`},
		{"quoted", "", "loop: 'quoted' depends on itself: quoted -> quoted"},
		{"alias", "", `""`},
		{"veiled", "", `sensitive {"a":"s3cr3t","b":"12"}`},
		{"'list.of'", "", "[1]"},
		{`"list.of".0`, "", "1"},
		{`"list.of"`, `"unique"`, "[1]"},
		{"list.of", "", "not found"},
		{"list.of", `"unique"`, "not found"},
		{"db.password", "", `sensitive "pa55"`},
		{"db.password", `"unique"`, `sensitive "pa55"`},
		{"db.password.x", `"unique"`, "not found"},
		{"a..b", "", `sensitive "s6"`},
		{"a..b", `"unique"`, `sensitive "s6"`},
		{"maybe.there", `"unique"`, "not found"},
		{"reads", "", `sensitive "pa55"`},
		{"encrypted", "", `sensitive "plain"`},
		{"moved", "", "1"},
	} {
		strategy := strategyOf(t, c.merge)
		if got := resultText(lookupMerged(req, c.key, strategy)); got != c.want {
			t.Errorf("%s %s is %s, expected %s", c.key, c.merge, got, c.want)
		}
	}
	// LookupEntries returns decrypted values as plain ones, as hiera-eyaml does. Structured bindings marked
	// sensitive stay sensitive, also when a Hiera value looks them up.
	for key, want := range map[string]string{"encrypted": `"plain"`, "reads": `sensitive "pa55"`,
		"reads_no_key": `sensitive "s6"`, "reads_nothing": `sensitive "<>"`, `a"b'c`: "not found",
		"lookup_options": `{"only":{"convert_to":"Integer"}}`} {
		if got := resultText(lookupEntries(req, key, 0, -1, bindings.Value{})); got != want {
			t.Errorf("to Puppet %s is %s, expected %s", key, got, want)
		}
	}
	encrypted := requestFor(t, hieraSnapshot(t, "-- hiera.yaml --\nversion: 5\nhierarchy: [{name: E, lookup_key: "+
		"eyaml_lookup_key, path: e.eyaml}]\n-- data/e.eyaml --\nlookup_options: {a: {note: 'ENC[PKCS7,secret]'}}\n",
		bindings.Options{Decrypt: decrypt}), `{}`)
	if got := resultText(lookupEntries(encrypted, "lookup_options", 0, -1, bindings.Value{})); got !=
		`{"a":{"note":"plain"}}` {
		t.Errorf("to Puppet lookup_options that were decrypted are %s", got)
	}
	if e, err := engine(req).Explain("a..b"); err != nil || e.Root != "" || len(e.Candidates) != 1 {
		t.Errorf("an invalid key that is bound is explained by %+v, %v", e, err)
	}
	// A lookup of a renamed key uses the lookup_options of its old name.
	unknown := requestFor(t, hieraSnapshot(t, keysSite, bindings.Options{}), `{"how": "none"}`)
	if got := outcomeOf(unknown.Lookup("moved")); got != "evaluation" {
		t.Errorf("a moved key with an unknown strategy is %s", got)
	}
}
