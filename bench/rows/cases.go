package rows

import (
	"sync"

	"bindc/bench/gen"
	"bindc/bench/peer"
	bindings "bindc/runtime"
)

// Sum adds up results, so that the compiler cannot remove the measured work.
var Sum uint64

// must panics on an error. Errors are not expected, because Open has checked the lookups.
func must(err error) {
	if err != nil {
		fail(err)
	}
}

// fail panics with err. It must not be inlined, so that must is small enough to be inlined.
//
//go:noinline
func fail(err error) { panic(err) }

// lookup returns a case that looks up keys in the first visitor's request.
func (w *World) lookup(keys []string) func(n int) {
	request := w.requests[0]
	return func(n int) {
		for i := range n {
			_, _, err := request.Lookup(keys[i%sequence])
			must(err)
		}
	}
}

// get returns a case that reads keys from a Go map, for comparison with lookup.
func (w *World) get(keys []string) func(n int) {
	return func(n int) {
		for i := range n {
			Sum += uint64(w.table[keys[i%sequence]])
		}
	}
}

// everyNode looks up the key that every node binds, for each visitor in turn.
func (w *World) everyNode(n int) {
	for i := range n {
		v, _, err := w.requests[i%visitors].Lookup(gen.HotKey)
		must(err)
		n, err := v.Int()
		must(err)
		Sum += uint64(n)
	}
}

// scan does the same as everyNode by a linear search in a list of all bindings. The nodes are
// visited in a scattered order, because the time depends on the position in the list.
func (w *World) scan(n int) {
	for i := range n {
		name := w.site.NodeName(w.nodes[i*617%visitors])
		for j := range w.candidates {
			if w.candidates[j].node == name {
				Sum += uint64(w.candidates[j].value)
				break
			}
		}
	}
}

// together looks up keys in two goroutines, each with its own request. The method alone makes the
// same lookups in one goroutine.
func (w *World) together(n int) {
	var done sync.WaitGroup
	for g := range 2 {
		done.Go(func() { w.ask(w.requests[g], n/2) })
	}
	done.Wait()
}

func (w *World) alone(n int) { w.ask(w.requests[0], n) }

func (w *World) ask(request *bindings.Request, n int) {
	for i := range n {
		_, _, err := request.Lookup(w.constants[i%sequence])
		must(err)
	}
}

// visit resets a request and makes perVisit lookups. Both together count as one operation.
func (w *World) visit(n int) {
	request, err := w.snap.Request(w.facts[0])
	must(err)
	at := 0
	for i := range n {
		must(request.Reset(w.facts[i%visitors]))
		for range perVisit {
			_, _, err := request.Lookup(w.constants[at%sequence])
			must(err)
			at++
		}
	}
}

// visitMap makes as many map reads as visit makes lookups.
func (w *World) visitMap(n int) { w.get(w.constants)(perVisit * n) }

// glance resets a request and makes a single lookup.
func (w *World) glance(n int) {
	request, err := w.snap.Request(w.facts[0])
	must(err)
	for i := range n {
		must(request.Reset(w.facts[i%visitors]))
		_, _, err := request.Lookup(w.constants[i%sequence])
		must(err)
	}
}

func (w *World) open(n int) {
	for i := range n {
		snap, err := bindings.Open(w.site.Snapshot, bindings.Options{})
		must(err)
		request, err := snap.Request(w.facts[i%visitors])
		must(err)
		v, _, err := request.Lookup(w.constants[i%sequence])
		must(err)
		_ = v
		must(snap.Close())
	}
}

// bolt is the same site in a bbolt file. The method get reads the bindings that a lookup would
// find, levels tries the scopes of a node one by one, and open opens the file for a single get.
type bolt struct {
	path   string
	db     *peer.Bolt
	keys   [][]byte // for each visitor, the bbolt key of one binding, see peer.BoltKey
	scopes [][]gen.Scope
	world  *World
}

func (w *World) bolt() (*bolt, error) {
	path, err := w.site.Bolt()
	if err != nil {
		return nil, err
	}
	b := &bolt{path: path, world: w}
	if b.db, err = peer.OpenBolt(path); err != nil {
		return nil, err
	}
	for i, node := range w.nodes {
		want, err := w.site.Expected(node, w.constants[i])
		if err != nil {
			return nil, err
		}
		scopes := w.site.Scopes(node)
		b.scopes = append(b.scopes, scopes)
		for _, s := range scopes {
			if s.Level == want.Level {
				b.keys = append(b.keys, peer.BoltKey(nil, s, w.constants[i]))
			}
		}
	}
	return b, nil
}

func (b *bolt) get(n int) {
	for i := range n {
		Sum += uint64(b.db.Get(b.keys[i%visitors]))
	}
}

func (b *bolt) levels(n int) {
	for i := range n {
		Sum += uint64(b.db.Lookup(b.scopes[i%visitors], b.world.constants[i%visitors]))
	}
}

func (b *bolt) open(n int) {
	for i := range n {
		db, err := peer.OpenBolt(b.path)
		must(err)
		Sum += uint64(db.Get(b.keys[i%visitors]))
		must(db.Close())
	}
}
