// Package runtime answers lookups from a snapshot that bindc wrote. A program opens a snapshot, makes a request of the
// facts of a node, and looks keys up:
//
//	snap, err := bindings.Open("site.bsnap", bindings.Options{})
//	facts, err := bindings.ParseFacts(factsJSON, bindings.FactsOptions{})
//	req, err := snap.Request(facts)
//	port, found, err := req.Lookup("apache::port")
//	fmt.Println(port)
//
// (Import it under a name of its own, as bindings: Go has a package runtime already.)
//
// A lookup has four outcomes that are never mixed up (the language, section 12): the value, which may be undef; not
// found; an *Error, where the binding that wins cannot be evaluated; and any other error, where the snapshot is damaged
// or closed. It never falls back to a lower binding because a higher one failed.
//
// Snapshots, requests and values may be used by several goroutines at once. A snapshot may be closed at any time: what
// is running is finished, and what begins later returns fs.ErrClosed. The file itself stays mapped until the garbage
// collector finds that nothing refers to a closed snapshot, to a request of it, or to a Value.
//
// A Value is a view of the mapped file and keeps it mapped: a program may hold it for as long as it likes, and it stays
// valid when the snapshot is closed. Texts, keys, errors and explanations are copies. Only Value.TextView returns a
// string inside the file, for programs that count nanoseconds.
//
// What is sensitive is not shown by accident: see Value.
package runtime

import (
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/seal"
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

// Options change how a snapshot answers. The zero value is the default.
type Options struct {
	// StrictVariables makes the use of an unknown variable an error, also where the snapshot was built without.
	StrictVariables bool
	// Producers are what to_producer and to_instance of bindings name.
	Producers map[string]Producer
	// Accept is asked before the first answer whether the file at path counts, whose bytes have the SHA-256 sum: a
	// signature may be expected, as package origin does. Its error refuses the file. Opening then reads all of it.
	Accept func(path string, sum [32]byte) error
	// Copy reads the file into memory in place of mapping it: it may then be truncated or written over in place, which
	// else ends the program or changes answers. Opening takes the time to read the file, and memory of its size.
	Copy bool
	// Decrypt decrypts what hiera-eyaml has encrypted in a text, all its ENC[...]. It must be safe for concurrent use.
	// Without it a lookup that needs such a text ends with an *Error of code encrypted; so it does with its error,
	// which is shown and must tell nothing of what is encrypted.
	Decrypt func(text string) (string, error)
	// Unseal decrypts the key of a snapshot whose sensitive values are encrypted (bindc build --encrypt-to): sealed is
	// that key, encrypted with age to those who may read. Open calls it once. Its error refuses the file. Without it a
	// lookup that needs such a value ends with an *Error of code encrypted, and all others are answered.
	Unseal func(sealed []byte) (key []byte, err error)
}

// Producer makes a value for a request. args has the arguments that the binding gives besides the name: a list, a hash,
// or empty. If it returns an error, the lookup fails with an *Error of code producer, whose cause is that error. A
// value made from something sensitive should be sensitive. A Producer must be safe for concurrent use and must not keep
// r or args after it returns. Lookups through r count towards the limits of the lookup that called it, and a key that
// needs itself that way is an error.
type Producer func(r *Request, args Value) (Value, error)

// Open maps the snapshot at path, at a cost that does not grow with the file. The errors name the path; they are
// ErrFormat, ErrVersion, a *DamageError, that of Options.Accept, an *Error of code encrypted where Options.Unseal
// fails, or of the operating system.
func Open(path string, opts Options) (*Snapshot, error) {
	open := snapshot.Open
	if opts.Copy {
		open = snapshot.OpenCopy
	}
	f, err := open(path)
	if err != nil {
		return nil, inFile(path, err)
	}
	if opts.Accept != nil {
		err := f.Guard(func() error { return opts.Accept(path, f.Sum()) })
		if err != nil {
			f.Close()
			return nil, err
		}
	}
	box, err := unseal(f, opts.Unseal)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
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
			return nil, inFile(path, err)
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
		features := recipe.Features{Sealed: sealed, Hiera: s.hiera(), ARM8: s.file.ARM8()}
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
