package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// small is a site in which every level wins for some key and node.
var small = Config{Nodes: 60, Keys: 400, Modules: 7, Overrides: 12, Seed: 3}

func site(t *testing.T, c Config) *Site {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// digest returns a digest of the paths and contents of all files.
func digest(s *Site) string {
	h := fnv.New64a()
	for i := range s.Files() {
		name, data, _ := s.File(i, nil)
		fmt.Fprintf(h, "%s\n%s\n", name, data)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// The fixed digest detects differences between machines and versions of Go. A change of the
// generator changes it, and makes earlier measurements incomparable.
func TestSitesAreReproducible(t *testing.T) {
	const want = "62418d2620d149b3"
	if got := digest(site(t, Sizes["S"])); got != want {
		t.Errorf("digest of size S is %s, want %s", got, want)
	}
}

func TestSeedChangesTheSite(t *testing.T) {
	other := small
	other.Seed++
	if digest(site(t, small)) == digest(site(t, other)) {
		t.Error("two seeds gave one site")
	}
}

func TestWriteWritesFiles(t *testing.T) {
	dir := t.TempDir()
	totals, err := Write(dir, small)
	if err != nil {
		t.Fatal(err)
	}
	s, want := site(t, small), Totals{}
	for i := range s.Files() {
		name, data, bindings := s.File(i, nil)
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%s on disk differs: %v", name, err)
		}
		want.add(Totals{1, int64(len(data)), int64(bindings)})
	}
	if totals != want || countFiles(t, dir) != want.Files {
		t.Errorf("totals %+v, %d files on disk, want %+v", totals, countFiles(t, dir), want)
	}
	if _, err := Write(dir, small); err == nil {
		t.Error("a second site was written over the first")
	}
}

func countFiles(t *testing.T, dir string) (n int) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestKindsFollowTheirQuotas(t *testing.T) {
	s := site(t, Sizes["S"])
	var keys [len(quota)]int
	for i := range s.Keys {
		keys[s.KindOf(i)]++
	}
	for kind, share := range quota {
		if keys[kind] != s.Keys*share/100 {
			t.Errorf("%d of %d keys are of kind %d, want %d %%", keys[kind], s.Keys, kind, share)
		}
	}
}

func TestLevelsBindTheirShare(t *testing.T) {
	s := site(t, Sizes["M"])
	for level, l := range levels[:SiteNode] {
		n := 0
		for i := range s.Keys {
			if s.binds(place{Level(level), 0}, i) {
				n++
			}
		}
		if got := 100 * float64(n) / float64(s.Keys); math.Abs(got-float64(l.percent)) > 1.5 {
			t.Errorf("%s binds %.1f %% of the keys, want %d", l.name, got, l.percent)
		}
	}
}

func TestNodesOverrideEvenly(t *testing.T) {
	s := site(t, Sizes["M"])
	times := make([]int, s.Keys)
	for n := range s.Nodes {
		keys := s.overrides(n)
		if len(keys) != s.Overrides || !slices.IsSorted(keys) || len(slices.Compact(keys)) != s.Overrides {
			t.Fatalf("node %d overrides %v", n, keys)
		}
		for _, key := range keys {
			times[key]++
		}
	}
	// 100000 draws over 5000 keys give 20 draws per key, with a standard deviation of 4.5.
	if low, high := slices.Min(times), slices.Max(times); low < 3 || high > 45 {
		t.Errorf("keys are overridden %d to %d times, far from 20", low, high)
	}
}

func TestNamesAreUniqueAndWellFormed(t *testing.T) {
	s := site(t, Config{Nodes: 30_000, Keys: 60_000, Modules: 300, Seed: 1})
	key := regexp.MustCompile(`^[a-z]+_[a-z]+2?::([a-z]+::)?[a-z]+_[a-z]+(_[0-9]+)?$`)
	if len(s.index) != s.Keys+1 {
		t.Errorf("%d different keys, want %d", len(s.index), s.Keys+1)
	}
	for _, name := range s.names[:s.Keys] {
		if !key.MatchString(name) {
			t.Fatalf("key %q", name)
		}
	}
	nodes, node := map[string]bool{}, regexp.MustCompile(`^[a-z]+\d{3,}\.[a-z]{3}\.example\.com$`)
	for i := range s.Nodes {
		nodes[s.NodeName(i)] = true
		if !node.MatchString(s.NodeName(i)) {
			t.Fatalf("node %q", s.NodeName(i))
		}
	}
	if len(nodes) != s.Nodes {
		t.Errorf("%d different nodes, want %d", len(nodes), s.Nodes)
	}
}

func TestModulesDoNotConflict(t *testing.T) {
	s := site(t, small)
	bound := map[string]string{}
	for i := range s.Files() {
		name, data, _ := s.File(i, nil)
		if !strings.HasPrefix(name, "modules/") || !strings.Contains(name, "/data/") {
			continue
		}
		module := strings.Split(name, "/")[1]
		for key := range parse(t, data) {
			if owner, ok := bound[key]; ok && owner != module {
				t.Errorf("%s is bound by %s and %s", key, owner, module)
			}
			if !strings.HasPrefix(key, module+"::") {
				t.Errorf("%s binds %s", module, key)
			}
			bound[key] = module
		}
	}
	if len(bound) != s.Keys {
		t.Errorf("the modules bind %d keys, want %d", len(bound), s.Keys)
	}
}

// Expected predicts values without the files. This test compares them with a search of the files like Hiera's.
func TestExpectedAgreesWithTheFiles(t *testing.T) {
	s := site(t, small)
	data := map[string]map[string]yaml.Node{}
	for i := range s.Files() {
		name, text, _ := s.File(i, nil)
		if strings.Contains(name, "data/") {
			data[name] = parse(t, text)
		}
	}
	won := map[Level]int{}
	for i := range s.Nodes + 3 {
		for _, key := range s.KeyNames() {
			got, err := s.Expected(i, key)
			if want := search(data, s.Facts(i), key); err != nil || got.JSON != want {
				t.Fatalf("node %d, %s: oracle %v %s, files %s", i, key, err, got.JSON, want)
			}
			won[got.Level]++
		}
	}
	for level := range levels {
		if won[Level(level)] == 0 {
			t.Errorf("%v never wins", Level(level))
		}
	}
}

func parse(t *testing.T, text []byte) map[string]yaml.Node {
	t.Helper()
	var data map[string]yaml.Node
	if err := yaml.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

func search(data map[string]map[string]yaml.Node, facts map[string]any, key string) string {
	module, _, _ := strings.Cut(key, "::")
	for _, name := range []string{
		"data/node/${fqdn}", "data/osfamily/${osfamily}", "data/environment/${environment}", "data/common",
		"modules/" + module + "/data/osfamily/${osfamily}", "modules/" + module + "/data/common",
	} {
		if value, ok := data[fill(name, facts)+".yaml"][key]; ok {
			return fill(asJSON(value), facts)
		}
	}
	return "nothing"
}

func fill(text string, facts map[string]any) string {
	for name, value := range facts {
		if s, ok := value.(string); ok {
			text = strings.ReplaceAll(text, "${"+name+"}", s)
		}
	}
	return text
}

func asJSON(n yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		var value any
		if err := n.Decode(&value); err != nil {
			return err.Error()
		}
		text, _ := json.Marshal(value)
		return string(text)
	}
	var items []string
	for _, item := range n.Content {
		items = append(items, asJSON(*item))
	}
	if n.Kind == yaml.SequenceNode {
		return "[" + strings.Join(items, ",") + "]"
	}
	var pairs []string
	for pair := range slices.Chunk(items, 2) {
		pairs = append(pairs, pair[0]+":"+pair[1])
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

func TestHotKeyDistinguishesNodes(t *testing.T) {
	s := site(t, small)
	for _, i := range []int{0, 1, small.Nodes - 1} {
		want := Answer{SiteNode, fmt.Sprint(i + 1)}
		if got, err := s.Expected(i, HotKey); err != nil || got != want {
			t.Errorf("node %d: %+v, %v, want %+v", i, got, err, want)
		}
	}
	if got, err := s.Expected(small.Nodes, HotKey); err != nil || got.Level != SiteCommon {
		t.Errorf("a node without a file: %+v, %v", got, err)
	}
}

func TestFactsFitTheFiles(t *testing.T) {
	s := site(t, small)
	for i := range 5 {
		facts := s.Facts(i)
		name, _, _ := s.File(s.Files()-s.Nodes+i, nil)
		if want := path.Join("data/node", facts["fqdn"].(string)+".yaml"); name != want {
			t.Errorf("file of node %d is %s, its facts say %s", i, name, want)
		}
		if family := facts["os"].(map[string]any)["family"]; family != facts["osfamily"] {
			t.Errorf("node %d: os.family %v, osfamily %v", i, family, facts["osfamily"])
		}
	}
}

func TestInterpolatedAnswersHaveNoVariables(t *testing.T) {
	s := site(t, small)
	for i, key := range s.KeyNames() {
		got, err := s.Expected(5, key)
		if err != nil || strings.Contains(got.JSON, "${") {
			t.Errorf("%s: %v %s", key, err, got.JSON)
		}
		if s.KindOf(i) == Interpolated && got.JSON == `""` {
			t.Errorf("%s is empty", key)
		}
	}
}

func TestCheckRejectsBadConfigs(t *testing.T) {
	for _, c := range []Config{
		{},
		{Keys: 3, Modules: 4},
		{Keys: 3, Modules: 1, Overrides: 4},
		{Keys: 3, Modules: 1, Nodes: -1},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
	if _, err := Expected(small, 0, "no::such_key"); err == nil {
		t.Error("an unknown key was answered")
	}
}
