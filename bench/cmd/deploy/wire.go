package main

import (
	"io"
	"net"
	"sync/atomic"
)

// wire is a proxy that counts the bytes in both directions.
type wire struct {
	net.Listener
	to    string
	bytes atomic.Int64
}

func newWire(to string) (*wire, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &wire{Listener: l, to: to}
	go w.serve()
	return w, nil
}

func (w *wire) at() string { return w.Addr().String() }

func (w *wire) serve() {
	for {
		from, err := w.Accept()
		if err != nil {
			return // the listener is closed
		}
		to, err := net.Dial("tcp", w.to)
		if err != nil {
			from.Close()
			continue
		}
		go w.pass(from, to)
		go w.pass(to, from)
	}
}

// pass counts bytes before it forwards them. Otherwise a client could read an answer that is not
// counted yet.
func (w *wire) pass(from, to net.Conn) {
	io.Copy(to, io.TeeReader(from, counter{&w.bytes}))
	from.Close()
	to.Close()
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}
