package main

import (
	"os"

	"github.com/spf13/cobra"

	"bindc/internal/lookup"
	"bindc/internal/snapfile"
	bindings "bindc/runtime"
)

// Verbs use a snapshot only inside snapfile.Use, directly or through ask and request. If another program truncates the
// file, a verb that reads the lost part fails with snapshot_damaged.

// ask opens the snapshot at path, calls do with it, and closes it.
func (s *source) ask(path string, do func(*lookup.Snapshot) error) error {
	opts, err := s.options()
	if err != nil {
		return err
	}
	if err := snapfile.CheckOne(path); err != nil {
		return err
	}
	snap, err := bindings.Open(path, opts)
	if err != nil {
		return err
	}
	defer snap.Close()
	return snapfile.InFile(path, snap.Protect(func() error { return do((*lookup.Snapshot)(snap)) }))
}

// requestFunc begins a request for facts and ends the previous one.
type requestFunc func(*bindings.Facts) (*lookup.Request, error)

func requestsFrom(snap *lookup.Snapshot) requestFunc {
	return func(facts *bindings.Facts) (*lookup.Request, error) { return snap.Request((*lookup.Facts)(facts)) }
}

// requests opens the snapshot at path, or all environments if path is a directory. It calls do with a function that
// begins requests, and closes the snapshots afterwards.
func (s *source) requests(path string, do func(requestFunc) error) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return s.ask(path, func(snap *lookup.Snapshot) error { return do(requestsFrom(snap)) })
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

// request opens the snapshot, begins the request that the flags describe, and calls do with both.
func (s *source) request(cmd *cobra.Command, do func(*lookup.Snapshot, *lookup.Request) error) error {
	path, err := s.path()
	if err != nil {
		return err
	}
	return s.requests(path, func(begin requestFunc) error {
		facts, err := s.readFacts(cmd.InOrStdin())
		if err == nil {
			err = s.sayUnread(cmd)
		}
		if err != nil {
			return err
		}
		r, err := begin(facts)
		if err != nil {
			return err
		}
		snap := r.Snapshot()
		return snapfile.InFile(path, snap.Protect(func() error { return do(snap, r) }))
	})
}
