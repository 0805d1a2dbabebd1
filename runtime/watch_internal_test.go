package runtime

import (
	"path/filepath"
	"testing"

	"bindc/snapshot"
)

// The moment between reading Watcher.current and counting a request is too short to be met in a test of the outside.
func TestARequestThatComesTooLateGoesElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, &snapshot.Content{Layers: []string{"site"}}); err != nil {
		t.Fatal(err)
	}
	snap, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &shared{snap: snap}
	if !s.acquire() {
		t.Fatal("a snapshot in use takes no request")
	}
	s.retire()
	if s.acquire() {
		t.Error("a retired snapshot takes a request while another goes on")
	}
	s.release()
	for range 2 {
		if s.acquire() {
			t.Error("an unmapped snapshot takes a request")
		}
	}
	if got := s.users.Load(); got != retired {
		t.Errorf("%d requests are left", got-retired)
	}
}
