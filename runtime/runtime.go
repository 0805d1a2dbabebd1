// Package runtime answers lookups from a snapshot that bindc wrote. A program opens a snapshot, makes a request of the
// facts of a node, and looks keys up:
//
//	snap, err := bindings.Open("site.bsnap", bindings.Options{})
//	node, err := facts.ParseJSON(factsJSON, bindings.FactsOptions{})
//	req, err := snap.Request(node)
//	port, found, err := req.Lookup("apache::port")
//	fmt.Println(port)
//
// (Import it under a name of its own, as bindings: Go has a package runtime already.)
//
// A lookup has four outcomes that are never mixed up (the language, section 12): the value, which may be undef; not
// found; an *Error, where the binding that wins cannot be evaluated; and any other error, where the snapshot is damaged
// or closed. It never falls back to a lower binding because a higher one failed.
//
// Snapshots, requests and values may be used by several goroutines at once. A snapshot may be closed at any time:
// running calls are finished, and later ones return fs.ErrClosed. The file itself stays mapped until the garbage
// collector finds that nothing refers to a closed snapshot, to a request of it, or to a Value.
//
// A Value is a view of the mapped file and keeps it mapped: a program may hold it for as long as it likes, and it stays
// valid when the snapshot is closed. Texts, keys, errors and explanations are copies. Only Value.TextView returns a
// string inside the file, for programs that count nanoseconds.
//
// What is sensitive is not shown by accident: see Value.
//
// Package facts makes Facts from JSON or YAML in all formats that people have them in. NewFacts makes them from a
// Value, without a parser of YAML. The engine is in internal/lookup; bindq explains an answer.
package runtime

import (
	"fmt"
	"iter"

	"bindc/internal/lookup"
	"bindc/snapshot"
)

// Snapshot is an open snapshot. All its methods may be called concurrently.
type Snapshot lookup.Snapshot

// Options configure how a snapshot answers. The zero value is the default.
type Options struct {
	// StrictVariables makes the use of an unknown variable an error, also where the snapshot was built without.
	StrictVariables bool
	// Producers are the functions that to_producer and to_instance of bindings name.
	Producers map[string]Producer
	// Accept decides before the first answer whether the file at path, with the SHA-256 sum, may be used. Package
	// origin checks a signature this way. Its error refuses the file. With Accept, opening reads the whole file.
	Accept func(path string, sum [32]byte) error
	// Copy reads the file into memory instead of mapping it. The file may then be truncated or overwritten in place;
	// otherwise that ends the program or changes answers. Opening takes the time to read it, and memory of its size.
	Copy bool
	// Decrypt decrypts the parts of a text that hiera-eyaml has encrypted, all its ENC[...]. It must be safe for
	// concurrent use. Without it, or if it fails, a lookup that needs such a text ends with an *Error of code
	// encrypted. The text of its error is shown, so it must not contain secrets.
	Decrypt func(text string) (string, error)
	// Unseal decrypts the key of a snapshot whose sensitive values are encrypted (bindc build --encrypt-to). sealed is
	// that key, encrypted with age to its recipients. Open calls it once. Its error refuses the file. Without it, a
	// lookup that needs such a value ends with an *Error of code encrypted; others are answered.
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
	if err := accept(path, f, opts); err != nil {
		return nil, err
	}
	s, err := lookup.New(f, opts.engine())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return (*Snapshot)(s), nil
}

// OpenBytes opens a snapshot from the content of a file, which a program may embed or fetch. It copies content. As
// there is no path, Options.Accept is called with "", and errors name no file. Otherwise they are those of Open.
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

// accept closes f and returns an error if opts do not accept it.
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

// engine returns the part of opts that lookups need.
func (opts Options) engine() lookup.Options {
	producers := make(map[string]lookup.Producer, len(opts.Producers))
	for name, produce := range opts.Producers {
		if produce == nil {
			continue // as if it were not registered
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

// Close ends the use of the snapshot, of its requests too. Closing it again does nothing; the error is always nil.
func (s *Snapshot) Close() error { return s.engine().Close() }

// Digest identifies the snapshot, as bindq info prints it: equal sites have equal digests.
func (s *Snapshot) Digest() string { return s.engine().Digest() }

// Keys ranges over the keys that something binds for some request, in no order; over none once s is closed. The keys
// are copies.
func (s *Snapshot) Keys() iter.Seq[string] { return s.engine().Keys() }

// Verify checks every checksum and every reference in the file, which it reads from end to end. The error is a
// *DamageError, or fs.ErrClosed.
func (s *Snapshot) Verify() error { return s.engine().Verify() }

// Protect runs do, in which lookups and the values they find may be used by this goroutine. If the mapped file was
// truncated meanwhile, reading the missing part ends a program; inside Protect it is a *DamageError, which is returned.
// do must release what it holds, such as a lock, by defer. Opening, Verify and Request are protected. Lookup is not,
// because that would cost more than the lookup itself: a program protects many at a time, or sets Options.Copy.
func (s *Snapshot) Protect(do func() error) error { return s.engine().Protect(do) }

// Request evaluates the categories for facts. An error is an *Error, where there are no facts or a category's
// expression cannot be evaluated, a *DamageError, or fs.ErrClosed.
func (s *Snapshot) Request(facts *Facts) (*Request, error) {
	r, err := s.engine().Request((*lookup.Facts)(facts))
	return (*Request)(r), err
}
