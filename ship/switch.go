package ship

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bindc/diag"
)

// Switch changes the active snapshot of a name to another one in the store.
type Switch struct {
	Store    *Store
	Name     string
	Checks   Checks
	SignedAs string // see Pull.SignedAs
	Source   string
	Revision string // recorded if the snapshot is not signed
	By       string
	Now      func() time.Time
	Pinned   bool // set by Activate if it pinned the name
}

// Activate makes the snapshot d active if it passes the checks. If the source had another snapshot at the last poll,
// Activate pins the name like a rollback and sets s.Pinned. Otherwise, it ends a pin.
func (s *Switch) Activate(d Digest) error {
	_, err := s.perform(Activate, func(r *record) (Digest, error) {
		s.Pinned = s.pins(r, d, Activate)
		return d, nil
	})
	return err
}

// pins reports whether a switch to d pins the name: for a rollback, or if a user chose d and the source has another
// snapshot.
func (s *Switch) pins(r *record, d Digest, action string) bool {
	byHand := s.Source == ""
	return action == Rollback || byHand && r.Offered != "" && r.Offered != d
}

// perform switches the name to the snapshot that choose returns. It holds the lock while it calls choose, and returns
// the error of choose. The checks may take a long time, so they run without the lock. If the record changes during the
// checks, perform starts over, because choose and the gate may now decide differently. seq is the number of the record
// on which the decision is based.
func (s *Switch) perform(action string, choose func(*record) (Digest, error)) (seq uint64, err error) {
	for {
		var d Digest
		var seen record
		err := s.Store.locked(s.Name, s.Now(), func(r *record) (err error) {
			d, err = choose(r)
			seen, seq = *r, r.Seq
			return err
		})
		if err != nil {
			return seq, err
		}
		begun := s.Now()
		stated, checked := s.check(d, &seen, action)
		again := false
		err = s.Store.locked(s.Name, s.Now(), func(r *record) error {
			if again = r.Seq != seq; again {
				return nil
			}
			defer func() { seq = r.Seq }()
			return s.carryOut(r, d, action, begun, stated, checked)
		})
		if !again {
			return seq, err
		}
	}
}

// carryOut switches to a snapshot unless its checks failed, and records the result.
func (s *Switch) carryOut(r *record, d Digest, action string, begun, stated time.Time, checked error) error {
	exists, err := s.Store.holds(d)
	if err == nil && !exists {
		err = fmt.Errorf("%s: %w", d.Short(), errGone) // this is probably why the checks failed
	}
	if err != nil {
		return err
	}
	e := Event{Time: s.Now(), Action: action, Digest: d, Revision: s.Revision, Created: stated, Source: s.Source,
		By: s.By, Result: resultOK}
	if checked != nil {
		e.Result = checked.Error()
		r.Activated.done(e.Time, e.Time.Sub(begun), checked)
		return join(checked, r.note(e), r.save())
	}
	then := r.State
	then.Activated.done(e.Time, e.Time.Sub(begun), nil)
	then.Pinned = s.pins(r, d, action)
	e.Pinned = then.Pinned
	if action == Rollback {
		then.Counts.Rollbacks++
	} else {
		then.Counts.Activations++
	}
	then.Newest = newer(then.Newest, stated, e.Time)
	then.Damaged = ""
	if s.Source == "" && !then.Pinned {
		then.Validator = "" // the next pull must not skip the release of the source
	}
	if then.Refused != nil && then.Refused.Digest == d {
		then.Refused = nil
	}
	return r.carryOut(intent{Event: e, To: d, Then: then}, func() error { return s.Store.switchTo(s.Name, d) })
}

// errGone means that a snapshot is not in the store, perhaps because another program has just removed it.
var errGone = errors.New("not in the store")

// check runs the checks on a snapshot in the store. stated is the time of the signed statement, or zero if signatures
// are not checked. A rollback runs no gate, because it is used after a bad release has passed the gates.
func (s *Switch) check(d Digest, seen *record, action string) (stated time.Time, err error) {
	path := s.Store.Path(d)
	if exists, err := s.Store.holds(d); !exists {
		return stated, cmp.Or(err, errGone)
	}
	if stated, err = s.signature(d, seen.Newest, action); err != nil {
		return stated, err
	}
	if _, err := s.Checks.inspect(path); err != nil {
		return stated, err
	}
	if s.Checks.Gate == nil || action == Rollback {
		return stated, nil
	}
	from := ""
	if seen.active != "" {
		from = s.Store.Path(seen.active)
	}
	return stated, because(Gate, s.Checks.Gate(path, from))
}

// signature checks the signature of a snapshot in the store, and returns the time of the signed statement.
func (s *Switch) signature(d Digest, newest time.Time, action string) (stated time.Time, err error) {
	signed, err := s.Store.signed(d)
	if err != nil {
		return stated, err
	}
	p := Pull{Name: s.Name, Checks: s.Checks, SignedAs: s.SignedAs}
	o, err := p.origin(s.Store.Path(d), signed, d)
	if o == nil {
		return stated, err
	}
	s.Revision = o.Revision
	if action == Rollback {
		return o.Created, nil
	}
	return o.Created, timely(o.Created, newest, s.Now(), s.Name)
}

// timely rejects a snapshot that was signed in the future or before a snapshot that has been active, because it may be
// a replay. created is zero if signatures are not checked.
func timely(created, newest, now time.Time, name string) error {
	switch {
	case created.IsZero():
		return nil
	case created.After(now.Add(clockSkew)):
		return untimely("it was signed at %s, more than %v ahead of this machine's clock, which shows %s; "+
			"expected a time in the past: correct whichever clock is wrong, or sign it again",
			created.Format(time.RFC3339), clockSkew, now.UTC().Format(time.RFC3339))
	case !created.Before(newest):
		return nil
	case newest.After(now.Add(clockSkew)):
		return untimely("it was signed at %s, but one of %s, which is in the future, was active already: "+
			"run 'bindsync reset %s' to forget that time", created.Format(time.RFC3339), newest.Format(time.RFC3339),
			name)
	}
	return untimely("it was signed at %s, but one of %s was active already: to go back, use rollback",
		created.Format(time.RFC3339), newest.Format(time.RFC3339))
}

func untimely(format string, args ...any) error { return because(Signature, refused(format, args...)) }

// settled is how long a snapshot must have been active for a rollback to choose it.
const settled = time.Minute

// Back rolls the name back to the given snapshot and returns its digest. If to is "", Back chooses the last snapshot
// that was active for at least a minute. The name stays pinned until Resume or Activate.
func (s *Switch) Back(to Digest) (d Digest, err error) {
	_, err = s.perform(Rollback, func(r *record) (Digest, error) {
		if len(r.events) == 0 {
			return "", s.unknown()
		}
		if d, err = to, nil; to == "" {
			d, err = s.previous(r)
		}
		return d, err
	})
	return d, err
}

// previous returns the last snapshot before the active one that was active for at least the duration settled.
func (s *Switch) previous(r *record) (Digest, error) {
	all := tenures(r.events)
	for i := len(all) - 2; i >= 0; i-- {
		if t := all[i]; t.digest != r.active && t.lasted >= settled {
			if exists, err := s.Store.holds(t.digest); exists || err != nil {
				return t.digest, err
			}
		}
	}
	left, err := s.left(r)
	if err != nil {
		return "", err
	}
	return "", fmt.Errorf("the store has no earlier snapshot of '%s' that was active for more than a minute: %s", s.Name,
		left)
}

const maxLeft = 5

// left lists the inactive snapshots in the store that have been active for the name, the latest first.
func (s *Switch) left(r *record) (string, error) {
	var seen, all []string
	for _, e := range slices.Backward(r.events) {
		if !e.happened() || e.Digest == r.active || slices.Contains(seen, string(e.Digest)) || len(all) == maxLeft {
			continue
		}
		seen = append(seen, string(e.Digest))
		exists, err := s.Store.holds(e.Digest)
		if err != nil {
			return "", err
		}
		if exists {
			all = append(all, e.described())
		}
	}
	if len(all) == 0 {
		return "it has no other snapshot of this name at all; pull one, or activate any snapshot in the store with " +
			"'bindsync activate'", nil
	}
	return "name one with --to DIGEST: " + strings.Join(all, ", "), nil
}

func (e *Event) described() string {
	text := e.Digest.Short() + " ("
	if e.Revision != "" {
		text += "revision " + e.Revision + ", "
	}
	return text + "active since " + e.Time.UTC().Format(time.RFC3339) + ")"
}

// Unknown returns an error if the store does not know name. The error lists the names that the store knows and suggests
// one.
func (s *Store) Unknown(name string) error {
	names, err := s.Names()
	if err != nil || slices.Contains(names, name) {
		return err
	}
	return unknown(name, names)
}

func unknown(name string, names []string) error {
	if slices.Contains(names, name) {
		return fmt.Errorf("the store has no active snapshot for '%s' yet: pull a snapshot, or activate one in the store",
			name)
	}
	hint := diag.DidYouMean(name, names)
	known := "it has no names yet"
	switch len(names) {
	case 0:
	case 1:
		known = "its only name is " + diag.QuotedFor(hint, names)
	default:
		known = "its names are " + diag.QuotedFor(hint, names)
	}
	if hint != "" {
		known += "; " + hint
	}
	return fmt.Errorf("the store has no active snapshot for '%s'; %s", name, known)
}

// unknown returns the error for a name that never had an active snapshot.
func (s *Switch) unknown() error {
	names, err := s.Store.Names()
	if err != nil {
		return err
	}
	return unknown(s.Name, names)
}

// remember changes the state of a name, but not its link. It fails if the name never had an active snapshot.
func (s *Switch) remember(action string, change func(*record, *State, *Event)) error {
	return s.Store.locked(s.Name, s.Now(), func(r *record) error {
		if len(r.events) == 0 {
			return s.unknown()
		}
		e := Event{Time: s.Now(), Action: action, By: s.By, Result: resultOK}
		then := r.State
		change(r, &then, &e)
		return r.carryOut(intent{Event: e, To: r.active, Then: then}, nil)
	})
}

// Resume ends a pin, so that the next poll activates the source's release.
func (s *Switch) Resume() error {
	return s.remember(Resume, func(_ *record, then *State, _ *Event) { then.Pinned, then.Validator = false, "" })
}

// Reset forgets signing times that are in the future, because they make today's releases look too old. It returns the
// new limit: releases signed before newest are rejected. A zero newest means no limit.
func (s *Switch) Reset() (newest time.Time, err error) {
	err = s.remember(Reset, func(r *record, then *State, e *Event) {
		for _, e := range r.events {
			if e.happened() {
				newest = newer(newest, e.Created, s.Now())
			}
		}
		then.Newest, then.Validator, e.Created = newest, "", newest
	})
	return newest, err
}

// Find returns the snapshot in the store that text identifies: by its digest, by at least the first six digits of the
// digest, or by a revision in a statement or in the history of name.
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
		return "", fmt.Errorf("no snapshot in the store has the digest or revision '%s': expected the revision, or at "+
			"least six digits of the file's SHA-256, as bindc build, bindq info, 'bindsync status' and sha256sum print it", text)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("'%s' matches %d snapshots, such as %s and %s: give more digits of the digest", text, len(found),
		found[0].Short(), found[1].Short())
}

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

func (s *Store) digests() (all []Digest, err error) {
	entries, err := s.files.readDir(s.entries())
	for _, e := range entries {
		if d, err := ParseDigest(e.Name()); err == nil {
			all = append(all, d)
		}
	}
	return all, err
}
