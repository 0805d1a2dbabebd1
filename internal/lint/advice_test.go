package lint

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/facts"
	"bindc/internal/testmode"
	"bindc/loader"
	"bindc/runtime"
	"bindc/snapshot"
)

// If all bindings that lints call redundant are removed, no answer changes for any node.
func TestRemovingRedundantBindingsChangesNoAnswer(t *testing.T) {
	removed := 0
	seeds, least := uint64(300), 100
	if !testmode.Thorough() {
		seeds, least = 40, 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		lines := map[string][]string{} // lines of bindings, by the name of the set
		for _, name := range []string{"top", "low", "m::default"} {
			node, family := []string{"a", "[a, b]"}[r.IntN(2)], []string{"x", "[x, y]"}[r.IntN(2)]
			for _, when := range []string{"node: " + node, "osfamily: " + family, "node: [b, c], osfamily: x",
				"common: x"} {
				if r.IntN(2) == 0 {
					lines[name] = append(lines[name],
						fmt.Sprintf("  - {when: {%s}, bind: [['m::k', %d]]}", when, r.IntN(2)))
				}
			}
		}
		before, advised := answers(t, lines)
		for at := range advised {
			file, line, _ := strings.Cut(at, " ")
			n, _ := strconv.Atoi(line)
			lines[file][n-4] = ""
			removed++
		}
		if after, _ := answers(t, lines); after != before {
			t.Fatalf("seed %d: answers were %s, and are %s without %v", seed, before, after, advised)
		}
	}
	if removed < least {
		t.Errorf("advises to remove %d bindings in all", removed)
	}
}

// answers returns the answers for each node, and the places of the bindings that lints call redundant.
func answers(t *testing.T, lines map[string][]string) (string, map[string]bool) {
	t.Helper()
	dir := t.TempDir()
	s := site{"binder_config.yaml": "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, " +
		"{name: low, include: 'confdir:/low'}, {name: modules, include: 'module:/m::default'}]\n"}
	paths := map[string]string{"top": "bindings/top.yaml", "low": "bindings/low.yaml",
		"m::default": "modules/m/bindings/default.yaml"}
	for name, path := range paths {
		s[path] = "bindings_version: 1\nname: " + name + "\nbind:\n" + strings.Join(lines[name], "\n") + "\n" +
			"  - ['m::" + strings.ReplaceAll(name, "::", "_") + "', 0]\n"
	}
	s.write(t, dir)
	var diags, advice diag.List
	loaded := loader.Load(dir, loader.Options{}, &diags)
	content := compile.Compile(loaded, compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(lines, diags.Sorted())
	}
	Check(loaded, content, Options{Codes: []diag.Code{"never_wins", "same_value"}}, &advice)
	advised := map[string]bool{}
	for _, d := range advice.Sorted() {
		if !strings.HasPrefix(d.Hint, "remove it") {
			continue
		}
		for name, path := range paths {
			if strings.HasSuffix(filepath.ToSlash(d.Pos.File), path) {
				advised[name+" "+strconv.Itoa(d.Pos.Line)] = true
			}
		}
	}
	return lookups(t, filepath.Join(dir, "site.bsnap"), content), advised
}

// lookups returns the answers for a key, by node.
func lookups(t *testing.T, path string, content *snapshot.Content) string {
	t.Helper()
	snap := snapshotOf(t, path, content)
	var out strings.Builder
	for _, node := range []string{"a", "b", "c", "d"} {
		for _, family := range []string{"x", "y", "z"} {
			given := []byte(`{"fqdn": "` + node + `", "osfamily": "` + family + `"}`)
			facts, err := facts.ParseJSON(given, runtime.FactsOptions{})
			if err != nil {
				t.Fatal(err)
			}
			request, err := snap.Request(facts)
			if err != nil {
				t.Fatal(err)
			}
			v, found, err := request.Lookup("m::k")
			fmt.Fprint(&out, node, family, "=", v, found, err, " ")
		}
	}
	return out.String()
}

// snapshotOf writes content to a snapshot and opens it.
func snapshotOf(t *testing.T, path string, content *snapshot.Content) *runtime.Snapshot {
	t.Helper()
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	snap, err := runtime.Open(path, runtime.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	return snap
}

// write writes the files of s below dir.
func (s site) write(t *testing.T, dir string) {
	t.Helper()
	testmode.WriteFiles(t, dir, s)
}
