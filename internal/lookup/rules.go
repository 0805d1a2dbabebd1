package lookup

import (
	"io/fs"
	"runtime"
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// rules are the part of a lookup that depends on whether the snapshot has data of Hiera 5. A request gets them when it
// begins.
type rules interface {
	// isLast reports whether a key has no answer if its own bindings have none.
	isLast(key string) bool
	// beyond answers a key whose own bindings have no answer.
	beyond(l *lookup, key string) (value.Value, bool, error)
	// merged answers a key by the merge strategy of a caller.
	merged(r *Request, key string, strategy *merge.Strategy) (value.Value, bool, error)
	// merge evaluates a recipe of the kind Merged, which key is bound to, from a level on.
	merge(l *lookup, key string, r *recipe.Recipe, from int) (value.Value, error)
	// entries answers a key from some entries of the hierarchy, as LookupEntriesSecret describes.
	entries(r *Request, root string, from, to int, strategy Value) (v value.Value, found, secret bool, err error)
	// root splits a key into the one that is bound and the path into its value.
	root(key string) (root string, parsed lookupkey.Key)
}

// rules returns those of the requests of s.
func (s *Snapshot) rules() rules {
	if s.Hiera() {
		return hieraRules{}
	}
	return plainRules{}
}

// plainRules are those of a snapshot without data of Hiera 5: a key has what it is bound to.
type plainRules struct{}

func (plainRules) isLast(string) bool { return true }

func (plainRules) beyond(*lookup, string) (value.Value, bool, error) {
	return value.Value{}, false, nil
}

func (plainRules) merged(r *Request, key string, _ *merge.Strategy) (value.Value, bool, error) {
	return r.find(key)
}

func (plainRules) merge(*lookup, string, *recipe.Recipe, int) (value.Value, error) {
	return value.Value{}, &DamageError{Section: "recipes", Expected: "nothing that merges in a file without Hiera 5"}
}

func (plainRules) entries(r *Request, root string, _, _ int, _ Value) (v value.Value, found, secret bool, err error) {
	v, found, err = r.find(root)
	return v, found, v.IsSensitive(), err
}

func (plainRules) root(key string) (string, lookupkey.Key) { return key, lookupkey.Key{} }

// hieraRules are those of Hiera 5: a key may lead into a value, and values are merged.
type hieraRules struct{}

func (hieraRules) isLast(key string) bool { return !digs(key) }

func (hieraRules) beyond(l *lookup, key string) (value.Value, bool, error) {
	if !digs(key) {
		return value.Value{}, false, nil
	}
	return l.hiera(key, nil)
}

func (hieraRules) merged(r *Request, key string, strategy *merge.Strategy) (value.Value, bool, error) {
	l := r.start()
	if digs(key) {
		if v, found, answered, err := l.asWritten(key); answered {
			return l.end(v, found, err)
		}
	}
	return l.end(l.hiera(key, strategy))
}

func (hieraRules) merge(l *lookup, key string, r *recipe.Recipe, from int) (value.Value, error) {
	return l.merge(key, r, from)
}

func (hieraRules) entries(r *Request, root string, from, to int, strategy Value) (v value.Value, found, secret bool,
	err error) {
	return r.entries(root, from, to, strategy)
}

func (hieraRules) root(key string) (root string, parsed lookupkey.Key) {
	if lookupkey.Reserved(key) {
		return key, parsed
	}
	parsed, err := lookupkey.Parse(key)
	if err != nil || internal(parsed.Root) {
		return key, lookupkey.Key{}
	}
	root, _ = lookupkey.Quoted(parsed.Root) // which was parsed, and has not quotes of both kinds
	return root, parsed
}

// LookupMerged is Lookup with a merge strategy that replaces the one in lookup_options: a name such as "unique", or a
// hash with the strategy and its options, as for Puppet's lookup(). With undef it is Lookup. Structured bindings are
// not merged with one another; where the site has Hiera 5, the strategy is applied to the value of the one that wins.
// The error is as in Lookup, or an *Error of code usage if the strategy does not exist.
func (r *Request) LookupMerged(key string, strategy Value) (Value, bool, error) {
	if isUndef(strategy) {
		return r.Lookup(key)
	}
	if r.closed.Load() {
		return Value{}, false, fs.ErrClosed
	}
	defer runtime.KeepAlive(r) // and with it the map
	s, err := strategyOf(key, strategy)
	if err != nil {
		return Value{}, false, err
	}
	v, found, err := r.rules.merged(r, key, &s)
	return r.View(v), found, err
}

// isUndef reports whether a strategy is not given.
func isUndef(v Value) bool {
	c, err := v.Read()
	return err == nil && c.IsUndef()
}

// strategyOf parses the merge strategy for a lookup of key.
func strategyOf(key string, of Value) (merge.Strategy, error) {
	v, err := of.own(nil)
	if err != nil {
		return merge.Strategy{}, err
	}
	s, err := merge.Parse(v)
	if err != nil {
		return s, failed(key, CodeUsage, "'"+key+"': "+err.Error())
	}
	return s, nil
}

// asWritten looks key up in the structured bindings without splitting it at dots and quotes.
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

// Hiera reports whether the snapshot has data of Hiera 5.
func (s *Snapshot) Hiera() bool { return len(s.file.Hiera()) > 0 }

// digs reports whether a key without bindings may lead into a value.
func digs(key string) bool {
	return strings.IndexByte(key, '.') >= 0 || strings.IndexByte(key, '\'') >= 0 || strings.IndexByte(key, '"') >= 0
}
