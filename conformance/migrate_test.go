package conformance

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/conformance/hiera5"
	"bindc/internal/testmode"
)

var migrated = flag.Int("migrate", testmode.Number(8, 60), "how many random sites of Hiera 5 are migrated")

// TestMigratedSitesGiveSameAnswers migrates random sites of Hiera 5. The new site must build and give the same
// answers as the old one, with and without merges by the caller; with --merges asked, only without. An error of the
// old site may become an answer.
//
//	go test ./conformance -run Migrated -migrate 10000 -timeout 1h
func TestMigratedSitesGiveSameAnswers(t *testing.T) {
	t.Parallel()
	asked, sites, moved := 0, 0, 0
	for seed := range uint64(*migrated) {
		site := hiera5.New(seed)
		_, global := site.Files["global/hiera.yaml"]
		if _, own := site.Files["site/hiera.yaml"]; global || !own {
			continue
		}
		for i := range site.Nodes {
			site.Nodes[i].Facts = slices.DeleteFunc(site.Nodes[i].Facts, interpolates)
		}
		n, some := compareMigrated(t, seed, site)
		asked, sites = asked+n, sites+1
		if some {
			moved++
		}
		if t.Failed() {
			return
		}
	}
	if t.Logf("%d answers; of %d sites something moved in %d", asked, sites, moved); moved*4 < sites {
		t.Error("hardly anything moves")
	}
}

// interpolates reports whether a fact contains an interpolation that Hiera 5 would expand.
func interpolates(e hiera5.Pair) bool {
	text, ok := e.Value.(string)
	return ok && strings.Contains(text, "%{")
}

// compareMigrated returns the number of compared answers, and whether a key has moved.
func compareMigrated(t *testing.T, seed uint64, site *hiera5.Site) (asked int, moved bool) {
	t.Helper()
	dir := t.TempDir()
	if err := site.Write(dir); err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join(dir, "site"), filepath.Join(dir, "new")
	old, next := filepath.Join(dir, "old.bsnap"), filepath.Join(dir, "new.bsnap")
	if exec.Command("bindc", "build", from, "-o", old).Run() != nil {
		return 0, false
	}
	merges := []string{"all", "asked"}[seed%2]
	if out, err := exec.Command("bindc", "migrate", from, "-o", to, "--merges", merges).CombinedOutput(); err != nil {
		if strings.Contains(string(out), "and data that it finds [migrate]") {
			return 0, false
		}
		t.Fatalf("seed %d: migrate: %v\n%s\n%s", seed, err, out, site)
	}
	if out, err := exec.Command("bindc", "build", to, "-o", next, "--allow-empty").CombinedOutput(); err != nil {
		files, _ := exec.Command("bindc", "migrate", from).Output()
		t.Fatalf("seed %d: the new site does not build: %v\n%s\n%s\n%s", seed, err, out, site, files)
	}
	before, after := batch(t, old, queries(t, site)), batch(t, next, queries(t, site))
	for i, q := range site.Questions {
		if merges == "asked" && q.Merge != "" || before[i].Error != nil {
			continue
		}
		asked++
		if before[i].Found != after[i].Found || !equal(before[i].Value, after[i].Value) {
			files, _ := exec.Command("bindc", "migrate", from, "--merges", merges).CombinedOutput()
			t.Errorf("seed %d, node %d, key %s: %+v, was %+v\n%s\n%s", seed, q.Node, q.Key, after[i], before[i], site,
				files)
			return asked, false
		}
	}
	config, err := os.ReadFile(filepath.Join(to, "binder_config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return asked, strings.Contains(string(config), "name: site")
}

// answered is a line of output of `bindq batch`.
type answered struct {
	Found bool
	Value any
	Error any
}

func batch(t *testing.T, snap, queries string) []answered {
	t.Helper()
	cmd := exec.Command("bindq", "batch", "-s", snap)
	cmd.Stdin = strings.NewReader(queries)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []answered
	for line := range strings.Lines(string(out)) {
		var a answered
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	return answers
}

// equal compares values without regard to the order of keys.
func equal(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// TestMigratedCorporaGiveSameAnswers migrates real control repositories, and compares the answers of both sites for a
// sample of Puppet's questions, with every merge.
func TestMigratedCorporaGiveSameAnswers(t *testing.T) {
	t.Parallel()
	dirs, _ := filepath.Glob("../../shared/corpora/hiera5/*/site")
	if len(dirs) == 0 || !testmode.Thorough() {
		t.Skip("the corpora are not here, or BINDC_THOROUGH is not set")
	}
	for _, from := range dirs {
		asked, err := os.ReadFile(filepath.Join(filepath.Dir(from), "expect.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		nodes := map[string]map[string]any{}
		facts, err := os.ReadFile(filepath.Join(filepath.Dir(from), "facts.json"))
		if err == nil {
			err = json.Unmarshal(facts, &nodes)
		}
		if err != nil {
			t.Fatal(err)
		}
		var questions strings.Builder
		for i, line := range strings.Split(strings.TrimSpace(string(asked)), "\n") {
			var q struct{ Node, Key, Merge string }
			if err := json.Unmarshal([]byte(line), &q); err != nil {
				t.Fatal(err)
			}
			if i%7 == 0 {
				nodes[q.Node]["key"] = q.Key
				if delete(nodes[q.Node], "merge"); q.Merge != "" {
					nodes[q.Node]["merge"] = q.Merge
				}
				questions.WriteString(jsonOf(t, nodes[q.Node]) + "\n")
			}
		}
		dir := t.TempDir()
		old, to, next := filepath.Join(dir, "old.bsnap"), filepath.Join(dir, "new"), filepath.Join(dir, "new.bsnap")
		for _, args := range [][]string{{"build", from, "-o", old}, {"migrate", from, "-o", to},
			{"build", to, "-o", next}} {
			if out, err := exec.Command("bindc", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
		}
		before, after := batch(t, old, questions.String()), batch(t, next, questions.String())
		for i, b := range before {
			if b.Error == nil && (b.Found != after[i].Found || !equal(b.Value, after[i].Value)) {
				t.Errorf("%s: %+v, was %+v", from, after[i], b)
			}
		}
		if len(before) < 50 {
			t.Errorf("%s: only %d questions", from, len(before))
		}
	}
}
