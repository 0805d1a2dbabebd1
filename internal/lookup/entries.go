package lookup

import (
	"io/fs"
	"runtime"
	"slices"

	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// LookupEntries looks up root in some entries of the Hiera 5 hierarchy. Puppet calls it if Puppet itself searches the
// other entries. root is a literal key: it has no quotes and is not split at dots. The values are merged by strategy,
// as in LookupMerged, regardless of lookup_options. If root is lookup_options, the result is the lookup_options in
// these entries. Decrypted text is not marked sensitive. For a site without Hiera 5, LookupEntries is like Lookup.
//
// from and to are the numbers of the first and the last entry. Entry 0 is the first entry of the hierarchy; a negative
// to means its last entry. Structured bindings above the hierarchy count as part of the first entry, and those below it
// as part of the last. The data of modules is part of the last entry too, but only if values are not merged. A module
// with an entry that only Puppet reads contributes nothing. LookupEntries returns the errors of LookupMerged.
func (r *Request) LookupEntries(root string, from, to int, strategy Value) (Value, bool, error) {
	v, found, _, err := r.LookupEntriesSecret(root, from, to, strategy)
	return v, found, err
}

// LookupEntriesSecret is like LookupEntries, but also reports whether the result depends on anything sensitive or
// decrypted.
func (r *Request) LookupEntriesSecret(root string, from, to int, strategy Value) (v Value, found, secret bool,
	err error) {
	if r.closed.Load() {
		return Value{}, false, false, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	answer, found, secret, err := r.rules.entries(r, root, from, to, strategy)
	return r.View(answer), found, secret, err
}

// entries implements LookupEntriesSecret for snapshots with Hiera 5 data.
func (r *Request) entries(root string, from, to int, strategy Value) (v value.Value, found, secret bool, err error) {
	s, err := strategyOf(root, strategy)
	if err != nil || internal(root) {
		return value.Value{}, false, false, err
	}
	key, _ := lookupkey.Quoted(root) // a root with both kinds of quotes gives "", which is never bound
	l := r.start()
	defer l.done()
	l.notesStructure = true
	e := entriesLookup{lookup: l, root: key, strategy: s, from: from, to: to}
	answer, found, err := e.answer()
	secret = e.sensitive || e.hidden
	e.sensitive = false
	if answer, err = l.unveiled(answer, err); e.marked || e.sensitive {
		answer = answer.Sensitive()
	}
	return answer, found && err == nil, secret || e.marked || e.sensitive, err
}

type entriesLookup struct {
	*lookup
	root     string // the bound key, in quotes if it contains a dot
	strategy merge.Strategy
	from, to int
}

func (e *entriesLookup) answer() (value.Value, bool, error) {
	if err := e.r.pathError(lookupkey.Module(e.root)); err != nil {
		return value.Value{}, false, e.explain(e.root, err)
	}
	if e.root == optionsKey {
		if v, found, err := e.lookupOptions(); found || err != nil {
			return v, found, err
		}
	}
	if e.from == 0 && e.to < 0 && e.strategy.First() && !e.r.isForeign(e.root) {
		if v, found, sure, err := e.simply(); sure {
			return v, found, err
		}
	}
	e.chain = append(e.chain, e.root) // only the chain of an outermost lookup is empty
	defer e.leave()
	return e.merged()
}

// simply is a fast path for values that are not merged. If sure is false, the other results are not valid, and the
// caller must use merged.
func (e *entriesLookup) simply() (v value.Value, found, sure bool, err error) {
	ref, found, err := e.r.file.Find(e.root, &e.r.view.Scopes)
	if !found {
		return value.Value{}, false, true, err
	}
	n, computed := ref.Recipe()
	// A constant never declines. So its position is not needed, which would cost a cache miss.
	if !computed && !e.r.mayFail {
		v, err := e.r.snap.value(ref)
		return v, err == nil, true, err
	}
	if computed {
		r, err := e.r.snap.recipe(e.root, n)
		if err != nil || r.Kind == recipe.Merged || !r.IsFinal() { // merged reports the error
			return value.Value{}, false, false, nil
		}
	}
	v, found, err = e.bound(e.root, true)
	return v, found, !e.sensitive, err
}

func (e *entriesLookup) lookupOptions() (value.Value, bool, error) {
	return e.mergedOf(recipe.LookupOptionsKey)
}

// merged returns the value of the winning binding if that binding is structured. Otherwise it merges the values of
// the entries.
func (e *entriesLookup) merged() (value.Value, bool, error) {
	d := descent{lookup: e.lookup, key: e.root}
	for c, err := range e.placed(e.root) {
		if err != nil {
			return value.Value{}, false, err
		}
		counts, structured := e.counts(c.layer), c.Part == snapshot.NoHiera
		if counts && !structured {
			break
		}
		if v, found, err := e.structured(&d, c.Candidate, counts); found || err != nil || d.erased {
			return v, found, err
		}
	}
	v, found, err := e.mergedOf(recipe.MergeKey(e.root), e.root)
	if err != nil || !found {
		return value.Value{}, false, err
	}
	return e.recordMarked(func() (value.Value, bool, error) { return d.rebound(d.key, d.rebindings, v) })
}

// mergedOf merges the values of the first key that has any in the requested entries.
func (e *entriesLookup) mergedOf(keys ...string) (v value.Value, found bool, err error) {
	var candidates []merge.Candidate
	for _, key := range keys {
		if candidates, err = e.candidates(key); err != nil || len(candidates) > 0 {
			break
		}
	}
	if err == nil {
		v, found, err = e.strategy.Merge(candidates)
	}
	if err != nil {
		err = e.explain(e.root, err)
	}
	return v, found, err
}

// recordMarked calls do, and sets e.marked if do finds a sensitive value. Messages continue to hide values if a
// sensitive value was found before.
func (e *entriesLookup) recordMarked(do func() (value.Value, bool, error)) (value.Value, bool, error) {
	e.sensitive, e.hidden = false, e.hides()
	v, found, err := do()
	e.marked = e.marked || e.sensitive
	return v, found, err
}

// structured returns the value of a structured binding, or false if it declines. If counts is false, the binding is
// outside the requested entries and has no value, but a rename still applies to all entries below it.
func (e *entriesLookup) structured(d *descent, c snapshot.Candidate, counts bool) (value.Value, bool, error) {
	if !counts {
		if n, computed := c.Ref.Recipe(); computed {
			r, err := e.r.snap.recipe(e.root, n)
			d.erased = err == nil && r.Kind == recipe.Erased
			return value.Value{}, false, onlyDamage(err)
		}
		return value.Value{}, false, nil
	}
	return e.recordMarked(func() (value.Value, bool, error) { return d.try(c) })
}

// counts reports whether the bindings of a layer belong to the requested entries.
func (e *entriesLookup) counts(layer int) bool {
	all := e.r.file.Hiera()
	switch p := all[layer]; p.Part {
	case snapshot.NoHiera:
		if above := slices.ContainsFunc(all[layer:], func(p snapshot.HieraPlace) bool {
			return p.Part == snapshot.HieraEnvironment
		}); above {
			return e.from == 0
		}
		return e.to < 0
	case snapshot.HieraEnvironment:
		return e.from <= p.Entry && (e.to < 0 || p.Entry <= e.to)
	case snapshot.HieraModule:
		return e.to < 0 && e.strategy.First() && !e.r.isForeign(e.root)
	}
	return false // Puppet searches the global layer
}

func (e *entriesLookup) candidates(key string) ([]merge.Candidate, error) {
	var out []merge.Candidate
	for c, err := range e.placed(key) {
		if err != nil {
			return nil, err
		}
		if c.Part != snapshot.NoHiera && e.counts(c.layer) {
			out = append(out, e.candidate(e.root, key, c))
		}
	}
	return out, nil
}
