package runtime_test

import (
	"unsafe"

	"bindc/facts"
	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// parseFacts is facts.ParseJSON, for functions with a variable named facts.
var parseFacts = facts.ParseJSON

func parseJSON(text []byte) (v bindings.Value, err error) {
	err = v.UnmarshalJSON(text)
	return v, err
}

// engine returns r as a request of the engine, which has the explanations.
func engine(r *bindings.Request) *lookup.Request { return (*lookup.Request)(r) }

func lookupMerged(r *bindings.Request, key string, strategy bindings.Value) (bindings.Value, bool, error) {
	v, found, err := engine(r).LookupMerged(key, lookup.Value(strategy))
	return bindings.Value(v), found, err
}

// public converts a value of the engine.
func public(v lookup.Value) bindings.Value { return bindings.Value(v) }

func lookupEntries(r *bindings.Request, root string, from, to int, strategy bindings.Value) (bindings.Value, bool,
	error) {
	v, found, err := engine(r).LookupEntries(root, from, to, lookup.Value(strategy))
	return bindings.Value(v), found, err
}

// sameBytes reports whether two strings share memory.
func sameBytes(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) }
