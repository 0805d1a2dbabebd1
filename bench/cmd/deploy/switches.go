package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	bindings "bindc/runtime"
	"bindc/ship"
)

// switches activates one of two releases n times while lookups run. No lookup may fail or see
// values of different releases, and each switch must be visible before the next one. Unlike
// bindsync activate, it does not verify the snapshots, which would take most of the time.
func (s *sized) switches(n int) ([]row, error) {
	dir := s.path("load-" + s.name)
	store, digests, err := s.pullReleases(dir)
	if err != nil {
		return nil, err
	}
	reader, err := bindings.Watch(filepath.Join(dir, "n0.snap"), bindings.WatchOptions{Interval: time.Millisecond})
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var asked, failed, mixed atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(100 * time.Microsecond) // let the switching goroutine run
				a, b, err := both(reader)
				asked.Add(1)
				if err != nil {
					failed.Add(1)
				} else if a != b {
					mixed.Add(1)
				}
			}
		})
	}
	to := ship.Switch{Store: store, Name: "n0", By: "deploy", Now: time.Now}
	start := time.Now()
	for i := range n {
		next := (i + 1) % 2
		if err = to.Activate(digests[next]); err != nil {
			break
		}
		if err = eventually("the switch is seen", func() (bool, error) {
			a, _, err := both(reader)
			return a == int64(next+1), err
		}); err != nil {
			break
		}
	}
	took := time.Since(start) / time.Duration(max(n, 1))
	cancel()
	all.Wait()
	if err == nil && (failed.Load() > 0 || mixed.Load() > 0) {
		err = fmt.Errorf("%d errors and %d mixed answers", failed.Load(), mixed.Load())
	}
	return []row{
		{fmt.Sprintf("%d switches under four readers: a switch until it is seen", n), round(took)},
		{"requests meanwhile, errors, answers that mix two releases",
			fmt.Sprintf("%d, %d, %d", asked.Load(), failed.Load(), mixed.Load())}}, err
}

// pullReleases creates a store at dir. The releases are pulled as n0 and n1.
func (s *sized) pullReleases(dir string) (store *ship.Store, digests [2]ship.Digest, err error) {
	for i, path := range s.releases {
		args := []string{"pull", "file:" + path, "--name", fmt.Sprint("n", i), "--store", dir}
		if _, err := s.run(nil, "bindsync", args...); err != nil {
			return nil, digests, err
		}
	}
	if store, err = ship.FindStore(dir); err != nil {
		return nil, digests, err
	}
	for i := range digests {
		if digests[i], err = store.Active(fmt.Sprint("n", i)); err != nil {
			return nil, digests, err
		}
	}
	return store, digests, nil
}
