// Package gen generates synthetic sites for the benchmarks, and predicts the result of every lookup
// in them.
//
// A site is a pure function of its Config: equal Configs give equal bytes on every machine. Each
// value comes from its own random stream, which depends only on the level, the scope and the key.
// So one binding can be generated, or predicted by Expected, without generating any others.
package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Config defines the size of a site.
type Config struct {
	Nodes     int    // nodes that have a data file
	Keys      int    // keys bound by modules, each by a single module
	Modules   int    // all modules have about the same number of keys
	Overrides int    // keys that each node file binds, in addition to HotKey
	Seed      uint64 // selects the random names, values and facts
}

// Sizes maps the names of sites in bench/README.md to their configurations.
var Sizes = map[string]Config{
	"S":   {Nodes: 500, Keys: 2_000, Modules: 50, Overrides: 20, Seed: 1},
	"M":   {Nodes: 5_000, Keys: 5_000, Modules: 50, Overrides: 20, Seed: 1},
	"L":   {Nodes: 50_000, Keys: 20_000, Modules: 50, Overrides: 20, Seed: 1},
	"XL":  {Nodes: 200_000, Keys: 20_000, Modules: 50, Overrides: 50, Seed: 1},
	"XXL": {Nodes: 1_000_000, Keys: 20_000, Modules: 50, Overrides: 50, Seed: 1},
}

// Totals counts what Write has generated.
type Totals struct {
	Files    int
	Bytes    int64
	Bindings int64
}

func (t *Totals) add(u Totals) {
	t.Files += u.Files
	t.Bytes += u.Bytes
	t.Bindings += u.Bindings
}

func (c Config) check() error {
	switch {
	case c.Nodes < 0 || c.Overrides < 0:
		return errors.New("gen: nodes and overrides must not be negative")
	case c.Keys < 1 || c.Modules < 1:
		return errors.New("gen: a site needs a key and a module")
	case c.Modules > c.Keys:
		return fmt.Errorf("gen: %d modules cannot share %d keys", c.Modules, c.Keys)
	case c.Overrides > c.Keys:
		return fmt.Errorf("gen: a node cannot override %d of %d keys", c.Overrides, c.Keys)
	}
	return nil
}

// Write generates the site of c in dir, which must be empty or absent: leftover files of another
// site would change the results of lookups.
func Write(dir string, c Config) (Totals, error) {
	site, err := New(c)
	if err != nil {
		return Totals{}, err
	}
	if err := claim(dir); err != nil {
		return Totals{}, err
	}
	for _, sub := range site.dirs() {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return Totals{}, err
		}
	}
	return site.writeFiles(dir)
}

func claim(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("gen: %s is not empty", dir)
	}
	return err
}

// writers is the number of goroutines that write files. A larger number is not faster, because the
// file system creates the files of a directory one at a time.
const writers = 2

// writeFiles starts the writers. With n writers, each writes every n-th file.
func (s *Site) writeFiles(dir string) (Totals, error) {
	var (
		wg     sync.WaitGroup
		totals [writers]Totals
		errs   [writers]error
	)
	for w := range writers {
		wg.Go(func() { totals[w], errs[w] = s.writeEvery(dir, w, writers) })
	}
	wg.Wait()
	var sum Totals
	for _, t := range totals {
		sum.add(t)
	}
	return sum, errors.Join(errs[:]...)
}

func (s *Site) writeEvery(dir string, first, step int) (Totals, error) {
	var (
		sum Totals
		buf []byte
	)
	for i := first; i < s.Files(); i += step {
		path, data, bindings := s.File(i, buf[:0])
		if err := os.WriteFile(filepath.Join(dir, path), data, 0o644); err != nil {
			return sum, err
		}
		sum.add(Totals{Files: 1, Bytes: int64(len(data)), Bindings: int64(bindings)})
		buf = data
	}
	return sum, nil
}
