package datafile

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/recipe"
)

// writePart writes the part of one file with the given keys and values.
func writePart(t testing.TB, program Program, entries ...string) string {
	t.Helper()
	c := NewCache(program)
	f := &File{silent: true, kind: YAML}
	for i := 0; i < len(entries); i += 2 {
		f.Entries = append(f.Entries, Entry{Key: c.pools.Keys.Number([]byte(entries[i])),
			Value: c.pools.Values.Number([]byte(entries[i+1])), Line: 1, Col: 1})
	}
	c.Keep([]*File{f})
	path := filepath.Join(t.TempDir(), "p.pack")
	if err := c.WritePart(path, PartHead{Share: Share{1, 1}, Version: "1.2"}); err != nil {
		t.Fatal(err)
	}
	return path
}

// linkOne links the part at path.
func linkOne(path string, program Program) error {
	p, err := ReadPart(path, path)
	if err != nil {
		return err
	}
	_, err = Link([]*Part{p}, program)
	return err
}

func TestLinkRejectsPartBuiltByAnotherBindc(t *testing.T) {
	path := writePart(t, Program{1}, "k", "c\x84text")
	if err := linkOne(path, Program{1}); err != nil {
		t.Error(err)
	}
	if err := linkOne(path, Program{2}); err == nil || !strings.Contains(err.Error(), "by another bindc, 1.2") {
		t.Errorf("link says %v", err)
	}
}

// These parts have valid digests but invalid content.
func TestLinkRejectsForgedContent(t *testing.T) {
	for name, entries := range map[string][]string{
		"unknown form":           {"k", "x\x84text"},
		"text longer than value": {"k", "c\x85text"},
		"bytes after value":      {"k", "c\x84texts"},
		"malformed recipe":       {"k", "r\xff\xff\xff"},
		"key twice":              {"k", "c\x84text", "k", "c\x84more"},
		"NUL in key":             {"k\x00", "c\x84text"},
		"key not UTF-8":          {"k\xff", "c\x84text"},
		"options outside Hiera5": {recipe.LookupOptionsKey, "c\x84text"},
	} {
		if err := linkOne(writePart(t, Program{}, entries...), Program{}); err == nil {
			t.Errorf("%s: link accepts it", name)
		}
	}
}

func TestReadPartRejectsEveryDamage(t *testing.T) {
	raw, err := os.ReadFile(writePart(t, Program{}, "k", "c\x84text"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bad")
	for i := range raw {
		bad := bytes.Clone(raw)
		bad[i] ^= 0x10
		for _, text := range [][]byte{raw[:i], bad} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadPart(path, path); err == nil {
				t.Fatalf("damage at %d is accepted", i)
			}
		}
	}
}

// For any part, Link returns an error or a valid cache.
func FuzzPart(f *testing.F) {
	raw, err := os.ReadFile(writePart(f, Program{}, "k", "c\x84text"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw[:len(raw)-sha256.Size])
	f.Fuzz(func(t *testing.T, raw []byte) {
		sum := sha256.Sum256(raw)
		path := filepath.Join(t.TempDir(), "p.pack")
		if err := os.WriteFile(path, append(raw, sum[:]...), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = linkOne(path, Program{})
	})
}

// Link accepts parts with all kinds of compiled values.
func TestLinkAcceptsWhatPartsHave(t *testing.T) {
	r := NewReader(NewCache(Program{}), fsx.Disk{})
	var diags diag.List
	text := "a: [1, -2.5, true, ~, {b: '${fqdn}'}]\nl: \"${lookup('a')}\"\n"
	hiera := "h: '%{facts.os}'\ni: \"%{lookup('h')}\"\nlookup_options: {h: {merge: deep}}\n"
	files := []File{r.Source("a", []byte(text), YAML, &diags), r.Source("b", []byte(hiera), Hiera5YAML, &diags)}
	r.cache.Keep([]*File{&files[0], &files[1]})
	path := filepath.Join(t.TempDir(), "p.pack")
	if err := r.cache.WritePart(path, PartHead{Share: Share{1, 1}}); err != nil {
		t.Fatal(err)
	}
	part, err := ReadPart(path, path)
	if err != nil {
		t.Fatal(err)
	}
	linked, err := Link([]*Part{part}, Program{})
	if err != nil || !diags.Empty() {
		t.Fatal(err, diags.Sorted())
	}
	if f := NewReader(linked, fsx.Disk{}).Source("a", []byte(text), YAML, &diags); !f.cached || len(f.Entries) != 2 {
		t.Errorf("link parses a file that is in a part: %+v", f)
	}
}

func TestParseShareRejectsOtherForms(t *testing.T) {
	for _, text := range []string{"", "1", "1/", "/2", "0/2", "3/2", "-1/2", "01/2", "1/2 ", "1/2/3", "1/4097"} {
		if s, err := ParseShare(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
