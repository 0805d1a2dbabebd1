package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"bindc/conformance/hiera5"
	"bindc/internal/lookup"
	"bindc/internal/secret/eyaml"
	"bindc/loader"
	bindings "bindc/runtime"
)

// TestHiera5Corpora compiles real control repositories, and compares every lookup with the answer of real Puppet:
// whether there is a value, the value with the order of its keys, and whether there is an error.
func TestHiera5Corpora(t *testing.T) {
	eachCorpus(t, filepath.Join(corpora, "hiera5"), checkHiera5Corpus)
}

func checkHiera5Corpus(t *testing.T, dir string) {
	var opts bindings.Options
	if key := filepath.Join(dir, "keys", "private_key.pkcs7.pem"); isThere(t, key) {
		keys, err := eyaml.Read([]string{key})
		if err != nil {
			t.Fatal(err)
		}
		opts.Decrypt = keys.Decrypt
	}
	snap, refused := buildAndOpen(t, filepath.Join(dir, "site"), loader.Options{}, opts)
	if refused != "" {
		t.Fatalf("refused:\n%s", refused)
	}
	requests := hiera5Requests(t, snap, filepath.Join(dir, "facts.json"))
	expect, err := os.Open(filepath.Join(dir, "expect.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer expect.Close()
	lines := bufio.NewScanner(expect)
	lines.Buffer(nil, 1<<24)
	asked, differing := 0, 0
	for lines.Scan() {
		var e struct {
			Node, Key, Merge string
			hiera5.Answer
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		var merge bindings.Value
		if e.Merge != "" {
			merge, _ = bindings.ValueOf(e.Merge)
		}
		of, found, err := (*lookup.Request)(requests[e.Node]).LookupMerged(e.Key, lookup.Value(merge))
		v := bindings.Value(of)
		asked++
		if difference := difference(t, e.Answer, answerLine(t, v, found, err)); difference != "" {
			if differing++; differing <= maxShown {
				t.Errorf("%s %s %s: %s: found %v, %s, %v", e.Node, e.Key, e.Merge, difference, found, show(t, v), err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d lookups as expected", asked-differing, asked)
	if asked == 0 {
		t.Error("no lookups")
	}
}

func isThere(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// hiera5Requests returns requests for the nodes in a file.
func hiera5Requests(t *testing.T, snap *bindings.Snapshot, file string) map[string]*bindings.Request {
	t.Helper()
	var nodes map[string]struct {
		Facts, Trusted, Vars json.RawMessage
		Environment          string
	}
	readJSON(t, file, &nodes)
	out := map[string]*bindings.Request{}
	for name, n := range nodes {
		opts := bindings.FactsOptions{Environment: n.Environment, Trusted: parseJSON(t, n.Trusted)}
		if n.Vars != nil {
			opts.Variables = parseJSON(t, n.Vars)
		}
		facts, err := bindings.NewFacts(parseJSON(t, n.Facts), opts)
		if err != nil {
			t.Fatal(err)
		}
		if out[name], err = snap.Request(facts); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// answerLine formats an outcome as `bindq batch` does.
func answerLine(t *testing.T, v bindings.Value, found bool, failed error) string {
	t.Helper()
	if failed != nil {
		return `{"error":{}}`
	}
	text, err := v.Reveal().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return jsonOf(t, struct {
		Found     bool            `json:"found"`
		Value     json.RawMessage `json:"value"`
		Sensitive bool            `json:"sensitive"`
	}{found, text, v.Sensitive()})
}
