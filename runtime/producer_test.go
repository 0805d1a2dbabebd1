package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

const producerBindings = `bindings_version: 1
name: default
bind:
  - {name: has_funny_hat, to_producer: constant, options: {value: the_pope}}
  - {name: named, to_producer: constant}
  - {name: listed, to_instance: [constant, 1, tall]}
  - {name: class, to_producer: {class_name: constant, value: of a class}}
  - {name: typed, type: Integer, to_producer: constant, options: {value: text}}
  - {name: transformed, to_producer: constant, options: {value: hat}, transformer: '|$v| { "funny ${v[value]}" }'}
  - {name: interpolated, to: "${lookup('has_funny_hat')['value']} has a hat"}
  - {name: category, to_producer: osfamily}
  - {name: undef, to_producer: nothing}
  - {name: broken, to_producer: broken}
  - {name: chosen, to_first_found: [undef, named, broken]}
  - {name: missing, to_producer: unregistered}
  - {name: hats, multibind_id: hats, type: Array}
  - {in: hats, to: bowler}
  - {in: hats, to_producer: osfamily}
  - {name: delegated, to_producer: delegate, options: {to: category}}
  - when: {node: kermit}
    bind: [{name: missing, to: not needed}]
`

var errBroken = errors.New("the hat shop is closed")

var hatProducers = map[string]bindings.Producer{
	"constant": func(_ *bindings.Request, args bindings.Value) (bindings.Value, error) { return args, nil },
	"osfamily": func(r *bindings.Request, _ bindings.Value) (bindings.Value, error) {
		name, _ := r.Category("osfamily")
		return bindings.ValueOf(name)
	},
	"nothing": func(*bindings.Request, bindings.Value) (bindings.Value, error) { return bindings.Value{}, nil },
	"broken":  func(*bindings.Request, bindings.Value) (bindings.Value, error) { return bindings.Value{}, errBroken },
	"delegate": func(r *bindings.Request, args bindings.Value) (bindings.Value, error) {
		to, _ := args.Get("to")
		v, _, err := r.Lookup(textOf(to))
		return v, err
	},
}

// producerRequest compiles producerBindings and makes a request for a node with osfamily Debian.
func producerRequest(t *testing.T, node string, producers map[string]bindings.Producer) *bindings.Request {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "site", "bindings"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "site", "bindings", "default.yaml"), []byte(producerBindings),
		0o666); err != nil {
		t.Fatal(err)
	}
	var diags diag.List
	content := compile.Compile(loader.Load(filepath.Join(dir, "site"), loader.Options{}, &diags), compile.Options{},
		&diags)
	for _, d := range diags.Sorted() {
		t.Fatalf("%s: %s [%s]", d.Pos, d.Message, d.Code)
	}
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, bindings.Options{Producers: producers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	values, err := bindings.ValueOf(map[string]any{"osfamily": "Debian"})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := bindings.NewFacts(values, bindings.FactsOptions{Node: node})
	if err != nil {
		t.Fatal(err)
	}
	req, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestProducerComputesValue(t *testing.T) {
	req := producerRequest(t, "kermit", hatProducers)
	for key, want := range map[string]string{
		"has_funny_hat": `{"value":"the_pope"}`,
		"named":         `{}`,
		"listed":        `[1,"tall"]`,
		"transformed":   `"funny hat"`,
		"interpolated":  `"the_pope has a hat"`,
		"category":      `"debian"`,
		"undef":         `null`,
		"chosen":        `{}`,
		"missing":       `"not needed"`,
		"hats":          `["bowler","debian"]`,
		"delegated":     `"debian"`,
	} {
		v, found, err := req.Lookup(key)
		if err != nil || !found {
			t.Errorf("%s: found is %v, %v", key, found, err)
			continue
		}
		got, err := v.MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, expected %s (%v)", key, got, want, err)
		}
	}
	v, _, err := req.Lookup("class")
	if value, ok := v.Get("value"); err != nil || !ok || textOf(value) != "of a class" {
		t.Errorf("class is %v: %v", v, err)
	}
}

func TestErrorNamesUnregisteredProducer(t *testing.T) {
	for _, producers := range []map[string]bindings.Producer{nil, hatProducers} {
		v, found, err := producerRequest(t, "piggy", producers).Lookup("missing")
		var lookupErr *bindings.Error
		if !errors.As(err, &lookupErr) || lookupErr.Code != "producer" || lookupErr.Key != "missing" ||
			!strings.Contains(err.Error(), "unregistered") {
			t.Errorf("missing is %v, found is %v: %v", v, found, err)
		}
	}
}

func TestProducerErrorHasItsCause(t *testing.T) {
	_, _, err := producerRequest(t, "kermit", hatProducers).Lookup("broken")
	var lookupErr *bindings.Error
	if !errors.As(err, &lookupErr) || lookupErr.Code != "producer" || !errors.Is(err, errBroken) {
		t.Errorf("broken answers %v", err)
	}
}

func TestTypeOfProducedValueIsChecked(t *testing.T) {
	_, _, err := producerRequest(t, "kermit", hatProducers).Lookup("typed")
	var lookupErr *bindings.Error
	if !errors.As(err, &lookupErr) || lookupErr.Code != "type_mismatch" {
		t.Errorf("typed answers %v", err)
	}
}

func TestContributionsCannotBeLookedUp(t *testing.T) {
	req := producerRequest(t, "kermit", hatProducers)
	if v, found, err := req.Lookup("\x00hats"); found || err != nil {
		t.Errorf("found %v, %t, %v", v, found, err)
	}
}
