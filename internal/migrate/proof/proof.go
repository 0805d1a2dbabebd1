// Package proof migrates a site and proves the result: it builds both sites, asks both the same questions, and keeps in
// Hiera 5 what the new site would answer differently, until nothing differs.
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

// Options say what to compare. The zero value compares every key with every merge.
type Options struct {
	Migrate   migrate.Options
	Load      loader.Options // of the new site: its global hierarchy
	Nodes     []facts.Node   // nodes whose answers are compared too
	Calls     manifest.Calls // what manifests look up
	OnlyAsked bool           // only the merges that manifests ask for are compared
	Limit     int            // answers to compare in one round; default: DefaultLimit
}

// DefaultLimit is how many answers are compared in one round at most.
const DefaultLimit = 8_000_000

// Report has the figures of the comparison and of the keys that moved.
type Report struct {
	Keys      int // of both sites
	Merges    []string
	Rows      int // bindings of all keys, in both sites
	Requests  int // made from rows
	Nodes     int // of facts
	Answers   int // compared in the last round, all equal
	Failed    int // questions that the old site answers with an error
	Rounds    int
	Unreached []string // keys with data for which no request was found
	Exceeded  bool     // a bound was reached: not all combinations of rows were compared
	Cut       int      // requests that were not made, because of Limit

	Moved int
	Kept  map[Reason]int

	Manifests int
	Calls     int // lookups in manifests that ask for a merge
	Unread    int // of these and of manifests, those that cannot be read
}

// Reason is why a key stays in Hiera 5.
type Reason int

// The reasons.
const (
	NoForm    Reason = iota // migrate.Site cannot say it in another way
	Neighbour               // something else in its module stays
	Differs                 // it would have another answer
	Asked                   // a manifest asks for a merge that cannot be read
	Foreign                 // it depends on an entry that only Puppet reads
)

var reasons = [...]string{NoForm: "without a form in Hiera-2", Neighbour: "in a module of which something stays",
	Differs: "would answer otherwise", Asked: "with a merge in a manifest that cannot be read",
	Foreign: "depending on a level that only Puppet reads"}

// Migrate returns the files of the new site, as migrate.Site, and what was compared. Where they are nil, diags has an
// error.
func Migrate(dir string, site *loader.Site, opts Options, diags *diag.List) ([]migrate.File, *Report, error) {
	if opts.Limit <= 0 {
		opts.Limit = DefaultLimit
	}
	p := &prover{dir: dir, opts: opts, forced: opts.forced(), why: map[string]Reason{}, report: &Report{}}
	for key := range p.forced {
		p.why[key] = Asked
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
		said := &diag.List{All: diags.All}
		migrateOpts := opts.Migrate
		migrateOpts.Stay = p.forced
		result, err := migrate.Site(dir, site, migrateOpts, said)
		if err != nil || result == nil {
			merge(diags, said)
			return nil, nil, err
		}
		again, err := p.round(filepath.Join(temporary, fmt.Sprint(round)), result)
		if err != nil {
			return nil, nil, err
		}
		if again {
			continue
		}
		merge(diags, said)
		if p.failure != "" {
			diags.Errorf(diag.Pos{File: dir}, "migrate", "%s", p.failure)
			return nil, nil, nil
		}
		p.count(result)
		p.reportCalls(diags)
		return result.Files, p.report, nil
	}
}

// merge adds the diagnostics of one list to another.
func merge(into, from *diag.List) {
	for _, d := range from.Sorted() {
		into.Add(d)
	}
}

// prover is one migration.
type prover struct {
	dir     string
	opts    Options
	old     *built
	forced  map[string]string // why keys stay that could move
	why     map[string]Reason
	asked   *questions      // nil before the first round
	moved   map[string]bool // in the last round
	report  *Report
	failure string // why no site can be written
}

// round builds the new site, compares, and reports whether other keys have to stay.
func (p *prover) round(at string, result *migrate.Result) (again bool, err error) {
	p.report.Rounds++
	if err := write(at, result.Files); err != nil {
		return false, err
	}
	var said diag.List
	opts := p.opts.Load
	opts.Nothing = true
	site := loader.Load(at, opts, &said)
	var next *built
	if !said.Failed() {
		next, err = build(at+".bsnap", site)
	}
	if said.Failed() || err != nil {
		problem := fmt.Sprint(err)
		if said.Failed() {
			problem = said.Sorted()[0].Message
		}
		return p.keepAll(result, "the new site does not build: "+problem), nil
	}
	defer next.close()
	if p.asked == nil {
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
	differing, err := p.compare(next)
	if err != nil {
		return false, err
	}
	return p.keep(result, differing), nil
}

// keep lets keys stay that would have other answers, and reports whether there are some.
func (p *prover) keep(result *migrate.Result, differing map[string]string) bool {
	if p.report.Rounds == 1 {
		for _, key := range p.report.Unreached {
			if _, differs := differing[key]; !differs {
				differing[key] = "no request was found for some of its data"
			}
		}
	}
	some := false
	for _, key := range slices.Sorted(maps.Keys(differing)) {
		if result.Moved[key] {
			p.stay(key, differing[key])
			some = true
			continue
		}
		for _, used := range p.uses(key) { // keys that stay differ by the keys they look up
			if result.Moved[used] && p.forced[used] == "" {
				p.stay(used, "'"+key+"', which looks it up, would have another answer: "+differing[key])
				some = true
			}
		}
	}
	if some || len(differing) == 0 || onlyUnreached(differing) {
		return some
	}
	key := slices.Min(slices.Collect(maps.Keys(differing)))
	return p.keepAll(result, "'"+key+"' would have another answer: "+differing[key])
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
	p.forced[key], p.why[key] = why, Differs
}

// keepAll lets all keys stay. If that is not enough, nothing is written.
func (p *prover) keepAll(result *migrate.Result, why string) (again bool) {
	for key := range result.Moved {
		p.stay(key, why)
		again = true
	}
	if !again {
		p.failure = "expected the new site to answer as this one, but " + why
	}
	return again
}

// uses returns the keys that a key may look up, also through others.
func (p *prover) uses(key string) []string { return p.old.sampler.Uses(key) }

// count fills in the report.
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
			r.Kept[p.why[key]]++
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

// Strings returns the lines of the report for people.
func (r *Report) Strings() []string {
	nodes := ""
	if r.Nodes > 0 {
		nodes = " and " + diag.Count(r.Nodes, "node")
	}
	out := []string{fmt.Sprintf("compared: %s with the merges %s, %s of both sites, %s made from them%s",
		diag.Count(r.Keys, "key"), strings.Join(r.Merges, ", "), diag.Count(r.Rows, "row"),
		diag.Count(r.Requests, "request"), nodes)}
	out = append(out, fmt.Sprintf("equal: all %s, after %s of migration; %d that this site refuses were not compared",
		diag.Count(r.Answers, "answer"), diag.Count(r.Rounds, "round"), r.Failed))
	kept, total := []string{}, 0
	for reason, text := range reasons {
		if n := r.Kept[Reason(reason)]; n > 0 {
			kept, total = append(kept, fmt.Sprintf("%d %s", n, text)), total+n
		}
	}
	out = append(out, fmt.Sprintf("manifests: %s, %s that ask for a merge, %d that cannot be read",
		diag.Count(r.Manifests, "file"), diag.Count(r.Calls, "lookup"), r.Unread))
	line := fmt.Sprintf("moved: %s; kept in Hiera 5: %d", diag.Count(r.Moved, "key"), total)
	if total > 0 {
		line += " (" + strings.Join(kept, ", ") + ")"
	}
	out = append(out, line)
	if r.Exceeded {
		out = append(out, "a bound was reached: of some keys not every combination of rows was compared")
	}
	if r.Cut > 0 {
		out = append(out, "a bound was reached: "+diag.Count(r.Cut, "request")+" left out")
	}
	return out
}
