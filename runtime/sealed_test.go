package runtime_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// sealedAs writes a snapshot in which the value of key a is sealed for name, and b is bound to the
// same recipe.
func sealedAs(t *testing.T, path, name string, key []byte) {
	t.Helper()
	box, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	plain := string(recipe.Append(nil, &recipe.Recipe{Sensitive: true, Value: value.FromString("hunter2")}))
	if _, err := snapshot.Write(path, &snapshot.Content{
		Layers: []string{"site"}, Seal: []byte("wrapped"),
		Keys:   []snapshot.Key{{Name: "a", Default: 0}, {Name: "b", Default: 0}},
		Values: []snapshot.Stored{{Computed: true, Bytes: recipe.Seal(plain, name, box)}},
	}); err != nil {
		t.Fatal(err)
	}
}

func unsealWith(key []byte) func([]byte) ([]byte, error) {
	return func(wrapped []byte) ([]byte, error) {
		if string(wrapped) != "wrapped" {
			return nil, errors.New("another key is wrapped")
		}
		return key, nil
	}
}

// A value sealed for one key fails to decrypt for another key, even after a successful lookup of the first.
func TestSealedValuesCannotBeSwapped(t *testing.T) {
	path, key := filepath.Join(t.TempDir(), "site.bsnap"), seal.NewKey()
	sealedAs(t, path, "a", key)
	snap, err := bindings.Open(path, bindings.Options{Unseal: unsealWith(key)})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if err := snap.Verify(); err != nil {
		t.Error(err)
	}
	req, err := snap.Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	v, found, err := req.Lookup("a")
	if err != nil || !found || !v.Sensitive() || textOf(v) != "hunter2" {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	var e *bindings.Error
	if v, _, err := req.Lookup("b"); !errors.As(err, &e) || e.Code != bindings.CodeEncrypted || textOf(v) != "" {
		t.Errorf("%v, %v", v, err)
	}
}

// A Watcher that cannot decrypt a new file reports the error and keeps using the previous file.
func TestWatcherKeepsFileItCanDecrypt(t *testing.T) {
	path, key := filepath.Join(t.TempDir(), "site.bsnap"), seal.NewKey()
	sealedAs(t, path, "a", key)
	able := true
	w, err := bindings.Watch(path, bindings.WatchOptions{Interval: -1, Options: bindings.Options{
		Unseal: func([]byte) ([]byte, error) {
			if !able {
				return nil, errors.New("no identity fits")
			}
			return key, nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	able = false
	sealedAs(t, path, "other", key)
	var e *bindings.Error
	if switched, err := w.Check(); switched || !errors.As(err, &e) || e.Code != bindings.CodeEncrypted ||
		!strings.Contains(err.Error(), "no identity fits") {
		t.Errorf("%v, %v", switched, err)
	}
	req, err := w.Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	defer req.Close()
	if v, found, err := req.Lookup("a"); err != nil || !found || textOf(v) != "hunter2" {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	able = true
	if switched, err := w.Check(); !switched || err != nil {
		t.Errorf("a file that can be decrypted now: %v, %v", switched, err)
	}
}

// A sealed value that was changed, shortened or sealed for another key is never accepted. An unsealed one in its
// place is: anyone who can replace the file can do that.
func FuzzSealed(f *testing.F) {
	key := []byte(strings.Repeat("k", seal.KeySize)) // all processes of the fuzzer must use the same key
	box, err := seal.New(key)
	if err != nil {
		f.Fatal(err)
	}
	sealedFor := func(name string) string {
		secret := &recipe.Recipe{Sensitive: true, Value: value.FromString("the secret of " + name)}
		return recipe.Seal(string(recipe.Append(nil, secret)), name, box)
	}
	own, other := sealedFor("forged"), sealedFor("sound")
	plain := string(recipe.Append(nil, &recipe.Recipe{Value: value.FromString("plain")}))
	for _, s := range []string{own, other, plain, own[:len(own)-1], own[:3], own[:2], own[:1], "", own + "\x00",
		own[:2] + other[2:], own[:14] + other[14:], "\xff" + own[1:], own[:1] + "\xff" + own[2:]} {
		f.Add([]byte(s), []byte("wrapped"))
	}
	f.Add([]byte(own), []byte("another"))
	f.Add([]byte(own), []byte(nil))
	path := filepath.Join(f.TempDir(), "site.bsnap")
	f.Fuzz(func(t *testing.T, forged, wrapped []byte) {
		if _, err := snapshot.Write(path, &snapshot.Content{
			Layers: []string{"site"}, Seal: wrapped,
			Keys:   []snapshot.Key{{Name: "forged", Default: 0}, {Name: "sound", Default: 1}},
			Values: []snapshot.Stored{{Computed: true, Bytes: string(forged)}, {Computed: true, Bytes: other}},
		}); err != nil {
			t.Fatal(err)
		}
		snap, err := bindings.Open(path, bindings.Options{Unseal: unsealWith(key)})
		if err != nil {
			if string(wrapped) == "wrapped" || !isRefusal(err) {
				t.Errorf("Open: %v", err)
			}
			return
		}
		defer snap.Close()
		var damage *bindings.DamageError
		if err := snap.Verify(); err != nil && !errors.As(err, &damage) {
			t.Errorf("Verify: %v", err)
		}
		req, err := snap.Request(nodeFacts(t, "n1"))
		if err != nil {
			t.Fatal(err)
		}
		isSealed := recipe.IsSealed(string(forged))
		v, found, err := req.Lookup("forged")
		switch {
		case isSealed && err == nil && found:
			if !v.Sensitive() || textOf(v) != "the secret of forged" {
				t.Errorf("a forged value is read: %v", v.Reveal())
			}
		case isSealed && !isRefusal(err):
			t.Errorf("a forged value: %v, %v", found, err)
		case err == nil && strings.Contains(v.Reveal().String(), "the secret of"):
			t.Errorf("another one's secret: %v", v.Reveal())
		}
		v, found, err = req.Lookup("sound")
		if string(wrapped) == "wrapped" && (err != nil || !found || textOf(v) != "the secret of sound") {
			t.Errorf("the other key: %v, %v, %v", v, found, err)
		}
	})
}

// isRefusal reports whether an error is about a damaged file or failed decryption.
func isRefusal(err error) bool {
	var damage *bindings.DamageError
	var e *bindings.Error
	return errors.As(err, &damage) || errors.As(err, &e) && e.Code == bindings.CodeEncrypted
}
