package proof

import (
	"errors"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// builtSite is a compiled site that is open for lookups.
type builtSite struct {
	file    *snapshot.Snapshot
	snap    *bindings.Snapshot
	sampler *decision.Sampler
}

// build compiles a site, writes the snapshot to path and opens it. The caller must call close.
func build(path string, site *loader.Site) (*builtSite, error) {
	var diags diag.List
	content := compile.Compile(site, compile.Options{}, &diags)
	if diags.Failed() {
		return nil, errors.New(diags.Sorted()[0].Message)
	}
	if _, err := snapshot.Write(path, content); err != nil {
		return nil, err
	}
	// Encrypted values need not be decrypted. It is enough that both sites handle the same text in
	// the same way.
	reveal := func(text string) (string, error) { return "decrypted " + text, nil }
	b := &builtSite{}
	var err error
	if b.snap, err = bindings.Open(path, bindings.Options{Decrypt: reveal}); err != nil {
		return nil, err
	}
	if b.file, err = snapshot.Open(path); err != nil {
		return nil, err
	}
	tables, err := decision.NewTables(b.file, true, nil)
	if err == nil {
		b.sampler, err = decision.NewSampler(tables)
	}
	return b, err
}

func (b *builtSite) close() {
	_ = b.snap.Close()
	_ = b.file.Close()
}

// refused is the hash for a lookup that fails.
const refused = 0

// askOldSite records the old site's answers to all questions. It also records keys with data that
// no question reaches.
func (p *prover) askOldSite() error {
	q := p.questions
	q.expected = make([][]uint64, len(q.all))
	reached := map[lookup.Term]bool{}
	var mu sync.Mutex
	err := p.ask(p.old, func(n int, r *bindings.Request, answers []uint64) {
		q.expected[n] = slices.Clone(answers)
		mu.Lock()
		defer mu.Unlock()
		if r != nil {
			for _, t := range (*lookup.Request)(r).Dimensions() {
				reached[t] = true
			}
		}
		for _, a := range answers {
			if a == refused {
				p.report.Failed++
			} else {
				p.report.Answers++
			}
		}
	})
	for i, terms := range q.terms {
		if slices.ContainsFunc(terms, func(t lookup.Term) bool { return !reached[t] }) {
			p.report.Unreached = append(p.report.Unreached, q.keys[i])
		}
	}
	return err
}

// difference identifies an answer that differs between the sites, by the indexes of its question
// and its merge.
type difference struct{ question, merge int }

// compare asks the new site all questions. It returns the keys whose answers differ from those of
// the old site, with a description of the first difference. Lookups that failed in the old site are
// not compared.
func (p *prover) compare(next *builtSite) (map[string]string, error) {
	q := p.questions
	first := map[int]difference{}
	var mu sync.Mutex
	err := p.ask(next, func(n int, _ *bindings.Request, answers []uint64) {
		mu.Lock()
		defer mu.Unlock()
		at := 0
		for _, key := range q.all[n].keys {
			for merge := range q.merges[key] {
				want, got := q.expected[n][at], answers[at]
				at++
				if want == refused || q.settled[key] {
					continue
				}
				if was, known := first[key]; want != got && (!known || n < was.question) {
					first[key] = difference{n, merge}
				}
			}
		}
	})
	out := map[string]string{}
	for key, d := range first {
		how := ""
		if merge := q.merges[key][d.merge].name; merge != "none" {
			how = "merged by a caller with '" + merge + "', "
		}
		out[q.keys[key]] = how + "its answer would change, for example for " + q.all[d.question].name
	}
	return out, err
}

// settle marks the keys that need no further comparison, because their answers were equal and
// cannot change any more. changed contains the keys that have returned to Hiera 5 since. Neither
// they nor keys that look them up are settled.
func (p *prover) settle(changed map[string]bool) {
	q := p.questions
	for i, key := range q.keys {
		uses := p.uses(key)
		q.settled[i] = p.differing[key] == "" && !changed[key] &&
			!slices.ContainsFunc(uses, func(used string) bool { return changed[used] })
	}
}

// ask asks a site all questions, several at a time. It calls done with the number and the answers
// of each question. It skips settled keys.
func (p *prover) ask(site *builtSite, done func(n int, r *bindings.Request, answers []uint64)) error {
	numbers := make(chan int)
	errs := make(chan error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for range cap(errs) {
		wg.Go(func() {
			a := asker{p.questions, site, nil, nil, nil}
			for n := range numbers {
				if err := a.ask(n); err != nil {
					select {
					case errs <- err:
					default:
					}
					continue
				}
				done(n, a.request, a.answers)
			}
		})
	}
	for n, q := range p.questions.all {
		if slices.ContainsFunc(q.keys, func(key int) bool { return !p.questions.settled[key] }) {
			numbers <- n
		}
	}
	close(numbers)
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

type asker struct {
	*questions
	site    *builtSite
	request *bindings.Request
	answers []uint64
	text    []byte
}

func (a *asker) ask(n int) (err error) {
	q := &a.all[n]
	if a.request == nil {
		a.request, err = a.site.snap.Request(q.facts)
	} else {
		err = a.request.Reset(q.facts)
	}
	a.answers = a.answers[:0]
	var refusal *bindings.Error
	if errors.As(err, &refusal) { // every lookup of the request would fail
		for _, key := range q.keys {
			a.answers = append(a.answers, make([]uint64, len(a.merges[key]))...)
		}
		a.request = nil
		return nil
	}
	if err != nil {
		return err
	}
	for _, key := range q.keys {
		if a.settled[key] {
			a.answers = append(a.answers, make([]uint64, len(a.merges[key]))...)
			continue
		}
		for _, s := range a.merges[key] {
			answer, err := a.answer(a.keys[key], s)
			if err != nil {
				return err
			}
			a.answers = append(a.answers, answer)
		}
	}
	return nil
}

// seed is the seed for hashes of answers. Hashes are compared only within a process.
var seed = maphash.MakeSeed()

// answer looks up key and returns a hash of the result. The hash depends on the value, the order of
// hash entries, and whether the value is sensitive.
func (a *asker) answer(key string, s strategy) (uint64, error) {
	v, found, err := (*lookup.Request)(a.request).LookupMerged(key, s.value)
	var e *bindings.Error
	switch {
	case errors.As(err, &e):
		return refused, nil
	case err != nil:
		return refused, err
	}
	a.text = append(a.text[:0], '-')
	if found {
		a.text[0] = '+'
		if v.Sensitive() {
			a.text[0] = 's'
		}
		if a.text, _, err = v.Reveal().AppendRich(a.text); err != nil {
			return refused, err
		}
	}
	return maphash.Bytes(seed, a.text) | 1, nil
}
