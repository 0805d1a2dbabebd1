package serve_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bindc/serve"
	"bindc/serve/client"
)

// listen makes a server answer a socket until the end of the test.
func listen(t *testing.T, s *serve.Server) (path string) {
	path = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return path
}

func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func generation(n int) string {
	return fmt.Sprintf("bindings_version: 1\nname: default\nbind: [[a, %d], [b, %d], [c, %d]]\n", n, n, n)
}

// Sessions on several connections continue while the snapshot is replaced again and again. All answers of a session
// come from one file.
func TestSessionAnswersFromOneFile(t *testing.T) {
	path := snap(t)
	build(t, path, generation(0))
	s := server(t, path)
	socket := listen(t, s)
	var clients sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		c := dial(t, socket)
		p := peer{TB: t, Client: client.New(c, c)}
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					oneFile(p)
				}
			}
		})
	}
	p := connect(t, s)
	for n := range 10 {
		old := p.digest()
		build(t, path, generation(n+1))
		for p.digest() == old {
		}
	}
	close(done)
	clients.Wait()
}

// oneFile opens a session like a client whose digest may be outdated, and asks for one key at a time.
func oneFile(p peer) {
	digest := ""
	for {
		a := p.ask(object{"ask": "hello", "protocol": 1})
		digest = a["snapshot"].(object)["digest"].(string)
		if p.ask(object{"ask": "node", "session": 1, "digest": digest})["session"] != nil {
			break
		}
	}
	seen := map[any]bool{}
	for _, key := range []string{"a", "b", "c"} {
		seen[p.ask(object{"ask": "keys", "session": 1, "keys": []string{key}})["values"].(object)[key]] = true
	}
	if len(seen) != 1 {
		p.Errorf("one session has answers %v", seen)
	}
}

// A frame that is too long is rejected before its content arrives.
func TestRejectsTooLongFrameWithoutReadingIt(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	c := dial(t, listen(t, server(t, path)))
	if _, err := c.Write(binary.BigEndian.AppendUint32(nil, serve.MaxQuestion+1)); err != nil {
		t.Fatal(err)
	}
	in := client.New(c, c)
	if text, err := in.Receive(); err != nil || !strings.Contains(string(text), `"code":"protocol"`) {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := in.Receive(); err != io.EOF {
		t.Errorf("the connection is not closed: %v", err)
	}
}

// The server disconnects a client that does not finish a question, read an answer, or ask anything. Other clients are
// not affected.
func TestClosesConnectionsOfSlowClients(t *testing.T) {
	path := snap(t)
	large := strings.Repeat("0123456789abcdef", 1<<14)
	build(t, path, "bindings_version: 1\nname: default\nbind: [[a, "+large+"]]\n")
	reported := make(chan serve.Event, 100)
	s := server(t, path, func(o *serve.Options) {
		o.Idle = 50 * time.Millisecond
		o.Report = func(e serve.Event) { reported <- e }
	})
	s.SetFrameTime(50 * time.Millisecond)
	socket := listen(t, s)
	half := func(c net.Conn) { c.Write([]byte{0, 0, 0, 9, '{'}) }
	deaf := func(c net.Conn) {
		in := client.New(c, c)
		digest := peer{TB: t, Client: in}.digest()
		in.Ask(object{"ask": "node", "session": 1, "digest": digest})
		for range 100 { // more answers than fit into the buffers of the socket
			text, _ := json.Marshal(object{"ask": "keys", "session": 1, "keys": []string{"a"}})
			if in.Send(text) != nil {
				return
			}
		}
	}
	for name, behave := range map[string]func(net.Conn){"half": half, "deaf": deaf, "silent": func(net.Conn) {}} {
		go behave(dial(t, socket))
		for e := range reported {
			if e.What == serve.Disconnected {
				if e.Err == nil || !strings.Contains(e.Err.Error(), "too slow") {
					t.Errorf("%s: the connection ends with %v", name, e.Err)
				}
				break
			}
		}
	}
}

func TestRefusesTooManyConnections(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	ended := make(chan error, serve.MaxConnections+1)
	socket := listen(t, server(t, path, func(o *serve.Options) {
		o.Report = func(e serve.Event) {
			if e.What == serve.Disconnected {
				ended <- e.Err
			}
		}
	}))
	ask := func() (string, error) {
		c := dial(t, socket)
		text, err := client.New(c, c).Ask(hello())
		return string(text), err
	}
	for i := range serve.MaxConnections {
		if text, err := ask(); err != nil || strings.Contains(text, "busy") {
			t.Fatalf("connection %d: %s, %v", i, text, err)
		}
	}
	c := dial(t, socket)
	if text, err := client.New(c, c).Receive(); err != nil || !strings.Contains(string(text), `"code":"busy"`) {
		t.Errorf("one too many: %s, %v", text, err)
	}
	if text, err := client.New(c, c).Ask(hello()); err == nil {
		t.Errorf("one too many stays open: %s", text)
	}
	if reason := <-ended; reason == nil || reason.Error() != "too many connections" {
		t.Errorf("one too many ends with %v", reason)
	}
}

// The server answers any input in whole frames of JSON, or closes the connection.
func FuzzQuestions(f *testing.F) {
	path := snap(f)
	build(f, path, site)
	s := server(f, path)
	digest := connect(f, s).digest()
	frames := func(questions ...string) (out []byte) {
		for _, q := range questions {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(q))), q...)
		}
		return out
	}
	f.Add(frames(`{"ask":"hello","protocol":1}`,
		`{"ask":"node","session":1,"digest":"`+digest+`","facts":{"os":{"family":"Debian"}}}`,
		`{"ask":"prefix","session":1,"prefix":""}`, `{"ask":"candidates","session":1,"key":"ntp::servers"}`,
		`{"ask":"explain","session":1,"key":"users"}`, `{"ask":"keys","session":1,"keys":["ntp::port",""]}`,
		`{"ask":"end","session":1}`))
	f.Add(frames(`{"ask":"hello","protocol":1}`, `{"ask":"node","session":1,"vars":[],"environment":"../x"}`, `[]`))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, '{'})
	f.Add(frames(""))
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		s.Answer(bytes.NewReader(input), &out)
		in := client.New(&out, io.Discard)
		for {
			text, err := in.Receive()
			if err == io.EOF {
				return
			}
			if err != nil || !json.Valid(text) {
				t.Fatalf("%q, %v", text, err)
			}
		}
	})
}
