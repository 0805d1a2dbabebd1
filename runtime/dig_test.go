package runtime_test

import (
	"strings"
	"testing"

	bindings "bindc/runtime"
)

// digSite has hashes to dig in: plain ones, one that lookup_options merge, and one with unusual keys.
const digSite = `
-- hiera.yaml --
version: 5
hierarchy:
- {name: Node, path: "%{node}.yaml"}
- {name: Common, path: common.yaml}
-- data/n1.yaml --
node: {port: 1}
merged: {a: 1}
-- data/common.yaml --
lookup_options: {merged: {merge: hash}}
node: {port: 2, name: x}
common: {server: {port: 8140, 7: seven}, list: [zero], none: null}
merged: {a: 2, b: 2}
text: plain
kinds: {float: 1.5, number: -123456789, truth: true, odd: a, list: [1]}
computed: {who: "%{node}"}
a_root_of_some_length: {"key of words": 1, "x-y": 2, "7up": 3, "": 4, _under: {a_segment_of_usual_length: 5}, "no:0": 6,
  "a'b": 7, ümlaut: 8, "{": 9}
`

// Dotted keys have a faster path if their root is bound to a constant. It gives the same results.
func TestDottedKeysReturnEntries(t *testing.T) {
	long := strings.Repeat("x", 600)
	snap := hieraSnapshot(t, digSite+"large: {long: "+long+", port: 7}\n", bindings.Options{})
	req := requestFor(t, snap, `{"node": "n1"}`)
	for key, want := range map[string]string{
		"large.port":           "7", // stored in a block
		"large.long":           `"` + long + `"`,
		"kinds.float":          "1.5",
		"kinds.number":         "-123456789",
		"kinds.truth":          "true",
		"kinds.odd":            `"a"`,
		"kinds.list":           "[1]",
		"node.port":            "1",
		"node.name":            "not found", // the hash of the node has no such entry
		"common.server.port":   "8140",
		"common.server.7":      `"seven"`,
		"common.server.'port'": "8140",
		"common.server":        `{"port":8140,"7":"seven"}`,
		"common.list.0":        `"zero"`,
		"common.none":          "null",
		"common.none.x":        "not found",
		"merged.a":             "1",
		"merged.b":             "2",
		"computed.who":         `"n1"`,
		"absent.x":             "not found",
		"lookup_options.x":     "not found",
		"a_root_of_some_length._under.a_segment_of_usual_length": "5",
		"a_root_of_some_length._under.a_segment_of_usual_lengt":  "not found",
		"a_root_of_some_length.key of words":                     "1",
		"a_root_of_some_length. key of words ":                   "1",
		"a_root_of_some_length.x-y":                              "2",
		"a_root_of_some_length.7up":                              "3",
		"a_root_of_some_length.no:0":                             "6",
		`a_root_of_some_length."a'b"`:                            "7",
		"a_root_of_some_length.ümlaut":                           "8",
		"a_root_of_some_length.{":                                "9",
		"a_root_of_some_length.x":                                "not found",
		"a_root_of_some_length..x": "'a_root_of_some_length..x' is not a valid key: " +
			"there is nothing between two dots, before the first dot or after the last one",
		"a_root_of_some_length.": "'a_root_of_some_length.' is not a valid key: " +
			"there is nothing between two dots, before the first dot or after the last one",
		"text.x": "'text.x': 'text.x' needs a Hash with the key 'x', found String",
	} {
		v, found, err := req.Lookup(key)
		if got := shown(t, v, found, err); got != want {
			t.Errorf("%s: %s, expected %s", key, got, want)
		}
	}
}

// The lookup_options of a default_hierarchy merge its values before a dotted key digs in them.
func TestDottedKeysOfDefaultHierarchyAreMerged(t *testing.T) {
	snap := hieraSnapshot(t, `
-- hiera.yaml --
version: 5
-- modules/ntp/hiera.yaml --
version: 5
default_hierarchy:
- {name: Node, path: "%{node}.yaml"}
- {name: Defaults, path: defaults.yaml}
-- modules/ntp/data/n1.yaml --
ntp::server: {at: {port: 123}}
-- modules/ntp/data/defaults.yaml --
lookup_options: {'ntp::server': {merge: deep}}
ntp::server: {at: {host: a}}
`, bindings.Options{})
	v, found, err := requestFor(t, snap, `{"node": "n1"}`).Lookup("ntp::server.at")
	if got, want := shown(t, v, found, err), `{"host":"a","port":123}`; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

func shown(t *testing.T, v bindings.Value, found bool, err error) string {
	t.Helper()
	switch {
	case err != nil:
		return err.Error()
	case !found:
		return "not found"
	}
	text, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
