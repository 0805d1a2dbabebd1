package main

import (
	"encoding/json"
	"runtime"

	bindings "bindc/runtime"
)

// own looks up keys with package bindings, in this process.
type own struct {
	snap  *bindings.Snapshot
	facts []*bindings.Facts
	keys  []string
	held  *bindings.Request
}

func open(path string, ask question) (*own, error) {
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		return nil, err
	}
	o := &own{snap: snap, keys: ask.Keys}
	for _, node := range ask.Nodes {
		values, err := bindings.ValueOf(node)
		if err != nil {
			return nil, err
		}
		facts, err := bindings.NewFacts(values, bindings.FactsOptions{})
		if err != nil {
			return nil, err
		}
		o.facts = append(o.facts, facts)
	}
	o.held, err = snap.Request(o.facts[0])
	return o, err
}

// do returns the method for an operation, which has the same name in serve.rb.
func (o *own) do(what string) func(n int) {
	return map[string]func(int){"lookup": o.lookup, "visit": o.visit, "glance": o.glance}[what]
}

// look looks up key and reads the value, as the Ruby peers do.
func (o *own) look(r *bindings.Request, key string) bindings.Value {
	v, found, err := r.Lookup(key)
	must(err)
	if !found {
		panic(key + " is not found")
	}
	runtime.KeepAlive(v.Kind())
	return v
}

func (o *own) request(i int) *bindings.Request {
	r, err := o.snap.Request(o.facts[i%len(o.facts)])
	must(err)
	return r
}

func (o *own) lookup(n int) {
	for i := range n {
		o.look(o.held, o.keys[i%len(o.keys)])
	}
}

func (o *own) visit(n int) {
	for i := range n {
		r := o.request(i)
		for _, key := range o.keys {
			o.look(r, key)
		}
	}
}

func (o *own) glance(n int) {
	for i := range n {
		o.look(o.request(i), o.keys[i%len(o.keys)])
	}
}

func (o *own) answers() ([][]json.RawMessage, error) {
	all := make([][]json.RawMessage, len(o.facts))
	for i := range o.facts {
		r := o.request(i)
		for _, key := range o.keys {
			text, err := o.look(r, key).MarshalJSON()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], text)
		}
	}
	return all, nil
}
