package snapshot

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"bindc/internal/testmode"
	"bindc/internal/value"
)

// follower is an Others that remembers what a View left to it.
type follower struct {
	ref      Ref
	followed bool
}

func (f *follower) Indirect(string) (value.Value, bool, error) {
	panic("the view is neither shut nor indirect")
}

func (f *follower) Follow(_ string, ref Ref) (value.Value, bool, error) {
	f.ref, f.followed = ref, true
	return value.Value{}, true, nil
}

func (f *follower) Beyond(key string, word int) (value.Value, bool, error) {
	below := strings.IndexFunc(key, func(r rune) bool { return r < '0' })
	f.followed = word == below
	return value.Value{}, false, nil
}

// viewOf returns a View of s for the scopes at. It leaves lookups to f.
func viewOf(s *Snapshot, at *Scopes, digs bool, f *follower) View {
	v := NewView(s, &atomic.Bool{}, s.Values(), digs, f)
	v.Scopes = *at
	return v
}

// viewed looks a key up in a View and returns the value in its stored form.
func viewed(t *testing.T, s *Snapshot, at *Scopes, key string) (Stored, bool) {
	t.Helper()
	var f follower
	w := viewOf(s, at, false, &f)
	v, found, err := w.Lookup(key)
	if err == nil && found && !f.followed {
		v, err = v.Read()
	}
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case !found:
		return Stored{}, false
	case f.followed:
		return storedAt(t, s, f.ref), true
	}
	return Stored{Bytes: string(value.Append(nil, v))}, true
}

// The fingerprint of a name equals that of a key once in 256 names. View.Lookup must then compare every byte, which it
// does eight at a time.
func TestViewRejectsNamesThatDifferInAnyByte(t *testing.T) {
	testmode.SkipUnderRace(t)
	for _, length := range []int{3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 60} {
		key := strings.Repeat("k", length)
		s := open(t, &Content{Layers: []string{"site"}, Values: stored(value.FromString("one")),
			Keys: []Key{{Name: key, Default: 0}}})
		v := viewOf(s, &Scopes{}, false, nil)
		if _, found, err := v.Lookup(key); !found || err != nil {
			t.Errorf("%s: found is %t, the error %v", key, found, err)
		}
		if text, at, ok := v.Encoded(key); !ok || !strings.HasPrefix(text[at:], "\x83one") {
			t.Errorf("%s: encoded is %t, %.4q", key, ok, text[at:])
		}
		for from := range length - 2 {
			for n := range 1000 {
				name := key[:from] + fmt.Sprintf("%03d", n) + key[from+3:]
				if _, found, _ := v.Lookup(name); found {
					t.Fatalf("found %s, which is not a key; the key is %s", name, key)
				}
				if _, _, ok := v.Encoded(name); ok {
					t.Fatalf("encoded is %s, which is not a key; the key is %s", name, key)
				}
			}
		}
	}
}

func TestViewFindsNoOtherNamesOfTwoBytes(t *testing.T) {
	for _, key := range []string{"a", "ab"} {
		s := open(t, &Content{Layers: []string{"site"}, Values: stored(value.FromInt(1)),
			Keys: []Key{{Name: key, Default: 0}}})
		v := viewOf(s, &Scopes{}, false, nil)
		for n := range 1 << 16 {
			for _, name := range []string{string([]byte{byte(n), byte(n >> 8)}), string([]byte{byte(n)})} {
				if _, found, _ := v.Lookup(name); found != (name == key) {
					t.Fatalf("%q: found %t; the key is %q", name, found, key)
				}
			}
		}
	}
}

func TestViewLeavesOnlyDottedAndQuotedAbsentKeysToOthers(t *testing.T) {
	s := open(t, &Content{Layers: []string{"site"}, Values: stored(value.FromInt(1)),
		Keys: []Key{{Name: "a::key::of::usual::length", Default: 0}}})
	for length := range 60 {
		for at := range length {
			for _, c := range []byte(".'\"/ 09:AZ_az{\x7f\x80\xff") {
				key := strings.Repeat("k", at) + string([]byte{c}) + strings.Repeat("k", length-at-1)
				var f follower
				w := viewOf(s, &Scopes{}, true, &f)
				_, found, err := w.Lookup(key)
				if special := c == '.' || c == '\'' || c == '"'; f.followed != special || found || err != nil {
					t.Fatalf("%q: found %t, left to others %t, %v; want left %t", key, found, f.followed, err, special)
				}
			}
		}
	}
}
