// Package rows defines what is measured: cases on generated sites, and the rows of the table that set one beside
// another.
package rows

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"bindc/bench/built"
	"bindc/bench/gen"
	bindings "bindc/runtime"
)

// Numbers of things prepared before measuring. Sequences have a length of a power of two, so that going around is
// cheap.
const (
	sequence = 1 << 16 // keys in the order they are asked for
	visitors = 1 << 10 // nodes that take turns
	perVisit = 300     // lookups of a fresh request
	hotKeys  = 100
)

// World is a site, opened, with everything prepared that the cases should not spend time on.
type World struct {
	site     *built.Site
	snap     *bindings.Snapshot
	facts    []*bindings.Facts   // of the visitors
	requests []*bindings.Request // of the visitors
	nodes    []int               // their numbers

	constants []string          // keys of constants, in random order, with repetitions
	hot       []string          // the same of a hundred keys
	absent    []string          // the same of keys that nothing binds
	templates []string          // the same of interpolated strings
	table     map[string]uint32 // the yardstick: every key of the site

	candidates []candidate // of the hot key, one for each node; the yardstick of a site that has many
}

// candidate is a binding for one node.
type candidate struct {
	node  string
	value uint32
}

// Open prepares the world of c, having checked that what will be measured is answered as the generator expects.
func Open(c gen.Config) (*World, error) {
	site, err := built.Get(c)
	if err != nil {
		return nil, err
	}
	return open(site, site.Snapshot)
}

// OpenHiera5 prepares the world of c as a control repository of Hiera 5, which is to answer alike.
func OpenHiera5(c gen.Config) (*World, error) {
	site, err := built.Get(c)
	if err != nil {
		return nil, err
	}
	snapshot, _, err := site.Hiera5()
	if err != nil {
		return nil, err
	}
	return open(site, snapshot)
}

func open(site *built.Site, snapshot string) (*World, error) {
	w := &World{site: site}
	var err error
	if w.snap, err = bindings.Open(snapshot, bindings.Options{}); err != nil {
		return nil, err
	}
	if err := w.meet(); err != nil {
		return nil, err
	}
	w.chooseKeys()
	return w, w.check()
}

// Site is the site of w.
func (w *World) Site() *built.Site { return w.site }

// Close closes the snapshot.
func (w *World) Close() error { return w.snap.Close() }

// meet makes the requests of the visitors, nodes that are spread over the whole site.
func (w *World) meet() error {
	for i := range visitors {
		node := i * w.site.Nodes / visitors
		given, err := bindings.ValueOf(w.site.Facts(node))
		if err != nil {
			return err
		}
		facts, err := bindings.NewFacts(given, bindings.FactsOptions{})
		if err != nil {
			return err
		}
		request, err := w.snap.Request(facts)
		if err != nil {
			return err
		}
		w.nodes, w.facts, w.requests = append(w.nodes, node), append(w.facts, facts), append(w.requests, request)
	}
	return nil
}

func (w *World) chooseKeys() {
	dice := rand.New(rand.NewPCG(1, 2))
	var constants, templates, absent []string
	w.table = map[string]uint32{}
	for i, key := range w.site.KeyNames() {
		w.table[key] = uint32(i)
		switch {
		case w.site.KindOf(i) != gen.Interpolated:
			constants = append(constants, key)
		case w.twoVariables(key):
			templates = append(templates, key)
		}
		absent = append(absent, key+"_x")
	}
	for i := range w.site.Nodes {
		w.candidates = append(w.candidates, candidate{w.site.NodeName(i), uint32(i)})
	}
	hot := make([]string, hotKeys)
	for i := range hot {
		hot[i] = constants[dice.IntN(len(constants))]
	}
	w.constants, w.hot = draw(dice, constants), draw(dice, hot)
	w.absent, w.templates = draw(dice, absent), draw(dice, templates)
}

// twoVariables tells whether key is bound to a string with two variables for the first visitor: of the generator's
// templates those, and no others, have the environment beside a name or the family of operating systems.
func (w *World) twoVariables(key string) bool {
	answer, err := w.site.Expected(w.nodes[0], key)
	facts := w.site.Facts(w.nodes[0])
	has := func(fact string) bool { return strings.Contains(answer.JSON, facts[fact].(string)) }
	return err == nil && has("environment") && (has("hostname") || has("osfamily"))
}

// draw asks for keys uniformly. The text of each is its own copy: a caller's key is never the very bytes that a map
// holds, with which a map would not need to compare them.
func draw(dice *rand.Rand, from []string) []string {
	copies := make([]string, len(from))
	for i, key := range from {
		copies[i] = strings.Clone(key)
	}
	out := make([]string, sequence)
	for i := range out {
		out[i] = copies[dice.IntN(len(copies))]
	}
	return out
}

// check compares what will be measured with the generator's oracle: every key for one node, and for every visitor the
// hot key, keys of the sequence, and the absence of absent ones.
func (w *World) check() error {
	for _, key := range w.site.KeyNames() {
		if err := w.checkOne(0, w.requests[0], key); err != nil {
			return err
		}
	}
	for i, request := range w.requests {
		fresh, err := w.snap.Request(w.facts[i])
		if err != nil {
			return err
		}
		keys := []string{gen.HotKey, w.constants[i], w.templates[i], w.hot[i]}
		for _, key := range keys {
			if err := w.checkOne(i, request, key); err != nil {
				return err
			}
			if err := w.checkOne(i, fresh, key); err != nil {
				return err
			}
		}
		if _, found, err := request.Lookup(w.absent[i]); found || err != nil {
			return fmt.Errorf("%s is bound by nothing, but found is %t, the error %v", w.absent[i], found, err)
		}
	}
	return nil
}

func (w *World) checkOne(visitor int, request *bindings.Request, key string) error {
	want, err := w.site.Expected(w.nodes[visitor], key)
	if err != nil {
		return err
	}
	v, found, err := request.Lookup(key)
	if err != nil || !found {
		return fmt.Errorf("%s for node %d: found is %t, the error %v, want %s", key, w.nodes[visitor], found, err,
			want.JSON)
	}
	got, err := v.MarshalJSON()
	if err != nil || string(got) != want.JSON {
		return fmt.Errorf("%s for node %d: %s (error %v), want %s", key, w.nodes[visitor], got, err, want.JSON)
	}
	return nil
}

// Size is the name of the site's configuration.
func (w *World) Size() string {
	for name, c := range gen.Sizes {
		if w.site.Config == c {
			return name
		}
	}
	return "a site of its own"
}
