package migrate_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"bindc/compile"
	"bindc/diag"
	nodefacts "bindc/facts"
	"bindc/internal/migrate"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

var update = flag.Bool("update", false, "write the migrated sites into the archives; review what changes")

// TestMigrateWritesExpectedFilesWithSameAnswers migrates the site of each archive in testdata and compares the
// written files and the notes with the archive. It also looks up every key in both sites for each set of facts: the
// answers must be the same.
func TestMigrateWritesExpectedFilesWithSameAnswers(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(err, "no archives")
	}
	for _, at := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(at), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(at)
			if err != nil {
				t.Fatal(err)
			}
			a := split(archive)
			from := writeSite(t, a.site)
			notes, files := migrateSite(t, from)
			if *update {
				updateArchive(t, at, archive, notes, files)
				return
			}
			if notes != a.notes {
				t.Errorf("notes:\n%s\nwant:\n%s", notes, a.notes)
			}
			compareFiles(t, files, a.migrated)
			compareAnswers(t, from, writeSite(t, files), a.facts)
		})
	}
}

// parts holds the parts of an archive.
type parts struct {
	site     map[string]string // files below site/
	migrated map[string]string // files below new/, as they should be written
	facts    map[string]string // facts in JSON, by name
	notes    string
}

func split(archive *txtar.Archive) parts {
	a := parts{map[string]string{}, map[string]string{}, map[string]string{}, ""}
	for _, f := range archive.Files {
		dir, rest, _ := strings.Cut(f.Name, "/")
		switch dir {
		case "site":
			a.site[rest] = string(f.Data)
		case "new":
			a.migrated[rest] = string(f.Data)
		case "facts":
			a.facts[rest] = string(f.Data)
		case "notes":
			a.notes = string(f.Data)
		}
	}
	return a
}

func writeSite(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, "site", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "site")
}

// migrateSite returns the notes, one per line with paths below the site, and the files of the new site.
func migrateSite(t *testing.T, from string) (notes string, files map[string]string) {
	t.Helper()
	var diags diag.List
	site := loader.Load(from, loader.Options{}, &diags)
	if diags.Failed() {
		t.Fatalf("the site does not load: %s", text(t, from, &diags))
	}
	result, err := migrate.Site(from, site, migrate.Options{}, &diags)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, f := range result.Files {
		files[f.Path] = string(f.Text)
	}
	return text(t, from, &diags), files
}

func text(t *testing.T, dir string, diags *diag.List) string {
	t.Helper()
	var b strings.Builder
	for _, d := range diags.Sorted() {
		fmt.Fprintf(&b, "%s: %s: %s\n", d.Pos, d.Severity, d.Message)
	}
	return strings.ReplaceAll(b.String(), dir+"/", "")
}

func compareFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if text, ok := got[name]; !ok {
			t.Errorf("%s is not written", name)
		} else if text != want[name] {
			t.Errorf("%s is\n%s\nwant\n%s", name, text, want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is written:\n%s", name, got[name])
		}
	}
}

// compareAnswers looks up, in both sites, each key that one of them binds.
func compareAnswers(t *testing.T, from, to string, facts map[string]string) {
	t.Helper()
	before, keys := open(t, from)
	after, more := open(t, to)
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		parsed, err := nodefacts.ParseJSON([]byte(facts[name]), bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range slices.Compact(slices.Sorted(slices.Values(append(keys, more...)))) {
			want, err := answer(t, before, parsed, key)
			if err != nil {
				continue // a key that fails in Hiera 5 may have a value here
			}
			if got, err := answer(t, after, parsed, key); err != nil || got != want {
				t.Errorf("%s, key %s: %s (%v), was %s", name, key, got, err, want)
			}
		}
	}
}

func open(t *testing.T, dir string) (*bindings.Snapshot, []string) {
	t.Helper()
	var diags diag.List
	site := loader.Load(dir, loader.Options{MayBeEmpty: true}, &diags)
	content := compile.Compile(site, compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatalf("the site does not build: %s", text(t, dir, &diags))
	}
	at := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(at, content); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(at, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = snap.Close() })
	var keys []string
	for _, key := range site.Keys {
		if key != "lookup_options" && !strings.HasPrefix(key, "\x00") {
			keys = append(keys, key)
		}
	}
	return snap, keys
}

func answer(t *testing.T, snap *bindings.Snapshot, facts *bindings.Facts, key string) (string, error) {
	t.Helper()
	req, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	v, found, err := req.Lookup(key)
	if err != nil || !found {
		return "nothing", err
	}
	ordinary, err := v.Reveal().Interface()
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(ordinary) // sorted: a merged hash may have another order
	if v.Sensitive() {
		return "sensitive " + string(out), err
	}
	return string(out), err
}

// updateArchive replaces the parts of an archive that a migration writes.
func updateArchive(t *testing.T, at string, archive *txtar.Archive, notes string, files map[string]string) {
	t.Helper()
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
		return f.Name == "notes" || strings.HasPrefix(f.Name, "new/")
	})
	if notes != "" {
		archive.Files = append(archive.Files, txtar.File{Name: "notes", Data: []byte(notes)})
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		archive.Files = append(archive.Files, txtar.File{Name: "new/" + name, Data: []byte(files[name])})
	}
	if err := os.WriteFile(at, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
