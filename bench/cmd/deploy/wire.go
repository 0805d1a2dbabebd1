package main

import (
	"io"
	"net"
	"sync/atomic"
)

// wire passes connections on to a server, and counts the bytes both ways.
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
			return // it is closed
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

// pass counts before it passes on, so that who has an answer finds it counted.
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
