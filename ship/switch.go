package ship

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Switch has another snapshot of the store answer for a name.
type Switch struct {
	Store    *Store
	Name     string
	Checks   Checks
	SignedAs string // as in Pull
	Source   string
	Revision string // where no signed statement tells
	By       string
	Now      func() time.Time
}

// Activate has the snapshot d answer, if it passes the checks, and ends what a rollback began.
func (s *Switch) Activate(d Digest) error {
	return s.to(d, Activate, func(st *State) { st.Pinned = false })
}

// to checks the snapshot, switches to it and notes it, with what else it changes.
func (s *Switch) to(d Digest, action string, also func(*State)) error {
	stated, err := s.check(d, action)
	return s.Store.locked(func() error {
		if err == nil {
			err = s.notOlder(action, stated)
		}
		if err == nil {
			err = s.Store.switchTo(s.Name, d)
		}
		now := s.Now()
		e := Event{Time: now, Action: action, Digest: d, Revision: s.Revision, Source: s.Source, By: s.By,
			Result: resultOK}
		if err != nil {
			e.Result = err.Error()
		}
		return errors.Join(err, s.Store.record(s.Name, e), s.Store.change(s.Name, func(st *State) {
			st.Activated.done(now, err)
			if err == nil {
				also(st)
				if stated.After(st.Newest) {
					st.Newest = stated
				}
			}
		}))
	})
}

// check holds a snapshot of the store to what is asked of it. It returns the time of its statement, zero where none
// counts. A rollback passes the gates: it is what to do when something worse got through.
func (s *Switch) check(d Digest, action string) (stated time.Time, err error) {
	path := s.Store.Path(d)
	if _, err := os.Stat(path); err != nil {
		return stated, fmt.Errorf("not in the store: %w", err)
	}
	p := Pull{Store: s.Store, Name: s.Name, Checks: s.Checks, SignedAs: s.SignedAs}
	if _, err := p.inspect(path); err != nil {
		return stated, err
	}
	o, err := p.origin(path, d)
	if err != nil {
		return stated, err
	}
	if o != nil {
		stated = o.Created
		s.Revision = o.Revision
	}
	if s.Checks.Gate == nil || action == Rollback {
		return stated, nil
	}
	active, err := s.Store.Active(s.Name)
	if err != nil {
		return stated, err
	}
	from := ""
	if active != "" {
		from = s.Store.Path(active)
	}
	return stated, s.Checks.Gate(path, from)
}

// notOlder refuses what was signed before something that has answered already, and is sent again.
func (s *Switch) notOlder(action string, stated time.Time) error {
	if stated.IsZero() || action == Rollback {
		return nil
	}
	st, err := s.Store.State(s.Name)
	if err != nil {
		return err
	}
	if stated.Before(st.Newest) {
		return refused("it was signed at %s, and one of %s has answered already: to go back, use rollback",
			stated.Format(time.RFC3339), st.Newest.Format(time.RFC3339))
	}
	return nil
}

// settled is how long a snapshot must have answered for a rollback to choose it.
const settled = time.Minute

// Back takes the name back: to the snapshot to, or where that is "", to the last that answered for more than a minute.
// The name stays there until somebody resumes or activates. It returns the digest.
func (s *Switch) Back(to Digest) (Digest, error) {
	if to == "" {
		history, err := s.Store.History(s.Name)
		if err == nil && len(history) == 0 {
			err = s.unknown()
		}
		if err != nil {
			return "", err
		}
		if to, err = s.previous(tenures(history)); err != nil {
			return "", err
		}
	}
	return to, s.to(to, Rollback, func(st *State) { st.Pinned = true })
}

// unknown says that nothing has ever answered for the name, and for which something does.
func (s *Switch) unknown() error {
	names, err := s.Store.Names()
	if err != nil {
		return err
	}
	known := "no name"
	if len(names) > 0 {
		known = "'" + strings.Join(names, "', '") + "'"
	}
	return fmt.Errorf("nothing has answered for '%s': expected a name of the store, which has %s", s.Name, known)
}

func (s *Switch) previous(all []tenure) (Digest, error) {
	active, err := s.Store.Active(s.Name)
	if err != nil {
		return "", err
	}
	for i := len(all) - 2; i >= 0; i-- {
		if t := all[i]; t.digest != active && t.lasted >= settled {
			if there, err := s.Store.has(t.digest); there || err != nil {
				return t.digest, err
			}
		}
	}
	return "", fmt.Errorf(
		"nothing of '%s' that answered for more than a minute is left in the store: name it by --to DIGEST",
		s.Name)
}

// Resume ends what a rollback began: the next look at the source activates what is there.
func (s *Switch) Resume() error {
	return s.Store.locked(func() error {
		e := Event{Time: s.Now(), Action: Resume, By: s.By, Result: resultOK}
		return errors.Join(s.Store.record(s.Name, e),
			s.Store.change(s.Name, func(st *State) { st.Pinned, st.Validator = false, "" }))
	})
}

// Find is the snapshot in the store that text names: a digest, the beginning of one of at least six digits, or the
// revision that a statement or the history of name gives.
func (s *Store) Find(name, text string) (Digest, error) {
	all, err := s.digests()
	if err != nil {
		return "", err
	}
	short := strings.TrimPrefix(text, "sha256:")
	var found []Digest
	for _, d := range all {
		if len(short) >= 6 && strings.HasPrefix(string(d), short) {
			found = append(found, d)
		}
	}
	if len(found) == 0 {
		if found, err = s.ofRevision(name, text, all); err != nil {
			return "", err
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no snapshot in the store has the digest or revision '%s': expected the revision, or six "+
			"digits at least of the file's SHA-256, as bindc build, bindq info, 'bindq status' and sha256sum print it", text)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("'%s' stands for %d snapshots, as %s and %s: give more of the digest", text, len(found),
		found[0].Short(), found[1].Short())
}

// ofRevision are the snapshots of a revision.
func (s *Store) ofRevision(name, revision string, all []Digest) (found []Digest, err error) {
	history, err := s.History(name)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		st, err := s.Statement(d)
		if err != nil {
			return nil, err
		}
		is := st != nil && st.Revision == revision
		for _, e := range history {
			is = is || e.Digest == d && e.Revision == revision
		}
		if is {
			found = append(found, d)
		}
	}
	return found, nil
}

// digests are those of the snapshots in the store, in order.
func (s *Store) digests() (all []Digest, err error) {
	entries, err := os.ReadDir(s.entries())
	for _, e := range entries {
		if d, err := ParseDigest(e.Name()); err == nil {
			all = append(all, d)
		}
	}
	return all, err
}
