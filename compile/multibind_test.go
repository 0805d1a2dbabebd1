package compile

import (
	"strings"
	"testing"
)

// A warning is reported for a binding that hides a multibinding and its contributions, unless it has 'override: true'.
func TestWarnsAboutBindingThatHidesMultibinding(t *testing.T) {
	const collects = "{name: ports, multibind_id: id, type: Array}\n{in: id, to: 80}\n"
	for name, c := range map[string]struct{ above, below, want string }{
		"a value under a condition": {"", collects + "{when: {node: n}, bind: [[ports, [81]]]}",
			"m3 warning multibind_hidden: m1"},
		"a value of a higher layer": {"[ports, [81]]", collects, "1 warning multibind_hidden: m1"},
		"one that is meant":         {"{name: ports, override: true, to: [81]}", collects, ""},
		"one that is abstract":      {"{name: ports, abstract: true}", collects, "1 error abstract:"},
		"another multibinding":      {"{name: ports, multibind_id: other, type: Array}", collects, ""},
		"one that may decline":      {"{name: ports, to_lookup_of: x, optional: true}", collects + "[x, [1]]", ""},
		"nothing is contributed":    {"[ports, [81]]", "{name: ports, multibind_id: id, type: Array}", ""},
		"another key":               {"[other, [81]]", collects, ""},
		"a contribution of its name": {"", "{name: all, multibind_id: all, type: Hash}\n" +
			"{name: ports, in: all, multibind_id: id, type: Array}\n{in: id, to: 80}\n[ports, [81]]", ""},
		"a value above another one of its key": {"{when: {node: n}, bind: [{name: ports, multibind_id: id, type: Array}]}\n" +
			"{in: id, to: 80}", "{when: {osfamily: f}, bind: [[ports, [1]]]}\n[ports, [2]]", ""},
		"the second of two multibindings": {"[ports, [81]]", "{name: all, multibind_id: id, type: Array}\n" +
			"{name: ports, multibind_id: id, type: Array}\n{in: id, to: 80}",
			"1 warning multibind_hidden: m2\nm2 warning multibind_id: m1"},
		"one that never wins itself": {"[ports, [1]]", "{when: {node: n}, bind: [[ports, [2]]]}\n" + collects,
			"1 warning multibind_hidden: m2"},
	} {
		if got := strings.Join(compiled(t, c.above, c.below), "\n"); got != c.want {
			t.Errorf("%s: reported %q, want %q", name, got, c.want)
		}
	}
	for _, d := range reported(t, "", collects+"{when: {node: n}, bind: [[ports, [81]]]}\n[ports, 1]") {
		if !strings.HasPrefix(d.Hint, "to contribute, write {in: 'id', to: ...} in bindings") {
			t.Errorf("%s: the hint is %q", d.Code, d.Hint)
		}
	}
}

// 'in' must contain the id of a multibinding. The key of a multibinding is an error, any other text a warning.
func TestReportsContributionToUnknownMultibinding(t *testing.T) {
	const ids = "{name: p, multibind_id: ports, type: Array}\n{name: users, multibind_id: people, type: Array}\n" +
		"{name: hosts, multibind_id: machines, type: Array}\n"
	for name, c := range map[string]struct{ site, want, message, hint string }{
		"the id": {ids + "{in: people, to: 1}", "", "", ""},
		"the key of the second": {ids + "{in: users, to: 1}", "4 error multibind_unknown: 2",
			"'users' is the key of a multibinding; contributions must use its id, 'people'",
			"write 'people' instead of 'users'"},
		"twice": {ids + "{in: users, to: 1}\n{in: users, to: 2}",
			"4 error multibind_unknown: 2\n5 error multibind_unknown: 2",
			"'users' is the key of a multibinding; contributions must use its id, 'people'",
			"write 'people' instead of 'users'"},
		"a typo": {ids + "{in: peple, to: 1}", "4 warning multibind_unknown:",
			"no multibinding has the id 'peple'; this contribution is never used", "did you mean 'people'?"},
		"something else": {ids + "{in: x, to: 1}", "4 warning multibind_unknown:",
			"no multibinding has the id 'x'; this contribution is never used", ""},
		"a key that collects nothing": {ids + "[other, 1]\n{in: other, to: 1}", "5 warning multibind_unknown:",
			"no multibinding has the id 'other'; this contribution is never used", ""},
	} {
		if got := strings.Join(compiled(t, c.site, ""), "\n"); got != c.want {
			t.Errorf("%s: reported %q, expected %q", name, got, c.want)
		}
		for _, d := range reported(t, c.site, "") {
			if d.Message != c.message || d.Hint != c.hint {
				t.Errorf("%s: the message is %q, with the hint %q", name, d.Message, d.Hint)
			}
		}
	}
}

// If a contribution is a list of valid elements, the hint suggests the option flatten.
func TestReportsContributionOfWrongType(t *testing.T) {
	const flat = "the option 'flatten: true' of the multibinding collects the elements of a list"
	const integers = "{name: l, multibind_id: l, type: 'Array[Integer]'}\n"
	for name, c := range map[string]struct{ site, message, hint string }{
		"a list of them": {integers + "{in: l, to: [1, 2]}",
			"a contribution to 'l': expected Integer, found Array[Integer]", flat},
		"a list of others": {integers + "{in: l, to: [x]}",
			"a contribution to 'l': expected Integer, found Array[String]", ""},
		"a text": {integers + "{in: l, to: x}", "a contribution to 'l': expected Integer, found String", ""},
		"an interpolated text": {integers + "{in: l, to: '${x}'}",
			"a contribution to 'l': expected Integer, found String", ""},
		"a sensitive text": {integers + "{in: l, to: x, sensitive: true}",
			"a contribution to 'l': expected Integer, found a sensitive value of a different type", ""},
		"no name in a hash": {"{name: h, multibind_id: h, type: Hash}\n{in: h, to: 1}",
			"expected 'name', the key of this contribution in the hash 'h'", ""},
		"no hash to merge": {"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: merge}}\n" +
			"{in: h, name: a, to: 1}", "expected a hash to merge into 'h', found the integer 1", ""},
	} {
		found := reported(t, c.site, "")
		if len(found) != 1 || found[0].Message != c.message || found[0].Hint != c.hint {
			t.Errorf("%s: reported is %v, expected %s", name, found, c.message)
			for _, d := range found {
				t.Logf("%s (%s)", d.Message, d.Hint)
			}
		}
	}
}
