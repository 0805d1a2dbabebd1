package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/query"
	"bindc/internal/snapfile"
	"bindc/internal/testmode"
	"bindc/internal/testsite"
	"bindc/origin"
)

// Only the owner may read a stored snapshot with sensitive values. A computed value alone is not sensitive.
func TestInspectFindsSensitiveValues(t *testing.T) {
	for bind, want := range map[string]bool{
		"[a, 1]":                            false,
		"[a, 'of ${fqdn}']":                 false,
		"{name: a, sensitive: true, to: 1}": true,
		"[a, 1], {name: b, sensitive: true, to: 'of ${fqdn}'}": true,
	} {
		path := filepath.Join(t.TempDir(), "site.bsnap")
		testsite.BuildBindings(t, bind, path)
		if got, err := snapfile.Inspect(path); got != want || err != nil {
			t.Errorf("%s: sensitive is %v (%v), expected %v", bind, got, err, want)
		}
	}
}

// A query must have the form that bindq batch reads, its keys must exist, and its line must not be too long.
func TestCheckKeysRejectsInvalidQueries(t *testing.T) {
	testmode.SkipUnderRace(t)
	t.Chdir(t.TempDir())
	testsite.BuildBindings(t, "[a, 1]", "site.bsnap")
	err := (&gates{checkKeys: "."}).keysFound("site.bsnap")
	if err == nil || !strings.HasPrefix(err.Error(), "--check-keys: read .: ") {
		t.Errorf("a directory: %v", err)
	}
	for line, want := range map[string]string{
		`{"keys": ["a"]}`: "<nil>",
		`{"keys": ["a"], "kye": 1}`: "--check-keys: queries:1: expected a query as a JSON object: " +
			"unknown member",
		`{"keys": ["a"], "key": 1}`:         "--check-keys: queries:1: expected a query as a JSON object: found",
		`{"keys": ["a"], "facts": [1]}`:     "queries:1: expected {",
		`{"keys": ["a", "none"]}`:           "queries:1: 'none' is not found",
		`{"keys": ["a"], "keys": ["none"]}`: "--check-keys: queries:1: ",
	} {
		if err := os.WriteFile("queries", []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := (&gates{checkKeys: "queries"}).keysFound("site.bsnap"); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: found %v, expected %s", line, err, want)
		}
	}
	line := `{"key": "a"}`
	for _, c := range []struct {
		length int
		want   string
	}{
		{query.MaxLine, "<nil>"},
		{query.MaxLine + 1, fmt.Sprintf("--check-keys: queries:2: expected a query of at most %d bytes", query.MaxLine)},
	} {
		long := line + strings.Repeat(" ", c.length-len(line))
		if err := os.WriteFile("queries", []byte("\n"+long+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := (&gates{checkKeys: "queries"}).keysFound("site.bsnap"); fmt.Sprint(err) != c.want {
			t.Errorf("%d bytes: found %v, expected %s", c.length, err, c.want)
		}
	}
}

// A snapshot that cannot be opened does not pass the gate of queries.
func TestCheckKeysRejectsInvalidSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if err := os.WriteFile(path, []byte("nonsense"), 0o666); err != nil {
		t.Fatal(err)
	}
	err := (&gates{checkKeys: path}).keysFound(path)
	if err == nil || !strings.Contains(err.Error(), "not a snapshot") {
		t.Errorf("found %v", err)
	}
}

// The signers are read at each check. Without them, nothing is accepted.
func TestRejectsSnapshotsIfSignersDisappear(t *testing.T) {
	signers := filepath.Join(t.TempDir(), "signers")
	const key = "a namespaces=\"bindc\" ssh-ed25519 " +
		"AAAAC3NzaC1lZDI1NTE5AAAAIB9dG4kjRhQTtWTVzd2t27+t0DEHBPW7iOD23TUiYLio\n"
	if err := os.WriteFile(signers, []byte(key), 0o666); err != nil {
		t.Fatal(err)
	}
	checks, err := (&gates{signers: snapfile.Signers{Allowed: signers}}).checks()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(signers); err != nil {
		t.Fatal(err)
	}
	_, err = checks.Origin("a snapshot", origin.Signed{}, [32]byte{})
	if err == nil || !strings.HasPrefix(err.Error(), "--allowed-signers: open ") {
		t.Errorf("found %v", err)
	}
}

// Plain HTTP needs a flag and is allowed only for servers on this machine.
func TestAllowsPlainHTTPOnlyToThisMachine(t *testing.T) {
	for _, c := range []struct {
		address   string
		plainHTTP bool
		want      string
	}{
		{"https://example.org/x", false, "<nil>"},
		{"https://example.org/x", true, "https://example.org/x and --plain-http contradict each other"},
		{"http://localhost/x", true, "<nil>"},
		{"http://localhost/x", false, "http://localhost/x is not encrypted"},
		{"http://example.org/x", true, "http://example.org/x: only servers on this machine"},
	} {
		u, err := url.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		err = (&sources{plainHTTP: c.plainHTTP}).mayAsk(u)
		if !strings.HasPrefix(fmt.Sprint(err), c.want) {
			t.Errorf("%s, plain %v: found %v, expected %s", c.address, c.plainHTTP, err, c.want)
		}
	}
}

// A configuration also applies to its store if a symbolic link names the store.
func TestConfigurationAppliesToSymlinkToItsStore(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	err := errors.Join(os.Mkdir("store", 0o777), os.Symlink("store", "link"), os.Mkdir("other", 0o777),
		os.WriteFile("follow.yaml", []byte("store: store\nkeep: 3\nnames: {a: {source: 'file:a.snap'}}\n"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("BINDSYNC_CONFIG", "follow.yaml")
	t.Setenv("BINDSYNC_STORE", "")
	for store, keep := range map[string]int{"store": 3, "./store/": 3, "link": 3, "other": defaultKeep} {
		p, err := (&storeFlag{dir: store}).policy()
		if err != nil || p.keep.Last != keep {
			t.Errorf("%s: keeps %d, expected %d (%v)", store, p.keep.Last, keep, err)
		}
	}
}

// Gates and the limit on the age of a name are off by default.
func TestGatesAndMaxAgeAreOffByDefault(t *testing.T) {
	for verb, flags := range map[string]map[string]string{
		"status": {"max-age": "0s", "verify": "false", "history": "false"},
		"pull":   {"max-change": "", "check-keys": "", "no-activate": "false", "timeout": pollTimeout.String()},
		"gc":     {"keep": "5", "younger": "168h0m0s", "dry-run": "false"},
	} {
		cmd := new(storeFlag).verbs()[verb]()
		for name, want := range flags {
			if got := cmd.Flags().Lookup(name).DefValue; got != want {
				t.Errorf("%s --%s is '%s', expected '%s'", verb, name, got, want)
			}
		}
	}
}

// A release that was rejected with wrong facts is checked again after the facts have changed.
func TestRulesChangeWithFactsOfQueries(t *testing.T) {
	t.Chdir(t.TempDir())
	g := gates{checkKeys: "queries"}
	seen := map[string]string{}
	add := func(what string) {
		rules := g.rules()
		if before, known := seen[rules]; known {
			t.Errorf("%s: the rules are those of: %s", what, before)
		}
		seen[rules] = what
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("queries", `{"key": "a", "node": "n1"}`)
	t.Setenv("BINDQ_FACTS_DIR", "")
	add("no directory")
	t.Setenv("BINDQ_FACTS_DIR", "facts")
	add("a missing directory")
	if err := os.Mkdir("facts", 0o777); err != nil {
		t.Fatal(err)
	}
	add("an empty directory")
	write("facts/n1.json", `{"role": "db"}`)
	add("facts")
	write("facts/n1.json", `{"role": "web"}`)
	add("other facts")
	if g.checkKeys = ""; strings.Contains(g.rules(), "facts") {
		t.Errorf("without queries, the rules depend on facts: %s", g.rules())
	}
}
