// Package peer stores a generated site in a bbolt database, which the runtime is compared with.
package peer

import (
	"bytes"
	"slices"

	bolt "go.etcd.io/bbolt"

	"bindc/bench/gen"
)

// Bolt is a site in bbolt, a key-value store. The keys of its only bucket consist of a scope and a
// key of the site; the values are JSON. A lookup has to try the scopes of a node one by one.
type Bolt struct{ db *bolt.DB }

var bucket = []byte("bindings")

const batch = 200_000

type pair struct{ key, value []byte }

func BuildBolt(path string, s *gen.Site) error {
	// NoSync is safe here: a file lost in a power failure is built again.
	db, err := bolt.Open(path, 0o644, &bolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		return err
	}
	if err := fill(db, s); err != nil {
		db.Close()
		return err
	}
	return db.Close()
}

func fill(db *bolt.DB, s *gen.Site) error {
	var pairs []pair
	for b := range s.Bindings() {
		pairs = append(pairs, pair{BoltKey(nil, b.Scope, b.Key), []byte(b.Value.JSON(nil))})
		if len(pairs) == batch {
			if err := put(db, pairs); err != nil {
				return err
			}
			pairs = pairs[:0]
		}
	}
	return put(db, pairs)
}

// put stores pairs in ascending order of their keys, which avoids page splits.
func put(db *bolt.DB, pairs []pair) error {
	slices.SortFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	return db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if err := b.Put(p.key, p.value); err != nil {
				return err
			}
		}
		return nil
	})
}

// BoltKey appends the bbolt key for key in scope to out.
func BoltKey(out []byte, scope gen.Scope, key string) []byte {
	out = append(out, '0'+byte(scope.Level))
	out = append(append(out, scope.Value...), 0)
	return append(out, key...)
}

// OpenBolt opens a file that BuildBolt has written. The caller must call Close.
func OpenBolt(path string) (*Bolt, error) {
	db, err := bolt.Open(path, 0o444, &bolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &Bolt{db}, nil
}

func (b *Bolt) Close() error { return b.db.Close() }

// Get reads the value of a bbolt key in a transaction of its own. It returns the length of the
// value, or -1 if there is none.
func (b *Bolt) Get(key []byte) (length int) {
	length = -1
	_ = b.db.View(func(tx *bolt.Tx) error { // the function always returns nil
		if value := tx.Bucket(bucket).Get(key); value != nil {
			length = len(value)
		}
		return nil
	})
	return length
}

// Lookup tries key in each scope until it finds a value. It returns the length of the value, or -1
// if there is none.
func (b *Bolt) Lookup(scopes []gen.Scope, key string) (length int) {
	length = -1
	_ = b.db.View(func(tx *bolt.Tx) error {
		var name [128]byte
		bindings := tx.Bucket(bucket)
		for _, scope := range scopes {
			if value := bindings.Get(BoltKey(name[:0], scope, key)); value != nil {
				length = len(value)
				return nil
			}
		}
		return nil
	})
	return length
}
