package ship

import (
	"os"
	"slices"
	"time"
)

// Keep says what is not garbage beside what a name leads to.
type Keep struct {
	Last    int           // so many per name, of those that answered
	Younger time.Duration // than so long in the store
}

// Collect removes the snapshots that nobody needs any more, and returns them. Who has one mapped keeps what he has.
// With dry, nothing is removed.
func (s *Store) Collect(k Keep, now time.Time, dry bool) (gone []Digest, err error) {
	err = s.locked(func() error {
		needed, err := s.needed(k.Last)
		if err != nil {
			return err
		}
		all, err := s.digests()
		if err != nil {
			return err
		}
		for _, d := range all {
			info, err := os.Stat(s.entry(d))
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
		return s.sweep(now)
	})
	return gone, err
}

// needed are the snapshots that names lead to, and the last that answered for each.
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
			if e.Result == resultOK && e.Digest != "" && !slices.Contains(kept, e.Digest) {
				kept = append(kept, e.Digest)
			}
		}
		needed = append(needed, kept...)
	}
	return needed, nil
}
