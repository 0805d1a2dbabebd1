package serve_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/envfile"
	"bindc/internal/syntax"
	"bindc/internal/testmode"
	bindings "bindc/runtime"
	"bindc/serve"
)

// The message for an invalid question helps client authors find the mistake.
func TestErrorsDescribeMistakeInQuestion(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	s := server(t, path)
	const hi = `{"ask":"hello","protocol":1}`
	for question, want := range map[string]string{
		`{`:                "expected a JSON object: invalid or incomplete JSON at byte 1",
		`{"ask":"hello",}`: "expected a JSON object: invalid or incomplete JSON at byte 16",
		`[]`:               "expected a JSON object, found an array",
		`7`:                "expected a JSON object, found a number",
		`true`:             "expected a JSON object, found true or false",
		`{"ask":{}}`:       "the member 'ask' of the question: expected a string, found an object",
		`{"direct":1}`:     "the member 'direct' of the question: expected true or false, found a number",
		`{"keys":"a"}`:     "the member 'keys' of the question: expected a list of strings, found a string",
		`{"session":0.5}`:  "the member 'session' of the question: expected a 64-bit integer, found a number",
		`{"ask":"hello","protocol":1,"Ask":"node"}`: "the question has two different values for the member 'Ask'",
		`{"ask":"hello","enviroment":"testing"}`: "unknown member 'enviroment' of the question; " +
			"did you mean 'environment'?",
		`{"ask":"node","session":1,"fatcs":{}}`: "unknown member 'fatcs' of the question; did you mean 'facts'?",
		`{"ask":"node","session":1,"facts":{},"facts":1}`: "the question has two different values " +
			"for the member 'facts'",
		`{"ask":"node"}`:  "expected the question hello first, found 'node'",
		`{"ask":"hello"}`: "expected protocol 1; this bindq (test) only supports that version: update the client or bindq",
	} {
		p := connect(t, s)
		if err := p.Send([]byte(question)); err != nil {
			t.Fatal(err)
		}
		text, err := p.Receive()
		var got struct{ Error struct{ Message string } }
		if err = errors.Join(err, json.Unmarshal(text, &got)); err != nil || got.Error.Message != want {
			t.Errorf("%.20s: %s, %v; expected %s", question, text, err, want)
		}
	}
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(hi))), hi...)
	err := s.Answer(bytes.NewReader(frame[:12]), io.Discard)
	if err == nil || !strings.HasSuffix(err.Error(), "after 12 of at least 32 bytes") {
		t.Errorf("half a question: %v", err)
	}
	err = s.Answer(bytes.NewReader(frame[:2]), io.Discard)
	if err == nil || !strings.HasSuffix(err.Error(), "after 2 of at least 4 bytes") {
		t.Errorf("half a header: %v", err)
	}
	var out bytes.Buffer
	tooLong := binary.BigEndian.AppendUint32(nil, serve.MaxQuestion+1)
	if err := s.Answer(bytes.NewReader(tooLong), &out); err != nil ||
		!strings.Contains(out.String(), `"expected a question of at most 16777216 bytes"`) {
		t.Errorf("a question that is too long: %s, %v", &out, err)
	}
	if err := s.Answer(io.MultiReader(bytes.NewReader(frame[:12]), unreadable{}), io.Discard); err != errBroken {
		t.Errorf("input that cannot be read: %v", err)
	}
}

type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, errBroken }

// writeChoice writes to dir the program that chooses a node's environment.
func writeChoice(t *testing.T, dir, src string) {
	t.Helper()
	says, errs := syntax.ParseEnvironments(src)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	text := envfile.Encode(&envfile.Choice{Program: envfile.ProgramOf(says.Statements)})
	tmp := filepath.Join(dir, "new")
	err := errors.Join(os.WriteFile(tmp, text, 0o666), os.Rename(tmp, filepath.Join(dir, envfile.File)))
	if err != nil {
		t.Fatal(err)
	}
}

// hello reports the variables that the choice of an environment needs, whether or not the client's environment exists.
func TestHelloReportsNeedsOfEnvironmentChoice(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "production.snap"), "bindings_version: 1\nname: default\nbind: [[a, '${role}']]\n")
	writeChoice(t, dir, "if $role == 'db' { $environment = 'special' }")
	p := connect(t, server(t, dir))
	nowhere := `{"ask":"hello","protocol":1,"environment":"nowhere"}`
	want := `{"protocol":1,"version":"test","snapshot":{"digest":"+role","variables":["role"],"scoped":["role"],"all_facts":false,` +
		`"trusted":false,"hiera":false,"locations":1}}`
	if got := p.askText(nowhere); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	build(t, filepath.Join(dir, "other.snap"), "bindings_version: 1\nname: default\nbind: [[a, '${x} ${y} ${z}']]\n")
	for environment, want := range map[string]string{"production": "role]", "other": "role x y z]"} {
		for range 2 {
			a := p.ask(object{"ask": "hello", "protocol": 1, "environment": environment})
			got := fmt.Sprint(a["snapshot"].(object)["variables"])
			if names := "[clientcert domain fqdn hostname networking os osfamily "; got != names+want {
				t.Errorf("%s needs %s, expected %s%s", environment, got, names, want)
			}
		}
	}
	wrong := object{"ask": "node", "session": 1, "facts": []int{1}}
	if got := fmt.Sprint(p.ask(wrong)["error"]); !strings.Contains(got, "code:facts") || strings.Contains(got, "nil") {
		t.Errorf("facts that are not a hash: %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.snap"), []byte("no snapshot"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := p.code(object{"ask": "hello", "protocol": 1, "environment": "broken"}); got != "snapshot_format" {
		t.Errorf("a broken snapshot: %q", got)
	}
	for program, want := range map[string]string{
		"if join(keys($facts)) == 'a' { $environment = 'special' }":   "[] true false",
		"if $trusted['certname'] == 'a' { $environment = 'special' }": "[] false true",
	} {
		dir := t.TempDir()
		writeChoice(t, dir, program)
		needs := connect(t, server(t, dir)).ask(hello())["snapshot"].(object)
		if got := fmt.Sprint(needs["variables"], needs["all_facts"], needs["trusted"]); got != want {
			t.Errorf("%s: %s, expected %s", program, got, want)
		}
	}
}

// If the choice of environments is damaged when the server starts, no node gets an answer, because it might be from the
// wrong environment. If the choice is damaged later, the server reports that and keeps the previous choice.
func TestDamagedChoiceStopsAnswersOrKeepsPreviousChoice(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "production.snap"), site)
	file := filepath.Join(dir, envfile.File)
	garbage := func() {
		t.Helper()
		err := errors.Join(os.WriteFile(file+".new", []byte("garbage"), 0o666), os.Rename(file+".new", file))
		if err != nil {
			t.Fatal(err)
		}
	}
	garbage()
	told := make(chan string, 1000)
	report := func(o *serve.Options) {
		o.Report = func(e serve.Event) {
			if e.What == serve.Refused {
				told <- e.Err.Error()
			}
		}
	}
	p := connect(t, server(t, dir, report))
	for _, q := range []object{hello(), {"ask": "node", "session": 1}} {
		if got := p.code(q); got == "" || got == "facts" {
			t.Errorf("%v: %q", q, got)
		}
		if text := <-told; !strings.Contains(text, file) {
			t.Errorf("told %s", text)
		}
	}
	writeChoice(t, dir, "$environment = 'production'")
	p = connect(t, server(t, dir, report))
	p.node(1, nil)
	garbage()
	if text := <-told; !strings.Contains(text, file) {
		t.Errorf("told %s", text)
	}
	p.node(2, nil)
	writeChoice(t, dir, "if $role == 'db' { $environment = 'special' }") // a valid choice is not reported
	for !strings.HasSuffix(p.digest(), "+role") {
	}
	garbage()
	if text := <-told; !strings.Contains(text, file) {
		t.Errorf("told %s", text)
	}
}

// Explanations count the bindings whose conditions do not hold, and the lookups that they omit. Keys that dig into
// values have no bindings.
func TestExplanationsCountOmittedBindingsAndLookups(t *testing.T) {
	testmode.SkipUnderRace(t)
	var b strings.Builder
	b.WriteString("bindings_version: 1\nname: default\nbind:\n  - {name: many, to: \"")
	for i := range 1000 {
		fmt.Fprintf(&b, "${lookup('k%d')}", i)
	}
	b.WriteString("\"}\n  - {when: {node: n1}, bind: [[one, 1]]}\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "  - [k%d, 1]\n", i)
	}
	path := snap(t)
	build(t, path, b.String())
	p := connect(t, server(t, path))
	p.node(1, nil)
	lines := func(key string) (out []string) {
		for _, line := range p.ask(object{"ask": "explain", "session": 1, "key": key})["lines"].([]any) {
			out = append(out, line.(string))
		}
		return out
	}
	if got := lines("one"); !slices.Equal(got[:1], []string{"not effective: 1 more, whose conditions do not hold"}) {
		t.Errorf("one: %q", got)
	}
	got := lines("many")
	if n := len(got); got[n-2] != "and 1 more lookups that are not shown" {
		t.Errorf("many: %d lines, %q", n, got[max(0, n-3):])
	}
	if got := lines("k1"); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "not shown") }) {
		t.Errorf("k1: %q", got)
	}
}

// Without entries, keys are listed in the form in which they are looked up: with quotes if they contain a dot. Sites
// without Hiera 5 have no entries and no quotes.
func TestHiera5KeysAreListedInLookupForm(t *testing.T) {
	path := snap(t)
	build(t, path, "bindings_version: 1\nname: default\nbind: [[az, 1]]\n", hiera5...)
	p := connect(t, server(t, path))
	p.ask(object{"ask": "node", "session": 1, "digest": p.digest(), "vars": object{"role": "web"}})
	for question, want := range map[string]string{
		`"prefix":"\"a"`: `{"values":{"\"a.b\"":"dotted"}}`, `"prefix":"\"a","entries":"0-"`: `{"values":{}}`} {
		if got := p.askText(`{"ask":"prefix","session":1,` + question + `}`); got != want {
			t.Errorf("%s: %s, expected %s", question, got, want)
		}
	}
	for key, want := range map[string]string{"motd": "data/site.yaml:3:1", "a.b": "data/role/web.yaml:3:1"} {
		got := p.ask(object{"ask": "explain", "session": 1, "key": key, "entries": "0-"})
		if got["at"] != want {
			t.Errorf("%s is explained by %v", key, got)
		}
	}
	build(t, path, "bindings_version: 1\nname: default\nbind: [[a.b, 1], [\"'c.d'\", 2], [c, 3]]\n")
	p = connect(t, server(t, path))
	p.node(1, nil)
	got := p.askText(`{"ask":"prefix","session":1,"prefix":"","entries":"0-"}`)
	if want := `{"values":{"'c.d'":2,"a.b":1,"c":3}}`; got != want {
		t.Errorf("without Hiera: %s, expected %s", got, want)
	}
	got = p.askText(`{"ask":"explain","session":1,"key":"lookup_options"}`)
	if want := `{"at":"","lines":["nothing binds this key","snapshot ` + p.digest() + `"]}`; got != want {
		t.Errorf("lookup_options: %s, expected %s", got, want)
	}
}

// A multibinding that another binding overrides for the node is a single candidate. Every key is listed once. The
// server ignores members that a question does not need.
func TestMergedKeyIsOneCandidate(t *testing.T) {
	path := snap(t)
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: users, multibind_id: users, type: 'Array[String]'}
  - {in: users, to: root}
  - [lookup_options, {groups: {merge: hash}}]
  - {when: {node: n1}, bind: [[users, [x]]]}
`)
	p := connect(t, server(t, path))
	p.node(1, object{"networking": object{"fqdn": "n1"}})
	for question, want := range map[string]string{
		`"candidates","key":"users","prefix":"lookup"`: `{"candidates":[{"values":{"users":["x"]}}]}`,
		`"prefix","prefix":"lookup"`: `{"values":{"lookup_options":{"groups":{"merge":"hash"},` +
			`"users":{"merge":"first"}}}}`,
	} {
		if got := p.askText(`{"session":1,"ask":` + question + `}`); got != want {
			t.Errorf("%s: %s, expected %s", question, got, want)
		}
	}
}

func TestSurveyOfClosedSnapshotFails(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	snap.Close()
	if err := serve.Survey(snap); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// Closed listeners are not counted, so the next listener accepts the full number of connections.
func TestClosedListenersDoNotCountAsConnections(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	s := server(t, path)
	for range 3 {
		l := &listener{closed: make(chan struct{})}
		l.Close()
		if err := s.Serve(l); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Open(); n != 0 {
		t.Errorf("%d listeners are kept", n)
	}
}

// If the snapshot is replaced or its environment dropped while a session opens, the client has to repeat the question
// once at most.
func TestSnapshotReplacedDuringOpeningTakesOneRetry(t *testing.T) {
	path := snap(t)
	build(t, path, generation(1))
	s := server(t, path)
	p := connect(t, s)
	q := object{"ask": "node", "session": 1, "digest": p.digest()}
	first := s.Answering(path)
	s.BeforeSession(func() {
		build(t, path, generation(2))
		for s.Answering(path) == first {
		}
	})
	if a := p.ask(q); a["snapshot"] == nil {
		t.Errorf("replaced: %v", a)
	}
	p.node(1, nil)
	second := s.Answering(path)
	p.ask(object{"ask": "end", "session": 1})
	build(t, path, generation(3))
	for s.Answering(path) == second {
	}
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Request(facts); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the second is still in use: %v", err)
	}
	q["digest"] = p.digest()
	s.BeforeSession(func() { s.Drop(path) })
	if a := p.ask(q); a["session"] == nil {
		t.Errorf("dropped: %v", a)
	}
	s.Drop(path)
	if got := p.digest(); got != q["digest"] {
		t.Errorf("dropped before: %s", got)
	}
}

func TestEntriesMayHaveSeveralDigits(t *testing.T) {
	for text, want := range map[string]string{"2-4": "2 4", "10-12": "10 12", "0-0": "0 0", "5-": "5 -1",
		"12-": "12 -1", "3-2": "", "-": "", "-1": "", "a-1": "", "1-b": "", "1": "", "": "", "-1-2": "", "2147483648-": "",
		"2147483647-2147483647": "2147483647 2147483647", "1-2147483648": ""} {
		if got := serve.Entries(text); got != want {
			t.Errorf("%s: '%s', expected '%s'", text, got, want)
		}
	}
}
