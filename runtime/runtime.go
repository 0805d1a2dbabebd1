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
// A lookup has four distinct outcomes (language.md, section 12): the value, which may be undef; not
// found; an *Error if the winning binding has no value; and any other error if the snapshot is
// damaged or closed. It never falls back to a lower binding because a higher one failed.
//
// Snapshots, requests and values may be used by several goroutines. A snapshot may be closed at any
// time: running calls finish, and later ones return fs.ErrClosed. The file stays mapped until the
// garbage collector finds that nothing refers to the closed snapshot, to its requests, or to a
// Value of it.
//
// A Value is a view of the mapped file and keeps it mapped. It stays valid after the snapshot is
// closed, so a program may keep it. Texts, keys, errors and explanations are copies. Only
// Value.TextView returns a string inside the file, for programs that count nanoseconds.
//
// Sensitive values are not shown by accident, see Value.
//
// Package facts reads Facts from JSON or YAML in all common formats. NewFacts makes them from a
// Value, without a YAML parser. The engine is in internal/lookup. The program bindq explains
// results.
package runtime

import (
	"fmt"
	"iter"

	"bindc/internal/lookup"
	"bindc/snapshot"
)

// Snapshot is an open snapshot. It is safe for concurrent use.
type Snapshot lookup.Snapshot

// Options configures a snapshot. The zero value is the default.
type Options struct {
	// StrictVariables makes using an unknown variable an error, even if the snapshot was built
	// without this option.
	StrictVariables bool
	// Producers holds the functions that to_producer and to_instance of bindings name.
	Producers map[string]Producer
	// Accept decides, before the first lookup, whether the file at path with the SHA-256 sum may be
	// used. Package origin uses it to check a signature. Its error rejects the file. With Accept,
	// opening reads the whole file.
	Accept func(path string, sum [32]byte) error
	// Copy reads the file into memory instead of mapping it. The file may then be truncated or overwritten in place,
	// which otherwise ends the program or changes results. Opening then takes time and memory in proportion to the size
	// of the file.
	Copy bool
	// Decrypt decrypts all parts ENC[...] of a string, which hiera-eyaml encrypted. It must be safe for concurrent
	// use. Without it, or if it fails, a lookup that needs such a text returns an *Error with the code encrypted.
	// Users see the text of its error, so it must not contain secrets.
	Decrypt func(text string) (string, error)
	// Unseal decrypts the key of a snapshot whose sensitive values are encrypted (bindc build
	// --encrypt-to). sealed is that key, encrypted with age to its recipients. Open calls it once.
	// Its error rejects the file. Without it, a lookup that needs such a value returns an *Error
	// with the code encrypted; other lookups work.
	Unseal func(sealed []byte) (key []byte, err error)
}

// Producer computes a value for a request. args has the arguments of the binding except the name: a list, a hash, or
// empty. If it returns an error, the lookup fails with an *Error with the code producer and that error as its cause. A
// value made from sensitive data should be sensitive. A Producer must be safe for concurrent use and must not keep r or
// args after it returns. Lookups through r count towards the limits of the lookup that called it. A key that depends on
// itself through a Producer is an error.
type Producer func(r *Request, args Value) (Value, error)

// Open maps the snapshot at path. The time does not depend on the size of the file. The errors name
// the path. They are ErrFormat, ErrVersion, a *DamageError, the error of Options.Accept, an *Error
// with the code encrypted if Options.Unseal fails, or an error of the operating system.
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

// OpenBytes opens a snapshot from the content of a file, which a program may embed or fetch. It
// copies content. Options.Accept is called with the path "", and errors do not name a file.
// Otherwise it returns the errors of Open.
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

// accept returns an error, and closes f, if opts do not accept the file.
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

// engine converts the options to those of the engine.
func (opts Options) engine() lookup.Options {
	producers := make(map[string]lookup.Producer, len(opts.Producers))
	for name, produce := range opts.Producers {
		if produce == nil {
			continue // a nil Producer counts as not registered
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

// Keys ranges over copies of the keys that are bound in some request, in no particular order. It
// yields none once s is closed.
func (s *Snapshot) Keys() iter.Seq[string] { return s.engine().Keys() }

// Verify reads the whole file and checks every checksum and every reference. The error is a
// *DamageError, or fs.ErrClosed.
func (s *Snapshot) Verify() error { return s.engine().Verify() }

// Protect calls do, which may use lookups and their values on this goroutine. If the mapped file is
// truncated, reading the lost part ends the program; within Protect, Protect returns a *DamageError
// instead. do must release what it holds, such as a lock, by defer. Opening, Verify and Request are
// protected. Lookup is not, because that would take longer than the lookup: protect many lookups at
// a time, or set Options.Copy.
func (s *Snapshot) Protect(do func() error) error { return s.engine().Protect(do) }

// Request evaluates the categories for facts. The error is an *Error if facts is nil or a
// category's expression fails, a *DamageError, or fs.ErrClosed.
func (s *Snapshot) Request(facts *Facts) (*Request, error) {
	r, err := s.engine().Request((*lookup.Facts)(facts))
	return (*Request)(r), err
}
