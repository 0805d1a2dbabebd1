package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// inventory is a fake PuppetDB with nodes and their facts. It answers the two queries of bindc facts. The tests in
// puppet/facts use a real PuppetDB.
type inventory struct {
	mu    sync.Mutex
	facts map[string]map[string]any // values of facts, by node and name
}

func (i *inventory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var body struct{ Query []any }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rows := []map[string]any{}
	for name, facts := range i.facts {
		if body.Query[1] == "nodes" {
			rows = append(rows, map[string]any{"certname": name})
			continue
		}
		condition, _ := json.Marshal(body.Query[2])
		for fact, v := range facts {
			asked := func(text string) bool { return strings.Contains(string(condition), `"`+text+`"`) }
			if asked(name) && (asked(fact) || !asked("clientcert")) {
				rows = append(rows, map[string]any{"certname": name, "environment": "lab", "name": fact, "value": v})
			}
		}
	}
	slices.SortFunc(rows, func(a, b map[string]any) int {
		return strings.Compare(fmt.Sprint(a["certname"], a["name"]), fmt.Sprint(b["certname"], b["name"]))
	})
	json.NewEncoder(w).Encode(rows)
}

// Facts from PuppetDB answer lookups. A later fetch changes the files whose facts have changed, and reports or removes
// those of nodes that are gone.
func TestFactsFromPuppetDBAnswerLookups(t *testing.T) {
	t.Parallel()
	nodes := &inventory{facts: map[string]map[string]any{}}
	for _, name := range []string{"web1", "web2", "db1"} {
		nodes.facts[name] = map[string]any{"clientcert": name, "role": name[:2], "uptime": "secret-of-" + name,
			"trusted": map[string]any{"certname": name}}
	}
	server := httptest.NewServer(nodes)
	defer server.Close()
	dir := t.TempDir()
	run := func(status int, args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		var errOut strings.Builder
		cmd.Dir, cmd.Stderr = dir, &errOut
		out, _ := cmd.Output()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Fatalf("%v: status %d, expected %d: %s", args, got, status, errOut.String())
		}
		return string(out), errOut.String()
	}
	expect := func(found, want string) {
		t.Helper()
		if found != want {
			t.Errorf("found    %q\nexpected %q", found, want)
		}
	}
	site := filepath.Join(dir, "site", "bindings")
	if err := os.MkdirAll(site, 0o777); err != nil {
		t.Fatal(err)
	}
	text := "bindings_version: 1\nname: default\nbind:\n- [greeting, 'I am ${role} in ${environment}']\n"
	if err := os.WriteFile(filepath.Join(site, "default.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	run(0, "bindc", "build", "site", "-o", "site.bsnap")
	fetch := []string{"bindc", "facts", "--puppetdb", server.URL, "-o", "facts", "-s", "site.bsnap", "--page", "2"}

	out, _ := run(0, fetch...)
	expect(out, "facts: 3 nodes, 3 changed, 0 removed\n")
	out, _ = run(0, "bindq", "lookup", "greeting", "-s", "site.bsnap", "--facts-dir", "facts", "--node", "web2")
	expect(out, "I am we in lab\n")
	if file := readFile(t, filepath.Join(dir, "facts", "web1.json")); strings.Contains(file, "secret") {
		t.Errorf("expected only facts that the snapshot uses, found %s", file)
	}

	nodes.mu.Lock()
	nodes.facts["web1"]["role"] = "proxy"
	delete(nodes.facts, "db1")
	nodes.mu.Unlock()
	out, notes := run(0, fetch...)
	expect(out, "facts: 2 nodes, 1 changed, 0 removed\n")
	expect(notes, "note: facts has 1 file of nodes that were not fetched: 'db1'; --prune removes them\n")
	out, _ = run(0, append(fetch, "--prune")...)
	expect(out, "facts: 2 nodes, 0 changed, 1 removed\n")

	nodes.mu.Lock()
	nodes.facts["../web3"] = nodes.facts["web1"]
	nodes.mu.Unlock()
	_, notes = run(2, fetch...)
	expect(notes, "bindc: the certname '../web3' cannot be a file name; exclude the node with --query [usage]\n")

	_, notes = run(2, "bindc", "facts", "--puppetdb", "https://me:secret@db.example.com", "-o", "facts")
	expect(notes, "bindc: --puppetdb: PuppetDB does not accept passwords; remove the user from the URL, and give --cert and "+
		"--key, or --token-file [usage]\n")
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
