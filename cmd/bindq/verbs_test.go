package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bindc/internal/testsite"
)

// full is a writer that always fails, like a full disk.
type full struct{}

var errFull = errors.New("the output takes nothing more")

func (full) Write([]byte) (int, error) { return 0, errFull }

// A verb whose output cannot be written fails with the reason.
func TestVerbsFailIfOutputCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	build := func(name, bind string) string {
		path := filepath.Join(dir, name)
		testsite.BuildBindings(t, bind, path)
		return path
	}
	one, two := build("one.snap", "[a, 1], [b, '${fqdn}']"), build("two.snap", "[a, 2], [b, '${fqdn}']")
	if err := os.WriteFile(filepath.Join(dir, "web1.json"), []byte(`{"fqdn": "web1"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(line string, out io.Writer) (status int, errs string) {
		var stderr bytes.Buffer
		root := command(nil)
		line = strings.NewReplacer("ONE", one, "TWO", two, "DIR", dir).Replace(line)
		root.SetArgs(strings.Fields(line))
		root.SetIn(strings.NewReader(`{"key": "a"}`))
		root.SetOut(out)
		root.SetErr(&stderr)
		status = execute(root)
		return status, stderr.String()
	}
	untried := slices.Collect(maps.Keys((&globals{}).verbs()))
	for _, line := range []string{"lookup a -s ONE", "lookup a -s ONE --render-as json",
		"lookup a -s ONE --render-as yaml", "lookup a -s ONE --explain",
		"lookup a -s ONE --explain --render-as json", "lookup a b -s ONE --node x --all",
		"lookup a b -s ONE --node x --all --render-as json", "batch ONE", "keys ONE", "info ONE", "verify ONE",
		"dump ONE --node x", "dump ONE --node x --render-as yaml", "values a -s ONE",
		"values a -s ONE --render-as json", "values a -s ONE --render-as yaml", "values a 1 -s ONE",
		"values a 1 -s ONE --render-as json", "values a 3 -s ONE --node x", "explain a -s ONE --node x", "nodes ONE --facts-dir DIR",
		"nodes ONE --facts-dir DIR --render-as json", "nodes ONE --facts-dir DIR --render-as yaml", "diff ONE TWO",
		"diff ONE TWO --format json", "diff ONE TWO --format markdown", "diff ONE TWO --facts-dir DIR",
		"hiera-config -s ONE"} {
		if _, errs := run(line, io.Discard); strings.Contains(errs, "unknown") {
			t.Fatalf("%s: %s", line, errs)
		}
		if status, errs := run(line, full{}); status != 2 || !strings.Contains(errs, errFull.Error()) {
			t.Errorf("%s: status %d, %s", line, status, errs)
		}
		untried = slices.DeleteFunc(untried, func(verb string) bool { return verb == strings.Fields(line)[0] })
	}
	// serve reports a failed write to the client that asked, see package serve.
	if untried = slices.DeleteFunc(untried, func(verb string) bool { return verb == "serve" }); len(untried) > 0 {
		t.Errorf("no command line of %v is tried here: add one to the list above", untried)
	}
}

// batch answers a query before it waits for the next one.
func TestBatchAnswersEachQueryAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	testsite.BuildBindings(t, "[a, 1]", path)
	in, queries := io.Pipe()
	answers, out := io.Pipe()
	root := command(nil)
	root.SetArgs([]string{"batch", path})
	root.SetIn(in)
	root.SetOut(out)
	done := make(chan int)
	go func() { done <- execute(root) }()
	lines := make(chan string)
	go func() {
		for r := bufio.NewScanner(answers); r.Scan(); {
			lines <- r.Text()
		}
	}()
	for range 3 {
		if _, err := io.WriteString(queries, `{"key": "a"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case line := <-lines:
			if !strings.Contains(line, `"value":1`) {
				t.Error(line)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no answer")
		}
	}
	queries.Close()
	if status := <-done; status != 0 {
		t.Errorf("status %d", status)
	}
}

// If there are many keys, completion offers their common parts up to the next '::'.
func TestCompletesManyKeysUpToNextSegment(t *testing.T) {
	keys := []string{"db::user", "db::pool::size", "db::pool::wait", "db::a", "db::pool::size"}
	for typed, want := range map[string]string{"": "db::", "db": "db::", "db::": "db::a db::pool:: db::user"} {
		if got := nextSegments(keys, len(typed)); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, expected %s", typed, got, want)
		}
	}
	if got := nextSegments([]string{"plain", "other"}, 0); !slices.Equal(got, []string{"other", "plain"}) {
		t.Errorf("%q", got)
	}
}

// A sensitive value in clear text is not counted as encrypted by eyaml.
func TestInfoDoesNotCountClearTextAsEyaml(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "site.bsnap")
	testsite.BuildBindings(t, "{name: a, sensitive: true, to: 'of ${fqdn}'}", path)
	var out bytes.Buffer
	root := command(nil)
	root.SetArgs([]string{"info", path})
	root.SetOut(&out)
	if status := execute(root); status != 0 || !strings.Contains(out.String(), "sensitive") ||
		strings.Contains(out.String(), "eyaml") {
		t.Errorf("status %d:\n%s", status, out.String())
	}
}

// The internal key that collects the contributions to a multibinding is not available to users.
func TestValuesDoesNotFindInternalKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	testsite.BuildBindings(t, "{name: ports, multibind_id: ports, type: 'Array[Integer]'}, {in: ports, to: 80}", path)
	for key, want := range map[string]int{"ports": 0, "\x00ports": 1, "none": 1, "": 1} {
		root := command(nil)
		root.SetArgs([]string{"values", key, "-s", path})
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if status := execute(root); status != want {
			t.Errorf("%q: status %d, expected %d", key, status, want)
		}
	}
}

// info shows an entry with several paths as one line. It lists the variables that data asks for, if there are any.
func TestInfoPrintsEntryWithSeveralPathsOnOneLine(t *testing.T) {
	for text, want := range map[string]string{"a: 1": "", "a: 'on %{rack}'": "\nvariables that data uses"} {
		dir := t.TempDir()
		hierarchy := "version: 5\nhierarchy: [{name: All, paths: [a.yaml, b.yaml]}]\n"
		for name, text := range map[string]string{"hiera.yaml": hierarchy, "data/a.yaml": text, "data/b.yaml": "b: 1"} {
			path := filepath.Join(dir, name)
			err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
			if err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		root := command(nil)
		root.SetArgs([]string{"info", build(t, dir)})
		root.SetOut(&out)
		status := execute(root)
		got := out.String()
		if status != 0 || !strings.Contains(got, "\n  environment: All (2 paths)\n") {
			t.Errorf("status %d:\n%s", status, got)
		}
		if !strings.Contains(got, want) || strings.Contains(got, "variables that data uses") != (want != "") {
			t.Errorf("found\n%s\nexpected '%s'", got, want)
		}
	}
}

// Queries that arrive together are answered in few writes.
func TestBatchAnswersManyQueriesInFewWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	testsite.BuildBindings(t, "[a, 1]", path)
	var out writes
	root := command(nil)
	root.SetArgs([]string{"batch", path})
	root.SetIn(strings.NewReader(strings.Repeat(`{"key": "a"}`+"\n", 100)))
	root.SetOut(&out)
	if status := execute(root); status != 0 || out > 2 {
		t.Errorf("status %d, %d writes", status, out)
	}
}

// writes counts writes.
type writes int

func (w *writes) Write(b []byte) (int, error) { *w++; return len(b), nil }
