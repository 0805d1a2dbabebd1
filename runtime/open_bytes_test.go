package runtime_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"testing"

	bindings "bindc/runtime"
)

func TestOpenBytesAgreesWithOpen(t *testing.T) {
	path, remove := exampleSnapshot()
	defer remove()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := sha256.Sum256(content)
	asked := 0
	s, err := bindings.OpenBytes(content, bindings.Options{Accept: func(path string, sum [32]byte) error {
		if asked++; path != "" || sum != want {
			t.Errorf("Accept gets the path %q and the sum %x, expected none and %x", path, sum, want)
		}
		return nil
	}})
	if err != nil || asked != 1 {
		t.Fatalf("%v, and Accept is asked %d times", err, asked)
	}
	clear(content) // OpenBytes has copied it
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "web1.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	v, found, err := r.Lookup("firewall::open_ports")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err != nil || !found || v.String() != "[22]" {
		t.Errorf("found %t, %v, %v", found, v, err)
	}
	if err := s.Verify(); err == nil {
		t.Error("a closed snapshot is verified")
	}
}

func TestOpenBytesRejectsInvalidFiles(t *testing.T) {
	path, remove := exampleSnapshot()
	defer remove()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("not signed")
	refuse := bindings.Options{Accept: func(string, [32]byte) error { return refused }}
	if _, err := bindings.OpenBytes(content, refuse); err != refused {
		t.Errorf("not accepted: %v", err)
	}
	var damage *bindings.DamageError
	if _, err := bindings.OpenBytes(content[:len(content)-1], bindings.Options{}); !errors.As(err, &damage) {
		t.Errorf("truncated: %v", err)
	}
	if _, err := bindings.OpenBytes(content[:20], bindings.Options{}); !errors.As(err, &damage) {
		t.Errorf("truncated in the header: %v", err)
	}
	for _, other := range [][]byte{nil, []byte("text")} {
		if _, err := bindings.OpenBytes(other, bindings.Options{}); !errors.Is(err, bindings.ErrFormat) {
			t.Errorf("%q: %v", other, err)
		}
	}
}
