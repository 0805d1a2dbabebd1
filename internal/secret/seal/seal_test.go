package seal

import (
	"strings"
	"testing"
)

func TestOpenNeedsNameAndHeadOfSeal(t *testing.T) {
	box, other := newBox(t), newBox(t)
	sealed := box.Seal("db::password", "ab", "hunter2")
	if strings.Contains(sealed, "hunter2") || !strings.HasPrefix(sealed, "ab") ||
		len(sealed) != 2+len("hunter2")+Overhead {
		t.Fatalf("%q", sealed)
	}
	if sealed == box.Seal("db::password", "ab", "hunter2") {
		t.Error("the same text is sealed to the same bytes twice")
	}
	body := sealed[2:]
	changed := string(body[0]^1) + body[1:]
	if got, err := box.Open("db::password", "ab", body); err != nil || got != "hunter2" {
		t.Errorf("%q, %v", got, err)
	}
	for what, open := range map[string]func() (string, error){
		"another key":  func() (string, error) { return other.Open("db::password", "ab", body) },
		"another name": func() (string, error) { return box.Open("db::user", "ab", body) },
		"another head": func() (string, error) { return box.Open("db::password", "aB", body) },
		"cut off":      func() (string, error) { return box.Open("db::password", "ab", body[:len(body)-1]) },
		"nothing":      func() (string, error) { return box.Open("db::password", "ab", "") },
		"changed":      func() (string, error) { return box.Open("db::password", "ab", changed) },
	} {
		if got, err := open(); err == nil || got != "" {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}

func TestRejectsKeyOfWrongSize(t *testing.T) {
	if _, err := New(make([]byte, 16)); err == nil {
		t.Error("a key of 16 bytes is taken")
	}
}

func newBox(t *testing.T) *Box {
	t.Helper()
	b, err := New(NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return b
}
