package compile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

// reports lists sites of structured bindings and their diagnostics: line, severity, code, and the lines of the notes.
// Line 1 is the first one after 'bind:'. m1 is the first line of the module db.
var reports = []struct{ name, site, module, want string }{
	{"one binding has no diagnostics", `[a, 1]`, ``, ``},
	{"bound twice", "[a, 1]\n[a, 1]", ``, `1 error conflict: 2`},
	{"bound in two layers", `[a, 1]`, `[a, 2]`, ``},
	{"bound twice in the lower layer", `[b, 1]`, "[a, 1]\n[a, 2]", `m1 error conflict: m2`},
	{"bound twice, hidden by the higher layer", `[a, 1]`, "[a, 1]\n[a, 2]", ``},
	{"bound twice, hidden on one node only", `{when: {node: n}, bind: [[a, 1]]}`, "[a, 1]\n[a, 2]",
		`m1 error conflict: m2`},
	{"bound for two values of a category",
		"{when: {node: n}, bind: [[a, 1]]}\n{when: {node: m}, bind: [[a, 2]]}", ``, ``},
	{"bound twice for one value, in different case",
		"{when: {node: n}, bind: [[a, 1]]}\n{when: {node: N}, bind: [[a, 2]]}", ``, `1 error conflict: 2`},
	{"bound twice for each of two values", "{when: {node: n}, bind: [[a, 1], [a, 2]]}\n" +
		"{when: {node: m}, bind: [[a, 1], [a, 2]]}", ``, "1 error conflict: 1\n2 error conflict: 2"},
	{"bound under two categories",
		"{when: {osfamily: debian}, bind: [[a, 1]]}\n{when: {environment: test}, bind: [[a, 2]]}", ``, ``},
	{"bound twice for the value that two lists share",
		"{when: {node: [n, m]}, bind: [[a, 1]]}\n{when: {node: [m, o]}, bind: [[a, 2]]}", ``, `1 error conflict: 2`},
	{"bound twice, hidden by a narrower condition",
		"{when: {node: n}, bind: [[a, 1]]}\n{when: {osfamily: f, node: n}, bind: [[a, 1]]}\n[a, 3]", ``, ``},

	{"abstract, not bound", `{name: a, abstract: true}`, ``, `1 error abstract:`},
	{"abstract, bound below", `{name: a, abstract: true}`, `[a, 1]`, `1 error abstract:`},
	{"abstract, bound above", `[a, 1]`, `{name: a, abstract: true}`, ``},
	{"abstract, bound above for one node", `{when: {node: n}, bind: [[a, 1]]}`, `{name: a, abstract: true}`,
		`m1 warning abstract: 1`},
	{"abstract, bound in the same layer for one node", "{name: a, abstract: true}\n{when: {node: n}, bind: [[a, 1]]}", ``,
		`1 warning abstract: 2`},
	{"abstract, bound in the same layer for another node",
		"{when: {node: n}, bind: [{name: a, abstract: true}]}\n{when: {node: m}, bind: [[a, 1]]}", ``,
		`1 error abstract:`},
	{"abstract, only abstract above", `{when: {node: n}, bind: [{name: a, abstract: true}]}`,
		`{name: a, abstract: true}`, "1 error abstract:\nm1 error abstract:"},
	{"abstract and concrete binding of equal precedence", "{name: a, abstract: true}\n[a, 1]", ``,
		"1 error abstract:\n1 error conflict: 2"},

	{"abstract, hidden by one of two alternatives", "{when: {node: [n, m]}, bind: [[a, 1]]}",
		"{when: {node: [m, n]}, bind: [{name: a, abstract: true}]}\n[a, 1]", ``},
	{"abstract under two alternatives, one bound above", "{when: {node: n}, bind: [[a, 1]]}",
		"{when: {node: [m, n]}, bind: [{name: a, abstract: true}]}", `m1 warning abstract: 1`},
	{"abstract under two conditions, one narrower", "" +
		"{when: [{osfamily: f}, {osfamily: f, node: n}], bind: [{name: a, abstract: true}]}", ``, `1 error abstract:`},
	{"abstract, bound below by a lookup", `{name: a, abstract: true}`, `{name: a, to_lookup_of: b}`,
		"1 error abstract:\nm1 warning key_unbound:"},
	{"abstract, bound above by a long form", `{name: a, to_lookup_of: b, sensitive: true}`,
		`{name: a, abstract: true}`, `1 warning key_unbound:`},
	{"abstract, bound above for one node by a long form",
		`{when: {node: n}, bind: [{name: a, to_lookup_of: b, sensitive: true}]}`, `{name: a, abstract: true}`,
		"1 warning key_unbound:\nm1 warning abstract: 1"},
	{"override of an unbound key", `{name: a, override: true, to: 1}`, `[b, 1]`, `1 error override:`},
	{"override of a binding in the lower layer", `{name: a, override: true, to: 1}`, `[a, 1]`, ``},
	{"override of a binding in the same layer", "{when: {node: n}, bind: [{name: a, override: true, to: 1}]}\n[a, 2]", ``, ``},
	{"override of a key bound on one node", `{name: a, override: true, to: 1}`, `{when: {node: n}, bind: [[a, 1]]}`,
		`1 warning override: m1`},
	{"override that is overridden, without a lower binding", "{name: a, override: true, to: 1}\n{when: {node: n}, bind: [[a, 2]]}", ``,
		`1 warning override: 2`},
	{"override that is always hidden", `[a, 1]`, `{name: a, override: true, to: 1}`, ``},

	{"override that only overrides itself", "{when: [{node: n}, {common: 'true'}], " +
		"bind: [{name: a, override: true, to: 1}]}", ``, `1 error override:`},
	{"override on two nodes, key bound on the first",
		"{when: {node: [n, m]}, bind: [{name: a, override: true, to: 1}]}",
		`{when: {node: n}, bind: [[a, 1]]}`, `1 warning override: m1`},
	{"override on two nodes, key bound on the second",
		"{when: {node: [n, m]}, bind: [{name: a, override: true, to: 1}]}",
		`{when: {node: m}, bind: [[a, 1]]}`, `1 warning override: m1`},
	{"override of a binding of equal precedence", "{name: a, override: true, to: 1}\n[a, 2]", ``,
		"1 error conflict: 2\n1 error override:"},
	{"override on two nodes, key bound on both",
		"{when: {node: [n, m]}, bind: [{name: a, override: true, to: 1}]}",
		`{when: {node: [n, m]}, bind: [[a, 1]]}`, ``},
	{"override on two nodes, hidden on one", `{when: {node: n}, bind: [[a, 1]]}`,
		"{when: {node: [n, m]}, bind: [{name: a, override: true, to: 1}]}\n{when: {osfamily: f}, bind: [[a, 1]]}\n" +
			"[b, 1]", `m1 warning override: m2`},
	{"override that is hidden where it would override", `{when: {node: n}, bind: [[a, 1]]}`,
		"{when: [{node: n}, {osfamily: f}], bind: [{name: a, override: true, to: 1}]}\n" +
			"{when: {osfamily: g}, bind: [[a, 2]]}", `m1 error override:`},
	{"override of the default, overridden on one node", "{when: {node: n}, bind: [[a, 1]]}\n" +
		"{when: {osfamily: f}, bind: [{name: a, override: true, to: 1}]}\n[a, 3]", ``, ``},
	{"override of the default and of a binding for some nodes",
		"{when: {node: n}, bind: [{name: a, override: true, to: 1}]}\n[a, 2]", `{when: {osfamily: f}, bind: [[a, 3]]}`,
		``},
	{"override of nothing, overridden in a higher layer", `{when: {node: n}, bind: [[a, 1]]}`,
		"{name: a, override: true, to: 1}", `m1 error override:`},

	{"loop: key looks itself up", `[a, "${lookup('a')}"]`, ``, `1 error loop:`},
	{"loop: two keys look each other up", "{name: b, to_lookup_of: a}\n{name: a, to_lookup_of: b}", ``, `1 error loop: 2`},
	{"loop: first key of to_first_found is unbound", "{name: a, to_first_found: [none, b]}\n{name: b, to_lookup_of: a}", ``,
		`1 error loop: 2`},
	{"loop: through first key of to_first_found",
		"{name: a, to_first_found: [b, c]}\n{name: b, to_lookup_of: a}\n[c, 1]", ``,
		`1 error loop: 2`},
	{"loop: next to a key outside the loop", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n" +
		"{when: {node: n}, bind: [{name: c, to_first_found: [d]}]}\n[d, 1]", ``,
		`1 error loop: 2`},
	{"no loop: earlier key of to_first_found is bound", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n[c, 1]", ``, ``},
	{"loop: earlier key of to_first_found is bound on one node",
		"{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n{when: {node: n}, bind: [[c, 1]]}", ``,
		`1 error loop: 2`},
	{"loop: earlier key of to_first_found is undef", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n[c, null]", ``,
		`1 error loop: 2`},
	{"no loop: hidden by a higher layer", `[b, 1]`, "{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", ``},
	{"no loop: key in expression is hidden by a higher layer", `[b, 1]`,
		"{name: a, to: \"${lookup('b')}\"}\n{name: b, to_lookup_of: a}", ``},
	{"two loops, one of them on one node", "{name: a, to: \"${lookup('b')}${lookup('c')}\"}\n" +
		"{name: b, to_lookup_of: a}\n[c, 1]\n{when: {node: n}, bind: [{name: c, to_lookup_of: a}]}", ``,
		"1 error loop: 2\n1 error loop: 4"},
	{"loop: other conditions do not break it", "{name: a, to: \"${lookup('b')}\"}\n" +
		"{when: {osfamily: f}, bind: [[b, 1]]}\n{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}\n[b, 1]",
		`{when: {osfamily: g}, bind: [[b, 1]]}`, `1 error loop: 3`},
	{"loop: on one node", "[a, 1]\n{name: b, to_lookup_of: a}\n{when: {node: n}, bind: [{name: a, to_lookup_of: b}]}", ``,
		`2 error loop: 3`},
	{"no loop: bindings are for different nodes", "[b, 1]\n[a, 1]\n{when: {node: m}, bind: [{name: b, to_lookup_of: a}]}\n" +
		"{when: {node: n}, bind: [{name: a, to_lookup_of: b}]}", ``, ``},
	{"loop: through a contribution", "{name: l, multibind_id: l, type: Array}\n{in: l, to_lookup_of: l}", ``,
		`1 error loop: 2`},
	{"loop: through a contribution for one node",
		"{name: l, multibind_id: l, type: Array}\n{when: {node: n}, bind: [{in: l, to_lookup_of: l}]}", ``,
		`1 error loop: 2`},
	{"loop: where two conditions hold", "{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
		"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}", ``, `1 error loop: 2`},
	{"no loop: hidden where both conditions hold", "{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
		"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}\n" +
		"{when: {osfamily: f, environment: e}, bind: [[a, 1]]}", ``, ``},
	{"no loop: hidden where one condition holds",
		"{when: {osfamily: f}, bind: [[b, 1]]}", "{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}", ``},
	{"loop: where three conditions hold", "{when: {node: n}, bind: [{name: a, to_lookup_of: b}]}\n" +
		"{when: {osfamily: f}, bind: [{name: b, to_lookup_of: c}]}\n" +
		"{when: {environment: e}, bind: [{name: c, to_lookup_of: a}]}", ``, `1 error loop: 2 3`},
	{"no loop: conditions exclude one another", "" +
		"{when: {node: n}, bind: [{name: a, to_lookup_of: b}]}\n" +
		"{when: {osfamily: f}, bind: [{name: b, to_lookup_of: c}]}\n" +
		"{when: {node: m}, bind: [{name: c, to_lookup_of: a}]}", ``, ``},
	{"two loops through one key", "{name: a, to: \"${lookup('b')}${lookup('c')}\"}\n{name: b, to_lookup_of: a}\n" +
		"{name: c, to_lookup_of: a}", ``, "1 error loop: 2\n1 error loop: 3"},
	{"loop: reached from a key outside", "{when: {node: n}, bind: [{name: z, to_lookup_of: a}]}\n{name: a, to_lookup_of: b}\n" +
		"{name: b, to_lookup_of: a}", ``, `2 error loop: 3`},
	{"two loops and a key that leads to one", "{name: a, to_lookup_of: a}\n{name: c, to_lookup_of: c}\n{name: b, to_lookup_of: c}\n" +
		"[b2, 1]", ``, "1 error loop:\n2 error loop:"},
	{"loop: earlier key of to_first_found is undef on one node", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n[c, 1]\n" +
		"{when: {node: n}, bind: [[c, null]]}", ``, `1 error loop: 2`},
	{"loop: earlier key is undef on one node, in the higher layer", "{name: a, to_first_found: [c, b]}\n" +
		"{name: b, to_lookup_of: a}\n{when: {node: n}, bind: [[c, null]]}",
		`[c, 1]`, `1 error loop: 2`},
	{"no loop: undef of earlier key is hidden", "[c, 1]\n{name: a, to_first_found: [c, b]}\n" +
		"{name: b, to_lookup_of: a}", `{when: {node: n}, bind: [[c, null]]}`, ``},
	{"no loop: earlier key is undef on another node", "{when: {node: m}, bind: [{name: a, to_first_found: [c, b]}]}\n" +
		"{name: b, to_lookup_of: a}\n[c, 1]\n{when: {node: n}, bind: [[c, null]]}", ``, ``},
	{"no loop: earlier key of to_first_found is abstract", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n" +
		"{when: {node: n}, bind: [[c, 1]]}\n{name: c, abstract: true}", ``, `4 warning abstract: 3`},
	{"no loop: type of earlier key rejects undef", "{name: a, to_first_found: [['Integer[1]', c], b]}\n" +
		"{name: b, to_lookup_of: a}\n[c, null]", ``, ``},
	{"no loop: lookup in a branch", "{name: a, to: \"${if $x { lookup('a') }}\"}", ``, ``},
	{"loop: through a contribution that collects", "{name: l, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: Array}\n{in: p, to_lookup_of: l}", ``, `1 error loop: 2 3`},
	{"loop: through a contribution that collects, where three conditions hold",
		"{when: {node: n}, bind: [{name: l, multibind_id: l, type: Array}]}\n" +
			"{when: {osfamily: f}, bind: [{in: l, multibind_id: p, type: Array}]}\n" +
			"{when: {environment: e}, bind: [{in: p, to_lookup_of: l}]}", ``, `1 error loop: 2 3`},
	{"no loop: contribution loses to a higher one", "{name: h, multibind_id: h, type: Hash}\n{in: h, name: x, to: 1}",
		`{in: h, name: x, to_lookup_of: h}`, ``},
	{"no loop: contribution to a list loses to a higher one",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", `{in: l, name: x, to_lookup_of: l}`, ``},
	{"loop: contribution wins on one node",
		"{name: h, multibind_id: h, type: Hash}\n{in: h, name: x, to: 1}\n" +
			"{when: {node: n}, bind: [{in: h, name: x, to_lookup_of: h}]}", ``, `1 error loop: 3`},
	{"loop: lower contribution is appended",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: append}}\n{in: h, name: x, to: 1}",
		`{in: h, name: x, to_lookup_of: h}`, `1 error loop: m1`},
	{"loop: contribution loses on one node only", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: x, to: 1}]}", `{in: h, name: x, to_lookup_of: h}`, `1 error loop: m1`},
	{"no loop: only the first contribution is used",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: ignore}}\n{in: h, name: x, to: 1}\n" +
			"{in: h, name: x, to_lookup_of: h}", ``, ``},
	{"loop: through a contribution, where two conditions hold",
		"{when: {node: n}, bind: [{name: l, multibind_id: l, type: Array}]}\n" +
			"{when: {osfamily: f}, bind: [{in: l, to_lookup_of: l}]}", ``, `1 error loop: 2`},
	{"loop: through a transformer", `{name: a, to: 1, transformer: "|$v| { lookup('a') }"}`, ``, `1 error loop:`},
	{"loop: through to_hash_lookup", "{name: a, to_hash_lookup: {name: b, key: c}}\n{name: b, to_lookup_of: a}", ``, `1 error loop: 2`},

	{"loop: contributions collect each other", "{name: m, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: Array}\n{in: p, multibind_id: l, type: Array}", ``,
		"2 error loop: 3\n3 warning multibind_id: 1"},
	{"loop: contributions collect each other, collected on one node", "" +
		"{when: {node: n}, bind: [{name: m, multibind_id: k, type: Array}]}\n{in: k, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: Array}\n{in: p, multibind_id: l, type: Array}", ``,
		"3 error loop: 4"},
	{"no loop: nothing collects the contributions", "{in: l, multibind_id: p, type: Array}\n" +
		"{in: p, multibind_id: l, type: Array}", ``, ``},
	{"no loop: multibinding is hidden", `[m, 1]`, "{name: m, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: Array}\n{in: p, multibind_id: l, type: Array}",
		"1 warning multibind_hidden: m1\nm3 warning multibind_id: m1"},
	{"loop: contribution loses on one node", "" +
		"{name: h, multibind_id: h, type: Hash}\n{in: h, name: x, to_lookup_of: h}\n" +
		"{when: {node: n}, bind: [{in: h, name: x, to: 1}]}", ``, `1 error loop: 2`},
	{"no loop: second key is hidden where the first is undef", "{name: a, to_first_found: [c, b]}\n" +
		"{name: b, to_lookup_of: a}\n{when: {node: n}, bind: [[c, null]]}\n{when: {node: n}, bind: [[b, 1]]}\n[c, 1]",
		``, ``},
	{"loop: after a lookup with a default", "{name: a, to: \"${lookup('none', undef, undef, 1)}${lookup('b')}\"}\n" +
		"{name: b, to_lookup_of: a}", ``,
		`1 error loop: 2`},

	{"lookup of a misspelt key", "[ntp::port, 1]\n{name: a, to: \"${lookup('ntp::prot')}\"}", ``,
		`2 warning key_unbound:`},
	{"lookup of a misspelt key on two nodes", "{when: {node: [n, m]}, bind: [{name: a, to_lookup_of: 'ntp::prot'}]}",
		`[ntp::port, 1]`, `1 warning key_unbound:`},
	{"misspelt key in to_first_found", "[ntp::port, 1]\n{name: a, to_first_found: [ntp::prot, ntp::port]}", ``,
		`2 warning key_unbound:`},
	{"lookup of an unbound key without a similar one", "[ntp::port, 1]\n{name: a, to_lookup_of: other}", ``,
		`2 warning key_unbound:`},
	{"optional lookup of an unbound key", "{name: a, to_lookup_of: other, optional: true}", ``, ``},

	{"loop: next to a chain of lookups", "{name: a, to: \"${lookup('a')}${lookup('c')}\"}\n{name: c, to_lookup_of: d}\n" +
		"{name: d, to_lookup_of: e}\n[e, 1]", ``, `1 error loop:`},
	{"loop: next to a key with to_first_found", "{name: a, to: \"${lookup('a')}${lookup('c')}\"}\n" +
		"{name: c, to_first_found: [d, e]}\n" +
		"{name: d, to_lookup_of: e}\n[e, 1]", ``, `1 error loop:`},
	{"loop: next to a multibinding with a chain of lookups", "{name: a, to: \"${lookup('a')}${lookup('l')}\"}\n" +
		"{name: l, multibind_id: l, type: Array}\n{in: l, to_first_found: [d, e]}\n" +
		"{name: d, to_lookup_of: e}\n[e, 1]\n" +
		"{when: {node: n}, bind: [{name: l, to_lookup_of: l}]}", ``,
		"1 error loop:\n6 error loop:\n6 warning multibind_hidden: 2"},
	{"loop: through one of two named contributions", "{name: h, multibind_id: h, type: Hash}\n{in: h, name: x, to: 1}\n" +
		"{in: h, name: y, to_lookup_of: h}", ``, `1 error loop: 3`},
	{"two loops on two nodes", "{when: {node: n}, bind: [{name: a, to_lookup_of: a}]}\n" +
		"{when: {node: m}, bind: [{name: a, to_lookup_of: a}]}", ``, "1 error loop:\n2 error loop:"},
	{"two loops under categories with equal values", "{when: {node: x, osfamily: y}, bind: [{name: a, to_lookup_of: a}]}\n" +
		"{when: {osfamily: x, environment: y}, bind: [{name: b, to_lookup_of: b}]}", ``,
		"1 error loop:\n2 error loop:"},
	{"no loop: key of to_first_found is hidden", `[b, 1]`, "{name: a, to_first_found: [b]}\n{name: b, to_lookup_of: a}", ``},
	{"no loop: unnamed contribution loses to a higher one",
		"{name: l, multibind_id: l, type: Array, options: {priority_on_unnamed: true}}\n{in: l, to: 1}",
		`{in: l, to_lookup_of: l}`, ``},
	{"loop: unnamed contribution is appended",
		"{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}",
		`{in: l, to_lookup_of: l}`, `1 error loop: m1`},
	{"loop: contribution precedes its multibinding",
		"{in: l, to_lookup_of: l}\n{name: l, multibind_id: l, type: Array}", ``, `2 error loop: 1`},
	{"loop: contribution is appended on one node", "{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}",
		`{when: {node: n}, bind: [{in: l, to_lookup_of: l}]}`, `1 error loop: m1`},
	{"no loop: hidden by an unconditional binding in a higher layer", "{when: {node: m}, bind: [[b, 1]]}\n[b, 2]",
		"{when: {node: n}, bind: [{name: a, to_lookup_of: b}, {name: b, to_lookup_of: a}]}", ``},
	{"no loop: narrower condition wins where both hold",
		"{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}\n" +
			"{when: {osfamily: f, environment: e}, bind: [[b, 1]]}", ``, ``},
	{"contribution of wrong type to a contribution that collects", "{name: l, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: 'Array[Integer]'}\n{in: p, to: x}", ``, `3 error type_mismatch: 2`},
	{"merged contribution is computed", "{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: merge}}\n" +
		"{in: h, name: a, to_lookup_of: b}", ``, `2 warning key_unbound:`},

	{"loop: where two conditions hold, next to hidden bindings", "" +
		"{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n{when: {environment: g}, bind: [{name: b, to_lookup_of: a}]}\n" +
		"{when: {osfamily: x, environment: e}, bind: [[b, 1]]}\n[b, 1]\n" +
		"{when: {osfamily: h, environment: x}, bind: [[a, 1]]}\n[a, 1]",
		"{when: {osfamily: f, environment: e}, bind: [[b, 1]]}\n{when: {osfamily: h, environment: g}, bind: [[a, 1]]}",
		`1 error loop: 2`},

	{"contribution to an unknown id", "{name: l, multibind_id: list, type: Array}\n{in: lists, to: 1}", ``,
		`2 warning multibind_unknown:`},
	{"two keys have the same multibind_id", "{name: a, multibind_id: l, type: Array}\n{name: b, multibind_id: l, type: Array}", ``,
		`2 warning multibind_id: 1`},
	{"one key has the same multibind_id in two layers", `{name: a, multibind_id: l, type: Array}`, `{name: a, multibind_id: l, type: Array}`, ``},
	{"unnamed contribution to a hash", "{name: h, multibind_id: h, type: Hash}\n{in: h, to: 1}", ``, `2 error multibind: 1`},
	{"unnamed contributions to a list", "{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}\n{in: l, to: 1}", ``, ``},
	{"contribution to merge is not a hash",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: merge}}\n{in: h, name: a, to: 1}", ``,
		`2 error multibind: 1`},
	{"contribution of wrong type", "{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: x}", ``,
		`2 error type_mismatch: 1`},
	{"two contributions with the same name", "{name: h, multibind_id: h, type: Hash}\n{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}", ``,
		`3 error duplicate: 2`},
	{"two contributions with the same name, list",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: a, to: 1}\n{in: l, name: a, to: 2}", ``,
		`3 error duplicate: 2`},
	{"two contributions with the same name, priority_on_named false",
		"{name: l, multibind_id: l, type: Array, options: {priority_on_named: false}}\n" +
			"{in: l, name: a, to: 1}\n{in: l, name: a, to: 2}", ``, ``},
	{"two unnamed contributions, priority_on_unnamed",
		"{name: l, multibind_id: l, type: Array, options: {priority_on_unnamed: true}}\n" +
			"{in: l, to: 1}\n{in: l, to: 2}", ``, `3 error duplicate: 2`},
	{"three contributions with the same name", "{name: h, multibind_id: h, type: Hash}\n" +
		"{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}\n{in: h, name: b, to: 2}\n{in: h, name: a, to: 2}", ``,
		"3 error duplicate: 2\n5 error duplicate: 2"},
	{"two contributions with the same name, ignore",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: ignore}}\n" +
			"{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}", ``, ``},
	{"two contributions with the same name in two layers",
		"{name: h, multibind_id: h, type: Hash}\n{in: h, name: a, to: 1}", `{in: h, name: a, to: 2}`, ``},
	{"two contributions with the same name in two layers, error",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n{in: h, name: a, to: 1}",
		`{in: h, name: a, to: 2}`, `m1 error duplicate: 2`},
	{"two contributions with the same name for two nodes", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{when: {node: m}, bind: [{in: h, name: a, to: 2}]}", ``,
		``},
	{"two contributions with the same name for one node", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{when: {node: n}, bind: [{in: h, name: a, to: 2}]}", ``,
		`3 error duplicate: 2`},
	{"two contributions with the same name below a third",
		"{name: h, multibind_id: h, type: Hash}\n{in: h, name: a, to: 0}",
		"{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}",
		``},
	{"three contributions with the same name for overlapping nodes", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: [n, m]}, bind: [{in: h, name: a, to: 1}]}\n" +
		"{when: {node: [m, o]}, bind: [{in: h, name: a, to: 2}]}\n" +
		"{when: {node: [n, m]}, bind: [{in: h, name: a, to: 3}]}", ``,
		"3 error duplicate: 2\n4 error duplicate: 2"},
	{"two contributions with the same name for each of two nodes", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: a, to: 1}, {in: h, name: a, to: 2}]}\n" +
		"{when: {node: m}, bind: [{in: h, name: a, to: 3}]}\n{when: {node: m}, bind: [{in: h, name: a, to: 4}]}", ``,
		"2 error duplicate: 2\n4 error duplicate: 3"},
	{"two contributions with the same name below a third, error",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n{in: h, name: a, to: 1}",
		"{in: h, name: a, to: 2}\n{in: h, name: a, to: 3}", "m1 error duplicate: 2\nm2 error duplicate: m1"},
	{"contributions with the same name in two layers and for a node, error",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n" +
			"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{in: h, name: a, to: 2}",
		"{in: h, name: a, to: 3}", "m1 error duplicate: 3"},
	{"contribution for one node with the name of another", "{name: h, multibind_id: h, type: Hash}\n" +
		"{in: h, name: a, to: 1}\n{when: {node: n}, bind: [{in: h, name: a, to: 2}]}", ``, ``},
	{"contribution for one node with the name of another, error",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n" +
			"{in: h, name: a, to: 1}\n{when: {node: n}, bind: [{in: h, name: a, to: 2}]}", ``, ``},
	{"contributions with the same name, collected twice", "{name: h, multibind_id: h, type: Hash}\n{name: g, multibind_id: h, type: Hash}\n" +
		"{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}", ``,
		"2 warning multibind_id: 1\n4 error duplicate: 3\n4 error duplicate: 3"},
	{"two unnamed contributions, two with the same name", "{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}\n" +
		"{in: l, to: 2}\n{in: l, name: a, to: 3}\n{in: l, name: a, to: 4}", ``, `5 error duplicate: 4`},
	{"contributions to a multibinding that is always hidden", `[l, 1]`,
		"{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: x}", `1 warning multibind_hidden: m1`},
	{"contributions to a multibinding that is hidden for one node", `{when: {node: n}, bind: [[l, 1]]}`,
		"{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: x}",
		"1 warning multibind_hidden: m1\nm2 error type_mismatch: m1"},
	{"contribution to a multibinding next to a binding of its key", "[l, 1]\n" +
		"{when: {node: n}, bind: [{name: l, multibind_id: l, type: 'Array[Integer]'}]}\n{in: l, to: x}", ``,
		`3 error type_mismatch: 2`},
	{"contribution to an invalid multibinding",
		"{name: l, multibind_id: l, type: Array, options: {conflict_resolution: merge}}\n{in: l, to: 1}", ``,
		`1 error attribute:`},
	{"invalid contribution", "{name: l, multibind_id: l, type: Array}\n{in: l, to: '${'}", ``,
		`2 error interpolation:`},
	{"computed contribution", "{name: l, multibind_id: l, type: 'Array[Integer]'}\n" +
		"{in: l, to_expression: '$x'}", ``, ``},
	{"text contribution with a transformer", "{name: l, multibind_id: l, type: 'Array[Integer]'}\n" +
		"{in: l, to: '${x}', transformer: '|$v| { 1 }'}", ``, ``},
	{"text contribution to a list of integers", "{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: '${x}'}",
		``, "2 error type_mismatch: 1"},
	{"hash contribution to merge",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: merge}}\n{in: h, name: a, to: {b: 1}}",
		``, ``},
	{"three keys have the same multibind_id", "{name: a, multibind_id: l, type: Array}\n{name: b, multibind_id: l, type: Array}\n" +
		"{name: c, multibind_id: l, type: Array}", ``, "2 warning multibind_id: 1\n3 warning multibind_id: 1"},
	{"duplicate contributions where the multibinding is not effective",
		"{when: {node: m}, bind: [{name: h, multibind_id: h, type: Hash}]}\n" +
			"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{when: {node: n}, bind: [{in: h, name: a, to: 2}]}",
		``, ``},

	{"lookup of an unbound key", `{name: b, to_lookup_of: a}`, ``, `1 warning key_unbound:`},
	{"lookup of an unbound key in a string", "{name: b, to: \"${lookup('a')}\"}", ``, ``},
	{"rename of an unbound key, sorted after its new name", `{name: new, to_renamed: aged}`, ``, `1 error rebind:`},
	{"an alias of an unbound key", `{name: new, to_alias_of: old}`, `[other, 1]`, `1 error rebind:`},
	{"a rename of an unbound key", `{name: new, to_renamed: old}`, `[other, 1]`, `1 error rebind:`},
	{"an alias of an alias of an unbound key", "{name: a, to_alias_of: b}\n{name: b, to_alias_of: c}", ``,
		`2 error rebind:`},
	{"an alias of a key in a value", "{name: a, to_alias_of: b.c}\n[b, {c: 1}]", ``, `1 error rebind:`},
	{"rebinding of a key that nothing else binds", `{rebind: a}`, `{rebind: a}`, "1 error rebind:\nm1 error rebind:"},
	{"rebinding of a name of contributions", "{rebind: x}\n{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}",
		``, `1 error rebind:`},
	{"an alias of the empty name", "{name: a, to_alias_of: ''}\n{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}", ``,
		`1 error rebind:`},
	{"an alias of a class", "{name: a, to_alias_of: ntp}\n{include: ntp}", ``, `1 error rebind:`},
	{"aliases of each other", "{name: a, to_alias_of: b}\n{name: b, to_alias_of: a}", ``, `1 error loop: 2`},
	{"aliases of each other, hidden by a higher layer", `[b, 1]`, "{name: a, to_alias_of: b}\n{name: b, to_alias_of: a}", ``},
	{"an alias of itself", `{name: a, to_alias_of: a}`, ``, `1 error rebind:`},
	{"loop: alias of a key that looks it up on one node", "{name: a, to_alias_of: b}\n{when: {node: n}, bind: " +
		"[{name: b, to_lookup_of: a}]}\n[b, 1]", ``, `1 error loop: 2`},
	{"loop: below an alias that declines", "{name: a, to_alias_of: b}\n{when: {node: n}, bind: [[b, 1]]}",
		`{name: a, to_lookup_of: a}`, `m1 error loop:`},
	{"loop: below an optional undef", `{name: a, to: null, optional: true}`, `{name: a, to_lookup_of: a}`,
		`m1 error loop:`},
	{"no loop: below an optional lookup with a value", `{name: a, to_lookup_of: b, optional: true}`,
		"{name: a, to_lookup_of: a}\n[b, 1]", ``},
	{"loop: below an optional lookup with a value on one node", `{name: a, to_lookup_of: b, optional: true}`,
		"{name: a, to_lookup_of: a}\n{when: {node: n}, bind: [[b, 1]]}", `m1 error loop:`},
	{"loop: below an optional lookup that is undef on one node", `{name: a, to_lookup_of: b, optional: true}`,
		"{name: a, to_lookup_of: a}\n{when: {node: n}, bind: [[b, null]]}\n[b, 1]", `m1 error loop:`},
	{"loop: below optional undefs, where two conditions hold",
		"{name: a, to: null, optional: true}\n{name: b, to: null, optional: true}",
		"{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}", `m1 error loop: m2`},
	{"loop: below an optional lookup of an alias of undef",
		"{name: a, to_lookup_of: b, optional: true}\n{name: b, to_alias_of: c}\n{name: c, to: null, optional: true}",
		`{name: a, to_lookup_of: a}`, `m1 error loop:`},
	{"no loop: below an optional lookup of an alias with a value",
		"{name: a, to_lookup_of: b, optional: true}\n{name: b, to_alias_of: c}\n[c, 1]",
		`{name: a, to_lookup_of: a}`, ``},
	{"loop of aliases above a key that looks itself up",
		"{name: a, to_lookup_of: b, optional: true}\n{name: b, to_alias_of: c}\n{name: c, to_alias_of: b}",
		`{name: a, to_lookup_of: a}`, `2 error loop: 3`},
	{"loop: below an optional lookup of a renamed key",
		"{name: a, to_lookup_of: b, optional: true}\n{name: new, to_renamed: b}", "{name: a, to_lookup_of: a}\n[b, 1]",
		`m1 error loop:`},
	{"no loop: below an alias of undef", "{name: a, to_alias_of: b}\n[b, null]", `{name: a, to_lookup_of: a}`, ``},
	{"rename of an unbound key, looked up by its new name", `{name: new, to_renamed: old}`,
		`{name: zz, to_lookup_of: new}`, `1 error rebind:`},
	{"loop: below an optional expression", `{name: a, to_expression: '$x', optional: true}`,
		`{name: a, to_lookup_of: a}`, `m1 error loop:`},
	{"loop: below an optional entry of $facts",
		`{name: a, to_expression: "$facts['x']['y']", optional: true}`, `{name: a, to_lookup_of: a}`, `m1 error loop:`},
	{"no loop: below an optional expression with a default",
		`{name: a, to_expression: 'if $x { undef } else { 1 }', optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"no loop: below an optional fact that may be derived",
		`{name: a, to_expression: '$hostname', optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"no loop: below an optional fact of a category",
		`{name: a, to_expression: '$osfamily', optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"loop: below an optional expression with $facts.get",
		`{name: a, to_expression: "$facts.get('x')", optional: true}` + "\n" + `{name: b, to_expression: '$facts', optional: true}`,
		"{name: a, to_lookup_of: a}\n{name: b, to_lookup_of: b}", `m1 error loop:`},
	{"loop of two keys: below optional expressions", "{name: a, to_expression: '$x', optional: true}\n" +
		"{name: b, to_expression: '$y ? { undef => undef, default => 1 }', optional: true}",
		"{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", `m1 error loop: m2`},
	{"loop: below an optional expression that looks up a key of one node",
		`{name: a, to_expression: "lookup('b')", optional: true}`,
		"{name: a, to_lookup_of: a}\n{when: {node: n}, bind: [[b, 1]]}", `m1 error loop:`},
	{"no loop: below an optional expression that looks up a bound key",
		`{name: a, to_expression: "lookup('b')", optional: true}`, "{name: a, to_lookup_of: a}\n[b, 1]", ``},
	{"loop: below an optional expression that looks up undef",
		`{name: a, to_expression: "lookup('b')", optional: true}`, "{name: a, to_lookup_of: a}\n[b, null]", `m1 error loop:`},
	{"no loop: below an optional expression that looks up an expression",
		`{name: a, to_expression: "lookup('b')", optional: true}`,
		"{name: a, to_lookup_of: a}\n{name: b, to_expression: '$x'}", ``},
	{"loop: next to a loop below an optional expression with a value",
		`{name: a, to_expression: "lookup('b')", optional: true}`,
		"{name: a, to_lookup_of: c}\n{name: c, to_lookup_of: a}\n{when: {node: n}, bind: [{name: c, to_lookup_of: d}, [b, 1]]}\n" +
			"{name: d, to_lookup_of: a}",
		`m1 error loop: m2`},
	{"no loop: below an optional expression that looks up its own layer",
		"{name: a, to_expression: \"lookup('b')\", optional: true}\n[b, 1]", `{name: a, to_lookup_of: a}`, ``},
	{"no loop: below an optional lookup in its own layer",
		"{name: a, to_lookup_of: b, optional: true}\n[b, 1]", `{name: a, to_lookup_of: a}`, ``},
	{"no loop: below an optional expression whose lookup has a default",
		`{name: a, to_expression: "lookup('b', undef, undef, 1)", optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"no loop: below an optional expression with a derived fact",
		`{name: a, to_expression: '$hostname ? { undef => $x, default => 1 }', optional: true}`,
		`{name: a, to_lookup_of: a}`, ``},
	{"loop: optional expression looks itself up",
		`{name: a, to_expression: "lookup('a')", optional: true}`, `{name: a, to_lookup_of: a}`, `1 error loop:`},
	{"loop: optional expressions look each other up",
		"{name: a, to_expression: \"lookup('b')\", optional: true}\n{name: b, to_expression: \"lookup('a')\", optional: true}",
		"{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", `1 error loop: 2`},
	{"no loop: below an optional server fact",
		`{name: a, to_expression: "$server_facts['x']", optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"no loop: below an optional trusted fact",
		`{name: a, to_expression: "$trusted['x']", optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"no loop: below an optional lookup whose type rejects undef",
		`{name: a, to_expression: "lookup('b', Integer[1])", optional: true}`, "{name: a, to_lookup_of: a}\n[b, null]", ``},
	{"no loop: below an optional expression that fails",
		`{name: a, to_expression: "'x' + 1", optional: true}`, "{name: a, to_lookup_of: a}", ``},
	{"no loop: branch of an optional expression looks up a bound key, above a loop",
		`{name: a, to_expression: "if $x { 1 } else { lookup('b') }", optional: true}`, "{name: a, to_lookup_of: a}\n[b, 1]", ``},
	{"loop: branch of an optional expression looks up an unbound key, above a loop",
		`{name: a, to_expression: "if $x { 1 } else { lookup('b') }", optional: true}`, "{name: a, to_lookup_of: a}", `m1 error loop:`},
	{"loop: earlier key of to_first_found is an optional expression", "{name: a, to_first_found: [b, a2]}\n" +
		"{name: b, to_expression: '$x', optional: true}\n{name: a2, to_lookup_of: a}", ``, `1 error loop: 3`},
	{"optional multibinding", "{name: l, multibind_id: l, type: Array, optional: true}\n{in: l, to: 1}", ``,
		`1 error optional:`},
	{"loop: below a rebinding", `{rebind: a}`, `{name: a, to_lookup_of: a}`, `1 error loop: m1`},
	{"rebinding of a constant", `{rebind: a}`, `[a, 1]`, ``},
	{"loop: key is renamed to the key it looks up", `{name: new, to_renamed: old}`, `{name: old, to_lookup_of: new}`, `1 error loop: m1`},
	{"key is renamed and looked up by its old name", "{name: new, to_renamed: old}\n[a, 1]", `{name: old, to_lookup_of: a}`, ``},
	{"loop: earlier key of to_first_found is renamed", "{name: a, to_first_found: [old, b]}\n{name: new, to_renamed: old}\n" +
		"{name: b, to_lookup_of: a}", `[old, 1]`, `1 error loop: 3`},
	{"loop: earlier key of to_first_found is renamed on one node", "{name: a, to_first_found: [old, b]}\n" +
		"{when: {node: n}, bind: [{name: new, to_renamed: old}]}\n{name: b, to_lookup_of: a}", `[old, 1]`,
		`1 error loop: 3`},

	{"rename of a key that only a higher layer binds", `[old, 1]`, `{name: new, to_renamed: old}`, `m1 warning rebind:`},
	{"rename on one node of a key bound on another", `{when: {node: n}, bind: [{name: new, to_renamed: old}]}`,
		`{when: {node: m}, bind: [[old, 1]]}`, `1 warning rebind:`},
	{"rename of a key bound on one node", `{name: new, to_renamed: old}`, `{when: {node: n}, bind: [[old, 1]]}`, ``},
	{"rename on two nodes of a key bound on one of them",
		`{when: {node: [n, m]}, bind: [{name: new, to_renamed: old}]}`, `{when: {node: m}, bind: [[old, 1]]}`, ``},
	{"two renames of a key without a lower binding", "{when: {node: n}, bind: [[old, 1]]}\n" +
		"{name: a, to_renamed: old}", "{name: b, to_renamed: old}", "2 warning rebind:\nm1 warning rebind:"},
	{"alias of a key that only a higher layer binds", `[old, 1]`, `{name: new, to_alias_of: old}`, ``},
	{"rebinding of a key that only a higher layer binds", `[a, 1]`, `{rebind: a}`, `m1 warning rebind:`},
	{"rebinding under two conditions of a key bound on another node", "{when: [{node: n}, {osfamily: f}], bind: [{rebind: a}]}\n" +
		"{when: {node: m}, bind: [[a, 1]]}", ``, `1 warning rebind:`},

	{"rename and binding of a key with equal precedence", "{name: new, to_renamed: old}\n[old, 1]", ``, "1 error conflict: 2\n1 warning rebind:"},
	{"rename and binding with equal precedence, hidden by a higher layer", `{when: {node: n}, bind: [[old, 0]]}`,
		"{when: {node: n}, bind: [{name: new, to_renamed: old}]}\n{when: {node: n}, bind: [[old, 1]]}\n[old, 2]",
		`m1 error conflict: m2`},
	{"rename and binding of its new name", "{name: new, to_renamed: old}\n[new, 1]", `[old, 1]`, `1 error conflict: 2`},
	{"alias and binding of its name", "{name: new, to_alias_of: old}\n[new, 1]", `[old, 1]`, `1 error conflict: 2`},
	{"bound twice below a rename", `{name: new, to_renamed: old}`, "[old, 1]\n[old, 2]", `m1 error conflict: m2`},
	{"bound twice below a rename and once above it", `[old, 1]`,
		"{when: {node: n}, bind: [{name: new, to_renamed: old}]}\n[old, 2]\n[old, 3]", `m2 error conflict: m3`},
	{"bound twice below an optional binding", `{name: a, to_lookup_of: b, optional: true}`, "[a, 1]\n[a, 2]\n[b, 1]",
		`m1 error conflict: m2`},
	{"abstract, only an optional binding above", `{name: a, to_lookup_of: b, optional: true}`,
		"{name: a, abstract: true}\n[b, 1]", `m1 error abstract:`},
	{"override of an optional binding", `{name: a, override: true, to: 1}`,
		"{name: a, to_lookup_of: b, optional: true}\n[b, 1]", `1 error override:`},

	{"contributions renamed twice", "{name: new, to_renamed: x}\n{name: newer, to_renamed: x}",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", `1 error conflict: 2`},
	{"contributions renamed three times", "{name: a, to_renamed: x}\n{name: b, to_renamed: x}\n" +
		"{name: c, to_renamed: x}", "{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}",
		"1 error conflict: 2\n2 error conflict: 3"},
	{"contributions renamed for different nodes", "{when: {node: n}, bind: [{name: a, to_renamed: x}]}\n" +
		"{when: {node: m}, bind: [{name: b, to_renamed: x}]}",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", ``},
	{"contributions renamed for all, and for some", "{name: a, to_renamed: x}\n" +
		"{when: {node: n}, bind: [{name: b, to_renamed: x}]}",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", ``},
	{"contributions renamed in two layers", "{name: a, to_renamed: x}",
		"{name: b, to_renamed: x}\n{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", ``},
	{"contributions to another multibinding renamed", "{name: a, to_renamed: x}",
		"{name: l, multibind_id: l, type: Hash}\n{in: l, name: x, to: 1}\n{name: m, multibind_id: m, type: Hash}\n" +
			"{in: m, name: y, to: 1}\n{in: m, name: y, to: 2}", "m5 error duplicate: m4"},
	{"contributions with two aliases", "{name: a, to_alias_of: x}\n{name: b, to_alias_of: x}",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", ``},
	{"contributions that nothing collects, renamed", "{name: a, to_renamed: x}", "{in: l, name: x, to: 1}",
		`m1 warning multibind_unknown:`},
	{"contributions of one name that is renamed", "{when: {node: n}, bind: [{name: a, to_renamed: x}]}",
		"{name: l, multibind_id: l, type: Hash}\n{in: l, name: x, to: 1}\n{in: l, name: x, to: 2}", ``},
	{"contributions of one name that may decline", "[b, 1]",
		"{name: l, multibind_id: l, type: Hash}\n{in: l, name: x, to: 1}\n" +
			"{in: l, name: x, to_lookup_of: b, optional: true}", ``},

	{"a class included and excluded", "{include: a}\n{exclude: a}", ``, `1 error conflict: 2`},
	{"a class excluded and included", "{exclude: a}\n{include: a}", ``, `1 error conflict: 2`},
	{"a class included twice", "{include: a}\n{include: a}", ``, ``},
	{"a class included, another excluded", "{include: a}\n{exclude: b}", ``, ``},
	{"a class excluded in the layer above", `{exclude: a}`, `{include: a}`, ``},
	{"a class included and excluded for different nodes", "{when: {node: n}, bind: [{include: a}]}\n" +
		"{when: {node: m}, bind: [{exclude: a}]}", ``, ``},
	{"a class included and excluded where two conditions meet", "{when: {node: [n, m]}, bind: [{include: a}]}\n" +
		"{when: {node: [m, o]}, bind: [{exclude: a}]}", ``, `1 error conflict: 2`},
	{"a class included and excluded below an inclusion", `{include: a}`, "{include: a}\n{exclude: a}", ``},
	{"a class included and excluded below an inclusion for some", `{when: {node: n}, bind: [{include: a}]}`,
		"{include: a}\n{exclude: a}", `m1 error conflict: m2`},
	{"a class excluded twice, and included", "{exclude: a}\n{exclude: a}\n{include: a}", ``, `1 error conflict: 3`},
	{"a class excluded, and included twice", "{exclude: a}\n{include: a}\n{include: a}", ``, `1 error conflict: 2`},
	{"a class included and excluded in each of two layers, for different nodes",
		"{when: {node: n}, bind: [{include: a}, {exclude: a}]}", "{include: a}\n{exclude: a}",
		"1 error conflict: 1\nm1 error conflict: m2"},
	{"classes, each of them included and excluded", "{include: [a, b]}\n{exclude: [a, b]}", ``,
		"1 error conflict: 2\n1 error conflict: 2"},

	{"parameters of an unbound target", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]', options: {map: {dbuser: user}}}", ``, `1 error rebind:`},
	{"parameters of a target without parameters", `{parameters: 'Web[one]', to: 'Sql[one]'}`, `{parameters: Web, to: {a: 1}}`,
		`1 error map_required:`},
	{"parameters of a target with other parameters", `{parameters: 'Web[one]', to: 'Sql[one]'}`,
		"{parameters: Web, to: {a: 1}}\n{parameters: 'Sql[one]', to: {b: 1}}", `1 error map_required:`},
	{"parameters of two targets at one precedence", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]', options: {map: {a: b}}}\n" +
		"{parameters: 'Web[one]', to: 'Sql[two]', options: {map: {a: c}}}",
		"{parameters: 'Sql[one]', to: {b: 1}}\n{parameters: 'Sql[two]', to: {c: 1}}", `1 error conflict: 2`},
	{"parameters of two targets, each from the other", "{parameters: 'Web[one]', to: 'Sql[one]', options: {map: {a: b}}}\n" +
		"{parameters: 'Sql[one]', to: 'Web[one]', options: {map: {b: a}}}", ``, `1 error loop: 2`},
	{"parameters by a map with an invalid name", "{parameters: 'Web[one]', to: 'Sql[one]', optional: true}\n" +
		"{map: [Web, Sql], to: {a: B-x}}", ``, `2 error attribute:`},
	{"parameters marked override without a lower binding", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]', override: true, options: {map: {a: b}}}",
		"{parameters: 'Sql[one]', to: {b: 1}}", `1 error override:`},
}

func TestReportsMistakesInStructuredBindings(t *testing.T) { checkReports(t, reports) }

func checkReports(t *testing.T, all []struct{ name, site, module, want string }) {
	t.Helper()
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(compiled(t, c.site, c.module), "\n"); got != c.want {
				t.Errorf("reported is\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}

// compiled returns the diagnostics of a site and its module db.
func compiled(t *testing.T, site, module string) []string {
	t.Helper()
	var out []string
	for _, d := range reported(t, site, module) {
		line := fmt.Sprintf("%s %v %s:", lineOf(d.Pos), d.Severity, d.Code)
		for _, n := range d.Notes {
			line += " " + lineOf(n.Pos)
		}
		out = append(out, line)
	}
	return out
}

func reported(t *testing.T, site, module string) []diag.Diagnostic {
	t.Helper()
	return reportedWith(t, Options{}, site, module)
}

func reportedWith(t *testing.T, opts Options, site, module string) []diag.Diagnostic {
	t.Helper()
	dir := t.TempDir()
	writeBindings(t, filepath.Join(dir, "bindings"), "default", site)
	if module != "" {
		writeBindings(t, filepath.Join(dir, "modules", "db", "bindings"), "db::default", module)
	}
	var diags diag.List
	Compile(loader.Load(dir, loader.Options{}, &diags), opts, &diags)
	return diags.Sorted()
}

// An unset variable makes the lookup fail, so the optional binding does not decline, and the loop below it is not
// reached.
func TestStrictVariableMakesOptionalBindingFail(t *testing.T) {
	const site, module = `{name: a, to_expression: '$x', optional: true}`, `{name: a, to_lookup_of: a}`
	for strict, want := range map[bool]int{false: 1, true: 0} {
		if got := reportedWith(t, Options{StrictVariables: strict}, site, module); len(got) != want {
			t.Errorf("strict is %t: reported is %v", strict, got)
		}
	}
}

func writeBindings(t *testing.T, dir, name, list string) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "default.yaml"),
		"{bindings_version: 1, name: '"+name+"', bind: [\n"+strings.ReplaceAll(list, "\n", ",\n")+"\n]}\n")
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err = errors.Join(err, os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

func lineOf(at diag.Pos) string {
	if strings.Contains(at.File, "modules") {
		return fmt.Sprintf("m%d", at.Line-1)
	}
	return fmt.Sprint(at.Line - 1)
}

// The message names the binding, its condition and layer, and the fix.
func TestMessagesNameConditionLayerAndFix(t *testing.T) {
	for _, c := range []struct{ name, site, module, want string }{
		{"conflict", "{when: {node: n, osfamily: [f]}, bind: [[a, 1], [a, 2]]}", ``,
			"'a' is bound twice with the same precedence where node is 'n' and osfamily is 'f' in layer 'site'\n" +
				"also bound here\n" +
				"bind 'a' once in a higher layer or under a narrower condition, or remove one of the two"},
		{"abstract", `{when: {node: n}, bind: [{name: a, abstract: true}]}`, ``,
			"'a' is abstract where node is 'n' and nothing of higher precedence binds it\n" +
				"bind 'a' in a higher layer or under a condition of higher precedence"},
		{"abstract for some", `{when: {node: n}, bind: [[a, 1]]}`, `{name: a, abstract: true}`,
			"the abstract binding of 'a' is bound only under some conditions; " +
				"in other requests a lookup is an error\n" +
				"bound here where node is 'n'"},
		{"override", "{when: {node: n}, bind: [{name: port, override: true, to: 1}]}\n[prot, 1]", ``,
			"'port' is marked 'override' where node is 'n', but nothing of lower precedence binds it\n" +
				"did you mean 'prot'?"},
		{"override for some", `{name: a, override: true, to: 1}`, `{when: {node: n}, bind: [[a, 1]]}`,
			"'a' overrides another binding only in some of the requests in which it is effective\n" +
				"overridden here where node is 'n'"},
		{"override that is only overridden", "{name: a, override: true, to: 1}\n{when: {node: n}, bind: [[a, 2]]}", ``,
			"'a' is marked 'override', but does not override a binding, and another one overrides it\n" +
				"it is overridden here where node is 'n'"},
		{"loop", "{name: l, multibind_id: parts, type: Array}\n{when: {node: n}, bind: [{in: parts, to_lookup_of: l}]}",
			``, "'l' depends on itself: l -> multibind parts -> l where node is 'n'\n" +
				"the contribution to multibind parts is here"},
		{"loop of keys", "{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", ``,
			"'a' depends on itself: a -> b -> a\n'b' is bound here"},
		{"misspelt", "[ntp::port, 1]\n{name: a, to_lookup_of: 'ntp::prot'}", ``,
			"this looks up 'ntp::prot', which nothing binds\ndid you mean 'ntp::port'?"},
		{"contribution to an unknown id", "{name: l, multibind_id: list, type: Array}\n{in: lists, to: 1}", ``,
			"no multibinding has the id 'lists'; this contribution is never used\ndid you mean 'list'?"},
		{"two keys have the same multibind_id", "{name: a, multibind_id: l, type: Array}\n{name: b, multibind_id: l, type: Array}", ``,
			"'b' and 'a' collect the same contributions: both have the id 'l'\nthe other multibinding"},
		{"alias of a key that nothing binds", "[ntp::server, 1]\n{name: a, to_alias_of: 'ntp::sever'}", ``,
			"'a' is an alias of 'ntp::sever', which nothing binds\ndid you mean 'ntp::server'?"},
		{"alias of a contribution", "{name: l, multibind_id: l, type: Array}\n{in: l, name: first, to: 1}\n" +
			"{name: a, to_alias_of: frist}", ``,
			"'a' is an alias of 'frist', which nothing binds\ndid you mean 'first'?"},
		{"rename of an unbound key similar to its own name", `{name: 'ntp::servers', to_renamed: 'ntp::server'}`, ``,
			"'ntp::servers' is the new name of 'ntp::server', which nothing binds"},
		{"a rebinding of an unbound key", `{rebind: 'ntp::server'}`, ``,
			"'ntp::server' rebinds 'ntp::server', which nothing binds"},
		{"a rebinding above which the key is bound", `[a, 1]`, `{rebind: a}`, "nothing that binds 'a' is below this: it has no effect\n" +
			"move it to a higher layer, or to a condition of higher precedence, than the binding it changes"},
		{"renamed twice", "{when: {node: n}, bind: [{name: b, to_renamed: a}, {name: c, to_renamed: a}]}\n[a, 1]", ``,
			"'a' is renamed, and bound or renamed again with the same precedence where node is 'n' in layer 'site'\n" +
				"also bound or renamed here\n" +
				"move the rename to a higher layer, or to a narrower condition, than the binding it renames"},
		{"contributions renamed twice", "{when: {node: n}, bind: [{name: b, to_renamed: a}, {name: c, to_renamed: a}]}\n" +
			"{name: l, multibind_id: l, type: Array}\n{in: l, name: a, to: 1}", ``,
			"'a' is renamed, and bound or renamed again with the same precedence where node is 'n' in layer 'site'\n" +
				"also bound or renamed here\n" +
				"move the rename to a higher layer, or to a narrower condition, than the binding it renames"},
		{"bound next to an alias", "{name: a, to_alias_of: b}\n[a, 1]\n[b, 1]", ``,
			"'a' is bound twice with the same precedence in layer 'site'\nalso bound here\n" +
				"bind 'a' once in a higher layer or under a narrower condition, or remove one of the two"},
		{"class", "{when: {node: n}, bind: [{exclude: ntp}, {include: ntp}]}", ``,
			"the class 'ntp' is excluded here, and included with the same precedence where node is 'n' in layer 'site'\n" +
				"it is included here\ninclude or exclude 'ntp' in a higher layer or under a narrower condition, or remove " +
				"one of the two"},
		{"no map", "{parameters: 'Web[one]', to: 'Sql[one]'}", ``,
			"cannot determine which parameters of Sql[one] give Web[one] its parameters: there is no map, " +
				"and no parameter is bound for both\n" +
				"bind a map of the two types, or write the option 'map' here"},
		{"duplicate", "{name: h, multibind_id: h, type: Hash}\n{when: {node: n}, bind: [{in: h, name: a, to: 1}, " +
			"{in: h, name: a, to: 2}]}", ``,
			"two contributions to 'h' have the same name and precedence where node is 'n'\nthe other one"},
		{"duplicate that is an error",
			"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n{in: h, name: a, to: 1}",
			`{in: h, name: a, to: 2}`, "two contributions to 'h' have the same name\nthe other one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := reported(t, c.site, c.module)
			if len(found) != 1 {
				t.Fatalf("reported is %v", found)
			}
			got := []string{found[0].Message}
			for _, n := range found[0].Notes {
				got = append(got, n.Message)
			}
			if found[0].Hint != "" {
				got = append(got, found[0].Hint)
			}
			if got := strings.Join(got, "\n"); got != c.want {
				t.Errorf("the message is\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}
