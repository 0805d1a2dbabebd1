package conformance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bindc/conformance/hiera5"
	"bindc/internal/testmode"
)

var (
	hiera5Sites = flag.Int("hiera5", 1000, "how many random sites of Hiera 5 are made")
	hiera5From  = flag.Uint64("hiera5-from", 0, "with -puppet: the seed of the first random site of Hiera 5")
	askPuppet   = flag.Bool("puppet", false, "ask real Puppet about random sites of Hiera 5")
)

// hiera5Answers holds the answers of a run: a line for each site, from seed 0 on.
const hiera5Answers = "../testdata/conformance/hiera5.jsonl.gz"

// siteAnswers holds the answers to the questions about the site of a seed.
type siteAnswers struct {
	Seed    uint64          `json:"seed"`
	Site    string          `json:"site"` // fingerprint of the site
	Answers []hiera5.Answer `json:"answers"`
}

// TestHiera5 builds random sites of Hiera 5 with `bindc build` and compares the answers of `bindq batch` with those
// of real Puppet: whether there is a value, the value with the order of its keys, and whether there is an error.
// Mistakes in a site affect only some lookups, so every site must build.
//
// Puppet's answers are stored. These commands compare all of them, or ask Puppet itself, in which case each differing
// site is made as small as possible:
//
//	go test ./conformance -run 'Hiera5$' -hiera5 10000 -timeout 1h
//	go test ./conformance -run 'Hiera5$' -hiera5 20000 -timeout 2h -puppet    # apt-get install puppet-agent
//	go test ./conformance -run 'Hiera5$' -hiera5 5000 -hiera5-from 500000 -timeout 2h -puppet
func TestHiera5(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() {
		knownCounts.Range(func(reason, n any) bool {
			t.Logf("%d answers: %s", n.(*atomic.Int64).Load(), reason)
			return true
		})
	})
	if *askPuppet {
		withPuppet(t, compareSite)
		return
	}
	stored := readAnswers(t)
	if !testmode.Thorough() {
		stored = stored[:len(stored)/25]
	}
	for chunk := range slices.Chunk(stored, 50) {
		t.Run(fmt.Sprint(chunk[0].Seed), func(t *testing.T) {
			t.Parallel()
			for _, s := range chunk {
				compareSite(t, nil, s)
			}
		})
	}
}

// TestStoredHiera5AnswersMatchSitesAndPuppet checks that the stored answers belong to the current sites, and that the
// questions cover everything. If Puppet is installed, it must give the stored answers, also in a compiler that
// compiles a whole catalog.
//
//	go test ./conformance -run Hiera5Answers -puppet -hiera5 1000                         # compares
//	go test ./conformance -run Hiera5Answers -puppet -hiera5 10000 -timeout 2h -update    # writes the answers
func TestStoredHiera5AnswersMatchSitesAndPuppet(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	if *askPuppet && *update {
		writeAnswers(t)
	}
	stored := readAnswers(t)
	counts := map[string]int{}
	compared := testmode.Sample(t, stored, 8)
	for _, s := range compared {
		site := hiera5.New(s.Seed)
		if site.Print() != s.Site || len(site.Questions) != len(s.Answers) {
			t.Fatalf("the stored answers of seed %d are of another site than is made today: ask Puppet, -update", s.Seed)
		}
		count(counts, site, s.Answers)
	}
	for what, least := range occur {
		if least = least * len(compared) / 1000; len(compared) >= 1000 && counts[what] < least {
			t.Errorf("%s occurs %d times in %d sites, should be %d", what, counts[what], len(compared), least)
		}
	}
	t.Log(counts)
	if !*askPuppet || *update {
		return
	}
	withPuppet(t, func(t *testing.T, _ *hiera5.Puppet, s siteAnswers) {
		if s.Seed < uint64(len(stored)) && jsonOf(t, s) != jsonOf(t, stored[s.Seed]) {
			t.Errorf("Puppet answers other than it did:\n%s\n%s", jsonOf(t, s), jsonOf(t, stored[s.Seed]))
		}
	}, "--compile")
}

func writeAnswers(t *testing.T) {
	t.Helper()
	var lines bytes.Buffer
	out, err := gzip.NewWriterLevel(&lines, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(out)
	withPuppet(t, func(t *testing.T, _ *hiera5.Puppet, s siteAnswers) {
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
	})
	if err := errors.Join(out.Close(), os.WriteFile(hiera5Answers, lines.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// occur counts the features that a thousand sites must have.
var occur = map[string]int{
	"found": 8000, "not found": 4000, "sensitive": 50,
	"error dig": 300, "error merge": 300, "error key": 100, "error options": 100, "error method": 100,
	"error recursive": 50, "error convert": 30, "error alias": 20, "error config": 50, "error pattern": 20,
	"error file":   20,
	"global layer": 200, "path": 500, "paths": 500, "glob": 100, "globs": 100, "mapped_paths": 200,
	"default_hierarchy": 100, "datadir": 200, "defaults": 500, "json_data": 300, "lookup_options": 500, "merge": 500,
	"convert_to": 100, "knockout_prefix": 50, "sort_merged_arrays": 50, "merge_hash_arrays": 50, "pattern": 200,
	"%{lookup(": 300, "%{hiera(": 100, "%{alias(": 200, "%{literal(": 200, "%{scope(": 200, "%{facts.": 500,
	"%{trusted.": 200, "%{::": 200, "%{}": 50, "%{unclosed": 5,
}

func count(counts map[string]int, site *hiera5.Site, answers []hiera5.Answer) {
	for _, a := range answers {
		switch {
		case a.Error != "":
			counts["error "+a.Error]++
		case a.Found:
			counts["found"]++
		default:
			counts["not found"]++
		}
		if a.Sensitive {
			counts["sensitive"]++
		}
	}
	if _, ok := site.Files["global/hiera.yaml"]; ok {
		counts["global layer"]++
	}
	text := site.String()
	for what := range occur {
		switch {
		case strings.HasPrefix(what, "%{"), what == "json_data":
			counts[what] += strings.Count(text, what)
		case what == "pattern":
			counts[what] += strings.Count(text, "'^") + strings.Count(text, `"^`)
		default:
			counts[what] += strings.Count(text, " "+what+":") + strings.Count(text, "\n"+what+":") +
				strings.Count(text, `"`+what+`":`)
		}
	}
}

// readAnswers reads the answers for the number of sites that the flag gives.
func readAnswers(t *testing.T) (out []siteAnswers) {
	t.Helper()
	packed, err := os.ReadFile(hiera5Answers)
	if err != nil {
		t.Fatal(err)
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(text)
	for len(out) < *hiera5Sites {
		var s siteAnswers
		if err := lines.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// withPuppet asks real Puppet about as many sites as the flag says, a hundred per process, one process at a time.
func withPuppet(t *testing.T, use func(*testing.T, *hiera5.Puppet, siteAnswers), args ...string) {
	const together = 100
	end := *hiera5From + uint64(*hiera5Sites)
	for first := *hiera5From; first < end; first += together {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			puppet, err := hiera5.StartPuppet(args...)
			if err != nil {
				t.Fatal(err)
			}
			for seed := first; seed < min(first+together, end); seed++ {
				site := hiera5.New(seed)
				use(t, puppet, siteAnswers{seed, site.Print(), puppetAnswers(t, puppet, site)})
			}
			if err := puppet.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// puppetAnswers returns Puppet's answers to the questions about a site.
func puppetAnswers(t *testing.T, puppet *hiera5.Puppet, site *hiera5.Site) []hiera5.Answer {
	dir := t.TempDir()
	if err := site.Write(dir); err != nil {
		t.Fatal(err)
	}
	answers, err := puppet.Ask(dir, site)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return answers
}

// compareSite compares the answers of a site. If Puppet can be asked, differing sites are made small before they are
// shown.
func compareSite(t *testing.T, puppet *hiera5.Puppet, s siteAnswers) {
	t.Helper()
	site := hiera5.New(s.Seed)
	got := programAnswers(t, site)
	for i, want := range s.Answers {
		how := difference(t, want, got[i])
		if how == "" || isKnown(site, s.Answers, i, got[i]) {
			continue
		}
		small, question := site, site.Questions[i]
		if puppet != nil {
			alone := *site
			alone.Questions = []hiera5.Question{question}
			if difference(t, puppetAnswers(t, puppet, &alone)[0], got[i]) == "" {
				countKnown("Puppet itself answers otherwise if it was asked nothing before: a deep merge with a knockout_prefix " +
					"changes the data that it keeps in memory")
				continue
			}
			small = alone.Shrink(func(smaller *hiera5.Site) bool {
				return difference(t, puppetAnswers(t, puppet, smaller)[0], programAnswers(t, smaller)[0]) == how
			})
			want, got[i] = puppetAnswers(t, puppet, small)[0], programAnswers(t, small)[0]
		}
		t.Errorf("seed %d, node %d, key %s, merge '%s': %s\nPuppet: %s\nbindq: %s\n%s", s.Seed, question.Node,
			question.Key, question.Merge, how, jsonOf(t, want), got[i], small)
		return
	}
}

// isKnown reports whether the answer to question i differs from Puppet's in an intended way.
func isKnown(site *hiera5.Site, answers []hiera5.Answer, i int, got string) bool {
	for _, d := range knownDifferences {
		if d.is(site, answers, i, got) {
			countKnown(d.reason)
			return true
		}
	}
	return false
}

// knownCounts counts the answers that differ, by reason.
var knownCounts sync.Map

func countKnown(reason string) {
	n, _ := knownCounts.LoadOrStore(reason, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// knownDifferences lists the intended differences from Puppet.
var knownDifferences = []struct {
	reason string
	is     func(site *hiera5.Site, answers []hiera5.Answer, i int, got string) bool
}{
	{"Puppet rejects options of yaml_data and invalid JSON at every lookup that reaches them; bindc rejects them " +
		"in a build",
		func(_ *hiera5.Site, _ []hiera5.Answer, _ int, got string) bool {
			return strings.HasPrefix(got, "refused: ") && (strings.Contains(got, "_data' takes no options") ||
				strings.Contains(got, "[json_syntax]"))
		}},
	{"an invalid regular expression in a knockout_prefix is an error of every merge; in Puppet, only of merges " +
		"that use it",
		func(_ *hiera5.Site, _ []hiera5.Answer, _ int, got string) bool {
			return strings.Contains(got, "is not a valid regular expression")
		}},
	{"for an entry with several globs and interpolations, a build does not know whether they match a single file, " +
		"which the strategy unique treats in another way",
		func(site *hiera5.Site, answers []hiera5.Answer, i int, got string) bool {
			text := site.String()
			several := strings.Contains(text, "globs:") || strings.Contains(text, "glob/{")
			merged := strings.Contains(text+site.Questions[i].Merge, "unique") && (strings.Contains(got, `"value":[`) ||
				strings.Contains(site.Questions[i].Key, "."))
			return several && merged && (answers[i].Error == "merge" || sameElements(string(answers[i].Value), got))
		}},
	{"for convert_to, integers beyond 64 bits are an error",
		func(_ *hiera5.Site, answers []hiera5.Answer, i int, got string) bool {
			return strings.Contains(got, "does not fit in 64 bits") &&
				strings.Contains(string(answers[i].Value), "100000000000000000000")
		}},
	{"Puppet runs out of memory or time",
		func(_ *hiera5.Site, answers []hiera5.Answer, i int, _ string) bool {
			return answers[i].Error == "exhausted"
		}},
	{"a list or hash as a hash key, which alias() can result in, has another text in JSON",
		func(_ *hiera5.Site, answers []hiera5.Answer, i int, got string) bool {
			want := strings.ReplaceAll(string(answers[i].Value), `\u003e`, ">")
			return strings.Contains(want, "=>") && strings.Contains(got, " => ")
		}},
	{"without a hierarchy, a dot in a key does not dig",
		func(site *hiera5.Site, answers []hiera5.Answer, i int, _ string) bool {
			return answers[i].Error == "key" && !strings.Contains(site.String(), "hiera.yaml --")
		}},
	{"%{literal('a')} within the key a is not a loop",
		func(site *hiera5.Site, answers []hiera5.Answer, i int, _ string) bool {
			return answers[i].Error == "recursive" && strings.Contains(site.String(), "literal(")
		}},
	{"bindc ignores a path that is a directory; Puppet rejects all lookups that reach it",
		func(_ *hiera5.Site, answers []hiera5.Answer, i int, _ string) bool { return answers[i].Error == "file" }},
}

// sameElements reports whether two arrays have the same elements, ignoring order and repetitions.
func sameElements(array, line string) bool {
	var got struct{ Value []any }
	var want []any
	if json.Unmarshal([]byte(line), &got) != nil || json.Unmarshal([]byte(array), &want) != nil {
		return false
	}
	notIn := func(list []any) func(any) bool {
		return func(v any) bool {
			return !slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, v) })
		}
	}
	return !slices.ContainsFunc(want, notIn(got.Value)) && !slices.ContainsFunc(got.Value, notIn(want))
}

// programAnswers returns the answers of the programs, one line per question. If a site is rejected, every line has
// the messages of bindc.
func programAnswers(t *testing.T, site *hiera5.Site) []string {
	t.Helper()
	dir := t.TempDir()
	if err := site.Write(dir); err != nil {
		t.Fatal(err)
	}
	snap, global := filepath.Join(dir, "site.bsnap"), filepath.Join(dir, "global", "hiera.yaml")
	args := []string{"build", filepath.Join(dir, "site"), "-o", snap}
	if _, err := os.Stat(global); err == nil {
		args = append(args, "--global-hiera", global)
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if out, err := exec.Command("bindc", args...).CombinedOutput(); err != nil {
		return slices.Repeat([]string{"refused: " + string(out)}, len(site.Questions))
	}
	cmd := exec.Command("bindq", "batch", "-s", snap)
	cmd.Stdin = strings.NewReader(queries(t, site))
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != len(site.Questions) {
		t.Fatalf("%d answers of %d: %v", len(lines), len(site.Questions), err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return lines
}

// queries formats the questions for `bindq batch`.
func queries(t *testing.T, site *hiera5.Site) string {
	var out strings.Builder
	for _, q := range site.Questions {
		out.WriteString(jsonOf(t, struct {
			hiera5.Node
			Key   string `json:"key"`
			Merge string `json:"merge,omitempty"`
		}{site.Nodes[q.Node], q.Key, q.Merge}) + "\n")
	}
	return out.String()
}

// difference describes how an answer differs from Puppet's, or returns "". A value with sensitive parts may be
// sensitive or not.
func difference(t *testing.T, want hiera5.Answer, line string) string {
	if refused := strings.HasPrefix(line, "refused: "); refused {
		return "refused"
	}
	var got struct {
		Found     bool
		Value     json.RawMessage
		Sensitive bool
		Error     json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		return "no JSON"
	}
	switch failed := got.Error != nil; {
	case failed != (want.Error != ""):
		return fmt.Sprintf("error %v", failed)
	case failed:
		return ""
	case got.Found != want.Found:
		return fmt.Sprintf("found %v", got.Found)
	case got.Found && inOrder(t, got.Value) != inOrder(t, want.Value):
		return "value"
	case got.Found && want.Sensitive && !got.Sensitive:
		return "not sensitive"
	}
	return ""
}

// inOrder returns JSON in a canonical form that keeps the order of keys and distinguishes floats from integers.
func inOrder(t *testing.T, text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out strings.Builder
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out.String()
		} else if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if number, ok := token.(json.Number); ok && strings.ContainsAny(number.String(), ".eE") {
			f, err := number.Float64()
			if err != nil {
				t.Fatal(err)
			}
			token = "float " + strconv.FormatFloat(f, 'g', -1, 64)
		}
		fmt.Fprintf(&out, "%T %q ", token, fmt.Sprint(token))
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
