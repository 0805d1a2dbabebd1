package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testmode"
	"bindc/serve"
)

const aheadHierarchy = `version: 5
hierarchy:
  - {name: Nodes, path: 'nodes/%{facts.node}.yaml'}
  - {name: Roles, path: 'roles/%{facts.role}.yaml'}
  - {name: Common, path: common.yaml}
`

// aheadSite builds a control repository with too many keys for sending all of them ahead.
func aheadSite(t *testing.T, more string) peer {
	t.Helper()
	path := snap(t)
	var common strings.Builder
	fmt.Fprintln(&common, "list: [c, x]\nfails: '%{alias(\"fails\")}'\nnothing: ~\n"+more)
	for i := range serve.MaxGuess {
		fmt.Fprintf(&common, "m::k%d: common %d\n", i, i)
	}
	build(t, path, "", "hiera.yaml", aheadHierarchy, "data/common.yaml", common.String(),
		"data/roles/web.yaml", "list: [w, x]\nm::k1: web\n", "data/nodes/a.yaml", "m::k2: a\n",
		"binder_config.yaml", "version: 1\nlayers: [{name: all, include: 'hiera:/'}]\n")
	return connect(t, server(t, path))
}

// ahead opens a session for a node and returns the answers that are sent ahead. asked lists the keys that an earlier
// session asked for.
func (p peer) ahead(session int, facts object, asked string) string {
	p.Helper()
	text, err := json.Marshal(facts)
	if err != nil {
		p.Fatal(err)
	}
	question := fmt.Sprintf(`{"ask":"node","session":%d,"digest":%q,"facts":%s`, session, p.digest(), text)
	if asked != "" {
		question += `,"asked":` + asked
	}
	if got, want := p.askText(question+"}"), fmt.Sprintf(`{"session":%d}`, session); got != want {
		p.Fatalf("node: %s, expected %s", got, want)
	}
	return p.askText(fmt.Sprintf(`{"ask":"ahead","session":%d,"entries":"0-"}`, session))
}

func TestSendsAheadKeysThatASimilarNodeAskedFor(t *testing.T) {
	p := aheadSite(t, "")
	web := object{"role": "web"}
	const nothing = `{"ahead":[{"values":{},"absent":["lookup_options"],"merge":{"strategy":"hash"}}]}`
	if got := p.ahead(1, web, ""); got != nothing {
		t.Errorf("to the first session: %s, expected %s", got, nothing)
	}
	const asked = `[{"session":1,"entries":"0-","keys":["m::k1","gone","nothing","fails"]},` +
		`{"session":1,"entries":"0-","merge":{"strategy": "unique"},"keys":["list"]},{"session":77,"keys":["m::k9"]}]`
	got := p.ahead(2, object{"role": "web", "node": "without data"}, asked)
	for _, want := range []string{`"m::k1":"web"`, `"nothing":null`, `"absent":["gone"]`, `"errors":{"fails":{`,
		`{"values":{"list":["w","x","c"]},"merge":{"strategy":"unique"}}`} {
		if !strings.Contains(got, want) {
			t.Errorf("to a node that is answered alike: %s, expected %s", got, want)
		}
	}
	for name, other := range map[string]object{"another role": {"role": "db"},
		"a data file for its name": {"role": "web", "node": "a"}} {
		if got := p.ahead(3, other, ""); got != nothing {
			t.Errorf("to a node with %s: %s, expected %s", name, got, nothing)
		}
	}
	got = p.askText(`{"ask":"ahead","session":2,"entries":"0-","from":1,"to":2}`)
	if want := `{"ahead":[{"values":{},"absent":["gone"]}]}`; got != want {
		t.Errorf("a part of it: %s, expected %s", got, want)
	}
	if got := p.askText(`{"ask":"ahead","session":2,"entries":"1-"}`); got != nothing {
		t.Errorf("of other entries: %s, expected %s", got, nothing)
	}
}

func TestSecretsAreNotSentAhead(t *testing.T) {
	path := snap(t)
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: secret, to: hidden text, sensitive: true}
  - {name: copy, to_lookup_of: secret}
  - [plain, 1]
`)
	p := connect(t, server(t, path))
	p.node(1, nil)
	got := p.askText(`{"ask":"ahead","session":1}`)
	want := `{"ahead":[{"values":{"plain":1},"absent":["lookup_options"],"held":["copy","secret"],"complete":true}]}`
	if got != want {
		t.Errorf("got %s, expected %s", got, want)
	}
}

// A client with locations asks for lookup_options without a merge; a complete answer includes them.
func TestCompleteAnswerIncludesLookupOptions(t *testing.T) {
	path := snap(t)
	build(t, path, "bindings_version: 1\nname: default\nbind: [{name: users, multibind_id: u, type: 'Array[String]'}]\n")
	p := connect(t, server(t, path))
	p.node(1, nil)
	want := `{"ahead":[{"values":{"lookup_options":{"users":{"merge":"first"}},"users":[]},"complete":true}]}`
	if got := p.askText(`{"ask":"ahead","session":1,"entries":"0-"}`); got != want {
		t.Errorf("structured bindings: %s, expected %s", got, want)
	}
	build(t, path, "", "hiera.yaml", aheadHierarchy, "data/common.yaml", "a: 1\nlookup_options: {a: {merge: first}}\n",
		"binder_config.yaml", "version: 1\nlayers: [{name: all, include: 'hiera:/'}]\n")
	p = connect(t, server(t, path))
	p.node(1, nil)
	const options = `{"values":{"lookup_options":{"a":{"merge":"first"}}},"merge":{"strategy":"hash"}}`
	want = `{"ahead":[` + options + `,{"values":{"a":1,"lookup_options":{"a":{"merge":"first"}}},"complete":true}]}`
	if got := p.askText(`{"ask":"ahead","session":1,"entries":"0-"}`); got != want {
		t.Errorf("Hiera 5: %s, expected %s", got, want)
	}
}

func TestAheadListsKeysWithoutValuesBeyondSizeLimit(t *testing.T) {
	path := snap(t)
	text := strings.Repeat("0123456789abcdef", serve.MaxAhead/16)
	build(t, path, "bindings_version: 1\nname: default\nbind:\n  - [a, "+text+"]\n  - [b, 1]\n")
	p := connect(t, server(t, path))
	p.node(1, nil)
	got := p.askText(`{"ask":"ahead","session":1}`)
	want := `{"ahead":[{"values":{"a":"` + text + `"},"absent":["lookup_options"],"held":["b"],"complete":true}]}`
	if got != want {
		t.Errorf("got %d bytes that end with %s", len(got), got[len(got)-80:])
	}
}

// While a session reads its list in two ranges, another session makes the server forget what similar nodes asked for.
// If the second range came from another list, a complete one, the client would take all keys before the range for
// unbound.
func TestRangesOfOneSessionAreFromOneList(t *testing.T) {
	testmode.SkipUnderRace(t)
	path := snap(t)
	build(t, path, "bindings_version: 1\nname: default\nbind:\n  - [a, 1]\n  - [b, 2]\n  - [c, 3]\n")
	p := connect(t, server(t, path))
	p.ahead(1, nil, "")
	p.ahead(2, nil, `[{"session":1,"entries":"0-","keys":["a","b"]}]`)
	if got, want := p.askText(`{"ask":"ahead","session":2,"entries":"0-","to":1}`),
		`{"ahead":[{"values":{"a":1}}]}`; got != want {
		t.Fatalf("first range: %s, expected %s", got, want)
	}
	tooMany, err := json.Marshal(slices.Repeat([]string{"a key that no node has"}, serve.MaxHistory/16))
	if err != nil {
		t.Fatal(err)
	}
	p.askText(`{"ask":"node","session":3,"asked":[{"session":2,"entries":"0-","keys":` + string(tooMany) + `}]}`)
	if got, want := p.askText(`{"ask":"ahead","session":2,"entries":"0-","from":1}`),
		`{"ahead":[{"values":{"b":2}}]}`; got != want {
		t.Errorf("second range: %s, expected %s", got, want)
	}
	if got := p.askText(`{"ask":"ahead","session":2,"entries":"0-","from":1}`); strings.Contains(got, "complete") {
		t.Errorf("a range without the beginning of its list: %s, expected no member complete", got)
	}
}

func TestAheadRejectsInvalidQuestions(t *testing.T) {
	p := aheadSite(t, "")
	p.node(1, nil)
	for _, q := range []object{
		{"ask": "ahead", "session": 1, "from": -1}, {"ask": "ahead", "session": 1, "from": 3, "to": 2},
		{"ask": "ahead", "session": 1, "entries": "x"},
		{"ask": "node", "session": 2, "asked": []object{{"session": 1}}},
		{"ask": "node", "session": 2, "asked": []object{{"keys": []string{"a"}}}},
	} {
		if got := p.code(q); got != "usage" {
			t.Errorf("%v: %q, expected usage", q, got)
		}
	}
}

// If many nodes ask for many keys, the history stays below its limit and keeps the most recent nodes.
func TestHistoryStaysBelowItsLimit(t *testing.T) {
	testmode.SkipUnderRace(t)
	h := serve.NewHistory()
	keys := func(node, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("module%d::parameter%d", node, i))
		}
		return out
	}
	for node := range 1000 {
		h.Put(node, keys(node, 1000))
		h.Get(0)
		if h.Bytes() > serve.MaxHistory {
			t.Fatalf("%d bytes after node %d, at most %d", h.Bytes(), node, serve.MaxHistory)
		}
	}
	if got := h.Get(999); len(got) != 1000 || h.Get(0) == nil || h.Get(500) != nil {
		t.Errorf("%d keys of the last node; the node that asks all the time: %v; one long ago: %v", len(got),
			h.Get(0) != nil, h.Get(500) != nil)
	}
	if n := h.Lists(); n < 10 || n > 60 {
		t.Errorf("%d lists of 1000 keys are kept", n)
	}
}

func TestNodesWithSameKeysShareMemory(t *testing.T) {
	h := serve.NewHistory()
	same := []string{"a", "b"}
	for node := range 1000 {
		h.Put(node, same)
	}
	if h.Lists() != 1 || h.Get(0) == nil {
		t.Errorf("%d lists", h.Lists())
	}
	for node := range 1000 {
		h.Put(node, []string{"b"})
	}
	if h.Lists() != 1 {
		t.Errorf("%d lists after all nodes asked for others", h.Lists())
	}
	before := h.Bytes()
	h.Put(5, []string{strings.Repeat("x", serve.MaxHistory)})
	if h.Get(5) != nil || h.Bytes() >= before {
		t.Errorf("keys that are too large are kept: %d bytes", h.Bytes())
	}
	h.Put(6, nil)
	h.Put(7, []string{"ab"})
	h.Put(8, []string{"a", "b"})
	if bytes.Equal([]byte(strings.Join(h.Get(7), ",")), []byte(strings.Join(h.Get(8), ","))) {
		t.Error("lists with the same letters are treated as equal")
	}
}
