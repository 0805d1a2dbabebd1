// Package rows defines the measured cases on generated sites, and the table rows that compare two
// cases.
package rows

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"bindc/bench/built"
	"bindc/bench/gen"
	bindings "bindc/runtime"
)

// The length of a sequence of keys and the number of visitors are powers of two, so that wrapping
// around is cheap.
const (
	sequence = 1 << 16 // length of the sequences of keys to look up
	visitors = 1 << 10 // nodes whose keys are looked up in turn
	perVisit = 300     // lookups made in each new request
	hotKeys  = 100
)

// World is an open site. Everything that should not be measured is prepared in advance.
type World struct {
	site     *built.Site
	snap     *bindings.Snapshot
	facts    []*bindings.Facts   // facts[i] belongs to nodes[i]
	requests []*bindings.Request // requests[i] belongs to nodes[i]
	nodes    []int               // numbers of the visitors

	constants []string // random keys bound to constants, with repetitions
	hot       []string // like constants, but only 100 different keys
	small     []string // like constants, but only small values, see isSmall
	smallHot  []string // like small, but only 100 different keys
	texts     []string // like small, but only strings
	absent    []string // keys that are not bound
	templates []string // keys of strings with two variables
	dotted    []string // keys of hash entries, such as key.entry

	table  map[string]uint32 // contains all keys; lookups are compared with reading it
	values answers           // contains all values; reading values is compared with it

	candidates []candidate // bindings of gen.HotKey, one per node
}

// candidate is the value of gen.HotKey for one node.
type candidate struct {
	node  string
	value uint32
}

// Open opens the site of c, which it creates if needed. It compares all values to be measured with
// the generator's predictions.
func Open(c gen.Config) (*World, error) {
	site, err := built.Get(c)
	if err != nil {
		return nil, err
	}
	return open(site, site.Snapshot)
}

// OpenHiera5 is like Open, but compiles the site from Hiera 5 data. The values must be the same.
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
	if w.values, err = w.answers(); err != nil {
		return nil, err
	}
	w.chooseKeys()
	return w, w.check()
}

func (w *World) Site() *built.Site { return w.site }

func (w *World) Close() error { return w.snap.Close() }

// meet creates requests for the visitors, which are spread over all nodes of the site.
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
	var constants, small, texts, templates, absent, dotted []string
	w.table = map[string]uint32{}
	for i, key := range w.site.KeyNames() {
		w.table[key] = uint32(i)
		switch {
		case w.site.KindOf(i) != gen.Interpolated:
			constants = append(constants, key)
		case w.twoVariables(key):
			templates = append(templates, key)
		}
		if v := w.values.pointers[key]; w.site.KindOf(i) != gen.Interpolated && isSmall(v) {
			small = append(small, key)
			if v.kind == bindings.String {
				texts = append(texts, key)
			}
		}
		if entry := w.values.entries[key]; entry != "" && w.site.KindOf(i) == gen.Hash {
			dotted = append(dotted, key+"."+entry)
		}
		absent = append(absent, key+"_x")
	}
	for i := range w.site.Nodes {
		w.candidates = append(w.candidates, candidate{w.site.NodeName(i), uint32(i)})
	}
	w.constants, w.hot = draw(dice, constants), draw(dice, some(dice, constants))
	w.absent, w.templates = draw(dice, absent), draw(dice, templates)
	w.small, w.texts, w.dotted = draw(dice, small), draw(dice, texts), draw(dice, dotted)
	w.smallHot = draw(dice, some(dice, small))
}

func some(dice *rand.Rand, from []string) []string {
	out := make([]string, hotKeys)
	for i := range out {
		out[i] = from[dice.IntN(len(from))]
	}
	return out
}

// twoVariables reports whether the value of key is a string with two variables. The generator has
// only two such templates; both combine the environment with the host name or the OS family.
func (w *World) twoVariables(key string) bool {
	answer, err := w.site.Expected(w.nodes[0], key)
	facts := w.site.Facts(w.nodes[0])
	has := func(fact string) bool { return strings.Contains(answer.JSON, facts[fact].(string)) }
	return err == nil && has("environment") && (has("hostname") || has("osfamily"))
}

// draw returns a sequence of random keys. It copies each string: map reads with the very string in
// the map would be faster than in real programs, because equal pointers need no comparison.
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

// check compares the values to be measured with the generator's predictions. It checks every key
// for one visitor. For all visitors, it checks the hot key, some keys of the sequences, and some
// absent keys.
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
			return fmt.Errorf("%s is not bound, but found is %t, the error %v", w.absent[i], found, err)
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

// Size returns the name of the site's configuration in gen.Sizes.
func (w *World) Size() string {
	for name, c := range gen.Sizes {
		if w.site.Config == c {
			return name
		}
	}
	return "a custom site"
}
