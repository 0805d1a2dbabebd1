package params

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/internal/types"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// maxSamples is the number of requests tried for a key whose values are merged.
const maxSamples = 64

// prover looks up suspects in made-up requests.
type prover struct {
	*Checker
	raw     *snapshot.Snapshot
	snap    *bindings.Snapshot
	tables  *decision.Tables
	sampler *decision.Sampler

	variables []string          // variables that can change answers
	paths     map[string]string // path by name of the file in the snapshot
}

// prove reports the suspects that Puppet refuses in some request.
func (c *Checker) prove() error {
	if len(c.suspects) == 0 {
		return nil
	}
	p, err := c.open()
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(c.suspects)) {
		if c.opts.Context != nil && c.opts.Context.Err() != nil {
			return c.opts.Context.Err()
		}
		if err := p.key(key, c.suspects[key]); err != nil {
			return err
		}
	}
	return nil
}

// open returns the prover. It creates the prover on the first call.
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
	if p.sampler, err = decision.NewSampler(p.tables); err != nil {
		return nil, err
	}
	p.variables, err = p.sampler.Variables()
	return p, err
}

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

// key looks up a key in several requests and reports the bindings whose value Puppet refuses.
func (p *prover) key(key string, s *suspect) error {
	varies, err := p.sampler.Varies(key)
	if err != nil {
		return err
	}
	samples, why, err := p.samples(key, s, varies)
	if err != nil {
		return err
	}
	found := map[diag.Pos]bool{}
	for _, try := range p.attempts(s, samples) {
		open, err := p.try(key, s, try, found)
		if err != nil {
			return err
		}
		why = cmp.Or(open, why)
	}
	switch {
	case len(found) > 0:
	case why != "":
		p.reportOpen(key, s, why)
	case s.merged:
		return p.reportFailing(key, s, p.attempts(s, samples))
	}
	return nil
}

// attempt is a request for which to look up a key.
type attempt struct {
	decision.Sample
	others []string // variables to set to a value that no condition uses, instead of leaving them unset
	blank  bool     // report also what only happens because facts are missing
}

// maySayMore reports whether an attempt with more facts may describe the affected nodes more precisely than where.
func (a *attempt) maySayMore(where string) bool {
	return where != "" && where != unlessHigher && a.String() == "" && !a.blank
}

// attempts returns the attempts to make with samples, in order. The blank attempt comes last, because a glob with an
// unset variable can match the files of any node.
func (p *prover) attempts(s *suspect, samples []decision.Sample) (out []attempt) {
	for _, sample := range samples {
		out = append(out, attempt{Sample: sample})
	}
	for _, sample := range samples {
		if !s.merged {
			out = append(out, attempt{Sample: sample, others: p.variables})
		}
	}
	for _, sample := range samples {
		if sample.String() == "" {
			out = append(out, attempt{Sample: sample, blank: true})
		}
	}
	return out
}

// Reasons why it is not known whether Puppet refuses a value.
const (
	ofFacts        = "depends on facts"
	ofCombinations = "depends on too many combinations of conditions"
	ofKeys         = "is not known, because a hash inside it has keys that are not strings"
	ofEncryption   = "depends on encrypted text"
	ofConversion   = "is not known, because lookup_options convert it to a type that bindings do not have"
)

// samples returns the requests for which to look up key. If the values in other requests are not known, why is the
// reason.
func (p *prover) samples(key string, s *suspect, varies bool) (out []decision.Sample, why string, err error) {
	if s.merged && varies {
		return nil, p.whyVaries(s), nil
	}
	if s.merged {
		found, err := p.sampler.Samples(key, maxSamples)
		if err != nil {
			return nil, "", err
		}
		if found.Exceeded {
			why = ofCombinations
		}
		slices.SortStableFunc(found.Samples, func(a, b decision.Sample) int { return cmp.Compare(a.Size(), b.Size()) })
		decision.JoinedLast(found.Samples)
		return found.Samples, why, nil // small samples first, because their messages have the fewest conditions
	}
	table, err := p.tables.Values(key)
	if err != nil {
		return nil, "", err
	}
	// A binding may have several rows. Begin with the lowest one, which applies to the most requests.
	for _, row := range slices.Backward(table.Rows) {
		b, suspicious := s.places[p.position(row.At)]
		switch {
		case !suspicious:
		case b.verdict == unknown && varies:
			why = ofFacts
		default:
			sample, ok := p.sampler.Reaching(&row)
			if ok {
				out = append(out, sample)
			} else {
				why = ofFacts
			}
		}
	}
	decision.JoinedLast(out)
	return out, why, nil
}

// conversion returns the type that convert_to requests in options, or "". known is false if bindc does not support the
// type, or if the options are unknown. options may be nil.
func conversion(options *lookup.Candidate) (to string, known bool) {
	if options == nil {
		return "", true
	}
	v, err := options.Outcome.Value.Whole()
	if err != nil || v.Kind() != value.Hash {
		return "", false
	}
	name, ok := v.Get(value.FromString("convert_to"))
	if ok && name.Kind() == value.Array && name.Len() > 0 {
		name = name.Slice()[0]
	}
	switch {
	case !ok:
		return "", true
	case name.Kind() != value.String:
		return "", false
	case name.Text() == sensitive:
		return sensitive, true
	}
	_, err = types.Parse(name.Text())
	return name.Text(), err == nil
}

// sensitive is the value of convert_to that marks a value as secret.
const sensitive = "Sensitive"

// try looks up a key in one request. If Puppet refuses the value, try reports the winning binding and adds its position
// to found. If it is not known which value Puppet gets, open says why.
func (p *prover) try(key string, s *suspect, a attempt, found map[diag.Pos]bool) (open string, err error) {
	facts, err := a.Facts(a.others)
	if err != nil {
		return "", err
	}
	r, err := p.snap.Request(facts)
	if err != nil {
		return "", nil // every lookup fails for this request, which other checks report
	}
	v, ok, err := r.Lookup(key)
	if isEncryptedError(err) {
		return p.tryEncrypted(r, s, a, found)
	}
	if err != nil || !ok {
		return "", nil
	}
	m, e, err := p.refusal((*lookup.Request)(r), s.param, lookup.Value(v))
	if m == nil && e != nil {
		open = ofConversion
	}
	if whole, bad := lookup.Value(v).Whole(); m == nil && bad == nil && s.param.escapes(whole) {
		open = ofKeys
	}
	if m == nil || err != nil {
		return open, err
	}
	winners := effective(e)
	if len(winners) == 0 {
		return "", nil
	}
	at := p.position(s.param.culprit(e, winners, lookup.Value(v), m))
	if e.Options != nil && at == p.position(e.Options.At) {
		s.places[at] = s.places[p.position(winners[0].At)]
	}
	if _, suspicious := s.places[at]; !suspicious || found[at] {
		return "", nil
	}
	where := region(e, winners, a.Sample)
	if a.maySayMore(where) {
		return "", nil
	}
	found[at] = true
	p.report(s, e, at, where, m, lookup.Value(v))
	return "", nil
}

// explain explains the lookup of key. Of the bindings in each level that do not hold, it explains only one, because
// region needs to know whether there are any.
func (c *Checker) explain(r *lookup.Request, key string) (*lookup.Explanation, error) {
	return c.explainer.Briefly(r, key, 1)
}

// refusal explains why Puppet refuses v, the value of p for the request r. It returns a nil Mismatch if Puppet accepts
// v. If Puppet may get a value other than v, it returns only an Explanation. The Explanation is nil if it was not
// needed.
func (c *Checker) refusal(r *lookup.Request, p *param, v lookup.Value) (*types.Mismatch, *lookup.Explanation, error) {
	m, err := p.misfitOf(v)
	mayDiffer := v.Sensitive() && c.merged[p.key()] // misfitOf also accepts values that only fit without Sensitive
	if err != nil || m == nil && !mayDiffer {
		return nil, nil, err
	}
	e, err := c.explain(r, p.key())
	if err != nil {
		return nil, nil, err
	}
	to, known := conversion(e.Options)
	switch {
	case m == nil && to == sensitive:
		if m, err = p.misfitOfSensitive(v); m == nil {
			return nil, nil, err
		}
		return m, e, nil
	case m == nil:
		return nil, nil, nil
	case !known:
		return nil, e, nil
	}
	return m, e, nil
}

// misfitOf explains why Puppet refuses the result of a lookup. It returns nil if the value fits.
func (p *param) misfitOf(v lookup.Value) (*types.Mismatch, error) {
	whole, err := v.Whole()
	if err != nil {
		return nil, err
	}
	if v.Sensitive() {
		whole = whole.Sensitive()
	}
	return p.misfit(whole), nil
}

// misfitOfSensitive explains why Puppet refuses v if it is marked as Sensitive. It returns nil if the value fits.
func (p *param) misfitOfSensitive(v lookup.Value) (*types.Mismatch, error) {
	whole, err := v.Whole()
	if err != nil {
		return nil, err
	}
	plain, _, err := whole.Unveiled()
	if err != nil {
		return nil, err
	}
	return p.typ.Assert(plain.Sensitive()), nil
}

// effective returns the bindings that supply the value, highest first. There are several if the value is merged.
func effective(e *lookup.Explanation) (out []lookup.Candidate) {
	for i := range e.Candidates {
		if state := e.Candidates[i].State; state == lookup.Wins || state == lookup.Merged {
			out = append(out, e.Candidates[i])
		}
	}
	return out
}

// position parses a position from the snapshot and translates its path.
func (p *prover) position(at string) diag.Pos {
	pos := diag.ParsePos(at)
	if path, known := p.paths[pos.File]; known {
		pos.File = path
	}
	return pos
}
