package rows

import (
	"fmt"
	"strings"

	bindings "bindc/runtime"
)

// answers contains the values of all keys for the first visitor, in the forms that a Go program
// without snapshots might use.
type answers struct {
	pointers map[string]*plainValue
	anys     map[string]any
	entries  map[string]string // for each key bound to a hash, the first entry that a dotted key can name
}

// plainValue is a value as a Go program without snapshots might store it. Like a bindings.Value, it
// does not need a type switch to read.
type plainValue struct {
	kind   bindings.Kind
	number int64 // the value of an integer or a boolean
	text   string
	whole  any // the value of any other kind
}

// answers looks up all keys for the first visitor. Open also compares these values with the
// generator's predictions.
func (w *World) answers() (answers, error) {
	a := answers{map[string]*plainValue{}, map[string]any{}, map[string]string{}}
	for _, key := range w.site.KeyNames() {
		v, found, err := w.requests[0].Lookup(key)
		if err != nil || !found {
			return a, fmt.Errorf("%s: found is %t, the error %v", key, found, err)
		}
		whole, err := v.Interface()
		if err != nil {
			return a, err
		}
		p := &plainValue{kind: v.Kind()}
		switch content := whole.(type) {
		case string:
			p.text = strings.Clone(content)
		case int64:
			p.number = content
		case bool:
			if content {
				p.number = 1
			}
		default:
			p.whole = content
		}
		a.pointers[key], a.anys[key], a.entries[key] = p, whole, entryOf(v)
	}
	return a, nil
}

// entryOf returns the first key of a hash, or "" if a dotted key cannot name it without quotes.
func entryOf(v bindings.Value) string {
	for k := range v.Entries() {
		name := k.String()
		if strings.ContainsAny(name, `.'"`) {
			name = ""
		}
		return name
	}
	return ""
}

// smallText is the length in bytes of the longest string that counts as small.
const smallText = 16

// isSmall reports whether v is an integer, a boolean or a string of at most smallText bytes.
func isSmall(v *plainValue) bool {
	switch v.kind {
	case bindings.Int, bindings.Bool:
		return true
	case bindings.String:
		return len(v.text) <= smallText
	}
	return false
}

// readKinds returns a case that looks up keys and reads the kind of each value.
func (w *World) readKinds(keys []string) func(n int) {
	request := w.requests[0]
	return func(n int) {
		for i := range n {
			v, _, err := request.Lookup(keys[i%sequence])
			must(err)
			Sum += uint64(v.Kind())
		}
	}
}

func (w *World) getKinds(keys []string) func(n int) {
	return func(n int) {
		for i := range n {
			Sum += uint64(w.values.pointers[keys[i%sequence]].kind)
		}
	}
}

func (w *World) getAnyKinds(keys []string) func(n int) {
	return func(n int) {
		for i := range n {
			switch w.values.anys[keys[i%sequence]].(type) {
			case string:
				Sum += uint64(bindings.String)
			case int64:
				Sum += uint64(bindings.Int)
			case bool:
				Sum += uint64(bindings.Bool)
			case []any:
				Sum += uint64(bindings.Array)
			case map[string]any:
				Sum += uint64(bindings.Hash)
			}
		}
	}
}

// readSmall returns a case that looks up keys and reads each value. It reads only the length and
// the first byte of a string.
func (w *World) readSmall(keys []string) func(n int) {
	request := w.requests[0]
	return func(n int) {
		for i := range n {
			v, _, err := request.Lookup(keys[i%sequence])
			must(err)
			switch v.Kind() {
			case bindings.String:
				text, err := v.TextView()
				must(err)
				Sum += textSum(text)
			case bindings.Int:
				number, err := v.Int()
				must(err)
				Sum += uint64(number)
			case bindings.Bool:
				yes, err := v.Bool()
				must(err)
				Sum += boolSum(yes)
			}
		}
	}
}

func (w *World) getSmall(keys []string) func(n int) {
	return func(n int) {
		for i := range n {
			switch v := w.values.pointers[keys[i%sequence]]; v.kind {
			case bindings.String:
				Sum += textSum(v.text)
			case bindings.Int, bindings.Bool:
				Sum += uint64(v.number)
			}
		}
	}
}

func (w *World) getAny(keys []string) func(n int) {
	return func(n int) {
		for i := range n {
			switch v := w.values.anys[keys[i%sequence]].(type) {
			case string:
				Sum += textSum(v)
			case int64:
				Sum += uint64(v)
			case bool:
				Sum += boolSum(v)
			}
		}
	}
}

// copyTexts returns a case that looks up keys bound to strings and copies each string.
func (w *World) copyTexts(keys []string) func(n int) {
	request := w.requests[0]
	return func(n int) {
		for i := range n {
			v, _, err := request.Lookup(keys[i%sequence])
			must(err)
			text, err := v.Text()
			must(err)
			Sum += textSum(text)
		}
	}
}

// textSum reads the length and the first byte of text, which must not be empty.
func textSum(text string) uint64 { return uint64(len(text)) + uint64(text[0]) }

func boolSum(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
