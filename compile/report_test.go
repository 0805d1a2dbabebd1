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

// reports lists sites of structured bindings and their diagnostics: line, severity, code, and the
// lines of the notes. Line 1 is the first binding after 'bind:'. Lines of the module db are written
// m1, m2 and so on.
var reports = []struct{ name, site, module, want string }{
	{"one binding", `[a, 1]`, ``, ``},
	{"bound twice", "[a, 1]\n[a, 1]", ``, `1 error conflict: 2`},
	{"in two layers", `[a, 1]`, `[a, 2]`, ``},
	{"twice in the lower of two layers", `[b, 1]`, "[a, 1]\n[a, 2]", `m1 error conflict: m2`},
	{"twice, hidden by the higher layer", `[a, 1]`, "[a, 1]\n[a, 2]", ``},
	{"twice, hidden for one value", `{when: {node: n}, bind: [[a, 1]]}`, "[a, 1]\n[a, 2]",
		`m1 error conflict: m2`},
	{"under values of one category",
		"{when: {node: n}, bind: [[a, 1]]}\n{when: {node: m}, bind: [[a, 2]]}", ``, ``},
	{"under one value twice",
		"{when: {node: n}, bind: [[a, 1]]}\n{when: {node: N}, bind: [[a, 2]]}", ``, `1 error conflict: 2`},
	{"twice under each of two values", "{when: {node: n}, bind: [[a, 1], [a, 2]]}\n" +
		"{when: {node: m}, bind: [[a, 1], [a, 2]]}", ``, "1 error conflict: 1\n2 error conflict: 2"},
	{"under two categories",
		"{when: {osfamily: debian}, bind: [[a, 1]]}\n{when: {environment: test}, bind: [[a, 2]]}", ``, ``},
	{"one of two alternatives",
		"{when: {node: [n, m]}, bind: [[a, 1]]}\n{when: {node: [m, o]}, bind: [[a, 2]]}", ``, `1 error conflict: 2`},
	{"hidden by a narrower condition of the same layer",
		"{when: {node: n}, bind: [[a, 1]]}\n{when: {osfamily: f, node: n}, bind: [[a, 1]]}\n[a, 3]", ``, ``},

	{"abstract, nothing binds it", `{name: a, abstract: true}`, ``, `1 error abstract:`},
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
	{"abstract and concrete of one precedence", "{name: a, abstract: true}\n[a, 1]", ``,
		"1 error abstract:\n1 error conflict: 2"},

	{"abstract, hidden by one of two alternatives", "{when: {node: [n, m]}, bind: [[a, 1]]}",
		"{when: {node: [m, n]}, bind: [{name: a, abstract: true}]}\n[a, 1]", ``},
	{"abstract under two alternatives, one bound above", "{when: {node: n}, bind: [[a, 1]]}",
		"{when: {node: [m, n]}, bind: [{name: a, abstract: true}]}", `m1 warning abstract: 1`},
	{"abstract under alternatives, one hiding the other", "" +
		"{when: [{osfamily: f}, {osfamily: f, node: n}], bind: [{name: a, abstract: true}]}", ``, `1 error abstract:`},
	{"abstract, bound below by a lookup", `{name: a, abstract: true}`, `{name: a, to_lookup_of: b}`,
		"1 error abstract:\nm1 warning key_unbound:"},
	{"abstract, bound above by a long form", `{name: a, to_lookup_of: b, sensitive: true}`,
		`{name: a, abstract: true}`, `1 warning key_unbound:`},
	{"abstract, bound above for one node by a long form",
		`{when: {node: n}, bind: [{name: a, to_lookup_of: b, sensitive: true}]}`, `{name: a, abstract: true}`,
		"1 warning key_unbound:\nm1 warning abstract: 1"},
	{"override, nothing there", `{name: a, override: true, to: 1}`, `[b, 1]`, `1 error override:`},
	{"override of the layer below", `{name: a, override: true, to: 1}`, `[a, 1]`, ``},
	{"override of the same layer", "{when: {node: n}, bind: [{name: a, override: true, to: 1}]}\n[a, 2]", ``, ``},
	{"override of a key bound for one node", `{name: a, override: true, to: 1}`, `{when: {node: n}, bind: [[a, 1]]}`,
		`1 warning override: m1`},
	{"override that is only beaten", "{name: a, override: true, to: 1}\n{when: {node: n}, bind: [[a, 2]]}", ``,
		`1 warning override: 2`},
	{"override that is always hidden", `[a, 1]`, `{name: a, override: true, to: 1}`, ``},

	{"override whose own alternative does not count", "{when: [{node: n}, {common: 'true'}], " +
		"bind: [{name: a, override: true, to: 1}]}", ``, `1 error override:`},
	{"override under two alternatives, the second beating nothing",
		"{when: {node: [n, m]}, bind: [{name: a, override: true, to: 1}]}",
		`{when: {node: n}, bind: [[a, 1]]}`, `1 warning override: m1`},
	{"override under two alternatives, the first beating nothing",
		"{when: {node: [n, m]}, bind: [{name: a, override: true, to: 1}]}",
		`{when: {node: m}, bind: [[a, 1]]}`, `1 warning override: m1`},
	{"override of a binding of equal precedence", "{name: a, override: true, to: 1}\n[a, 2]", ``,
		"1 error conflict: 2\n1 error override:"},
	{"override under two alternatives, each beating something",
		"{when: {node: [n, m]}, bind: [{name: a, override: true, to: 1}]}",
		`{when: {node: [n, m]}, bind: [[a, 1]]}`, ``},
	{"override under two alternatives, one hidden", `{when: {node: n}, bind: [[a, 1]]}`,
		"{when: {node: [n, m]}, bind: [{name: a, override: true, to: 1}]}\n{when: {osfamily: f}, bind: [[a, 1]]}\n" +
			"[b, 1]", `m1 warning override: m2`},
	{"override under two alternatives, the hidden one beating another binding", `{when: {node: n}, bind: [[a, 1]]}`,
		"{when: [{node: n}, {osfamily: f}], bind: [{name: a, override: true, to: 1}]}\n" +
			"{when: {osfamily: g}, bind: [[a, 2]]}", `m1 error override:`},
	{"override beats a binding for all, is beaten for one node", "{when: {node: n}, bind: [[a, 1]]}\n" +
		"{when: {osfamily: f}, bind: [{name: a, override: true, to: 1}]}\n[a, 3]", ``, ``},
	{"override beats a binding for all, and another for some",
		"{when: {node: n}, bind: [{name: a, override: true, to: 1}]}\n[a, 2]", `{when: {osfamily: f}, bind: [[a, 3]]}`,
		``},
	{"override beaten only from a higher layer", `{when: {node: n}, bind: [[a, 1]]}`,
		"{name: a, override: true, to: 1}", `m1 error override:`},

	{"needs itself", `[a, "${lookup('a')}"]`, ``, `1 error loop:`},
	{"two keys need each other", "{name: b, to_lookup_of: a}\n{name: a, to_lookup_of: b}", ``, `1 error loop: 2`},
	{"after an unbound alternative", "{name: a, to_first_found: [none, b]}\n{name: b, to_lookup_of: a}", ``,
		`1 error loop: 2`},
	{"through the first alternative",
		"{name: a, to_first_found: [b, c]}\n{name: b, to_lookup_of: a}\n[c, 1]", ``,
		`1 error loop: 2`},
	{"next to a key that is not part of the loop", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n" +
		"{when: {node: n}, bind: [{name: c, to_first_found: [d]}]}\n[d, 1]", ``,
		`1 error loop: 2`},
	{"after an alternative that is found", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n[c, 1]", ``, ``},
	{"after an alternative that some nodes lack",
		"{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n{when: {node: n}, bind: [[c, 1]]}", ``,
		`1 error loop: 2`},
	{"after an alternative that is undef", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n[c, null]", ``,
		`1 error loop: 2`},
	{"the key it needs is hidden", `[b, 1]`, "{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", ``},
	{"the key its expression needs is hidden", `[b, 1]`,
		"{name: a, to: \"${lookup('b')}\"}\n{name: b, to_lookup_of: a}", ``},
	{"one loop for all nodes, one for some", "{name: a, to: \"${lookup('b')}${lookup('c')}\"}\n" +
		"{name: b, to_lookup_of: a}\n[c, 1]\n{when: {node: n}, bind: [{name: c, to_lookup_of: a}]}", ``,
		"1 error loop: 2\n1 error loop: 4"},
	{"after a binding that does not apply", "{name: a, to: \"${lookup('b')}\"}\n" +
		"{when: {osfamily: f}, bind: [[b, 1]]}\n{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}\n[b, 1]",
		`{when: {osfamily: g}, bind: [[b, 1]]}`, `1 error loop: 3`},
	{"for one node", "[a, 1]\n{name: b, to_lookup_of: a}\n{when: {node: n}, bind: [{name: a, to_lookup_of: b}]}", ``,
		`2 error loop: 3`},
	{"for different nodes", "[b, 1]\n[a, 1]\n{when: {node: m}, bind: [{name: b, to_lookup_of: a}]}\n" +
		"{when: {node: n}, bind: [{name: a, to_lookup_of: b}]}", ``, ``},
	{"through a contribution", "{name: l, multibind_id: l, type: Array}\n{in: l, to_lookup_of: l}", ``,
		`1 error loop: 2`},
	{"through a contribution for one node",
		"{name: l, multibind_id: l, type: Array}\n{when: {node: n}, bind: [{in: l, to_lookup_of: l}]}", ``,
		`1 error loop: 2`},
	{"where two conditions meet", "{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
		"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}", ``, `1 error loop: 2`},
	{"where two conditions meet, hidden there", "{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
		"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}\n" +
		"{when: {osfamily: f, environment: e}, bind: [[a, 1]]}", ``, ``},
	{"where two conditions meet, hidden for one of them",
		"{when: {osfamily: f}, bind: [[b, 1]]}", "{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}", ``},
	{"where three conditions meet", "{when: {node: n}, bind: [{name: a, to_lookup_of: b}]}\n" +
		"{when: {osfamily: f}, bind: [{name: b, to_lookup_of: c}]}\n" +
		"{when: {environment: e}, bind: [{name: c, to_lookup_of: a}]}", ``, `1 error loop: 2 3`},
	{"where three conditions would have to meet that cannot", "" +
		"{when: {node: n}, bind: [{name: a, to_lookup_of: b}]}\n" +
		"{when: {osfamily: f}, bind: [{name: b, to_lookup_of: c}]}\n" +
		"{when: {node: m}, bind: [{name: c, to_lookup_of: a}]}", ``, ``},
	{"two loops through one key", "{name: a, to: \"${lookup('b')}${lookup('c')}\"}\n{name: b, to_lookup_of: a}\n" +
		"{name: c, to_lookup_of: a}", ``, "1 error loop: 2\n1 error loop: 3"},
	{"entered from outside", "{when: {node: n}, bind: [{name: z, to_lookup_of: a}]}\n{name: a, to_lookup_of: b}\n" +
		"{name: b, to_lookup_of: a}", ``, `2 error loop: 3`},
	{"between two loops", "{name: a, to_lookup_of: a}\n{name: c, to_lookup_of: c}\n{name: b, to_lookup_of: c}\n" +
		"[b2, 1]", ``, "1 error loop:\n2 error loop:"},
	{"after an alternative that is undef for one node", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n[c, 1]\n" +
		"{when: {node: n}, bind: [[c, null]]}", ``, `1 error loop: 2`},
	{"after an alternative that is undef for one node, in the same layer", "{name: a, to_first_found: [c, b]}\n" +
		"{name: b, to_lookup_of: a}\n{when: {node: n}, bind: [[c, null]]}",
		`[c, 1]`, `1 error loop: 2`},
	{"after an undef alternative that is hidden", "[c, 1]\n{name: a, to_first_found: [c, b]}\n" +
		"{name: b, to_lookup_of: a}", `{when: {node: n}, bind: [[c, null]]}`, ``},
	{"after an alternative that is undef for another node", "{when: {node: m}, bind: [{name: a, to_first_found: [c, b]}]}\n" +
		"{name: b, to_lookup_of: a}\n[c, 1]\n{when: {node: n}, bind: [[c, null]]}", ``, ``},
	{"after an abstract alternative", "{name: a, to_first_found: [c, b]}\n{name: b, to_lookup_of: a}\n" +
		"{when: {node: n}, bind: [[c, 1]]}\n{name: c, abstract: true}", ``, `4 warning abstract: 3`},
	{"after an undef that its type rejects", "{name: a, to_first_found: [['Integer[1]', c], b]}\n" +
		"{name: b, to_lookup_of: a}\n[c, null]", ``, ``},
	{"in a branch", "{name: a, to: \"${if $x { lookup('a') }}\"}", ``, ``},
	{"through a contribution of a contribution", "{name: l, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: Array}\n{in: p, to_lookup_of: l}", ``, `1 error loop: 2 3`},
	{"through a contribution of a contribution, where three conditions meet",
		"{when: {node: n}, bind: [{name: l, multibind_id: l, type: Array}]}\n" +
			"{when: {osfamily: f}, bind: [{in: l, multibind_id: p, type: Array}]}\n" +
			"{when: {environment: e}, bind: [{in: p, to_lookup_of: l}]}", ``, `1 error loop: 2 3`},
	{"through a contribution that is not taken", "{name: h, multibind_id: h, type: Hash}\n{in: h, name: x, to: 1}",
		`{in: h, name: x, to_lookup_of: h}`, ``},
	{"through a contribution to a list that is not taken",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: x, to: 1}", `{in: l, name: x, to_lookup_of: l}`, ``},
	{"through a contribution that beats an earlier one for one node",
		"{name: h, multibind_id: h, type: Hash}\n{in: h, name: x, to: 1}\n" +
			"{when: {node: n}, bind: [{in: h, name: x, to_lookup_of: h}]}", ``, `1 error loop: 3`},
	{"through a contribution that is taken too",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: append}}\n{in: h, name: x, to: 1}",
		`{in: h, name: x, to_lookup_of: h}`, `1 error loop: m1`},
	{"through a contribution that is not taken for some", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: x, to: 1}]}", `{in: h, name: x, to_lookup_of: h}`, `1 error loop: m1`},
	{"through the second of two contributions, where the first is taken",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: ignore}}\n{in: h, name: x, to: 1}\n" +
			"{in: h, name: x, to_lookup_of: h}", ``, ``},
	{"through a contribution, where two conditions meet",
		"{when: {node: n}, bind: [{name: l, multibind_id: l, type: Array}]}\n" +
			"{when: {osfamily: f}, bind: [{in: l, to_lookup_of: l}]}", ``, `1 error loop: 2`},
	{"through a transformer", `{name: a, to: 1, transformer: "|$v| { lookup('a') }"}`, ``, `1 error loop:`},
	{"in a hash", "{name: a, to_hash_lookup: {name: b, key: c}}\n{name: b, to_lookup_of: a}", ``, `1 error loop: 2`},

	{"of contributions that are collected", "{name: m, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: Array}\n{in: p, multibind_id: l, type: Array}", ``,
		"2 error loop: 3\n3 warning multibind_id: 1"},
	{"of contributions that another key collects for one node", "" +
		"{when: {node: n}, bind: [{name: m, multibind_id: k, type: Array}]}\n{in: k, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: Array}\n{in: p, multibind_id: l, type: Array}", ``,
		"3 error loop: 4"},
	{"of contributions that are not collected", "{in: l, multibind_id: p, type: Array}\n" +
		"{in: p, multibind_id: l, type: Array}", ``, ``},
	{"of contributions collected by a hidden multibinding", `[m, 1]`, "{name: m, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: Array}\n{in: p, multibind_id: l, type: Array}",
		"1 warning multibind_hidden: m1\nm3 warning multibind_id: m1"},
	{"of contributions, one beaten for one node", "" +
		"{name: h, multibind_id: h, type: Hash}\n{in: h, name: x, to_lookup_of: h}\n" +
		"{when: {node: n}, bind: [{in: h, name: x, to: 1}]}", ``, `1 error loop: 2`},
	{"through the second of two keys, hidden where both apply", "{name: a, to_first_found: [c, b]}\n" +
		"{name: b, to_lookup_of: a}\n{when: {node: n}, bind: [[c, null]]}\n{when: {node: n}, bind: [[b, 1]]}\n[c, 1]",
		``, ``},
	{"after a lookup with a default", "{name: a, to: \"${lookup('none', undef, undef, 1)}${lookup('b')}\"}\n" +
		"{name: b, to_lookup_of: a}", ``,
		`1 error loop: 2`},

	{"looks up a misspelt key", "[ntp::port, 1]\n{name: a, to: \"${lookup('ntp::prot')}\"}", ``,
		`2 warning key_unbound:`},
	{"looks up a misspelt key for two nodes", "{when: {node: [n, m]}, bind: [{name: a, to_lookup_of: 'ntp::prot'}]}",
		`[ntp::port, 1]`, `1 warning key_unbound:`},
	{"tries a misspelt key first", "[ntp::port, 1]\n{name: a, to_first_found: [ntp::prot, ntp::port]}", ``,
		`2 warning key_unbound:`},
	{"looks up a key without a similar one", "[ntp::port, 1]\n{name: a, to_lookup_of: other}", ``,
		`2 warning key_unbound:`},
	{"looks up an optional key", "{name: a, to_lookup_of: other, optional: true}", ``, ``},

	{"next to a chain", "{name: a, to: \"${lookup('a')}${lookup('c')}\"}\n{name: c, to_lookup_of: d}\n" +
		"{name: d, to_lookup_of: e}\n[e, 1]", ``, `1 error loop:`},
	{"next to a key with alternatives", "{name: a, to: \"${lookup('a')}${lookup('c')}\"}\n" +
		"{name: c, to_first_found: [d, e]}\n" +
		"{name: d, to_lookup_of: e}\n[e, 1]", ``, `1 error loop:`},
	{"next to a multibinding with a chain", "{name: a, to: \"${lookup('a')}${lookup('l')}\"}\n" +
		"{name: l, multibind_id: l, type: Array}\n{in: l, to_first_found: [d, e]}\n" +
		"{name: d, to_lookup_of: e}\n[e, 1]\n" +
		"{when: {node: n}, bind: [{name: l, to_lookup_of: l}]}", ``,
		"1 error loop:\n6 error loop:\n6 warning multibind_hidden: 2"},
	{"through one of two names", "{name: h, multibind_id: h, type: Hash}\n{in: h, name: x, to: 1}\n" +
		"{in: h, name: y, to_lookup_of: h}", ``, `1 error loop: 3`},
	{"for two nodes", "{when: {node: n}, bind: [{name: a, to_lookup_of: a}]}\n" +
		"{when: {node: m}, bind: [{name: a, to_lookup_of: a}]}", ``, "1 error loop:\n2 error loop:"},
	{"under conditions of the same values", "{when: {node: x, osfamily: y}, bind: [{name: a, to_lookup_of: a}]}\n" +
		"{when: {osfamily: x, environment: y}, bind: [{name: b, to_lookup_of: b}]}", ``,
		"1 error loop:\n2 error loop:"},
	{"the key it tries is hidden", `[b, 1]`, "{name: a, to_first_found: [b]}\n{name: b, to_lookup_of: a}", ``},
	{"through a contribution without a name that is not taken",
		"{name: l, multibind_id: l, type: Array, options: {priority_on_unnamed: true}}\n{in: l, to: 1}",
		`{in: l, to_lookup_of: l}`, ``},
	{"through a contribution without a name that is taken too",
		"{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}",
		`{in: l, to_lookup_of: l}`, `1 error loop: m1`},
	{"of a contribution before its multibinding",
		"{in: l, to_lookup_of: l}\n{name: l, multibind_id: l, type: Array}", ``, `2 error loop: 1`},
	{"through a contribution that is taken too, for some", "{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}",
		`{when: {node: n}, bind: [{in: l, to_lookup_of: l}]}`, `1 error loop: m1`},
	{"hidden by an unconditional binding above", "{when: {node: m}, bind: [[b, 1]]}\n[b, 2]",
		"{when: {node: n}, bind: [{name: a, to_lookup_of: b}, {name: b, to_lookup_of: a}]}", ``},
	{"where two conditions meet, and a narrower one is higher",
		"{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}\n" +
			"{when: {osfamily: f, environment: e}, bind: [[b, 1]]}", ``, ``},
	{"a contribution to a contribution", "{name: l, multibind_id: l, type: Array}\n" +
		"{in: l, multibind_id: p, type: 'Array[Integer]'}\n{in: p, to: x}", ``, `3 error type_mismatch: 2`},
	{"something computed to merge", "{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: merge}}\n" +
		"{in: h, name: a, to_lookup_of: b}", ``, `2 warning key_unbound:`},

	{"where two conditions meet, next to others that are hidden", "" +
		"{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n{when: {environment: g}, bind: [{name: b, to_lookup_of: a}]}\n" +
		"{when: {osfamily: x, environment: e}, bind: [[b, 1]]}\n[b, 1]\n" +
		"{when: {osfamily: h, environment: x}, bind: [[a, 1]]}\n[a, 1]",
		"{when: {osfamily: f, environment: e}, bind: [[b, 1]]}\n{when: {osfamily: h, environment: g}, bind: [[a, 1]]}",
		`1 error loop: 2`},

	{"an unknown id", "{name: l, multibind_id: list, type: Array}\n{in: lists, to: 1}", ``,
		`2 warning multibind_unknown:`},
	{"one id for two keys", "{name: a, multibind_id: l, type: Array}\n{name: b, multibind_id: l, type: Array}", ``,
		`2 warning multibind_id: 1`},
	{"one id for one key", `{name: a, multibind_id: l, type: Array}`, `{name: a, multibind_id: l, type: Array}`, ``},
	{"a contribution to a hash without a name", "{name: h, multibind_id: h, type: Hash}\n{in: h, to: 1}", ``, `2 error multibind: 1`},
	{"contributions to a list without names", "{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}\n{in: l, to: 1}", ``, ``},
	{"no hash to merge",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: merge}}\n{in: h, name: a, to: 1}", ``,
		`2 error multibind: 1`},
	{"a contribution of another type", "{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: x}", ``,
		`2 error type_mismatch: 1`},
	{"two of one name", "{name: h, multibind_id: h, type: Hash}\n{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}", ``,
		`3 error duplicate: 2`},
	{"two of one name in a list",
		"{name: l, multibind_id: l, type: Array}\n{in: l, name: a, to: 1}\n{in: l, name: a, to: 2}", ``,
		`3 error duplicate: 2`},
	{"two of one name in a list that takes all",
		"{name: l, multibind_id: l, type: Array, options: {priority_on_named: false}}\n" +
			"{in: l, name: a, to: 1}\n{in: l, name: a, to: 2}", ``, ``},
	{"two without a name in a list that takes one",
		"{name: l, multibind_id: l, type: Array, options: {priority_on_unnamed: true}}\n" +
			"{in: l, to: 1}\n{in: l, to: 2}", ``, `3 error duplicate: 2`},
	{"three of one name", "{name: h, multibind_id: h, type: Hash}\n" +
		"{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}\n{in: h, name: b, to: 2}\n{in: h, name: a, to: 2}", ``,
		"3 error duplicate: 2\n5 error duplicate: 2"},
	{"two of one name where the first counts",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: ignore}}\n" +
			"{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}", ``, ``},
	{"two of one name in two layers",
		"{name: h, multibind_id: h, type: Hash}\n{in: h, name: a, to: 1}", `{in: h, name: a, to: 2}`, ``},
	{"two of one name in two layers where that is an error",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n{in: h, name: a, to: 1}",
		`{in: h, name: a, to: 2}`, `m1 error duplicate: 2`},
	{"two of one name for two nodes", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{when: {node: m}, bind: [{in: h, name: a, to: 2}]}", ``,
		``},
	{"two of one name for one node", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{when: {node: n}, bind: [{in: h, name: a, to: 2}]}", ``,
		`3 error duplicate: 2`},
	{"two of one name, and a higher one",
		"{name: h, multibind_id: h, type: Hash}\n{in: h, name: a, to: 0}",
		"{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}",
		``},
	{"three of one name for overlapping nodes", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: [n, m]}, bind: [{in: h, name: a, to: 1}]}\n" +
		"{when: {node: [m, o]}, bind: [{in: h, name: a, to: 2}]}\n" +
		"{when: {node: [n, m]}, bind: [{in: h, name: a, to: 3}]}", ``,
		"3 error duplicate: 2\n4 error duplicate: 2"},
	{"two of one name for each of two nodes", "{name: h, multibind_id: h, type: Hash}\n" +
		"{when: {node: n}, bind: [{in: h, name: a, to: 1}, {in: h, name: a, to: 2}]}\n" +
		"{when: {node: m}, bind: [{in: h, name: a, to: 3}]}\n{when: {node: m}, bind: [{in: h, name: a, to: 4}]}", ``,
		"2 error duplicate: 2\n4 error duplicate: 3"},
	{"two of one name below a third, where that is an error",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n{in: h, name: a, to: 1}",
		"{in: h, name: a, to: 2}\n{in: h, name: a, to: 3}", "m1 error duplicate: 2\nm2 error duplicate: m1"},
	{"two of one name in two layers and one for a node, where that is an error",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n" +
			"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{in: h, name: a, to: 2}",
		"{in: h, name: a, to: 3}", "m1 error duplicate: 3"},
	{"two of one name, one of them for one node", "{name: h, multibind_id: h, type: Hash}\n" +
		"{in: h, name: a, to: 1}\n{when: {node: n}, bind: [{in: h, name: a, to: 2}]}", ``, ``},
	{"two of one name, one of them for one node, where that is an error",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: error}}\n" +
			"{in: h, name: a, to: 1}\n{when: {node: n}, bind: [{in: h, name: a, to: 2}]}", ``, ``},
	{"two of one name in two multibindings", "{name: h, multibind_id: h, type: Hash}\n{name: g, multibind_id: h, type: Hash}\n" +
		"{in: h, name: a, to: 1}\n{in: h, name: a, to: 2}", ``,
		"2 warning multibind_id: 1\n4 error duplicate: 3\n4 error duplicate: 3"},
	{"two without a name, and two of one name", "{name: l, multibind_id: l, type: Array}\n{in: l, to: 1}\n" +
		"{in: l, to: 2}\n{in: l, name: a, to: 3}\n{in: l, name: a, to: 4}", ``, `5 error duplicate: 4`},
	{"contributions to a multibinding that is always hidden", `[l, 1]`,
		"{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: x}", `1 warning multibind_hidden: m1`},
	{"contributions to a multibinding that is hidden for one node", `{when: {node: n}, bind: [[l, 1]]}`,
		"{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: x}",
		"1 warning multibind_hidden: m1\nm2 error type_mismatch: m1"},
	{"contributions to a multibinding, and a binding of its key", "[l, 1]\n" +
		"{when: {node: n}, bind: [{name: l, multibind_id: l, type: 'Array[Integer]'}]}\n{in: l, to: x}", ``,
		`3 error type_mismatch: 2`},
	{"contributions to a multibinding with something wrong",
		"{name: l, multibind_id: l, type: Array, options: {conflict_resolution: merge}}\n{in: l, to: 1}", ``,
		`1 error attribute:`},
	{"a contribution with something wrong", "{name: l, multibind_id: l, type: Array}\n{in: l, to: '${'}", ``,
		`2 error interpolation:`},
	{"a contribution that is computed", "{name: l, multibind_id: l, type: 'Array[Integer]'}\n" +
		"{in: l, to_expression: '$x'}", ``, ``},
	{"a contribution that is text, and transformed", "{name: l, multibind_id: l, type: 'Array[Integer]'}\n" +
		"{in: l, to: '${x}', transformer: '|$v| { 1 }'}", ``, ``},
	{"a contribution that is text", "{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: '${x}'}",
		``, "2 error type_mismatch: 1"},
	{"a hash to merge",
		"{name: h, multibind_id: h, type: Hash, options: {conflict_resolution: merge}}\n{in: h, name: a, to: {b: 1}}",
		``, ``},
	{"one id for three keys", "{name: a, multibind_id: l, type: Array}\n{name: b, multibind_id: l, type: Array}\n" +
		"{name: c, multibind_id: l, type: Array}", ``, "2 warning multibind_id: 1\n3 warning multibind_id: 1"},
	{"two of one name where the multibinding is not effective",
		"{when: {node: m}, bind: [{name: h, multibind_id: h, type: Hash}]}\n" +
			"{when: {node: n}, bind: [{in: h, name: a, to: 1}]}\n{when: {node: n}, bind: [{in: h, name: a, to: 2}]}",
		``, ``},

	{"looks up an unbound key", `{name: b, to_lookup_of: a}`, ``, `1 warning key_unbound:`},
	{"looks up an unbound key in a text", "{name: b, to: \"${lookup('a')}\"}", ``, ``},
	{"a rename of an unbound key before its name", `{name: new, to_renamed: aged}`, ``, `1 error rebind:`},
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
	{"aliases in a circle", "{name: a, to_alias_of: b}\n{name: b, to_alias_of: a}", ``, `1 error loop: 2`},
	{"aliases in a circle, hidden above", `[b, 1]`, "{name: a, to_alias_of: b}\n{name: b, to_alias_of: a}", ``},
	{"an alias of itself", `{name: a, to_alias_of: a}`, ``, `1 error rebind:`},
	{"an alias of a key that needs it for one node", "{name: a, to_alias_of: b}\n{when: {node: n}, bind: " +
		"[{name: b, to_lookup_of: a}]}\n[b, 1]", ``, `1 error loop: 2`},
	{"an alias that declines above a key that needs itself", "{name: a, to_alias_of: b}\n{when: {node: n}, bind: [[b, 1]]}",
		`{name: a, to_lookup_of: a}`, `m1 error loop:`},
	{"undef optional above a loop", `{name: a, to: null, optional: true}`, `{name: a, to_lookup_of: a}`,
		`m1 error loop:`},
	{"optional with a value above a loop", `{name: a, to_lookup_of: b, optional: true}`,
		"{name: a, to_lookup_of: a}\n[b, 1]", ``},
	{"optional with a value for one node above a loop", `{name: a, to_lookup_of: b, optional: true}`,
		"{name: a, to_lookup_of: a}\n{when: {node: n}, bind: [[b, 1]]}", `m1 error loop:`},
	{"optional undef for one node above a loop", `{name: a, to_lookup_of: b, optional: true}`,
		"{name: a, to_lookup_of: a}\n{when: {node: n}, bind: [[b, null]]}\n[b, 1]", `m1 error loop:`},
	{"undef optionals above a loop where two conditions meet",
		"{name: a, to: null, optional: true}\n{name: b, to: null, optional: true}",
		"{when: {osfamily: f}, bind: [{name: a, to_lookup_of: b}]}\n" +
			"{when: {environment: e}, bind: [{name: b, to_lookup_of: a}]}", `m1 error loop: m2`},
	{"optional lookup of an alias of undef above a loop",
		"{name: a, to_lookup_of: b, optional: true}\n{name: b, to_alias_of: c}\n{name: c, to: null, optional: true}",
		`{name: a, to_lookup_of: a}`, `m1 error loop:`},
	{"optional lookup of an alias with a value above a loop",
		"{name: a, to_lookup_of: b, optional: true}\n{name: b, to_alias_of: c}\n[c, 1]",
		`{name: a, to_lookup_of: a}`, ``},
	{"optional lookup of aliases in a circle above a loop",
		"{name: a, to_lookup_of: b, optional: true}\n{name: b, to_alias_of: c}\n{name: c, to_alias_of: b}",
		`{name: a, to_lookup_of: a}`, `2 error loop: 3`},
	{"optional lookup of a renamed key above a loop",
		"{name: a, to_lookup_of: b, optional: true}\n{name: new, to_renamed: b}", "{name: a, to_lookup_of: a}\n[b, 1]",
		`m1 error loop:`},
	{"an alias of undef above a loop", "{name: a, to_alias_of: b}\n[b, null]", `{name: a, to_lookup_of: a}`, ``},
	{"a rename of an unbound key that the next binding looks up", `{name: new, to_renamed: old}`,
		`{name: zz, to_lookup_of: new}`, `1 error rebind:`},
	{"optional expression above a loop", `{name: a, to_expression: '$x', optional: true}`,
		`{name: a, to_lookup_of: a}`, `m1 error loop:`},
	{"optional entry of $facts above a loop",
		`{name: a, to_expression: "$facts['x']['y']", optional: true}`, `{name: a, to_lookup_of: a}`, `m1 error loop:`},
	{"optional with a value even without facts above a loop",
		`{name: a, to_expression: 'if $x { undef } else { 1 }', optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"optional fact that may be derived above a loop",
		`{name: a, to_expression: '$hostname', optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"optional fact of a category above a loop",
		`{name: a, to_expression: '$osfamily', optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"optional use of all facts above a loop",
		`{name: a, to_expression: "$facts.get('x')", optional: true}` + "\n" + `{name: b, to_expression: '$facts', optional: true}`,
		"{name: a, to_lookup_of: a}\n{name: b, to_lookup_of: b}", `m1 error loop:`},
	{"optional expressions above a loop of two keys", "{name: a, to_expression: '$x', optional: true}\n" +
		"{name: b, to_expression: '$y ? { undef => undef, default => 1 }', optional: true}",
		"{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", `m1 error loop: m2`},
	{"optional lookup of a key bound for one node above a loop",
		`{name: a, to_expression: "lookup('b')", optional: true}`,
		"{name: a, to_lookup_of: a}\n{when: {node: n}, bind: [[b, 1]]}", `m1 error loop:`},
	{"optional lookup of a bound key above a loop",
		`{name: a, to_expression: "lookup('b')", optional: true}`, "{name: a, to_lookup_of: a}\n[b, 1]", ``},
	{"optional lookup of undef above a loop",
		`{name: a, to_expression: "lookup('b')", optional: true}`, "{name: a, to_lookup_of: a}\n[b, null]", `m1 error loop:`},
	{"optional lookup of an expression above a loop",
		`{name: a, to_expression: "lookup('b')", optional: true}`,
		"{name: a, to_lookup_of: a}\n{name: b, to_expression: '$x'}", ``},
	{"optional with a value where there is another loop, above a loop",
		`{name: a, to_expression: "lookup('b')", optional: true}`,
		"{name: a, to_lookup_of: c}\n{name: c, to_lookup_of: a}\n{when: {node: n}, bind: [{name: c, to_lookup_of: d}, [b, 1]]}\n" +
			"{name: d, to_lookup_of: a}",
		`m1 error loop: m2`},
	{"optional expression with a lookup in its own layer above a loop",
		"{name: a, to_expression: \"lookup('b')\", optional: true}\n[b, 1]", `{name: a, to_lookup_of: a}`, ``},
	{"optional lookup in its own layer above a loop",
		"{name: a, to_lookup_of: b, optional: true}\n[b, 1]", `{name: a, to_lookup_of: a}`, ``},
	{"optional lookup with a default above a loop",
		`{name: a, to_expression: "lookup('b', undef, undef, 1)", optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"optional use of a derived fact and another above a loop",
		`{name: a, to_expression: '$hostname ? { undef => $x, default => 1 }', optional: true}`,
		`{name: a, to_lookup_of: a}`, ``},
	{"optional that looks itself up above a loop",
		`{name: a, to_expression: "lookup('a')", optional: true}`, `{name: a, to_lookup_of: a}`, `1 error loop:`},
	{"optionals that look each other up above a loop",
		"{name: a, to_expression: \"lookup('b')\", optional: true}\n{name: b, to_expression: \"lookup('a')\", optional: true}",
		"{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", `1 error loop: 2`},
	{"optional server fact above a loop",
		`{name: a, to_expression: "$server_facts['x']", optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"optional trusted fact above a loop",
		`{name: a, to_expression: "$trusted['x']", optional: true}`, `{name: a, to_lookup_of: a}`, ``},
	{"optional lookup of undef that its type rejects above a loop",
		`{name: a, to_expression: "lookup('b', Integer[1])", optional: true}`, "{name: a, to_lookup_of: a}\n[b, null]", ``},
	{"optional that fails above a loop",
		`{name: a, to_expression: "'x' + 1", optional: true}`, "{name: a, to_lookup_of: a}", ``},
	{"optional lookup of a bound key in a branch above a loop",
		`{name: a, to_expression: "if $x { 1 } else { lookup('b') }", optional: true}`, "{name: a, to_lookup_of: a}\n[b, 1]", ``},
	{"optional lookup of an unbound key in a branch above a loop",
		`{name: a, to_expression: "if $x { 1 } else { lookup('b') }", optional: true}`, "{name: a, to_lookup_of: a}", `m1 error loop:`},
	{"tried after an optional expression", "{name: a, to_first_found: [b, a2]}\n" +
		"{name: b, to_expression: '$x', optional: true}\n{name: a2, to_lookup_of: a}", ``, `1 error loop: 3`},
	{"an optional multibinding", "{name: l, multibind_id: l, type: Array, optional: true}\n{in: l, to: 1}", ``,
		`1 error optional:`},
	{"rebinding of a key that needs it", `{rebind: a}`, `{name: a, to_lookup_of: a}`, `1 error loop: m1`},
	{"rebinding of a constant", `{rebind: a}`, `[a, 1]`, ``},
	{"renamed to the key it looks up", `{name: new, to_renamed: old}`, `{name: old, to_lookup_of: new}`, `1 error loop: m1`},
	{"renamed, and looked up by its old name", "{name: new, to_renamed: old}\n[a, 1]", `{name: old, to_lookup_of: a}`, ``},
	{"needed after a renamed alternative", "{name: a, to_first_found: [old, b]}\n{name: new, to_renamed: old}\n" +
		"{name: b, to_lookup_of: a}", `[old, 1]`, `1 error loop: 3`},
	{"needed after an alternative renamed for one node", "{name: a, to_first_found: [old, b]}\n" +
		"{when: {node: n}, bind: [{name: new, to_renamed: old}]}\n{name: b, to_lookup_of: a}", `[old, 1]`,
		`1 error loop: 3`},

	{"a rename of a key bound only above", `[old, 1]`, `{name: new, to_renamed: old}`, `m1 warning rebind:`},
	{"a rename of a key bound below for another node", `{when: {node: n}, bind: [{name: new, to_renamed: old}]}`,
		`{when: {node: m}, bind: [[old, 1]]}`, `1 warning rebind:`},
	{"a rename of a key bound below for one node", `{name: new, to_renamed: old}`, `{when: {node: n}, bind: [[old, 1]]}`, ``},
	{"a rename for two nodes of a key bound below for the second",
		`{when: {node: [n, m]}, bind: [{name: new, to_renamed: old}]}`, `{when: {node: m}, bind: [[old, 1]]}`, ``},
	{"two renames with nothing below", "{when: {node: n}, bind: [[old, 1]]}\n" +
		"{name: a, to_renamed: old}", "{name: b, to_renamed: old}", "2 warning rebind:\nm1 warning rebind:"},
	{"an alias of a key bound only above", `[old, 1]`, `{name: new, to_alias_of: old}`, ``},
	{"rebinding of a key bound only above", `[a, 1]`, `{rebind: a}`, `m1 warning rebind:`},
	{"rebinding under two alternatives of a key bound for another node", "{when: [{node: n}, {osfamily: f}], bind: [{rebind: a}]}\n" +
		"{when: {node: m}, bind: [[a, 1]]}", ``, `1 warning rebind:`},

	{"renamed and bound", "{name: new, to_renamed: old}\n[old, 1]", ``, "1 error conflict: 2\n1 warning rebind:"},
	{"renamed and bound, hidden above both", `{when: {node: n}, bind: [[old, 0]]}`,
		"{when: {node: n}, bind: [{name: new, to_renamed: old}]}\n{when: {node: n}, bind: [[old, 1]]}\n[old, 2]",
		`m1 error conflict: m2`},
	{"the new name bound too", "{name: new, to_renamed: old}\n[new, 1]", `[old, 1]`, `1 error conflict: 2`},
	{"the alias bound too", "{name: new, to_alias_of: old}\n[new, 1]", `[old, 1]`, `1 error conflict: 2`},
	{"two below a rename", `{name: new, to_renamed: old}`, "[old, 1]\n[old, 2]", `m1 error conflict: m2`},
	{"two below a rename, and one above it", `[old, 1]`,
		"{when: {node: n}, bind: [{name: new, to_renamed: old}]}\n[old, 2]\n[old, 3]", `m2 error conflict: m3`},
	{"two below an optional binding", `{name: a, to_lookup_of: b, optional: true}`, "[a, 1]\n[a, 2]\n[b, 1]",
		`m1 error conflict: m2`},
	{"abstract, only optional above", `{name: a, to_lookup_of: b, optional: true}`,
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
	{"parameters by a map with something wrong", "{parameters: 'Web[one]', to: 'Sql[one]', optional: true}\n" +
		"{map: [Web, Sql], to: {a: B-x}}", ``, `2 error attribute:`},
	{"parameters that override nothing", "" +
		"{parameters: 'Web[one]', to: 'Sql[one]', override: true, options: {map: {a: b}}}",
		"{parameters: 'Sql[one]', to: {b: 1}}", `1 error override:`},
}

func TestReportsOfStructuredBindings(t *testing.T) { checkReports(t, reports) }

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

// With strict variables, an unset variable makes the lookup fail: an optional binding does not
// decline.
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

// Whole messages: the binding, its condition, its layer, and the fix.
func TestMessages(t *testing.T) {
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
			"'a' overrides something only in some of the requests it is effective in\n" +
				"overridden here where node is 'n'"},
		{"override that is only overridden", "{name: a, override: true, to: 1}\n{when: {node: n}, bind: [[a, 2]]}", ``,
			"'a' is marked 'override', but overrides nothing and is itself overridden\n" +
				"it is overridden here where node is 'n'"},
		{"loop", "{name: l, multibind_id: parts, type: Array}\n{when: {node: n}, bind: [{in: parts, to_lookup_of: l}]}",
			``, "'l' needs itself: l -> multibind parts -> l where node is 'n'\n" +
				"the contribution to multibind parts is here"},
		{"loop of keys", "{name: a, to_lookup_of: b}\n{name: b, to_lookup_of: a}", ``,
			"'a' needs itself: a -> b -> a\n'b' is bound here"},
		{"misspelt", "[ntp::port, 1]\n{name: a, to_lookup_of: 'ntp::prot'}", ``,
			"this looks up 'ntp::prot', which nothing binds\ndid you mean 'ntp::port'?"},
		{"an unknown id", "{name: l, multibind_id: list, type: Array}\n{in: lists, to: 1}", ``,
			"no multibinding has the id 'lists'; this contribution is never used\ndid you mean 'list'?"},
		{"one id for two keys", "{name: a, multibind_id: l, type: Array}\n{name: b, multibind_id: l, type: Array}", ``,
			"'b' and 'a' collect the same contributions: both have the id 'l'\nthe other multibinding"},
		{"alias of nothing", "[ntp::server, 1]\n{name: a, to_alias_of: 'ntp::sever'}", ``,
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
			"it is unknown which parameters of Sql[one] give Web[one] its parameters: there is no map, " +
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
