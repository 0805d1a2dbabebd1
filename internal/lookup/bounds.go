package lookup

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"bindc/internal/expr"
)

// Only this file creates lookups, so every lookup has bounds. TestOnlyBoundsCreatesLookups checks this.

// These limits apply to one call into this package, including all lookups that it causes, so that no data can make a
// call run forever.
const (
	maxChain    = 500
	maxLookups  = 100_000
	maxSteps    = 16 << 20  // evaluation steps of expressions
	maxProduced = 512 << 20 // bytes, as expr.Total counts them
	maxNested   = 50_000    // depth of nested expressions; limits the use of stack memory
)

// lookups is a pool of lookups. With it, looking up an interpolated string allocates only its text.
var lookups = sync.Pool{New: func() any { return &lookup{} }}

// start returns a new lookup, which the caller must finish with end or done. If a Producer uses r, the new lookup
// shares the limits and the chain of the lookup that called the Producer.
func (r *Request) start() *lookup {
	l := lookups.Get().(*lookup)
	l.r = r
	if r.caller != nil {
		r.caller.Lock()
		l.bounds, l.chain = r.caller.bounds, append(l.chain, r.caller.chain...)
		return l
	}
	l.own = bounds{lookups: 1 + maxLookups, total: expr.Total{Steps: maxSteps, Size: maxProduced,
		Depth: maxNested}}
	l.bounds = &l.own
	return l
}

// done ends a lookup that start returned, and makes it available for reuse.
func (l *lookup) done() {
	if l.r.caller != nil {
		l.r.caller.Unlock()
	}
	clear(l.chain) // the keys may refer to the mapped file
	*l = lookup{chain: l.chain[:0]}
	lookups.Put(l)
}

// aside returns a lookup nested in the computation of name. It shares the limits of l, but a sensitive result does not
// mark l as sensitive.
func (l *lookup) aside(name string) *lookup {
	return &lookup{bounds: l.bounds, r: l.r, chain: append(slices.Clone(l.chain), name)}
}

// forProducer returns the request to pass to a Producer. Its lookups count towards the limits of l.
func (l *lookup) forProducer() *Request {
	r := l.r.clone()
	r.caller, r.misses = &caller{lookup: l}, l.r.misses
	r.view.SetIndirect(true)
	return r
}

// clone returns a new request with the same facts. It has an empty cache and does not record misses.
func (r *Request) clone() *Request {
	c := &Request{file: r.file, snap: r.snap, closed: r.closed, facts: r.facts, numbers: r.numbers, has: r.has,
		rules: r.rules, hiera: r.hiera, failing: r.failing, mayFail: r.mayFail}
	c.resetView()
	c.view.Scopes = r.view.Scopes
	c.view.SetIndirect(r.view.Indirect())
	return c
}

// enter adds name, a key or the internal key of a multibinding, to the chain of names being computed. It fails if the
// chain contains name already, or if a limit is reached.
func (l *lookup) enter(name string) error {
	if i := slices.Index(l.chain, name); i >= 0 {
		chain := append(slices.Clone(l.chain[i:]), name)
		for j := range chain {
			chain[j] = entered(chain[j])
		}
		name = strings.TrimPrefix(chain[0], "multibind ")
		return failed(name, CodeLoop, "'"+name+"' depends on itself: "+strings.Join(chain, " -> "))
	}
	if len(l.chain) >= maxChain || l.lookups == 0 {
		return failed(strings.TrimPrefix(entered(name), "multibind "), CodeEvaluation,
			fmt.Sprintf("this lookup needs more than %d other lookups, or a chain of more than %d", maxLookups, maxChain))
	}
	l.lookups--
	l.chain = append(l.chain, name)
	return nil
}

// entered formats a name in the chain for messages.
func entered(name string) string {
	if id, ok := strings.CutPrefix(name, "\x00"); ok {
		return "multibind " + id
	}
	key, _, _ := strings.Cut(name, "\x00") // removes the level that below appended
	return key
}

// leave removes the last name from the chain. It clears the element too, because a pooled lookup must not refer to the
// mapped file.
func (l *lookup) leave() {
	last := len(l.chain) - 1
	l.chain[last] = ""
	l.chain = l.chain[:last]
}
