package lookup

import (
	"io/fs"
	"runtime"

	"bindc/internal/merge"
	"bindc/internal/value"
	"bindc/snapshot"
)

// LookupMerged is like Lookup, but merges values by strategy instead of by lookup_options. strategy is a name such as
// "unique", or a hash of the strategy and its options, as in Puppet's lookup(). If it is undef, LookupMerged is the
// same as Lookup. Structured bindings are not merged with others. In a site with Hiera 5, the strategy is applied to
// the value of the winning one. The error is as in Lookup, or an *Error with the code usage if strategy is invalid.
func (r *Request) LookupMerged(key string, strategy Value) (Value, bool, error) {
	if isUndef(strategy) {
		return r.Lookup(key)
	}
	if r.closed.Load() {
		return Value{}, false, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	s, err := strategyOf(key, strategy)
	if err != nil {
		return Value{}, false, err
	}
	v, found, err := r.rules.merged(r, key, &s)
	return r.View(v), found, err
}

func isUndef(v Value) bool {
	c, err := v.Read()
	return err == nil && c.IsUndef()
}

// strategyOf parses a merge strategy. It uses key only in the error.
func strategyOf(key string, given Value) (merge.Strategy, error) {
	v, err := given.own(nil)
	if err != nil {
		return merge.Strategy{}, err
	}
	s, err := merge.Parse(v)
	if err != nil {
		return s, failed(key, CodeUsage, "'"+key+"': "+err.Error())
	}
	return s, nil
}

// asWritten looks up key as a whole in the structured bindings, without splitting it at dots and quotes. If answered is
// false, the caller must split the key.
func (l *lookup) asWritten(key string) (v value.Value, found, answered bool, err error) {
	if internal(key) {
		return value.Value{}, false, false, nil
	}
	if err := l.enter(key); err != nil {
		return value.Value{}, false, true, err
	}
	defer l.leave()
	d := descent{lookup: l, key: key, behind: -1}
	d.stops = func(c snapshot.Candidate) (bool, error) {
		p, err := l.position(key, c)
		return p.Part != snapshot.NoHiera, err
	}
	v, found, err = d.run()
	return v, found, found || d.erased || err != nil, err
}
