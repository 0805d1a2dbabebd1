package runtime_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/recipe"
	"bindc/internal/seal"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// sealedAs writes a snapshot in which the value of key a is sealed for a name, and b is bound to the same recipe.
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

// What is sealed for one key is no value of another, also when the first was looked up before.
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
	if err != nil || !found || !v.Sensitive() || v.Text() != "hunter2" {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	var e *bindings.Error
	if v, _, err := req.Lookup("b"); !errors.As(err, &e) || e.Code != bindings.CodeEncrypted || v.Text() != "" {
		t.Errorf("%v, %v", v, err)
	}
}

// A Watcher that cannot decrypt a new file says so, and goes on with the one before.
func TestAWatcherKeepsTheFileItCanDecrypt(t *testing.T) {
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
	if v, found, err := req.Lookup("a"); err != nil || !found || v.Text() != "hunter2" {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	able = true
	if switched, err := w.Check(); !switched || err != nil {
		t.Errorf("a file that can be decrypted now: %v, %v", switched, err)
	}
}
