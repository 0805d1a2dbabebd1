package params

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/merge"
	"bindc/internal/report/decision"
	"bindc/internal/types"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// maxSamples is the number of requests that are tried for a key whose values are merged.
const maxSamples = 64

// prover looks suspects up in requests that are constructed for them.
type prover struct {
	*Checker
	raw     *snapshot.Snapshot
	snap    *bindings.Snapshot
	tables  *decision.Tables
	sampler *decision.Sampler
	paths   map[string]string // paths of files, by their names in the snapshot
}

// prove reports the suspects that are wrong for some request.
func (c *Checker) prove() error {
	if len(c.suspects) == 0 {
		return nil
	}
	p, err := c.open()
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(c.suspects)) {
		if err := p.key(key, c.suspects[key]); err != nil {
			return err
		}
	}
	return nil
}

// open returns the prover, which it opens first if necessary.
func (c *Checker) open() (*prover, error) {
	if c.prover != nil {
		return c.prover, nil
	}
	p := &prover{Checker: c, paths: map[string]string{}}
	for path, i := range c.site.InputOf {
		p.paths[c.site.Inputs[i].Path] = path
	}
	var b bytes.Buffer
	if _, err := snapshot.WriteTo(&b, c.content); err != nil {
		return nil, err
	}
	c.prover = p
	var err error
	if p.raw, err = snapshot.OpenBytes(b.Bytes()); err != nil {
		return nil, err
	}
	if p.snap, err = bindings.OpenBytes(b.Bytes(), bindings.Options{}); err != nil {
		return nil, err
	}
	if p.tables, err = decision.NewTables(p.raw, false, nil); err != nil {
		return nil, err
	}
	p.sampler, err = decision.NewSampler(p.tables)
	return p, err
}

// close releases the snapshot of the prover.
func (c *Checker) close() {
	if c.prover == nil {
		return
	}
	if c.prover.raw != nil {
		c.prover.raw.Close()
	}
	if c.prover.snap != nil {
		c.prover.snap.Close()
	}
	c.prover = nil
}

// key reports the bindings of a key that Puppet refuses.
func (p *prover) key(key string, s *suspect) error {
	varies, err := p.sampler.Varies(key)
	if err != nil {
		return err
	}
	samples, open, err := p.samples(key, s, varies)
	if err != nil {
		return err
	}
	found := map[diag.Pos]bool{}
	for _, sample := range samples {
		if err := p.sample(key, s, sample, found); err != nil {
			return err
		}
	}
	if open && len(found) == 0 {
		p.reportOpen(key, s)
	}
	return nil
}

// samples returns the requests to try. open means that other requests may have other values.
func (p *prover) samples(key string, s *suspect, varies bool) (out []decision.Sample, open bool, err error) {
	table, err := p.tables.Values(key)
	if err != nil {
		return nil, false, err
	}
	if s.merged {
		if !p.decides(table) {
			p.undecided[key] = true
		}
		if varies || p.undecided[key] {
			return nil, true, nil
		}
		found, err := p.sampler.Samples(key, maxSamples)
		if err != nil {
			return nil, false, err
		}
		return found.Samples, found.Exceeded, nil
	}
	// One place may have several rows; the lowest has the widest region.
	for _, row := range slices.Backward(table.Rows) {
		b, suspicious := s.places[p.position(row.At)]
		switch {
		case !suspicious:
		case b.verdict == unknown && varies:
			open = true
		default:
			sample, ok := p.sampler.Reaching(&row)
			if open = open || !ok; ok {
				out = append(out, sample)
			}
		}
	}
	return out, open, nil
}

// decides reports whether lookups convert the values of a table to the same types as Puppet. They do unless
// convert_to names a type that this program does not have.
func (p *prover) decides(table *decision.Table) bool {
	if !table.HasOptions {
		return true
	}
	level, err := merge.Compile(table.Options, "")
	if err != nil || len(level.Entries) != 1 || level.Entries[0].Value().Kind() != value.Hash {
		return false
	}
	to, ok := level.Entries[0].Value().Get(value.FromString("convert_to"))
	if ok && to.Kind() == value.Array && to.Len() > 0 {
		to = to.Slice()[0]
	}
	if !ok || to.Kind() != value.String || to.Text() == "Sensitive" {
		return !ok || to.Kind() == value.String
	}
	_, err = types.Parse(to.Text())
	return err == nil
}

// sample looks a key up in one request. If Puppet refuses the value, sample reports the winning binding and adds its
// position to found.
func (p *prover) sample(key string, s *suspect, sample decision.Sample, found map[diag.Pos]bool) error {
	facts, err := sample.Facts(nil)
	if err != nil {
		return err
	}
	r, err := p.snap.Request(facts)
	if err != nil {
		return nil // every lookup of this request fails; other checks report that
	}
	v, ok, err := r.Lookup(key)
	if err != nil || !ok {
		return nil
	}
	whole, err := lookup.Value(v).Whole()
	if err != nil {
		return err
	}
	if lookup.Value(v).Sensitive() {
		whole = whole.Sensitive()
	}
	m := s.param.misfit(whole)
	if m == nil {
		return nil
	}
	e, err := (*lookup.Request)(r).Explain(key)
	if err != nil {
		return err
	}
	for i := range e.Candidates {
		cand := &e.Candidates[i]
		at := p.position(cand.At)
		if cand.State != lookup.Wins && cand.State != lookup.Merged {
			continue
		}
		if _, suspicious := s.places[at]; suspicious && !found[at] {
			found[at] = true
			p.report(s, at, cand.When, sample, m, lookup.Value(v).Sensitive())
		}
		return nil // if values are merged, only the highest is reported
	}
	return nil
}

// position parses a position in a snapshot, path:line:col.
func (p *prover) position(at string) diag.Pos {
	rest, col, ok := cutNumber(at)
	path, line, ok2 := cutNumber(rest)
	if !ok || !ok2 {
		return diag.Pos{File: at}
	}
	if known, ok := p.paths[path]; ok {
		path = known
	}
	return diag.Pos{File: path, Line: line, Col: col}
}

func cutNumber(text string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, 0, false
	}
	n, err := strconv.Atoi(text[i+1:])
	return text[:i], n, err == nil
}
