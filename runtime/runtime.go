// Package runtime answers lookups from a snapshot that bindc wrote. A program opens a snapshot, makes a request of the
// facts of a node, and looks keys up:
//
//	snap, err := bindings.Open("site.bsnap")
//	facts, err := bindings.ParseFacts(factsJSON)
//	req, err := snap.Request(facts)
//	port, found, err := req.Lookup("apache::port")
//	fmt.Println(port.Int())
//
// (Import it under a name of its own, as bindings: Go has a package runtime already.)
//
// A lookup has four outcomes that are never mixed up (the language, section 12): the value, which may be undef; not found;
// an *Error, where the binding that wins cannot be evaluated; and any other error, where the snapshot is damaged. It never
// falls back to a lower binding because a higher one failed.
//
// Snapshots, requests and values may be used by several goroutines at once. Values are views of the mapped file: they,
// and the strings taken from them, are valid until the snapshot is closed. Errors stay valid; so does what Value.Interface
// and Value.MarshalJSON return.
package runtime

import (
	"sync/atomic"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Snapshot is an open snapshot.
type Snapshot struct {
	file       *snapshot.Snapshot
	dimensions []dimension
	recipes    []atomic.Pointer[recipeChunk] // decoded when first needed
	values     *value.Source                 // the small ones
	opts       Options
}

// recipeChunk is some of the recipes, so that opening a snapshot of many costs nothing.
type recipeChunk [256]atomic.Pointer[recipe.Recipe]

// Options change how a snapshot answers. The zero value is the default.
type Options struct {
	// StrictVariables makes the use of an unknown variable an error, also where the snapshot was built without.
	StrictVariables bool
	// Producers are what to_producer and to_instance of bindings name.
	Producers map[string]Producer
}

// Producer makes a value for a request. args is what the binding gives beside the name: a list, a hash, or empty. Its error
// is the cause of an *Error with the code producer. It must be safe for concurrent use and not keep r or args for
// longer than the snapshot is open.
type Producer func(r *Request, args Value) (Value, error)

// Open maps the snapshot at path, which Close unmaps, at a cost that does not grow with the file. The errors are those of
// package snapshot: ErrFormat, ErrVersion, a *snapshot.DamageError, or of the operating system.
func Open(path string) (*Snapshot, error) { return OpenWith(path, Options{}) }

// OpenWith is Open with options.
func OpenWith(path string, opts Options) (*Snapshot, error) {
	f, err := snapshot.Open(path)
	if err != nil {
		return nil, err
	}
	opts.StrictVariables = opts.StrictVariables || f.Strict()
	s := &Snapshot{file: f, opts: opts, recipes: make([]atomic.Pointer[recipeChunk], f.Recipes()/len(recipeChunk{})+1)}
	s.values = value.NewSource(func(ref uint64) (value.Value, error) { return f.Value(snapshot.Ref(ref)) })
	for _, d := range f.Dimensions() {
		n, err := expr.Decode(string(d.Program))
		if err != nil {
			err := &snapshot.DamageError{Section: "meta", Expected: "the expression of " + d.Name} // before the map is gone
			f.Close()
			return nil, err
		}
		s.dimensions = append(s.dimensions, dimension{d.Name, d.Category, d.Guard, d.Exact, n, soleVariable(n)})
	}
	return s, nil
}

// Close unmaps the file. Requests and values of the snapshot must not be used any more.
func (s *Snapshot) Close() error { return s.file.Close() }

// File is the open file, for reports on it.
func (s *Snapshot) File() *snapshot.Snapshot { return s.file }

// Verify checks every checksum and every reference in the file, which it reads from end to end. The error is a
// *snapshot.DamageError.
func (s *Snapshot) Verify() error {
	return s.file.Verify(func(encoded string) (contributes bool, err error) {
		r, err := recipe.Decode(encoded)
		return err == nil && r.Kind == recipe.Contributions, err
	})
}

// recipe is the decoded recipe with the given number.
func (s *Snapshot) recipe(n int) (*recipe.Recipe, error) {
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
	r, err := recipe.Decode(encoded)
	if err != nil {
		return nil, &snapshot.DamageError{Section: "recipes", Expected: "a recipe: " + err.Error()}
	}
	slot.Store(r)
	return r, nil
}

func (s *Snapshot) chunk(i int) *recipeChunk {
	if c := s.recipes[i].Load(); c != nil {
		return c
	}
	s.recipes[i].CompareAndSwap(nil, &recipeChunk{})
	return s.recipes[i].Load()
}
