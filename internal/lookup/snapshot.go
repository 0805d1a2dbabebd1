package lookup

import (
	"io/fs"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Close closes the snapshot and its requests. Further calls do nothing. The error is always nil.
func (s *Snapshot) Close() error {
	if !s.closed.Swap(true) {
		s.file.Release()
	}
	return nil
}

// Keys returns an iterator over the keys that are bound in some request, in no particular order. After Close, it yields
// no keys.
func (s *Snapshot) Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		if s.closed.Load() {
			return
		}
		for key := range s.file.Keys() {
			if !yield(strings.Clone(key)) {
				break
			}
		}
		runtime.KeepAlive(s)
	}
}

// Verify reads the whole file and checks every checksum and every reference. The error is a
// *DamageError, or fs.ErrClosed.
func (s *Snapshot) Verify() error {
	if s.closed.Load() {
		return fs.ErrClosed
	}
	defer runtime.KeepAlive(s)
	return s.Protect(func() error {
		_, sealed := s.file.Seal()
		features := recipe.Features{Sealed: sealed, Hiera: s.Hiera(), ARM8: s.file.ARM8()}
		return s.file.Verify(func(encoded string) (contributes, alone bool, err error) {
			return recipe.Check(encoded, features)
		})
	})
}

// Protect calls do, which may look up keys and read their values on this goroutine. If another program truncates the
// mapped file, reading the missing part ends this program; within do, Protect returns a *DamageError instead. do must
// release locks and other resources with defer. Open, Verify and Request are protected. Lookup is not, because
// protection takes longer than a lookup: protect many lookups at a time, or set Options.Copy.
func (s *Snapshot) Protect(do func() error) error {
	defer runtime.KeepAlive(s)
	return s.file.Protect(do)
}

// Digest identifies the snapshot, as printed by bindq info. Equal sites have equal digests.
func (s *Snapshot) Digest() string {
	defer runtime.KeepAlive(s)
	return s.file.Digest().String()
}

// Hiera reports whether the snapshot has Hiera 5 data.
func (s *Snapshot) Hiera() bool { return len(s.file.Hiera()) > 0 }

// recipe returns the decoded recipe with number n, to which key is bound.
func (s *Snapshot) recipe(key string, n int) (*recipe.Recipe, error) {
	var slot *atomic.Pointer[recipe.Recipe]
	if n < s.file.Recipes() {
		slot = &s.chunk(n / len(recipeChunk{}))[n%len(recipeChunk{})]
		if r := slot.Load(); r != nil {
			return r, nil
		}
	}
	encoded, err := s.file.Recipe(n)
	if err != nil {
		return nil, err
	}
	if _, sealed := s.file.Seal(); sealed && recipe.IsSealed(encoded) {
		return s.sealed(key, encoded)
	}
	r, err := recipe.Decode(encoded)
	if err != nil {
		return nil, badRecipe(err)
	}
	slot.Store(r)
	return r, nil
}

func badRecipe(err error) error {
	return &DamageError{Section: "recipes", Expected: "a recipe: " + err.Error()}
}

func (s *Snapshot) chunk(i int) *recipeChunk {
	if c := s.recipes[i].Load(); c != nil {
		return c
	}
	s.recipes[i].CompareAndSwap(nil, &recipeChunk{})
	return s.recipes[i].Load()
}

// sealed decrypts the sealed recipe that key is bound to. Decrypted recipes are not cached or used
// for other keys.
func (s *Snapshot) sealed(key, encoded string) (*recipe.Recipe, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(key, recipe.MergeKey("")), "\x00")
	if s.box == nil {
		return nil, failed(name, CodeEncrypted, "'"+name+"' is encrypted, but no given identity can decrypt it")
	}
	text, err := recipe.Unseal(encoded, key, s.box)
	if err != nil {
		return nil, failed(name, CodeEncrypted, "'"+name+"' cannot be decrypted: "+err.Error())
	}
	r, err := recipe.Decode(text)
	if err != nil { // only a holder of the key could seal this, and Verify cannot check it
		return nil, failed(name, CodeEncrypted, "'"+name+"' cannot be decrypted: expected a recipe: "+err.Error())
	}
	return r, nil
}

// value returns the constant that ref refers to, after checking all its parts.
func (s *Snapshot) value(ref snapshot.Ref) (value.Value, error) {
	v, err := s.file.Value(ref)
	if err == nil {
		err = sound(v)
	}
	return v, err
}

// content returns the constant or the recipe that b binds key to. It returns an *Error if the recipe cannot be
// decrypted.
func (s *Snapshot) content(key string, b snapshot.Binding) (v value.Value, r *recipe.Recipe, err error) {
	n, computed := b.Ref.Recipe()
	switch {
	case b.Stored.Computed && recipe.IsSealed(b.Stored.Bytes):
		r, err = s.sealed(key, b.Stored.Bytes)
	case b.Stored.Computed:
		if r, err = recipe.Decode(b.Stored.Bytes); err != nil {
			err = &DamageError{Section: "origins", Expected: "a recipe: " + err.Error()}
		}
	case b.Hidden:
		v, _, err = value.View(b.Stored.Bytes)
	case computed:
		r, err = s.recipe(key, n)
	default:
		v, err = s.value(b.Ref)
	}
	return v, r, err
}
