package serve_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bindc/internal/envfile"
	"bindc/internal/testmode"
	"bindc/serve"
	"bindc/serve/client"
)

// askText returns the answer to a question as text.
func (p peer) askText(question string) string {
	p.Helper()
	if err := p.Send([]byte(question)); err != nil {
		p.Fatal(err)
	}
	text, err := p.Receive()
	if err != nil {
		p.Fatalf("%s: %v", question, err)
	}
	return string(text)
}

// If a connection has too many sessions, the least recently used one ends. Opening a session counts as use.
func TestLeastRecentlyUsedSessionEnds(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	p := connect(t, server(t, path))
	code := func(session int) string {
		return p.code(object{"ask": "keys", "session": session, "keys": []string{"top"}})
	}
	for i := range serve.MaxSessions {
		p.node(i, nil)
	}
	for i := range serve.MaxSessions {
		if got := code(i); got != "" {
			t.Fatalf("session %d: %s", i, got)
		}
	}
	for i := range 3 { // each replaces the oldest session
		p.node(1000+i, nil)
	}
	p.node(10, nil) // replaces session 10 and no other
	for session, want := range map[int]string{0: "session", 1: "session", 2: "session", 3: "", 10: "", 63: "", 1000: "",
		1001: "", 1002: ""} {
		if got := code(session); got != want {
			t.Errorf("session %d: %q, expected %q", session, got, want)
		}
	}
}

// A key that is requested twice is answered twice. A question with no keys is answered, too.
func TestRepeatedKeysAndNoKeysAreAnswered(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	p := connect(t, server(t, path))
	p.node(1, nil)
	for keys, want := range map[string]string{
		`[]`:                              `{"values":{}}`,
		`["absent"]`:                      `{"values":{}}`,
		`["top","top"]`:                   `{"values":{},"rich":{"top":1,"top":1}}`,
		`["ntp::deep::value","absent"]`:   `{"values":{"ntp::deep::value":1}}`,
		`["ntp::port","users","top"]`:     `{"values":{"users":["root"]},"rich":{"top":1},"errors":{"ntp::port":1}}`,
		`["ntp::port","ntp::port"]`:       `{"values":{},"errors":{"ntp::port":1,"ntp::port":1}}`,
		`["ntp::ratio","top","ntp::big"]`: `{"values":{"ntp::ratio":1.0,"ntp::big":9007199254740993},"rich":{"top":1}}`,
	} {
		got := p.askText(`{"ask":"keys","session":1,"keys":` + keys + `}`)
		got = strings.ReplaceAll(got, `{"__ptype":"Hash","__pvalue":[1,"one"]}`, "1")
		got = strings.ReplaceAll(got,
			`{"code":"type_mismatch","message":"'ntp::port': expected Integer, found String"}`, "1")
		if got != want {
			t.Errorf("%s: %s, expected %s", keys, got, want)
		}
	}
	if got := p.askText(`{"ask":"candidates","session":1,"key":"ntp::port"}`); !strings.Contains(got, "type_mismatch") {
		t.Errorf("candidates of what fails: %s", got)
	}
}

// The server does not change lookup_options that Puppet cannot merge or must not see.
func TestUnmergeableLookupOptionsAreUnchanged(t *testing.T) {
	const users = "  - {name: users, multibind_id: users, type: 'Array[String]'}\n"
	for binds, want := range map[string]string{
		users + "  - [lookup_options, none]\n":        `{"values":{"lookup_options":"none"}}`,
		users + "  - [lookup_options, {1: unique}]\n": `"rich":{"lookup_options":{"__ptype":"Hash","__pvalue":[1,"unique"]}}`,
		users + "  - {name: lookup_options, to: {a: {merge: hash}}, sensitive: true}\n": `"__ptype":"Sensitive",` +
			`"__pvalue":{"a":{"merge":"hash"}}`,
		users + "  - {name: lookup_options, type: Integer, to_expression: 'join([$os])'}\n": `"errors":{"lookup_options":`,
		users: `{"values":{"lookup_options":{"users":{"merge":"first"}}}}`,
		"  - [lookup_options, {a: {merge: hash}}]\n": `{"values":{"lookup_options":{"a":{"merge":"hash"}}}}`,
		"  - [a, 1]\n": `{"values":{}}`,
	} {
		path := snap(t)
		build(t, path, "bindings_version: 1\nname: default\nbind:\n"+binds)
		p := connect(t, server(t, path))
		p.node(1, nil)
		got := p.askText(`{"ask":"keys","session":1,"keys":["lookup_options"]}`)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, expected %s", binds, got, want)
		}
	}
}

// An abstract binding below another binding is not a candidate. A merged value is one candidate. A binding that fails
// is a candidate with an error.
func TestCandidatesOmitAbstractBindingsAndIncludeFailures(t *testing.T) {
	path := snap(t)
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: wanted, abstract: true}
  - {name: failing, to_expression: 'join([$os])', type: Integer}
  - {when: {node: n1}, bind: [[wanted, 1], [failing, 2], [top, 1]]}
  - {when: {osfamily: debian}, bind: [[failing, 3]]}
`, "bindings/top.yaml", "bindings_version: 1\nname: top\nbind: [[wanted, 7]]\n", "binder_config.yaml",
		"version: 1\nlayers: [{name: top, include: 'confdir:/top'}, {name: site, include: 'confdir:/default'}]\n"+
			"categories: [[node, '${fqdn}'], [osfamily, '${osfamily}']]\n")
	p := connect(t, server(t, path))
	p.node(1, object{"networking": object{"fqdn": "n1"}, "os": object{"family": "Debian"}})
	p.node(2, object{})
	for question, want := range map[string]string{
		`1,"key":"wanted"`: `{"candidates":[{"values":{"wanted":7}},{"values":{"wanted":1}}]}`,
		`2,"key":"wanted"`: `{"candidates":[{"values":{"wanted":7}}]}`,
		`2,"key":"top"`:    `{"candidates":[]}`,
		`1,"key":"failing"`: `{"candidates":[{"values":{"failing":2}},{"values":{"failing":3}},{"values":{},` +
			`"errors":{"failing":{"code":"type_mismatch","message":"'failing': expected Integer, found String"}}}]}`,
	} {
		if got := p.askText(`{"ask":"candidates","session":` + question + `}`); got != want {
			t.Errorf("%s: %s, expected %s", question, got, want)
		}
	}
}

// An explanation lists the winner, lower bindings, contributions, lookups and errors, without values.
func TestExplanationsListOutcomeWithoutValues(t *testing.T) {
	path := snap(t)
	build(t, path, `bindings_version: 1
name: default
bind:
  - [a, 1]
  - {name: asks, to_lookup_of: a}
  - {name: failing, to_expression: 'join([$osfamily])', type: Integer}
  - {name: users, multibind_id: users, type: 'Array[String]'}
  - {in: users, name: root, to: canary}
  - {when: {node: n1}, bind: [[a, 2], {in: users, name: ann, to: canary}]}
  - {when: {osfamily: debian}, bind: [[a, 3]]}
  - {when: {node: n1, osfamily: debian}, bind: [[a, 4]]}
`)
	p := connect(t, server(t, path))
	p.node(1, object{"networking": object{"fqdn": "n1"}, "os": object{"family": "Debian"}})
	p.node(2, nil)
	const at = "bindings/default.yaml:"
	a := func(indent string) []string {
		return []string{indent + "wins: " + at + "11:50 (site), when node is n1 and osfamily is debian",
			indent + "hidden: " + at + "9:32 (site), when node is n1: hidden by " + at + "11:50",
			indent + "hidden: " + at + "10:40 (site), when osfamily is debian: hidden by " + at + "11:50",
			indent + "hidden: " + at + "4:6 (site), always: hidden by " + at + "11:50"}
	}
	for question, want := range map[string][]string{
		`1,"key":"a"`: append([]string{at + "11:50"}, a("")...),
		`2,"key":"a"`: {at + "4:6", "wins: " + at + "4:6 (site), always",
			"not effective: 3 more, whose conditions do not hold"},
		`1,"key":"asks"`: append([]string{at + "5:12", "wins: " + at + "5:12 (site), always", "lookup of a:"},
			a("  ")...),
		`2,"key":"absent"`: {"", "nothing binds this key"},
		`2,"key":"failing"`: {at + "6:12", "wins: " + at + "6:12 (site), always",
			"error: 'failing': expected Integer, found String"},
		`1,"key":"users"`: {at + "7:12", "wins: " + at + "7:12 (site), always",
			"contribution wins: " + at + "9:57 (site), when node is n1, named ann",
			"contribution wins: " + at + "8:23 (site), always, named root"},
		`2,"key":"users"`: {at + "7:12", "wins: " + at + "7:12 (site), always",
			"contribution wins: " + at + "8:23 (site), always, named root"},
	} {
		var got struct {
			At    string
			Lines []string
		}
		text := p.askText(`{"ask":"explain","session":` + question + `}`)
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if lines := append([]string{got.At}, got.Lines...); !slices.Equal(lines[:len(lines)-1], want) {
			t.Errorf("%s: %q, expected %q", question, lines, want)
		}
		if last := got.Lines[len(got.Lines)-1]; last != "snapshot "+p.digest() {
			t.Errorf("%s ends with %s", question, last)
		}
	}
}

func TestQuestionInEndedSessionFails(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	s := server(t, path)
	node := `{"ask":"node","session":1,"digest":"` + connect(t, s).digest() + `"}`
	for _, q := range []string{`"keys","keys":["top"]`, `"prefix","prefix":""`, `"candidates","key":"top"`,
		`"candidates","key":"users"`, `"candidates","key":"absent"`, `"explain","key":"top"`} {
		got := s.AskEnded([]string{`{"ask":"hello","protocol":1}`, node}, `{"session":1,"ask":`+q+`}`)
		if got != "session: session 1 is not open: open one with the question node" {
			t.Errorf("%s: %s", q, got)
		}
	}
}

// An answer that is larger than a frame is replaced by an error, whatever the question.
func TestRejectsTooLargeAnswers(t *testing.T) {
	testmode.SkipUnderRace(t)
	for _, c := range []struct {
		plain, rich, errors int
		fits                bool
	}{
		{serve.MaxValues, 0, 0, true},
		{serve.MaxValues + 1, 0, 0, false},
		{0, serve.MaxValues, 0, true},
		{1, serve.MaxValues, 0, false},
		{0, 1, serve.MaxValues, false},
		{1, 1, serve.MaxValues - 2, true},
		{1, 1, serve.MaxValues - 1, false},
	} {
		if got := serve.Fits(c.plain, c.rich, c.errors); got != c.fits {
			t.Errorf("%+v: %v", c, got)
		}
	}
	path := snap(t)
	text := strings.Repeat("0123456789abcdef", 1<<16)
	build(t, path, "bindings_version: 1\nname: default\nbind:\n  - [a, "+text+"]\n"+
		"  - {name: fails, to_expression: \"fail('"+text[:1<<12]+"')\"}\n  - [b, 1]\n")
	p := connect(t, server(t, path))
	p.node(1, nil)
	many := func(key string, n int) object {
		return object{"ask": "keys", "session": 1, "keys": slices.Repeat([]string{key}, n)}
	}
	for _, c := range []struct {
		key  string
		n    int
		want string
	}{{"a", 63, ""}, {"a", 64, "too_large"}, {"b", 1, ""}} {
		if got := p.code(many(c.key, c.n)); got != c.want {
			t.Errorf("%d of %s: %q, expected %q", c.n, c.key, got, c.want)
		}
	}
}

// Questions may arrive in pieces of any size. It is not an error if the input ends between frames.
func TestFramesAreReadInPieces(t *testing.T) {
	testmode.SkipUnderRace(t)
	path := snap(t)
	build(t, path, site)
	s := server(t, path)
	frame := func(text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	const hello = `{"ask":"hello","protocol":1}`
	padded := func(n int) string { return hello + strings.Repeat(" ", n-len(hello)) }
	for _, c := range []struct {
		what    string
		input   []byte
		answers int
		err     error
	}{
		{"no input", nil, 0, nil},
		{"a truncated header", []byte{0, 0}, 0, io.ErrUnexpectedEOF},
		{"a header without a body", []byte{0, 0, 0, 9}, 0, io.ErrUnexpectedEOF},
		{"a truncated question", frame(hello)[:12], 0, io.ErrUnexpectedEOF},
		{"two questions", append(frame(hello), frame(hello)...), 2, nil},
		{"large and small questions", slices.Concat(frame(padded(3<<20)), frame(hello), frame(padded(2<<20)),
			frame(hello)),
			4, nil},
		{"the largest question", frame(padded(serve.MaxQuestion)), 1, nil},
		{"a question that is too large, and another one", append(frame(padded(serve.MaxQuestion+1)), frame(hello)...),
			1, nil},
		{"an invalid question, and another one", append(frame(`{"ask":"hello"}`), frame(hello)...), 1, nil},
	} {
		var out bytes.Buffer
		err := s.Answer(iotestHalf{bytes.NewReader(c.input)}, &out)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, expected %v", c.what, err, c.err)
		}
		in, n, refused := client.New(&out, io.Discard), 0, false
		for ; ; n++ {
			text, err := in.Receive()
			if err == io.EOF {
				break
			}
			if err != nil || !json.Valid(text) {
				t.Fatalf("%s: %q, %v", c.what, text, err)
			}
			refused = strings.HasPrefix(string(text), `{"error":{"code":"protocol"`)
		}
		if n > 0 && refused != strings.Contains(c.what, "another one") {
			t.Errorf("%s: refused %v", c.what, refused)
		}
		if n != c.answers {
			t.Errorf("%s: %d answers, expected %d", c.what, n, c.answers)
		}
	}
	if err := s.Answer(bytes.NewReader(frame(hello)), protocolError{}); err != errBroken {
		t.Errorf("a client that takes no answer: %v", err)
	}
}

// iotestHalf reads at most half of the bytes that the caller asks for.
type iotestHalf struct{ io.Reader }

func (h iotestHalf) Read(p []byte) (int, error) { return h.Reader.Read(p[:(len(p)+1)/2]) }

var errBroken = errors.New("broken")

type protocolError struct{}

func (protocolError) Write([]byte) (int, error) { return 0, errBroken }

// If Accept fails, Serve calls it again after a pause. Each connection has a number and is reported when it begins and
// ends.
func TestServeReportsConnectionsAndRetriesAccept(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	events := make(chan serve.Event, 100)
	s := server(t, path, func(o *serve.Options) { o.Report = func(e serve.Event) { events <- e } })
	l := &listener{conns: make(chan net.Conn), fails: 2, closed: make(chan struct{})}
	ended := make(chan error, 1)
	begun := time.Now()
	go func() { ended <- s.Serve(l) }()
	for number := range 2 {
		ours, theirs := net.Pipe()
		l.conns <- theirs
		c := client.New(ours, ours)
		if _, err := c.Ask(hello()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ask(object{"ask": "keys", "keys": []string{"a"}, "session": number}); err != nil {
			t.Fatal(err)
		}
		ours.Close()
		var got []string
		for e := range events {
			got = append(got, fmt.Sprintf("%s %d %v", e.What, e.Connection, e.Err))
			if e.What == serve.Disconnected {
				break
			}
		}
		var want []string
		if number == 0 {
			want = []string{"question failed 0 too many open files", "question failed 0 too many open files"}
		}
		want = append(want, fmt.Sprintf("connected %d <nil>", number+1))
		if number == 0 {
			want = append(want, "snapshot answers 0 <nil>")
		}
		want = append(want, fmt.Sprintf("question failed %d session %d is not open: open one with "+
			"the question node", number+1, number), fmt.Sprintf("disconnected %d <nil>", number+1))
		if !slices.Equal(got, want) {
			t.Errorf("connection %d: %q, expected %q", number+1, got, want)
		}
	}
	if since := time.Since(begun); since < 150*time.Millisecond {
		t.Errorf("it took %v, expected a pause after each failure", since)
	}
	s.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// listener fails a few times and then returns connections.
type listener struct {
	conns  chan net.Conn
	fails  int
	before func() // called before each connection
	once   sync.Once
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	if l.fails--; l.fails >= 0 {
		return nil, errors.New("too many open files")
	}
	select {
	case c := <-l.conns:
		if l.before != nil {
			l.before()
		}
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "test"} }

// A closed server rejects listeners, and connections that arrive during Close.
func TestClosedServerAcceptsNothing(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	var said atomic.Int32
	s := server(t, path, func(o *serve.Options) { o.Report = func(serve.Event) { said.Add(1) } })
	l := &listener{conns: make(chan net.Conn, 1), before: s.Close, closed: make(chan struct{})}
	ours, theirs := net.Pipe()
	l.conns <- theirs
	if err := s.Serve(l); err != nil {
		t.Error(err)
	}
	if _, err := client.New(ours, ours).Ask(hello()); err == nil {
		t.Error("a connection that arrives as the server closes is answered")
	}
	time.Sleep(20 * time.Millisecond)
	if said.Load() != 0 {
		t.Errorf("%d events were reported", said.Load())
	}
	next := &listener{closed: make(chan struct{})}
	if err := s.Serve(next); err != net.ErrClosed {
		t.Errorf("a closed server: %v", err)
	}
	<-next.closed
}

// Close ends socket connections, including idle ones, and returns after they have ended.
func TestCloseEndsConnections(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	var gone atomic.Int32
	s := server(t, path, func(o *serve.Options) {
		o.Report = func(e serve.Event) {
			if e.What == serve.Disconnected {
				time.Sleep(20 * time.Millisecond)
				gone.Add(1)
			}
		}
	})
	socket := listen(t, s)
	for range 2 {
		c := dial(t, socket)
		if _, err := client.New(c, c).Ask(hello()); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if gone.Load() != 2 {
		t.Errorf("%d connections had ended when Close returned", gone.Load())
	}
}

// The server does not keep environments with unknown names. A rejected snapshot gives a different error.
func TestUnknownEnvironmentsAreNotKept(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "production.snap"), site)
	build(t, filepath.Join(dir, "refused.snap"), site)
	var wrong atomic.Int32
	s := server(t, dir, func(o *serve.Options) {
		o.Snapshot.Accept = func(path string, _ [32]byte) error {
			if strings.Contains(path, "refused") {
				return errors.New("no signature")
			}
			return nil
		}
		o.Report = func(e serve.Event) {
			if e.What == serve.Refused {
				wrong.Add(1)
			}
		}
	})
	p := connect(t, s)
	of := func(name string) object { return object{"ask": "hello", "protocol": 1, "environment": name} }
	for i := range 20 {
		if got := p.code(of(fmt.Sprint("none", i))); got != "environment" {
			t.Error(got)
		}
	}
	if kept := s.Kept(); kept != 0 || wrong.Load() != 0 {
		t.Errorf("%d names are kept, %d refused", kept, wrong.Load())
	}
	for range 2 {
		if got := p.code(of("refused")); got != "snapshot_refused" {
			t.Error(got)
		}
	}
	if got := p.code(of("")); got != "" || s.Kept() != 2 || wrong.Load() != 1 {
		t.Errorf("production: %q; %d are kept, %d refused", got, s.Kept(), wrong.Load())
	}
	far, _ := p.ask(of("none"))["error"].(object)
	if message := fmt.Sprint(far["message"]); !strings.HasSuffix(message, "none.snap; create it with bindc build") {
		t.Error(message)
	}
	text := fmt.Sprint(p.ask(of("prodution"))["error"])
	if !strings.Contains(text, "did you mean 'production'?") || !strings.Contains(text, "prodution.snap") {
		t.Error(text)
	}
	long := strings.Repeat("x", 200)
	const noName = "expected an environment name"
	for name, want := range map[string]string{long: "no snapshot for environment", long + "x": noName, "a/b": noName,
		".a": noName} {
		if text := fmt.Sprint(p.ask(of(name))["error"]); !strings.Contains(text, want) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if err := os.Remove(filepath.Join(dir, "refused.snap")); err != nil {
		t.Fatal(err)
	}
	if got := p.code(of("refused")); got != "environment" || s.Kept() != 1 {
		t.Errorf("refused, and gone: %q; %d are kept", got, s.Kept())
	}
}

// The error for an invalid member names the member.
func TestErrorNamesInvalidMember(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	p := connect(t, server(t, path))
	p.node(1, nil)
	for question, want := range map[string]string{
		`"node","session":1,"facts":{"a":1e999}`:                 "facts: ",
		`"node","session":1,"vars":{"a":1e999}`:                  "vars: ",
		`"node","session":1,"trusted":{"a":1e999}`:               "trusted: ",
		`"keys","session":1,"keys":["top"],"merge":1e999`:        "merge: ",
		`"keys","session":1,"keys":["top"],"entries":"2"`:        "entries: expected FROM-TO",
		`"keys","session":1,"keys":"top"`:                        "the member 'keys' of the question: expected a list",
		`"prefix","session":1`:                                   "the question 'prefix' has no argument",
		`"candidates","session":1`:                               "the question 'candidates' has no argument",
		`"explain","session":1,"keys":["top"]`:                   "the question 'explain' has no argument",
		`"keys","session":1,"key":"top"`:                         "the question 'keys' has no argument",
		`"sing","session":1`:                                     "unknown question 'sing': expected",
		`"keys","keys":["top"]`:                                  "expected a session number",
		`"hello","protocol":1,"environment":"` + "\\u0000" + `"`: "expected an environment name",
	} {
		e, _ := p.ask(json.RawMessage(`{"ask":` + question + `}`))["error"].(object)
		message, _ := e["message"].(string)
		if !strings.HasPrefix(message, want) || e == nil {
			t.Errorf("%s: %v, expected %q", question, e, want)
		}
	}
	const sound = `{"ask":"keys","session":1,"keys":["ntp::deep::value"]}`
	if got := p.askText(sound); got != `{"values":{"ntp::deep::value":1}}` {
		t.Errorf("after all that: %s", got)
	}
}

// The answer to hello contains the protocol, the program and the snapshot. Events contain the digest of the snapshot.
func TestHelloAndEventsContainSnapshot(t *testing.T) {
	path := snap(t)
	build(t, path, "bindings_version: 1\nname: default\nbind: [[a, '${role}']]\n", "binder_config.yaml",
		"version: 1\nlayers: [{name: site, include: 'confdir:/default'}]\ncategories: [[rack, '${rack}']]\n")
	events := make(chan serve.Event, 100)
	p := connect(t, server(t, path, func(o *serve.Options) { o.Report = func(e serve.Event) { events <- e } }))
	digest := p.digest()
	want := `{"protocol":1,"version":"test","snapshot":{"digest":"` + digest +
		`","variables":["clientcert","domain","fqdn","hostname","networking","rack","role"],"scoped":["role"],` +
		`"all_facts":false,"trusted":true,"hiera":false,"locations":1}}` // for the category node
	if got := p.askText(`{"ask":"hello","protocol":1}`); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if got := p.askText(`{"ask":"node","session":12,"digest":"` + digest + `"}`); got != `{"session":12}` {
		t.Error(got)
	}
	if e := p.ask(object{"ask": "keys", "session": 13})["error"].(object); e["code"] != "session" ||
		!strings.HasPrefix(e["message"].(string), "session 13 is not open:") {
		t.Error(e)
	}
	for _, want := range []serve.Event{
		{What: serve.Switched, Digest: digest}, {What: serve.Opened, Digest: digest}, {What: serve.Failed},
	} {
		got := <-events
		if got.Err = nil; got != want {
			t.Errorf("%+v, expected %+v", got, want)
		}
	}
}

// If the choice of environments is unreadable, the server reports that and does not answer, because an answer could be
// from the wrong environment.
func TestUnreadableEnvironmentChoiceStopsAllAnswers(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "production.snap"), site)
	if err := os.WriteFile(filepath.Join(dir, envfile.File), []byte("something else"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := connect(t, server(t, dir))
	for _, q := range []object{hello(), hello()} {
		if got := p.code(q); got == "" {
			t.Errorf("%v is answered", q)
		}
	}
	if err := os.Remove(filepath.Join(dir, envfile.File)); err != nil {
		t.Fatal(err)
	}
	p.node(1, nil)
}

// A dotted key is an ordinary key in a question with entries. In other questions it digs into a value.
func TestDottedKeysDigOnlyWithoutEntries(t *testing.T) {
	path := snap(t)
	build(t, path, "bindings_version: 1\nname: default\nbind: []\n", hiera5...)
	p := connect(t, server(t, path))
	vars := object{"role": "web"}
	p.ask(object{"ask": "node", "session": 1, "digest": p.digest(), "vars": vars})
	if got := p.askText(`{"ask":"prefix","session":1,"prefix":"a","entries":"0-0"}`); got != `{"values":{"a.b":"dotted"}}` {
		t.Error(got)
	}
	at := func(q object) any { return p.ask(q)["at"] }
	q := object{"ask": "explain", "session": 1, "key": "a.b"}
	if got := at(q); got != "" {
		t.Errorf("a.b by itself is explained by %v", got)
	}
	q["entries"] = "0-"
	if got := at(q); got != "data/role/web.yaml:3:1" {
		t.Errorf("a.b of the entries is explained by %v", got)
	}
}
