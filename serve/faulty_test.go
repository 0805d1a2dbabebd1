package serve_test

import (
	"encoding/binary"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bindc/serve"
	"bindc/serve/client"
)

// faulty passes frames between clients on a socket and a server. It causes the faults of testdata/protocol, and reports
// clients that send facts that the snapshot does not need.
type faulty struct {
	*testing.T
	server *serve.Server
	path   string // path of the snapshot
	socket string

	mu        sync.Mutex
	faults    map[string]string   // arguments by name of the fault; most faults are removed once they happen
	variables map[string][]string // variables that a snapshot needs, by its digest
}

func newFaulty(t *testing.T, s *serve.Server, path string) *faulty {
	dir, err := os.MkdirTemp("", "p") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{T: t, server: s, path: path, socket: filepath.Join(dir, "s"), faults: map[string]string{},
		variables: map[string][]string{}}
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	var connections sync.WaitGroup
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { f.connection(c) })
		}
	}()
	t.Cleanup(func() {
		l.Close()
		connections.Wait()
		os.RemoveAll(dir)
	})
	return f
}

// prepare causes a fault, which the line of a case describes.
func (f *faulty) prepare(line string) {
	name, argument, _ := strings.Cut(line, " ")
	switch name {
	case "replace":
		before := f.server.Answering(f.path)
		protocolSite(f, f.path, "replacement.yaml")
		for deadline := time.Now().Add(10 * time.Second); f.server.Answering(f.path) == before; {
			if time.Now().After(deadline) {
				f.Fatal("the server ignores the new snapshot")
			}
			time.Sleep(time.Millisecond)
		}
	case "busy", "version", "close", "late", "garbage", "long", "forget", "pieces", "members", "substitute", "no-ahead":
		f.mu.Lock()
		defer f.mu.Unlock()
		f.faults[name] = argument
	default:
		f.Fatalf("unknown fault '%s'", line)
	}
}

// take reports whether a fault is due, and removes it.
func (f *faulty) take(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.faults[name]
	delete(f.faults, name)
	return ok
}

// lasting returns the argument of a fault that concerns all questions.
func (f *faulty) lasting(name string) (argument string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	argument, ok = f.faults[name]
	return argument, ok
}

func (f *faulty) has(name string) bool {
	_, ok := f.lasting(name)
	return ok
}

// checkUsed reports faults that no question met.
func (f *faulty) checkUsed() {
	for _, name := range []string{"busy", "version", "close", "late", "garbage", "long", "forget"} {
		if f.take(name) {
			f.Errorf("the client has asked nothing after the fault '%s'", name)
		}
	}
}

// connection answers one client until it closes the connection, or a fault does.
func (f *faulty) connection(c net.Conn) {
	defer c.Close()
	theirs, ours := net.Pipe()
	defer ours.Close()
	go func() {
		f.server.Answer(theirs, theirs)
		theirs.Close()
	}()
	outside, inside := client.New(c, c), client.New(ours, ours)
	for _, refusal := range []string{"busy", "version"} {
		if f.take(refusal) {
			outside.Receive()
			outside.Send([]byte(refusals[refusal]))
			return
		}
	}
	sessions := map[int64]bool{}
	for {
		question, err := outside.Receive()
		if err != nil {
			return
		}
		if f.check(question, sessions) == "ahead" && f.has("no-ahead") {
			outside.Send([]byte(`{"error":{"code":"usage","message":"unknown question 'ahead'"}}`))
			continue
		}
		if f.take("forget") {
			for session := range sessions {
				inside.Ask(object{"ask": "end", "session": session})
			}
		}
		if inside.Send(question) != nil {
			return
		}
		answer, err := inside.Receive()
		if err != nil || f.take("close") || !f.pass(c, outside, answer) {
			return
		}
	}
}

var refusals = map[string]string{
	"busy":    `{"error":{"code":"busy","message":"the limit of connections is reached"}}`,
	"version": `{"error":{"code":"protocol","message":"expected protocol 2"}}`,
}

// check records the session of a question, and reports facts that the snapshot does not need. It returns the member
// ask.
func (f *faulty) check(text []byte, sessions map[int64]bool) string {
	var q struct {
		Ask     string
		Session *int64
		Digest  string
		Facts   map[string]any
	}
	if err := json.Unmarshal(text, &q); err != nil {
		f.Errorf("a question is not JSON: %s", text)
	}
	if q.Session != nil {
		sessions[*q.Session] = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range q.Facts {
		if q.Ask == "node" && !slices.Contains(f.variables[q.Digest], name) {
			f.Errorf("the client has sent the fact '%s', which the snapshot does not need", name)
		}
	}
	return q.Ask
}

// pass sends an answer to the client, with the faults that are due. It reports whether the connection stays open.
func (f *faulty) pass(c net.Conn, to *client.Client, answer []byte) bool {
	f.learn(answer)
	switch {
	case f.take("late"):
		c.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := to.Receive(); os.IsTimeout(err) || err == nil {
			f.Error("the client did not close the connection after its deadline")
		}
		return false
	case f.take("garbage"):
		to.Send([]byte(`{"values":{`))
		return true
	case f.take("long"):
		c.Write([]byte{0xff, 0xff, 0xff, 0xff})
		return true
	}
	if value, ok := f.lasting("substitute"); ok {
		answer = substitute(answer, value)
	}
	if f.has("members") {
		answer = append([]byte(`{"colour":{"blue":[1]},`), answer[1:]...)
	}
	if f.has("pieces") {
		return sendPieces(c, answer) == nil
	}
	return to.Send(answer) == nil
}

// learn records the variables that a snapshot needs, if an answer has them.
func (f *faulty) learn(answer []byte) {
	var a struct {
		Snapshot struct {
			Digest    string
			Variables []string
		}
	}
	json.Unmarshal(answer, &a)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.variables[a.Snapshot.Digest] = a.Snapshot.Variables
}

// substitute replaces the plain value of the key "substituted" by a rich value.
func substitute(answer []byte, value string) []byte {
	var a struct {
		Values map[string]json.RawMessage `json:"values"`
	}
	if json.Unmarshal(answer, &a) != nil || a.Values["substituted"] == nil {
		return answer
	}
	return []byte(`{"values":{},"rich":{"substituted":` + value + `}}`)
}

// sendPieces sends a frame byte by byte.
func sendPieces(c net.Conn, text []byte) error {
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	for _, b := range frame {
		if _, err := c.Write([]byte{b}); err != nil {
			return err
		}
	}
	return nil
}
