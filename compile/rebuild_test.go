package compile_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/testmode"
	"bindc/loader"
	"bindc/snapshot"
)

// A build with a cache gives the same bytes and diagnostics as a build without one. In between, the test changes the
// site at random and damages the cache.
func TestRebuildEqualsColdBuild(t *testing.T) {
	t.Parallel()
	sites := make([]*changingSite, testmode.Number(3, 200))
	for i := range sites {
		sites[i] = &changingSite{T: t, dice: rand.New(rand.NewPCG(uint64(i), 1)), dir: t.TempDir(), cache: t.TempDir()}
		sites[i].begin(i%3 == 2)
	}
	built, reused := 0, 0
	steps := testmode.Number(7, 60)
	for step := range steps {
		if step%4 == 3 && !testing.Short() {
			time.Sleep(2100 * time.Millisecond) // later builds recognize unchanged files by their times
		}
		for _, s := range sites {
			if s.compare() {
				built++
			} else {
				s.repair()
			}
			for range s.dice.IntN(4) {
				s.edit()
			}
		}
	}
	for _, s := range sites {
		reused += s.reused
	}
	if all := len(sites) * steps; built < all/2 || reused < all/2 {
		t.Errorf("of %d builds, %d succeeded and %d had a cache: expected at least half", all, built, reused)
	}
}

// changingSite is a random site. The test edits and builds it many times.
type changingSite struct {
	*testing.T
	dice       *rand.Rand
	dir, cache string
	files      map[string]bool
	done       []string // all edits so far, for messages
	reused     int      // number of builds that used an existing cache
}

// begin writes a site in the format of Hiera 2 or of Hiera 5.
func (s *changingSite) begin(hiera5 bool) {
	s.files = map[string]bool{}
	if hiera5 {
		s.write("hiera.yaml", "version: 5\nhierarchy:\n  - {name: nodes, path: 'node/%{trusted.certname}.yaml'}\n"+
			"  - {name: common, paths: [os/debian.yaml, common.yaml, common.json]}\n")
	} else {
		s.write("hiera.yaml", "version: 2\nbackends: [yaml, json]\nhierarchy:\n  - [node, '${fqdn}', 'data/node/${fqdn}']\n"+
			"  - [osfamily, '${osfamily}', 'data/os/${osfamily}']\n  - [common, 'true', data/common]\n")
		s.write("bindings/default.yaml", "bindings_version: 1\nname: default\nbind:\n  - [bound, '${k1}']\n")
	}
	for range 8 {
		s.addFile()
	}
}

func (s *changingSite) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		s.Fatal(err)
	}
	s.files[name] = true
}

func (s *changingSite) read(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// compare builds the site without a cache and with the cache. It returns false if both report errors.
func (s *changingSite) compare() bool {
	s.Helper()
	packs, _ := filepath.Glob(filepath.Join(s.cache, "*.pack"))
	s.reused += len(packs)
	cache, err := datafile.OpenCache(s.cache, s.dir, datafile.Program{1})
	if err != nil {
		s.Fatal(err)
	}
	cold, coldDiags := s.build(nil)
	again, diags := s.build(cache)
	if err := cache.Save(); err != nil {
		s.Fatal(err)
	}
	if !slices.Equal(diags, coldDiags) {
		s.Fatalf("after %q the cold build reports\n%s\nand the other one\n%s", s.done, coldDiags, diags)
	}
	if !bytes.Equal(again, cold) {
		s.Fatalf("after %q the cold build has %d bytes, the other one has %d different bytes", s.done, len(cold), len(again))
	}
	return cold != nil
}

// build returns the bytes of the snapshot, or nothing after an error, and the diagnostics.
func (s *changingSite) build(cache *datafile.Cache) (file []byte, reported []string) {
	s.Helper()
	var diags diag.List
	content := compile.Compile(loader.Load(s.dir, loader.Options{Cache: cache}, &diags), compile.Options{}, &diags)
	for _, d := range diags.Sorted() {
		reported = append(reported, fmt.Sprintf("%v %s %s", d.Pos, d.Code, d.Message))
	}
	if diags.Failed() {
		return nil, reported
	}
	var out bytes.Buffer
	if _, err := snapshot.WriteTo(&out, content); err != nil {
		s.Fatal(err)
	}
	return out.Bytes(), reported
}

// edit makes one random change.
func (s *changingSite) edit() {
	edits := []struct {
		name string
		do   func()
	}{
		{"add a file", s.addFile}, {"remove a file", s.removeFile}, {"copy a file", s.copyFile},
		{"add a line", s.addLine}, {"add a line", s.addLine}, {"remove a line", s.removeLine},
		{"break a file", s.breakFile}, {"swap two files", s.swapFiles}, {"turn the hierarchy around", s.turnHierarchy},
		{"damage the cache", s.damageCache},
	}
	e := edits[s.dice.IntN(len(edits))]
	s.done = append(s.done, e.name)
	e.do()
}

// any returns the path of a random data file.
func (s *changingSite) any() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if strings.HasPrefix(name, "data/") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		s.addFile()
		return s.any()
	}
	return names[s.dice.IntN(len(names))]
}

func (s *changingSite) addFile() {
	names := []string{"common.yaml", "common.json", "os/debian.yaml", "os/redhat.yaml"}
	for i := range 6 {
		names = append(names, fmt.Sprintf("node/n%d.yaml", i))
	}
	name := "data/" + names[s.dice.IntN(len(names))]
	if strings.HasSuffix(name, ".json") {
		s.write(name, fmt.Sprintf(`{"k1": %d, "json": ["a", {"b": null}]}`, s.dice.IntN(5)))
		return
	}
	text := "---\n"
	for range 1 + s.dice.IntN(12) {
		text += s.line()
	}
	s.write(name, text)
}

// line returns a line that binds a random key to a random value.
func (s *changingSite) line() string {
	values := []string{"1", "true", "text", "[a, 2, '${osfamily}']", "{a: {b: '${fqdn}'}, c: [1]}", "'%{facts.os}'",
		"'${lookup(\"k1\")}'", "\n  - deep\n  - {er: ~}", strings.Repeat("long ", 1+s.dice.IntN(3000)), "''",
		fmt.Sprint(s.dice.IntN(1000)), "{1: 2}"}
	return fmt.Sprintf("k%d: %s\n", s.dice.IntN(200), values[s.dice.IntN(len(values))])
}

func (s *changingSite) removeFile() {
	name := s.any()
	delete(s.files, name)
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
		s.Fatal(err)
	}
}

func (s *changingSite) copyFile() {
	if from, to := s.any(), s.any(); filepath.Ext(from) == filepath.Ext(to) {
		s.write(to, s.read(from))
	}
}

// swapFiles swaps the names of two files. Their inodes move with them.
func (s *changingSite) swapFiles() {
	a, b := filepath.Join(s.dir, s.any()), filepath.Join(s.dir, s.any())
	if filepath.Ext(a) != filepath.Ext(b) || a == b {
		return
	}
	for _, move := range [][2]string{{a, a + ".old"}, {b, a}, {a + ".old", b}} {
		if err := os.Rename(move[0], move[1]); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *changingSite) addLine() {
	if name := s.any(); strings.HasSuffix(name, ".yaml") {
		s.write(name, s.read(name)+s.line())
	}
}

func (s *changingSite) removeLine() {
	name := s.any()
	if lines := strings.SplitAfter(s.read(name), "\n"); strings.HasSuffix(name, ".yaml") && len(lines) > 2 {
		at := 1 + s.dice.IntN(len(lines)-1)
		s.write(name, strings.Join(slices.Delete(lines, at, at+1), ""))
	}
}

// The first of these causes a warning, the second one an error.
const twice, unclosed = "twice: 1\ntwice: 2\n", "open: [\n"

// breakFile adds a line that causes a warning or an error.
func (s *changingSite) breakFile() {
	if name := s.any(); strings.HasSuffix(name, ".yaml") {
		s.write(name, s.read(name)+[]string{twice, unclosed}[s.dice.IntN(2)])
	}
}

// repair removes the errors that breakFile added.
func (s *changingSite) repair() {
	for name := range s.files {
		if text := s.read(name); strings.Contains(text, unclosed) {
			s.write(name, strings.ReplaceAll(text, unclosed, ""))
		}
	}
	s.done = append(s.done, "repair")
}

// turnHierarchy moves the last level of the hierarchy up or down. It changes no data file.
func (s *changingSite) turnHierarchy() {
	text := s.read("hiera.yaml")
	turned := strings.Replace(text, "[os/debian.yaml, common.yaml, common.json]", "[common.json, os/debian.yaml]", 1)
	if turned == text {
		turned = strings.Replace(text, "[yaml, json]", "[json, yaml]", 1)
	}
	if turned == text {
		turned = strings.Replace(strings.Replace(text, "[json, yaml]", "[yaml, json]", 1),
			"[common.json, os/debian.yaml]", "[os/debian.yaml, common.yaml, common.json]", 1)
	}
	s.write("hiera.yaml", turned)
}

// damageCache truncates a file of the cache or changes one byte of it.
func (s *changingSite) damageCache() {
	files, _ := filepath.Glob(filepath.Join(s.cache, "*"))
	if len(files) == 0 {
		return
	}
	path := files[s.dice.IntN(len(files))]
	text, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	if len(text) == 0 {
		return // already truncated
	}
	if at := s.dice.IntN(len(text)); s.dice.IntN(2) == 0 {
		text = text[:at]
	} else {
		text[at] ^= 1 << s.dice.IntN(8)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		s.Fatal(err)
	}
}
