package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Verbs use a snapshot only inside report, ask or request, and so inside its guard: if the file is truncated meanwhile,
// a verb that reads or prints the lost part ends with snapshot_damaged.

// report opens the snapshot at path for do to report on the file, if it is one that counts.
func (t *trust) report(path string, do func(*snapshot.Snapshot) error) error {
	return t.reportOn(snapshot.Open, path, do)
}

// copied is report on a copy in memory: what is made of that is whole, whatever becomes of the file.
func (t *trust) copied(path string, do func(*snapshot.Snapshot) error) error {
	return t.reportOn(snapshot.OpenCopy, path, do)
}

func (t *trust) reportOn(open func(string) (*snapshot.Snapshot, error), path string,
	do func(*snapshot.Snapshot) error) error {
	accept, err := t.accept()
	if err != nil {
		return err
	}
	if err := oneSnapshot(path); err != nil {
		return err
	}
	f, err := open(path)
	if err != nil {
		return inFile(path, err)
	}
	defer f.Close()
	return inFile(path, f.Protect(func() error {
		if accept != nil {
			if err := accept(path, f.Sum()); err != nil {
				return err
			}
		}
		return do(f)
	}))
}

// ask opens the snapshot at path for do to look things up.
func (s *source) ask(path string, do func(*lookup.Snapshot) error) error {
	opts, err := s.options()
	if err != nil {
		return err
	}
	if err := oneSnapshot(path); err != nil {
		return err
	}
	snap, err := bindings.Open(path, opts)
	if err != nil {
		return err
	}
	defer snap.Close()
	return inFile(path, snap.Protect(func() error { return do((*lookup.Snapshot)(snap)) }))
}

// oneSnapshot refuses a directory, where one of the snapshots in it is meant.
func oneSnapshot(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory: expected one snapshot, as NAME.snap in it", path)
	}
	return nil
}

// begin makes the request of facts. The one before is over then.
type begin func(*bindings.Facts) (*lookup.Request, error)

// beginIn begins requests of one snapshot.
func beginIn(snap *lookup.Snapshot) begin {
	return func(facts *bindings.Facts) (*lookup.Request, error) { return snap.Request((*lookup.Facts)(facts)) }
}

// requests opens the snapshot at path, or the environments where that is a directory, for do to make requests.
func (s *source) requests(path string, do func(begin) error) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return s.ask(path, func(snap *lookup.Snapshot) error { return do(beginIn(snap)) })
	}
	opts, err := s.options()
	if err != nil {
		return err
	}
	all, err := bindings.OpenEnvironments(path, bindings.WatchOptions{Options: opts, Interval: -1})
	if err != nil {
		return err
	}
	defer all.Close()
	var last *bindings.Lease
	defer func() { last.Close() }()
	return do(func(facts *bindings.Facts) (*lookup.Request, error) {
		lease, err := all.Request(facts)
		if err != nil {
			return nil, err
		}
		last.Close()
		last = lease
		return (*lookup.Request)(&lease.Request), nil
	})
}

// request opens the snapshot and makes the request the flags describe.
func (s *source) request(cmd *cobra.Command, do func(*lookup.Snapshot, *lookup.Request) error) error {
	path, err := s.path()
	if err != nil {
		return err
	}
	return s.requests(path, func(begin begin) error {
		facts, err := s.readFacts(cmd.InOrStdin())
		if err != nil {
			return err
		}
		r, err := begin(facts)
		if err != nil {
			return err
		}
		snap := r.Snapshot()
		return inFile(path, snap.Protect(func() error { return do(snap, r) }))
	})
}

// fileError is an error that names the file it is about.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return e.path + ": " + e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }

// inFile names the file that an error is about, unless the error does.
func inFile(path string, err error) error {
	var damage *bindings.DamageError
	var named *fileError
	isOfFile := errors.As(err, &damage) || errors.Is(err, bindings.ErrFormat) || errors.Is(err, bindings.ErrVersion)
	if errors.As(err, &named) || !isOfFile {
		return err
	}
	return &fileError{path, err}
}
