package lookup

import (
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/value"
	"bindc/snapshot"
)

// plainRules are the rules of a snapshot without Hiera 5 data: a key has the value that it is bound to.
type plainRules struct{}

func (plainRules) isLast(string) bool { return true }

func (plainRules) beyond(*lookup, string) (value.Value, bool, error) {
	return value.Value{}, false, nil
}

func (plainRules) merged(r *Request, key string, _ *merge.Strategy) (value.Value, bool, error) {
	return r.lookupValue(key)
}

func (plainRules) entries(r *Request, root string, _, _ int, _ Value) (v value.Value, found, secret bool, err error) {
	v, found, err = r.lookupValue(root)
	return v, found, v.IsSensitive(), err
}

func (plainRules) root(key string) (string, lookupkey.Key) { return key, lookupkey.Key{} }

// hieraRules are the rules of Hiera 5: a dotted key may dig into a value, and values may be merged.
type hieraRules struct{}

func (hieraRules) isLast(key string) bool { return !snapshot.Digs(key) }

func (hieraRules) beyond(l *lookup, key string) (value.Value, bool, error) {
	if !snapshot.Digs(key) {
		return value.Value{}, false, nil
	}
	return l.hiera(key, nil)
}

func (hieraRules) merged(r *Request, key string, strategy *merge.Strategy) (value.Value, bool, error) {
	l := r.start()
	if snapshot.Digs(key) {
		if v, found, answered, err := l.asWritten(key); answered {
			return l.end(v, found, err)
		}
	}
	return l.end(l.hiera(key, strategy))
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
	root, _ = lookupkey.Quoted(parsed.Root) // a parsed key never has both kinds of quotes
	return root, parsed
}
