package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"

	"bindc/bench/gen"
	bindings "bindc/runtime"
	"bindc/serve"
	"bindc/serve/client"
)

// operation is a function to measure. start prepares it and returns a function that performs it n
// times.
type operation struct {
	name   string
	repeat int
	start  func(dir string) (perform func(n int) error, err error)
}

var operations = []operation{
	{"hot", 100_000, lookUp(generated, constants(100), true)},
	{"uniform", 100_000, lookUp(generated, constants(0), true)},
	{"absent", 100_000, lookUp(generated, absent, false)},
	{"absent-hiera5", 100_000, lookUp(hiera5, numbered("class%d::absent%d"), false)},
	{"short", 100_000, lookUp(hiera5, numbered("s::k%[2]d"), true)},
	{"long", 100_000, lookUp(hiera5, numbered("class%d::a_parameter_with_a_name_of_very_many_words_%d"), true)},
	{"kind-read", 50_000, readKinds},
	{"small-read", 50_000, readSmall},
	{"text-copied", 50_000, copyText},
	{"request", 10_000, requests},
	{"interpolated", 10_000, lookUp(generated, interpolated, true)},
	{"dotted", 5_000,
		lookUp(hiera5, numbered("hash%[2]d::settings.server.port"), true)},
	{"merge", 5_000, lookUp(hiera5, numbered("merged::list%[2]d"), true)},
	{"serve", 400, serveQuestions},
}

func perform(name string, n int, dir string) error {
	for _, op := range operations {
		if op.name == name {
			do, err := op.start(dir)
			if err != nil {
				return err
			}
			return do(n)
		}
	}
	return fmt.Errorf("unknown operation %q", name)
}

// generatedKeys returns the keys of the generated site. The constants are shuffled, always in the
// same way, so that lookups do not follow the order of the file.
func generatedKeys() (constants, interpolated []string, err error) {
	site, err := gen.New(config)
	if err != nil {
		return nil, nil, err
	}
	for i, key := range site.KeyNames() {
		if site.KindOf(i) == gen.Interpolated {
			interpolated = append(interpolated, key)
		} else {
			constants = append(constants, key)
		}
	}
	dice := rand.New(rand.NewPCG(1, 2))
	dice.Shuffle(len(constants), func(i, j int) { constants[i], constants[j] = constants[j], constants[i] })
	return constants, interpolated, nil
}

// constants returns a function that returns n keys bound to constants. If n is 0, it returns all of
// them.
func constants(n int) func() ([]string, error) {
	return func() ([]string, error) {
		all, _, err := generatedKeys()
		if err == nil && n > 0 {
			all = all[:n]
		}
		return all, err
	}
}

func interpolated() ([]string, error) {
	_, keys, err := generatedKeys()
	return keys, err
}

func absent() ([]string, error) {
	keys, err := constants(0)()
	for i := range keys {
		keys[i] += "_x"
	}
	return keys, err
}

// numbered returns a function that returns keys of the Hiera 5 site. format gets the number of the
// class and the number of the key.
func numbered(format string) func() ([]string, error) {
	return func() ([]string, error) {
		var out []string
		for i := range hiera5Keys {
			out = append(out, fmt.Sprintf(format, i%50, i))
		}
		return out, nil
	}
}

// factsOf returns the facts of a node. The facts for the Hiera 5 site do not depend on the node.
func factsOf(site string, node int) (*bindings.Facts, error) {
	given, err := gen.Facts(config, node)
	if err != nil {
		return nil, err
	}
	if site == hiera5 {
		given = map[string]any{"os": map[string]any{"family": "Debian"}, "environment": "production",
			"trusted": map[string]any{"certname": "web1.example.org"}}
	}
	v, err := bindings.ValueOf(given)
	if err != nil {
		return nil, err
	}
	return bindings.NewFacts(v, bindings.FactsOptions{})
}

func open(dir, site string) (*bindings.Request, error) {
	snap, err := bindings.Open(filepath.Join(dir, site), bindings.Options{})
	if err != nil {
		return nil, err
	}
	facts, err := factsOf(site, 0)
	if err != nil {
		return nil, err
	}
	return snap.Request(facts)
}

// lookUp returns a function that looks up keys in turn. It fails if a key is missing although
// present is true, or found although it is false.
//
// It must not be inlined: the compiler inlines nothing into the initialization of operations,
// because that is too long.
//
//go:noinline
func lookUp(site string, choose func() ([]string, error), present bool) func(string) (func(int) error, error) {
	return func(dir string) (func(int) error, error) {
		keys, err := choose()
		if err != nil {
			return nil, err
		}
		request, err := open(dir, site)
		if err != nil {
			return nil, err
		}
		return func(n int) error {
			for i := range n {
				key := keys[i%len(keys)]
				if _, found, err := request.Lookup(key); err != nil || found != present {
					return fmt.Errorf("%s: found %v, %w", key, found, err)
				}
			}
			return nil
		}, nil
	}
}

// readKinds looks up keys bound to constants and reads the kind of each value.
func readKinds(dir string) (func(int) error, error) {
	return reading(dir, func(v bindings.Value) error {
		if v.Kind() == bindings.Undef {
			return errors.New("found undef")
		}
		return nil
	})
}

// readSmall looks up keys bound to constants and reads each value with TextView, Int or Bool. It
// skips lists and hashes.
func readSmall(dir string) (func(int) error, error) {
	return reading(dir, func(v bindings.Value) error {
		var err error
		switch v.Kind() {
		case bindings.String:
			_, err = v.TextView()
		case bindings.Int:
			_, err = v.Int()
		case bindings.Bool:
			_, err = v.Bool()
		}
		return err
	})
}

func copyText(dir string) (func(int) error, error) {
	return reading(dir, func(v bindings.Value) error {
		if v.Kind() != bindings.String {
			return nil
		}
		_, err := v.Text()
		return err
	})
}

// reading returns a function that looks up keys bound to constants in turn and calls read for each
// value.
func reading(dir string, read func(bindings.Value) error) (func(int) error, error) {
	keys, err := constants(0)()
	if err != nil {
		return nil, err
	}
	request, err := open(dir, generated)
	if err != nil {
		return nil, err
	}
	return func(n int) error {
		for i := range n {
			v, _, err := request.Lookup(keys[i%len(keys)])
			if err == nil {
				err = read(v)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", keys[i%len(keys)], err)
			}
		}
		return nil
	}, nil
}

// requests resets a request to the facts of each node in turn.
func requests(dir string) (func(int) error, error) {
	request, err := open(dir, generated)
	if err != nil {
		return nil, err
	}
	facts := make([]*bindings.Facts, config.Nodes)
	for i := range facts {
		if facts[i], err = factsOf(generated, i); err != nil {
			return nil, err
		}
	}
	return func(n int) error {
		for i := range n {
			if err := request.Reset(facts[i%len(facts)]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// serveQuestions asks a server for the values of ten keys at a time, as the Puppet module does.
func serveQuestions(dir string) (func(int) error, error) {
	server := serve.New(serve.Options{Path: filepath.Join(dir, hiera5)})
	toServer, questions := io.Pipe()
	answers, toClient := io.Pipe()
	go func() { _ = server.Answer(toServer, toClient) }()
	c := client.New(answers, questions)
	if _, err := c.Ask(map[string]any{"ask": "hello", "protocol": 1}); err != nil {
		return nil, err
	}
	node := map[string]any{"ask": "node", "session": 1,
		"facts":   map[string]any{"os": map[string]any{"family": "Debian"}},
		"trusted": map[string]any{"certname": "web1.example.org"}}
	said, err := c.Ask(node)
	if err != nil {
		return nil, err
	}
	var info struct{ Snapshot struct{ Digest string } }
	if err := json.Unmarshal(said, &info); err != nil {
		return nil, err
	}
	node["digest"] = info.Snapshot.Digest
	if said, err = c.Ask(node); err != nil || !bytes.Contains(said, []byte(`"session"`)) {
		return nil, fmt.Errorf("no session: %s, %w", said, err)
	}
	keys, err := numbered("class%d::parameter%d")()
	if err != nil {
		return nil, err
	}
	question, err := json.Marshal(map[string]any{"ask": "keys", "session": 1,
		"keys": append(keys[:8:8], "merged::list1", "class1::absent")})
	if err != nil {
		return nil, err
	}
	return func(n int) error {
		for range n {
			if err := c.Send(question); err != nil {
				return err
			}
			if said, err := c.Receive(); err != nil || bytes.Contains(said, []byte(`"errors"`)) {
				return fmt.Errorf("%s, %w", said, err)
			}
		}
		return nil
	}, nil
}
