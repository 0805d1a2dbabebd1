package serve_test

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"bindc/serve/client"
)

// BenchmarkRoundTrip measures questions over a socket with a site of 2000 keys: for one key, for a thousand,
// for the 40 keys with a prefix, and for a new session.
func BenchmarkRoundTrip(b *testing.B) {
	path := snap(b)
	var source strings.Builder
	source.WriteString("bindings_version: 1\nname: default\nbind:\n")
	for i := range 2000 {
		fmt.Fprintf(&source, "  - ['module%d::parameter%d', [a, b, %d]]\n", i/40, i, i)
	}
	build(b, path, source.String())
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	s := server(b, path)
	go s.Serve(l)
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	p := peer{TB: b, Client: client.New(c, c)}
	node := object{"ask": "node", "session": 1, "digest": p.digest(), "facts": object{"fqdn": "a.example.org",
		"networking": object{"fqdn": "a.example.org"}}}
	var thousand []string
	for i := range 1000 {
		thousand = append(thousand, fmt.Sprintf("module%d::parameter%d", i/40, i))
	}
	for name, q := range map[string]object{
		"1000":   {"ask": "keys", "session": 1, "keys": thousand},
		"node":   node,
		"key":    {"ask": "keys", "session": 1, "keys": []string{"module7::parameter290"}},
		"absent": {"ask": "keys", "session": 1, "keys": []string{"module7::absent"}},
		"prefix": {"ask": "prefix", "session": 1, "prefix": "module7::", "direct": true},
	} {
		p.ask(node)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Ask(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
