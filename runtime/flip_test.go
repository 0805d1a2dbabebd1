package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"bindc/internal/lookup"
	"bindc/internal/testmode"
	bindings "bindc/runtime"
)

const flippedSite = `bindings_version: 1
name: default
bind:
  - [text, "a text"]
  - [long, "a text of more than a hundred and twenty seven bytes, so that its length is a number after the tag and not
      a part of it, which is read in another way"]
  - [list, [one, [2, 3.5], {four: five, six: [seven]}]]
  - [hash, {a: {b: {c: d}}, e: [f, g], h: null}]
  - [number, 1234567890123]
  - [float, 0.25]
  - [flag, true]
  - {name: secret, to: [hidden], sensitive: true}
`

// After any bit of a file is flipped, all methods of a value agree on whether it is damaged. Otherwise a caller
// could mistake an unreadable value for an empty string.
func TestAccessorsOfDamagedValueAgree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, flippedSite)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	facts := nodeFacts(t, "n1")
	stride, invalid := 1, 0
	if !testmode.Thorough() {
		stride = 11
	}
	for bit := 0; bit < 8*len(sound); bit += stride {
		damaged := bytes.Clone(sound)
		damaged[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		snap, err := bindings.Open(path, bindings.Options{Copy: true})
		if err != nil {
			continue
		}
		if req, err := snap.Request(facts); err == nil {
			for _, key := range []string{"text", "long", "list", "hash", "number", "float", "flag", "secret"} {
				v, found, err := req.Lookup(key)
				if err != nil || !found {
					continue
				}
				if wrong := disagree(v.Reveal(), &invalid); wrong != "" {
					t.Errorf("bit %d, %s: %s", bit, key, wrong)
				}
			}
		}
		snap.Close()
	}
	if invalid == 0 {
		t.Error("no bit made a value that cannot be read: the test shows nothing")
	}
}

// disagree returns the methods of v that contradict MarshalJSON. It counts unreadable values in invalid.
func disagree(v bindings.Value, invalid *int) string {
	text, err := v.MarshalJSON()
	if err != nil {
		*invalid++
		return wrongOfDamaged(v)
	}
	switch v.Kind() {
	case bindings.Invalid:
		return "Invalid, but JSON is " + string(text)
	case bindings.Array:
		n := 0
		for e := range v.Elems() {
			if wrong := disagree(e, invalid); wrong != "" {
				return fmt.Sprint("element ", n, ": ", wrong)
			}
			n++
		}
		if n != v.Len() {
			return fmt.Sprintf("%d elements, but the length is %d", n, v.Len())
		}
	case bindings.Hash:
		n := 0
		for k, e := range v.Entries() {
			if wrong := disagree(k, invalid) + disagree(e, invalid); wrong != "" {
				return fmt.Sprint("entry ", n, ": ", wrong)
			}
			n++
		}
		if n != v.Len() {
			return fmt.Sprintf("%d entries, but the length is %d", n, v.Len())
		}
	case bindings.String:
		got, err := v.Text()
		if want, _ := json.Marshal(got); err != nil || got == "" && string(text) != string(want) {
			return fmt.Sprintf("Text is %q, %v, but JSON is %s", got, err, text)
		}
	case bindings.Int:
		if n, err := v.Int(); err != nil || fmt.Sprint(n) != string(text) {
			return fmt.Sprintf("Int is %d, %v, but JSON is %s", n, err, text)
		}
	case bindings.Bool:
		if b, err := v.Bool(); err != nil || fmt.Sprint(b) != string(text) {
			return fmt.Sprintf("Bool is %t, %v, but JSON is %s", b, err, text)
		}
	}
	return ""
}

// wrongOfDamaged returns the methods that succeed although v is damaged.
func wrongOfDamaged(v bindings.Value) string {
	if _, err := v.Interface(); err == nil {
		return "JSON is damaged, Interface is not"
	}
	if v.Len() != -1 || v.String() != "<damaged>" {
		return fmt.Sprintf("damaged, but of length %d, %s", v.Len(), v)
	}
	for e := range v.Elems() {
		if e.Len() != -1 {
			return "damaged, but an element is not"
		}
	}
	for k, e := range v.Entries() {
		if k.Len() != -1 || e.Len() != -1 {
			return "damaged, but an entry is not"
		}
	}
	if e, found := v.Get("a"); !found || e.Len() != -1 || v.Index(0).Len() != -1 {
		return "damaged, but something is found in it"
	}
	for _, ask := range []func() error{
		func() error { _, err := v.Text(); return err },
		func() error { _, err := v.Int(); return err },
		func() error { _, err := v.Bool(); return err },
		func() error { _, err := v.Float(); return err },
		func() error { _, _, err := lookup.Value(v).AppendRich(nil); return err },
	} {
		if ask() == nil {
			return "damaged, but one method answers"
		}
	}
	return ""
}
