// Package runtime looks up keys in a snapshot that bindc wrote. A program opens a snapshot, makes a request with the
// facts of a node, and looks up keys:
//
//	snap, err := bindings.Open("site.snap", bindings.Options{})
//	node, err := facts.ParseJSON(factsJSON, bindings.FactsOptions{})
//	req, err := snap.Request(node)
//	port, found, err := req.Lookup("apache::port")
//	fmt.Println(port)
//
// (Import it under another name, such as bindings, because Go already has a package runtime.)
//
// A lookup has four possible outcomes (language.md, section 12): a value, which may be undef; not found; an *Error if
// the winning binding has no value; or another error if the snapshot is damaged or closed. If the winning binding
// fails, a lookup never falls back to a lower one.
//
// Snapshots, requests and values may be used by several goroutines. A snapshot may be closed at any time: running calls
// finish, and later ones return fs.ErrClosed. The file stays mapped until the garbage collector finds that the program
// no longer uses the snapshot, its requests or a Value of it.
//
// A Value refers to the mapped file and keeps it mapped. It stays valid after the snapshot is closed, so a program may
// keep it. Texts, keys, errors and explanations are copies. Only Value.TextView returns a string inside the file, for
// programs that count nanoseconds.
//
// Sensitive values are not shown by accident; see Value.
//
// Package facts reads Facts from JSON or YAML in all common formats. NewFacts makes them from a Value, without a YAML
// parser. The engine is in internal/lookup. To explain results, use the program bindq.
package runtime

import (
	"fmt"
	"iter"

	"bindc/internal/lookup"
	"bindc/snapshot"
)

// Snapshot is an open snapshot. It is safe for concurrent use.
type Snapshot lookup.Snapshot

// Options configures how Open and OpenBytes open a snapshot. The zero value is the default.
type Options struct {
	// StrictVariables makes the use of an unknown variable an error, even if the snapshot was built without this
	// option.
	StrictVariables bool
	// Producers maps the names in to_producer and to_instance of bindings to functions.
	Producers map[string]Producer
	// Accept returns an error if the file at path must not be used. It is called before the first lookup, and opening
	// fails with its error. sum is the SHA-256 of the file. Package origin uses Accept to check signatures. With
	// Accept, opening reads the whole file.
	Accept func(path string, sum [32]byte) error
	// Copy makes Open read the file into memory instead of mapping it. The file may then be truncated or overwritten in
	// place, which otherwise ends the program or changes results. Opening then takes time and memory in proportion to
	// the size of the file.
	Copy bool
	// Decrypt decrypts all parts ENC[...] of a string that hiera-eyaml encrypted. It must be safe for concurrent use.
	// If it is nil or fails, a lookup that needs such a string returns an *Error with the code encrypted. Users see the
	// text of its error, so it must not contain secrets.
	Decrypt func(text string) (string, error)
	// Unseal decrypts the key of a snapshot whose sensitive values are encrypted (bindc build --encrypt-to). sealed is
	// that key, encrypted with age to its recipients. Open calls Unseal once, and fails if it returns an error. If
	// Unseal is nil, a lookup that needs a sensitive value returns an *Error with the code encrypted; other lookups
	// work.
	Unseal func(sealed []byte) (key []byte, err error)
}

// Producer computes a value for a request. args has the arguments of the binding: the list after the name, the hash
// with class_name, or an empty hash. If a Producer returns an error, the lookup fails with an *Error that has the code
// producer and that error as its cause. A value computed from sensitive data should be sensitive. A Producer must be
// safe for concurrent use and must not keep r or args after it returns. Its lookups through r count towards the limits
// of the lookup that called it. A key that depends on itself through a Producer is an error.
type Producer func(r *Request, args Value) (Value, error)

// Open maps the snapshot at path. The time that it takes does not depend on the size of the file. Its errors include
// the path. They are ErrFormat, ErrVersion, a *DamageError, the error of Options.Accept, an *Error with the code
// encrypted if Options.Unseal fails, or an error of the operating system.
func Open(path string, opts Options) (*Snapshot, error) {
	open := snapshot.Open
	if opts.Copy {
		open = snapshot.OpenCopy
	}
	f, err := open(path)
	if err != nil {
		return nil, inFile(path, err)
	}
	if err := accept(path, f, opts); err != nil {
		return nil, err
	}
	s, err := lookup.New(f, opts.engine())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return (*Snapshot)(s), nil
}

// OpenBytes opens a snapshot from content, a copy of the file that a program may embed or fetch. It copies content. It
// calls Options.Accept with the path "", and its errors do not include a path. Otherwise it returns the errors of Open.
func OpenBytes(content []byte, opts Options) (*Snapshot, error) {
	f, err := snapshot.OpenBytes(content)
	if err != nil {
		return nil, err
	}
	if err := accept("", f, opts); err != nil {
		return nil, err
	}
	s, err := lookup.New(f, opts.engine())
	return (*Snapshot)(s), err
}

// accept calls opts.Accept, if set. If that returns an error, accept closes f and returns the error.
func accept(path string, f *snapshot.Snapshot, opts Options) error {
	if opts.Accept == nil {
		return nil
	}
	err := f.Protect(func() error { return opts.Accept(path, f.Sum()) })
	if err != nil {
		f.Close()
	}
	return err
}

func (opts Options) engine() lookup.Options {
	producers := make(map[string]lookup.Producer, len(opts.Producers))
	for name, produce := range opts.Producers {
		if produce == nil {
			continue // nil counts as not registered
		}
		producers[name] = func(r *lookup.Request, args lookup.Value) (lookup.Value, error) {
			v, err := produce((*Request)(r), Value(args))
			return lookup.Value(v), err
		}
	}
	return lookup.Options{StrictVariables: opts.StrictVariables, Producers: producers, Decrypt: opts.Decrypt,
		Unseal: opts.Unseal}
}

func (s *Snapshot) engine() *lookup.Snapshot { return (*lookup.Snapshot)(s) }

// Close closes the snapshot and its requests. Further calls do nothing. The error is always nil.
func (s *Snapshot) Close() error { return s.engine().Close() }

// Digest identifies the snapshot, as printed by bindq info. Equal sites have equal digests.
func (s *Snapshot) Digest() string { return s.engine().Digest() }

// Keys returns an iterator over copies of the keys that are bound in some request, in no particular order. Once s is
// closed, it yields no keys.
func (s *Snapshot) Keys() iter.Seq[string] { return s.engine().Keys() }

// Verify reads the whole file and checks every checksum and every reference. The error is a
// *DamageError, or fs.ErrClosed.
func (s *Snapshot) Verify() error { return s.engine().Verify() }

// Protect calls do, which may look up keys and read their values on this goroutine. If another program truncates the
// mapped file, reading the missing part ends this program; within do, Protect returns a *DamageError instead. do must
// release locks and other resources with defer. Open, Verify and Request are protected. Lookup is not, because
// protection takes longer than a lookup: protect many lookups at a time, or set Options.Copy.
func (s *Snapshot) Protect(do func() error) error { return s.engine().Protect(do) }

// Request returns a request for the given facts, after evaluating the categories. The error is an *Error if facts is
// nil or a category's expression fails, a *DamageError, or fs.ErrClosed.
func (s *Snapshot) Request(facts *Facts) (*Request, error) {
	r, err := s.engine().Request((*lookup.Facts)(facts))
	return (*Request)(r), err
}
