package serve_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/envfile"
	"bindc/internal/syntax"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/serve"
	"bindc/serve/client"
	"bindc/snapshot"
)

// build compiles a site with one bindings file, and optionally more files, into path.
func build(t testing.TB, path, source string, more ...string) {
	t.Helper()
	dir := t.TempDir()
	files := append([]string{"bindings/default.yaml", source}, more...)
	for i := 0; i < len(files); i += 2 {
		file := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(files[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
}

// server returns a server that polls for new files continuously.
func server(t testing.TB, path string, change ...func(*serve.Options)) *serve.Server {
	opts := serve.Options{Path: path, Version: "test",
		Snapshot: bindings.WatchOptions{Interval: time.Millisecond}}
	for _, c := range change {
		c(&opts)
	}
	s := serve.New(opts)
	t.Cleanup(s.Close)
	return s
}

// peer is a client. The server answers it until the end of the test.
type peer struct {
	testing.TB
	*client.Client
	ended chan error // receives the error of Answer
	conn  net.Conn
}

func connect(t testing.TB, s *serve.Server) peer {
	ours, theirs := net.Pipe()
	p := peer{t, client.New(ours, ours), make(chan error, 1), ours}
	go func() {
		p.ended <- s.Answer(theirs, theirs)
		theirs.Close()
	}()
	t.Cleanup(func() { ours.Close() })
	return p
}

// object is a question or an answer in JSON.
type object = map[string]any

// ask returns the decoded answer to a question.
func (p peer) ask(q any) (answer object) {
	p.Helper()
	text, err := p.Ask(q)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		p.Fatalf("%v: %v", q, err)
	}
	return answer
}

// code returns the error code in the answer to a question, or "" if the answer is not an error.
func (p peer) code(q object) string {
	p.Helper()
	e, _ := p.ask(q)["error"].(object)
	code, _ := e["code"].(string)
	return code
}

func hello() object { return object{"ask": "hello", "protocol": 1} }

// digest returns the digest of the active snapshot.
func (p peer) digest() string {
	p.Helper()
	a := p.ask(hello())
	s, ok := a["snapshot"].(object)
	if !ok {
		p.Fatalf("hello is answered with %v", a)
	}
	return s["digest"].(string)
}

// node opens a session for a node with the given facts.
func (p peer) node(session int, facts object) {
	p.Helper()
	a := p.ask(object{"ask": "node", "session": session, "digest": p.digest(), "facts": facts})
	if a["session"] != float64(session) {
		p.Fatalf("node is answered with %v", a)
	}
}

// snap returns a path for a snapshot.
func snap(t testing.TB) string { return filepath.Join(t.TempDir(), "production.snap") }

const site = `bindings_version: 1
name: default
bind:
  - ['ntp::servers', [a, b]]
  - ['ntp::ratio', 1.0]
  - ['ntp::big', 9007199254740993]
  - {name: 'ntp::nothing', to: null}
  - {name: 'ntp::port', to_expression: 'join([$osfamily])', type: Integer}
  - {name: 'ntp::key', to: secret, sensitive: true}
  - {name: 'ntp::pattern', to: "${ /a.b/ }"}
  - ['ntp::deep::value', 1]
  - ['top', {1: one}]
  - {name: users, multibind_id: users, type: 'Array[String]'}
  - {in: users, to: root}
  - when: {osfamily: debian}
    bind:
      - ['ntp::servers', [c]]
      - {in: users, to: admin}
`

func TestQuestionsReturnValuesKeysAndExplanations(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	p := connect(t, server(t, path))
	p.node(1, object{"os": object{"family": "Debian"}})
	for _, c := range []struct{ question, want string }{
		{`{"ask":"keys","session":1,"keys":["ntp::servers","absent","ntp::nothing"]}`,
			`{"values":{"ntp::servers":["c"],"ntp::nothing":null}}`},
		{`{"ask":"keys","session":1,"keys":["ntp::big","ntp::ratio"]}`,
			`{"values":{"ntp::big":9007199254740993,"ntp::ratio":1.0}}`},
		{`{"ask":"keys","session":1,"keys":["ntp::key","top"]}`,
			`{"values":{},"rich":{"ntp::key":{"__ptype":"Sensitive","__pvalue":"secret"},` +
				`"top":{"__ptype":"Hash","__pvalue":[1,"one"]}}}`},
		{`{"ask":"keys","session":1,"keys":["ntp::port"]}`, `{"values":{},"errors":{"ntp::port":` +
			`{"code":"type_mismatch","message":"'ntp::port': expected Integer, found String"}}}`},
		{`{"ask":"prefix","session":1,"prefix":"ntp::deep"}`, `{"values":{"ntp::deep::value":1}}`},
		{`{"ask":"prefix","session":1,"prefix":"zzz"}`, `{"values":{}}`},
		{`{"ask":"prefix","session":1,"prefix":"","direct":true}`,
			`{"values":{"lookup_options":{"users":{"merge":"first"}},"users":["admin","root"]},` +
				`"rich":{"top":{"__ptype":"Hash","__pvalue":[1,"one"]}}}`},
		{`{"ask":"candidates","session":1,"key":"ntp::servers"}`,
			`{"candidates":[{"values":{"ntp::servers":["c"]}},{"values":{"ntp::servers":["a","b"]}}]}`},
		{`{"ask":"candidates","session":1,"key":"users"}`, `{"candidates":[{"values":{"users":["admin","root"]}}]}`},
		{`{"ask":"candidates","session":1,"key":"absent"}`, `{"candidates":[]}`},
		{`{"ask":"end","session":1}`, `{}`},
		{`{"ask":"end","session":1}`, `{}`},
	} {
		if err := p.Send([]byte(c.question)); err != nil {
			t.Fatal(err)
		}
		got, err := p.Receive()
		if string(got) != c.want || err != nil {
			t.Errorf("%s is answered with\n%s, %v, expected\n%s", c.question, got, err, c.want)
		}
	}
}

// With the member direct, a prefix selects only the keys of one class. Without it, a prefix selects all keys that begin
// with it.
func TestDirectLimitsPrefixToOneClass(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	p := connect(t, server(t, path))
	p.node(1, nil)
	for direct, want := range map[bool]int{true: 5, false: 6} { // keys whose values are errors are not counted
		a := p.ask(object{"ask": "prefix", "session": 1, "prefix": "ntp::", "direct": direct})
		if got := len(a["values"].(object)); got != want {
			t.Errorf("direct %v: %d values, %v", direct, got, a)
		}
	}
}

// The server reports the variables that a snapshot uses and the facts that they are derived from. Every site has the
// category node.
func TestHelloReportsNeeds(t *testing.T) {
	path := snap(t)
	of := "clientcert domain fqdn hostname"
	names := of + " networking"
	for source, want := range map[string]string{
		`[a, '${role}']`: names + " role; false",
		`[a, "${facts['kernel']} ${facts['os']['name']}"]`: of + " kernel networking os; false",
		`[a, '${osfamily}']`: names + " os osfamily; false",
		`[a, "${is_virtual}"]`: of +
			" hypervisors is_virtual networking virtual; false",
		`[a, "${join(keys($facts))}"]`:                        names + "; true",
		`[a, "${getvar('facts.os.family')}"]`:                 names + " os; false",
		`[a, "${getvar($role)}"]`:                             names + " role; true",
		`[a, "${[1].map |$x| { \"${x} ${facts[$role]}\" }}"]`: names + " role x; true",
	} {
		build(t, path, "bindings_version: 1\nname: default\nbind: ["+source+"]\n", "binder_config.yaml",
			"version: 1\nlayers: [{name: site, include: 'confdir:/default'}]\ncategories: [[node, '${fqdn}']]\n")
		s := connect(t, server(t, path)).ask(hello())["snapshot"].(object)
		if got := strings.Trim(fmt.Sprint(s["variables"]), "[]") + "; " + fmt.Sprint(s["all_facts"]); got != want {
			t.Errorf("%s: %s, expected %s", source, got, want)
		}
		if s["trusted"] != true {
			t.Error("the names of a node come from $trusted too")
		}
	}
}

// Parameters of an external node classifier are variables. They take precedence over facts, but are not in $facts.
func TestVariablesTakePrecedenceOverFacts(t *testing.T) {
	path := snap(t)
	build(t, path, "bindings_version: 1\nname: default\nbind: [[a, \"${role} ${kernel} ${facts['kernel']}\"]]\n")
	p := connect(t, server(t, path))
	p.ask(object{"ask": "node", "session": 1, "digest": p.digest(), "facts": object{"kernel": "Linux"},
		"vars": object{"role": "web", "kernel": "ours"}})
	a := p.ask(object{"ask": "keys", "session": 1, "keys": []string{"a"}})
	if got := a["values"].(object)["a"]; got != "web ours Linux" {
		t.Error(got)
	}
}

// The server returns the data's lookup_options, except for keys whose values are already merged.
func TestLookupOptionsOfDataAreKept(t *testing.T) {
	path := snap(t)
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: users, multibind_id: users, type: 'Array[String]'}
  - [lookup_options, {users: {merge: unique}, groups: {merge: hash}}]
`)
	p := connect(t, server(t, path))
	p.node(1, nil)
	want := object{"candidates": []any{object{"values": object{"lookup_options": object{
		"users": object{"merge": "first"}, "groups": object{"merge": "hash"}}}}}}
	got := p.ask(object{"ask": "candidates", "session": 1, "key": "lookup_options"})
	if !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
	lines := p.ask(object{"ask": "explain", "session": 1, "key": "lookup_options"})["lines"].([]any)
	if !slices.Contains(lines, any("merge: first for keys that are already merged: users")) {
		t.Error(lines)
	}
}

func TestRejectsInvalidQuestions(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	s := server(t, path)
	p := connect(t, s)
	p.node(1, nil)
	for _, c := range []struct {
		q    object
		want string
	}{
		{object{"ask": "keys", "session": 2, "keys": []string{"a"}}, "session"},
		{object{"ask": "keys", "session": 1}, "usage"},
		{object{"ask": "keys", "session": "one"}, "usage"},
		{object{"ask": "keys"}, "usage"},
		{object{"ask": "sing", "session": 1}, "usage"},
		{object{"ask": "node", "session": 1, "facts": []int{}}, "facts"},
		{object{"ask": "node", "session": 1, "vars": 3}, "facts"},
		{object{"ask": "node", "session": 1, "trusted": "yes"}, "facts"},
		{object{"ask": "node", "session": 1, "facts": object{"certname": "a", "facts": object{"role": "web"}}}, "facts"},
		{object{"ask": "node", "session": 1, "environment": "../etc"}, "environment"},
		{object{"ask": "keys", "session": 1, "keys": []string{"a"}}, ""},
	} {
		if got := p.code(c.q); got != c.want {
			t.Errorf("%v: error %q, expected %q", c.q, got, c.want)
		}
	}
	for _, q := range []string{`{"ask":"node","session":1}`, `[]`, `{`, `{"ask":"hello","protocol":2}`, ``} {
		p := connect(t, s)
		if err := p.Send([]byte(q)); err != nil {
			t.Fatal(err)
		}
		text, err := p.Receive()
		if err != nil || !strings.HasPrefix(string(text), `{"error":{"code":"protocol",`) {
			t.Errorf("%s is answered with %s, %v", q, text, err)
		}
		if text, err := p.Receive(); err == nil {
			t.Errorf("%s: the connection goes on with %s", q, text)
		}
	}
}

// After the snapshot is replaced, a session continues with the old file. A client that opens a session with the old
// digest gets the needs of the new snapshot.
func TestSessionStaysOnItsFile(t *testing.T) {
	path := snap(t)
	generation := func(n int) string {
		return fmt.Sprintf("bindings_version: 1\nname: default\nbind: [[a, %d], [b, %d]]\n", n, n)
	}
	build(t, path, generation(1))
	p := connect(t, server(t, path))
	old := p.digest()
	p.node(1, nil)
	build(t, path, generation(2))
	for p.digest() == old {
	}
	a := p.ask(object{"ask": "node", "session": 2, "digest": old})
	if s, ok := a["snapshot"].(object); !ok || s["digest"] == old {
		t.Errorf("node of the old digest: %v", a)
	}
	p.node(2, nil)
	for session, want := range map[int]float64{1: 1, 2: 2} {
		a := p.ask(object{"ask": "prefix", "session": session, "prefix": ""})
		if got := a["values"].(object); got["a"] != want || got["b"] != want {
			t.Errorf("session %d: %v, expected %v", session, got, want)
		}
	}
}

func TestEachEnvironmentHasItsSnapshot(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		build(t, filepath.Join(dir, name+".snap"),
			"bindings_version: 1\nname: default\nbind: [[a, "+name+"], [b, '${environment}']]\n")
	}
	p := connect(t, server(t, dir))
	if code := p.code(hello()); code != "environment" { // no snapshot for production
		t.Error(code)
	}
	for i, name := range []string{"one", "two"} {
		q := object{"ask": "node", "session": i, "environment": name}
		q["digest"] = p.ask(q)["snapshot"].(object)["digest"]
		p.ask(q)
		got := p.ask(object{"ask": "keys", "session": i, "keys": []string{"a", "b"}})["values"].(object)
		if got["a"] != name || got["b"] != name {
			t.Errorf("%s: %v", name, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, "one.snap")); err != nil {
		t.Fatal(err)
	}
	for p.code(object{"ask": "node", "session": 5, "environment": "one"}) == "" {
	}
	a := p.ask(object{"ask": "keys", "session": 0, "keys": []string{"a"}})
	if got := a["values"].(object)["a"]; got != "one" {
		t.Error("a session of an environment that is gone:", a)
	}
}

// Questions fail while the snapshot is unusable, and succeed as soon as the file is repaired.
func TestUnusableSnapshotRecoversAfterRepair(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	newer := append([]byte(snapshot.Magic+"\xff"), whole[len(snapshot.Magic)+1:]...)
	p := connect(t, server(t, path))
	for _, c := range []struct{ content, want string }{
		{"", "snapshot_format"},
		{"something else", "snapshot_format"},
		{string(newer), "snapshot_version"},
		{string(whole[:len(whole)-1]), "snapshot_damaged"},
		{flipped(string(whole), len(whole)-70), "snapshot_damaged"},
	} {
		if got := p.code(hello()); got == "" {
			t.Fatal("a missing snapshot answers")
		}
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := p.code(hello()); got != c.want {
			t.Errorf("%q: %s, expected %s", c.content, got, c.want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := p.code(hello()); got != "snapshot_missing" {
		t.Error(got)
	}
	build(t, path, site)
	p.node(1, nil)
}

// flipped returns text with one bit flipped.
func flipped(text string, at int) string {
	return text[:at] + string([]byte{text[at] ^ 1}) + text[at+1:]
}

func TestSessionsEndWhenUnusedOrReplaced(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	p := connect(t, server(t, path))
	asked := func(session int) string {
		return p.code(object{"ask": "keys", "session": session, "keys": []string{"a"}})
	}
	for i := range serve.MaxSessions {
		p.node(i, nil)
	}
	asked(0)
	p.node(1000, nil) // replaces session 1, which was unused for the longest time
	for session, want := range map[int]string{0: "", 1: "session", 2: "", 1000: ""} {
		if got := asked(session); got != want {
			t.Errorf("session %d: %q, expected %q", session, got, want)
		}
	}
	idle := connect(t, server(t, path, func(o *serve.Options) { o.Idle = time.Microsecond }))
	idle.ask(object{"ask": "hello", "protocol": 1})
	idle.ask(object{"ask": "node", "session": 1, "digest": idle.digest()})
	for idle.code(object{"ask": "keys", "session": 1, "keys": []string{"a"}}) != "session" {
	}
}

// In a directory with a choice of environments, the facts of a node decide its environment. The client sends the
// variables that the choice needs with the question node, because hello does not name a node.
func TestSessionUsesTheChosenEnvironment(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"production", "special"} {
		build(t, filepath.Join(dir, name+".snap"),
			"bindings_version: 1\nname: default\nbind:\n  - [is, '"+name+" ${environment} ${rack}']\n")
	}
	choice := func(src string) {
		says, errs := syntax.ParseEnvironments(src)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		tmp := filepath.Join(dir, "new")
		err := os.WriteFile(tmp, envfile.Encode(&envfile.Choice{Program: envfile.ProgramOf(says.Statements)}), 0o666)
		if err == nil {
			err = os.Rename(tmp, filepath.Join(dir, envfile.File))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	choice("if $role == 'db' { $environment = 'special' } elsif $role == 'lost' { $environment = 'spezial' }")
	p := connect(t, server(t, dir))

	ask := func(environment, role string) object {
		q := object{"ask": "hello", "protocol": 1, "environment": environment}
		s := p.ask(q)["snapshot"].(object)
		q = object{"ask": "node", "session": 1, "environment": environment, "facts": object{"role": role}}
		for range 3 { // each answer may name another snapshot with other needs
			if !slices.Contains(s["variables"].([]any), any("role")) {
				t.Fatalf("the choice needs a role, the client is asked for %v", s["variables"])
			}
			q["digest"] = s["digest"]
			a := p.ask(q)
			if next, ok := a["snapshot"].(object); ok {
				s = next
				continue
			}
			if a["error"] != nil {
				return a
			}
			return p.ask(object{"ask": "keys", "session": 1, "keys": []string{"is"}})["values"].(object)
		}
		t.Fatal("no session is opened")
		return nil
	}
	for _, environment := range []string{"production", "special", "unheard_of"} {
		for role, want := range map[string]string{"db": "special special ", "web": "production production "} {
			if got := ask(environment, role)["is"]; got != want {
				t.Errorf("%s for %s: %v, expected %s", environment, role, got, want)
			}
		}
	}
	e := ask("production", "lost")["error"].(object)
	if e["code"] != "environment" || !strings.Contains(e["message"].(string), "did you mean 'special'?") {
		t.Errorf("an environment that does not exist: %v", e)
	}

	choice("$environment = 'special'")
	q := object{"ask": "node", "session": 2, "facts": object{}}
	keys := object{"ask": "keys", "session": 2, "keys": []string{"is"}}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // until the server polls
		a := p.ask(q)
		if s, ok := a["snapshot"].(object); ok {
			q["digest"] = s["digest"]
		} else if p.ask(keys)["values"].(object)["is"] == "special special " {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the new program does not choose")
		}
	}
}
