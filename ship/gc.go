package ship

import (
	"slices"
	"time"
)

// Keep selects the snapshots that Collect does not remove. Active snapshots are always kept.
type Keep struct {
	Last    int           // number of snapshots to keep per name: the active one, and those active before it
	Younger time.Duration // keep snapshots that have been in the store for less than this time
}

// Collect removes the snapshots that no name needs, and returns their digests. Programs that have such a snapshot open
// can still read it. If dry is set, Collect only returns the digests. Collect does not write records, so that it works
// on a full disk.
func (s *Store) Collect(k Keep, now time.Time, dry bool) (gone []Digest, err error) {
	err = s.exclusively(func() error {
		needed, err := s.needed(k.Last)
		if err != nil {
			return err
		}
		all, err := s.digests()
		if err != nil {
			return err
		}
		for _, d := range all {
			info, err := s.files.stat(s.entry(d))
			if err != nil {
				return err
			}
			if slices.Contains(needed, d) || now.Sub(info.ModTime()) < k.Younger {
				continue
			}
			if !dry {
				if err := s.discard(d); err != nil {
					return err
				}
			}
			gone = append(gone, d)
		}
		if dry {
			return nil
		}
		return s.sweep(now)
	})
	return gone, err
}

// needed returns, for each name, the snapshots that were active last: the active one, and earlier ones up to the given
// number. It does not read the states, so that a damaged state does not stop the collection.
func (s *Store) needed(last int) (needed []Digest, err error) {
	names, err := s.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		active, err := s.Active(name)
		if err != nil {
			return nil, err
		}
		history, err := s.History(name)
		if err != nil {
			return nil, err
		}
		kept := []Digest{active}
		for _, e := range slices.Backward(history) {
			if len(kept) >= last {
				break
			}
			if e.happened() && !slices.Contains(kept, e.Digest) {
				kept = append(kept, e.Digest)
			}
		}
		needed = append(needed, kept...)
	}
	return needed, nil
}
