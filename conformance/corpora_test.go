package conformance

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"bindc/internal/testmode"
	"bindc/loader"
	bindings "bindc/runtime"
)

// corpora is the directory of real sites. They are not part of this repository.
const corpora = "../../shared/corpora"

// TestCorpora compiles real sites and compares every lookup with the answer of real Puppet or Hiera.
func TestCorpora(t *testing.T) {
	eachCorpus(t, corpora, checkCorpus)
}

// eachCorpus checks the sites below a directory, each with its own answers.
func eachCorpus(t *testing.T, below string, check func(t *testing.T, dir string)) {
	dirs, err := filepath.Glob(filepath.Join(below, "*", "expect.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Skipf("%s is not here: real sites are data of others and kept apart", below)
	}
	if testmode.Race {
		dirs = dirs[len(dirs)-1:] // each site is read and answered by the same goroutines
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			check(t, dir)
		})
	}
}

// maxShown is the largest number of differing answers that are printed for a corpus.
const maxShown = 10

func checkCorpus(t *testing.T, dir string) {
	snap, refused := build(t, filepath.Join(dir, "site"), loader.Options{})
	if refused != "" {
		t.Fatalf("refused:\n%s", refused)
	}
	var facts map[string]json.RawMessage
	readJSON(t, filepath.Join(dir, "facts.json"), &facts)
	requests := map[string]*bindings.Request{}
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
			Node, Key string
			Found     bool
			Value     json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if requests[e.Node] == nil {
			requests[e.Node] = request(t, snap, facts[e.Node])
		}
		v, found, err := requests[e.Node].Lookup(e.Key)
		nothing := !e.Found || string(e.Value) == "null"
		asked++
		if err == nil && (nothing && v.IsUndef() || !nothing && found && same(t, v, e.Value)) {
			continue
		}
		if differing++; differing <= maxShown {
			t.Errorf("%s %s: found %v, %s, %v; expected %v, %s", e.Node, e.Key, found, show(t, v), err, e.Found,
				e.Value)
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
