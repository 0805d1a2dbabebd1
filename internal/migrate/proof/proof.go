// Package proof migrates a site and verifies that lookups return the same values afterwards. It
// builds the old and the new site and asks both the same questions. Keys with different answers
// stay in Hiera 5. It repeats this until all answers are equal.
package proof

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/fsx"
	"bindc/internal/manifest"
	"bindc/internal/migrate"
	"bindc/loader"
)

// Options control the migration and the comparison. With the zero value, every key is compared with
// every merge.
type Options struct {
	Migrate   migrate.Options
	Load      loader.Options // for loading the new site; includes the global hierarchy
	Nodes     []facts.Node   // nodes for which answers are compared too
	Calls     manifest.Calls // lookups in manifests
	OnlyAsked bool           // compare only merges that manifests use
	Limit     int            // largest number of answers to compare per round; 0 means DefaultLimit
}

// DefaultLimit is the number of answers to compare if Options.Limit is 0.
const DefaultLimit = 8_000_000

// Report describes what was compared and which keys have moved to Hiera 2.
type Report struct {
	Keys      int // keys that at least one of the sites binds
	Merges    []string
	Rows      int // bindings of all keys in both sites
	Requests  int // requests made up from conditions, without the nodes'
	Nodes     int // nodes with facts
	Answers   int // answers of the old site; the new site gave the same
	Failed    int // lookups that failed in the old site; they were not compared
	Rounds    int
	Unreached []string // keys with data that no request reached
	Exceeded  bool     // whether a limit was exceeded, so that not all combinations were compared
	Omitted   int      // requests left out because of Options.Limit

	Moved int
	Kept  map[Reason]int

	Manifests  int
	Calls      int // lookups in manifests that specify a merge
	Unreadable int // manifests that could not be read, and lookups whose merge is computed
}

// Reason says why a key stays in Hiera 5.
type Reason int

const (
	NoForm          Reason = iota // the key cannot be expressed in Hiera 2
	Neighbour                     // another key of the same module stays
	Differs                       // answers for the key would change
	UnreadableMerge               // a manifest looks up the key with a computed merge
	Foreign                       // the key depends on an entry that only Puppet reads
)

var reasonTexts = [...]string{NoForm: "without an equivalent in Hiera 2", Neighbour: "in a module with keys that stay",
	Differs: "with answers that would change", UnreadableMerge: "with a computed merge in a manifest",
	Foreign: "depending on a level that only Puppet can read"}

// Migrate returns the files of the new site and a report. dir is the directory of the old site. If
// Migrate returns neither files nor an error, it has added an error to diags.
func Migrate(dir string, site *loader.Site, opts Options, diags *diag.List) ([]migrate.File, *Report, error) {
	if opts.Limit <= 0 {
		opts.Limit = DefaultLimit
	}
	p := &prover{dir: dir, opts: opts, forced: opts.forced(), reasons: map[string]Reason{}, report: &Report{}}
	for key := range p.forced {
		p.reasons[key] = UnreadableMerge
	}
	temporary, remove, err := fsx.Scratch("bindc-migrate-")
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	if p.old, err = build(filepath.Join(temporary, "old.bsnap"), site); err != nil {
		return nil, nil, err
	}
	defer p.old.close()
	for round := 0; ; round++ {
		attempt := &diag.List{All: diags.All}
		migrateOpts := opts.Migrate
		migrateOpts.Stay = p.forced
		result, err := migrate.Site(dir, site, migrateOpts, attempt)
		if err != nil || result == nil {
			appendDiags(diags, attempt)
			return nil, nil, err
		}
		repeat, err := p.round(filepath.Join(temporary, fmt.Sprint(round)), result)
		if err != nil {
			return nil, nil, err
		}
		if repeat {
			continue
		}
		appendDiags(diags, attempt)
		if p.failure != "" {
			diags.Errorf(diag.Pos{File: dir}, "migrate", "%s", p.failure)
			return nil, nil, nil
		}
		p.count(result)
		p.reportCalls(diags)
		return result.Files, p.report, nil
	}
}

func appendDiags(into, from *diag.List) {
	for _, d := range from.Sorted() {
		into.Add(d)
	}
}

type prover struct {
	dir       string
	opts      Options
	old       *builtSite
	forced    map[string]string // keys that must stay in Hiera 5, with the reason
	reasons   map[string]Reason
	questions *questions        // nil before the first round
	moved     map[string]bool   // result of the last round
	differing map[string]string // keys whose answers differed in the last round, with a description
	report    *Report
	failure   string // why no new site can be written, or ""
}

// round builds the new site and compares it with the old one. It reports whether more keys must
// stay, so that another round is needed.
func (p *prover) round(at string, result *migrate.Result) (repeat bool, err error) {
	p.report.Rounds++
	if err := write(at, result.Files); err != nil {
		return false, err
	}
	var diags diag.List
	opts := p.opts.Load
	opts.MayBeEmpty = true
	site := loader.Load(at, opts, &diags)
	var next *builtSite
	if !diags.Failed() {
		next, err = build(at+".bsnap", site)
	}
	if diags.Failed() || err != nil {
		problem := fmt.Sprint(err)
		if diags.Failed() {
			problem = diags.Sorted()[0].Message
		}
		return p.keepAll(result, "the new site does not build: "+problem), nil
	}
	defer next.close()
	if p.questions == nil {
		if err := p.prepare(next); err != nil {
			return false, err
		}
	}
	if p.moved != nil {
		changed := map[string]bool{}
		for key, was := range p.moved {
			changed[key] = was != result.Moved[key]
		}
		p.settle(changed)
	}
	p.moved = result.Moved
	if p.differing, err = p.compare(next); err != nil {
		return false, err
	}
	return p.keep(result, p.differing), nil
}

// keep makes keys whose answers differ stay in Hiera 5. It reports whether there are any that had
// moved.
func (p *prover) keep(result *migrate.Result, differing map[string]string) bool {
	if p.report.Rounds == 1 {
		for _, key := range p.report.Unreached {
			if _, differs := differing[key]; !differs {
				differing[key] = "no request was found for part of its data"
			}
		}
	}
	stayed := false
	for _, key := range slices.Sorted(maps.Keys(differing)) {
		if result.Moved[key] {
			p.stay(key, differing[key])
			stayed = true
			continue
		}
		for _, used := range p.uses(key) { // key already stays, so a key that it looks up must cause the difference
			if result.Moved[used] && p.forced[used] == "" {
				p.stay(used, "'"+key+"', which looks it up, would have a different answer: "+differing[key])
				stayed = true
			}
		}
	}
	if stayed || len(differing) == 0 || onlyUnreached(differing) {
		return stayed
	}
	key := slices.Min(slices.Collect(maps.Keys(differing)))
	return p.keepAll(result, "'"+key+"' would have a different answer: "+differing[key])
}

func onlyUnreached(differing map[string]string) bool {
	for _, why := range differing {
		if !strings.HasPrefix(why, "no request") {
			return false
		}
	}
	return true
}

func (p *prover) stay(key, why string) {
	p.forced[key], p.reasons[key] = why, Differs
}

// keepAll makes all keys stay in Hiera 5. It reports whether any of them had moved. If none had,
// the migration fails.
func (p *prover) keepAll(result *migrate.Result, why string) (stayed bool) {
	for key, moved := range result.Moved {
		if moved {
			p.stay(key, why)
			stayed = true
		}
	}
	if !stayed {
		p.failure = "the new site would not give the same answers: " + why
	}
	return stayed
}

// uses returns the keys that a key looks up, directly or indirectly.
func (p *prover) uses(key string) []string { return p.old.sampler.Uses(key) }

func (p *prover) count(result *migrate.Result) {
	r := p.report
	r.Kept = map[Reason]int{}
	for key, moved := range result.Moved {
		switch {
		case moved:
			r.Moved++
		case result.Foreign[key]:
			r.Kept[Foreign]++
		case result.WithModule[key]:
			r.Kept[Neighbour]++
		default:
			r.Kept[p.reasons[key]]++
		}
	}
}

func write(dir string, files []migrate.File) error {
	for _, f := range files {
		at := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(at, f.Text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Strings returns the report as text, one element per line.
func (r *Report) Strings() []string {
	nodes := ""
	if r.Nodes > 0 {
		nodes = " and " + diag.Count(r.Nodes, "node")
	}
	out := []string{fmt.Sprintf("compared: %s with the merges %s; %s of both sites, %s made from them%s",
		diag.Count(r.Keys, "key"), strings.Join(r.Merges, ", "), diag.Count(r.Rows, "row"),
		diag.Count(r.Requests, "request"), nodes)}
	out = append(out, fmt.Sprintf("equal: all %s, after %s of migration; %d errors of the old site were not compared",
		diag.Count(r.Answers, "answer"), diag.Count(r.Rounds, "round"), r.Failed))
	kept, total := []string{}, 0
	for reason, text := range reasonTexts {
		if n := r.Kept[Reason(reason)]; n > 0 {
			kept, total = append(kept, fmt.Sprintf("%d %s", n, text)), total+n
		}
	}
	out = append(out, fmt.Sprintf("manifests: %s, %s with a merge, %d not readable",
		diag.Count(r.Manifests, "file"), diag.Count(r.Calls, "lookup"), r.Unreadable))
	line := fmt.Sprintf("moved: %s; kept in Hiera 5: %d", diag.Count(r.Moved, "key"), total)
	if total > 0 {
		line += " (" + strings.Join(kept, ", ") + ")"
	}
	out = append(out, line)
	if r.Exceeded {
		out = append(out, "a limit was reached: for some keys, not all combinations of rows were compared")
	}
	if r.Omitted > 0 {
		out = append(out, "a limit was reached: "+diag.Count(r.Omitted, "request")+" omitted")
	}
	return out
}
