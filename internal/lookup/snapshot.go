// Package lookup is the engine of package runtime: it evaluates the categories of a request, finds the bindings that
// are effective, follows their recipes and explains the answer. It has what only this module's own programs need, too:
// explanations, what Puppet asks for, and what a snapshot depends on. A Request of package runtime converts to one of
// this package and back; so do its Snapshot, Facts and Value.
package lookup

import (
	"io/fs"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Snapshot is an open snapshot.
type Snapshot struct {
	file       *snapshot.Snapshot
	dimensions []dimension
	slice      []snapshot.Term               // the requests it is for; nil: all
	recipes    []atomic.Pointer[recipeChunk] // decoded when first needed
	values     *value.Source                 // the small ones
	opts       Options
	closed     atomic.Bool
	box        *seal.Box // opens what is sealed; nil: nothing can be
	layers     sync.Map  // by key, the number of the layer that has its unconditional binding
	levels     compiledOptions

	hierarchies atomic.Pointer[hierarchies] // read when first needed
}

// recipeChunk is some of the recipes, so that opening a snapshot of many costs nothing.
type recipeChunk [256]atomic.Pointer[recipe.Recipe]

// Options are those of runtime.Options that lookups need.
type Options struct {
	StrictVariables bool
	Producers       map[string]Producer
	Decrypt         func(text string) (string, error)
	Unseal          func(sealed []byte) (key []byte, err error)
}

// Producer makes a value for a request, as runtime.Producer does.
type Producer func(r *Request, args Value) (Value, error)

// New returns the snapshot in f. The error is a *DamageError, or an *Error of code encrypted where opts.Unseal fails;
// f is then closed.
func New(f *snapshot.Snapshot, opts Options) (*Snapshot, error) {
	box, err := unseal(f, opts.Unseal)
	if err != nil {
		f.Close()
		return nil, err
	}
	opts.StrictVariables = opts.StrictVariables || f.Strict()
	s := &Snapshot{file: f, opts: opts, box: box, recipes: make([]atomic.Pointer[recipeChunk],
		f.Recipes()/len(recipeChunk{})+1)}
	s.values = value.NewSource(func(ref uint64) (value.Value, error) { return f.Value(snapshot.Ref(ref)) })
	for _, d := range f.Dimensions() {
		n, err := expr.Decode(string(d.Program))
		if err != nil {
			err := &DamageError{Section: "meta", Expected: "the expression of " + d.Name} // before the map is gone
			f.Close()
			return nil, err
		}
		s.dimensions = append(s.dimensions, dimension{d.Name, d.Category, d.Guard, d.Exact, n, soleVariable(n),
			plainPath(n)})
	}
	s.slice = f.Slice()
	return s, nil
}

// Close ends the use of the snapshot, of its requests too. Closing it again does nothing; the error is always nil.
func (s *Snapshot) Close() error {
	if !s.closed.Swap(true) {
		s.file.Release()
	}
	return nil
}

// Keys ranges over the keys that something binds for some request, in no order; over none once s is closed.
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

// Verify checks every checksum and every reference in the file, which it reads from end to end. The error is a
// *DamageError, or fs.ErrClosed.
func (s *Snapshot) Verify() error {
	if s.closed.Load() {
		return fs.ErrClosed
	}
	defer runtime.KeepAlive(s)
	return s.Guard(func() error {
		_, sealed := s.file.Seal()
		features := recipe.Features{Sealed: sealed, Hiera: s.Hiera(), ARM8: s.file.ARM8()}
		return s.file.Verify(func(encoded string) (contributes, alone bool, err error) {
			return recipe.Check(encoded, features)
		})
	})
}

// Guard runs do, in which lookups and the values they find may be used by this goroutine. Where the mapped file was
// truncated meanwhile, reading what is no longer there ends a program; inside Guard it is a *DamageError, which Guard
// returns. What do holds then, a lock for one, it has to give back by defer. Opening, Verify and Request are guarded;
// Lookup is not, which would cost it more than it takes: a program guards many at a time, or sets Options.Copy.
func (s *Snapshot) Guard(do func() error) error {
	defer runtime.KeepAlive(s)
	return s.file.Guard(do)
}

// recipe is the decoded recipe with the given number, which key is bound to.
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
