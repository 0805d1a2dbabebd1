package ship

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"bindc/origin"
)

// record holds the state, link and history of a name, after repairs. The caller must hold the lock while it uses a
// record.
type record struct {
	saved
	store  *Store
	name   string
	active Digest
	events []Event
	now    time.Time
}

// locked calls do with the record of name while no other program changes the store.
func (s *Store) locked(name string, now time.Time, do func(*record) error) error {
	err := s.exclusively(func() error {
		r := &record{store: s, name: name, now: now}
		if err := r.load(); err != nil {
			return err
		}
		return do(r)
	})
	return withoutRoom(err)
}

// load reads the record and repairs damage by a dead program or a disk fault.
func (r *record) load() error {
	st, found, err := r.store.savedState(r.name)
	var damage *RecordError
	if err != nil && !errors.As(err, &damage) {
		return err
	}
	if r.active, err = r.store.Active(r.name); err != nil {
		return err
	}
	var lost int
	if r.events, lost, err = r.store.events(r.name); err != nil {
		return err
	}
	if damage == nil && found && st.lacks(r.events, r.active) {
		damage = &RecordError{r.store.stateOf(r.name), errLost}
	}
	r.saved = st
	if damage != nil {
		return r.rebuild(damage.Error() + "; it was rebuilt from the history")
	}
	if !found && len(r.events) > 0 {
		return r.rebuild(r.store.stateOf(r.name) + " is missing; it was rebuilt from the history")
	}
	if r.Adopting != nil {
		if err := r.finishAdopting(); err != nil {
			return err
		}
	}
	if r.Intent != nil {
		if err := r.settle(nil); err != nil {
			return err
		}
	}
	if lost > 0 {
		return r.repair(fmt.Sprintf("%s had %d damaged lines, which were removed", r.store.eventsOf(r.name), lost))
	}
	if r.active != "" && !answered(r.events, r.active) {
		return r.repair("the history did not have the active snapshot")
	}
	return nil
}

// answered reports whether d has been active, according to the history.
func answered(events []Event, d Digest) bool {
	return slices.ContainsFunc(events, func(e Event) bool { return e.happened() && e.Digest == d })
}

// rebuild creates the state from the history.
func (r *record) rebuild(reason string) error {
	r.saved = saved{}
	for _, e := range r.events {
		r.Seq = max(r.Seq, e.Seq)
		if e.Result != resultOK {
			continue
		}
		switch e.Action {
		case Reset:
			r.Newest = e.Created
		case Rollback:
			r.Pinned = true
		case Activate, Resume:
			r.Pinned = e.Pinned
		}
		if e.happened() {
			r.Source = e.Source
			r.Activated.done(e.Time, 0, nil)
			r.Newest = newer(r.Newest, e.Created, e.Time)
		}
	}
	r.Seq++ // an intent may have been lost: other programs must notice that the record has changed
	return r.repair(reason)
}

// repair records a repair in the history, with the active snapshot if the history lacks it.
func (r *record) repair(reason string) error {
	e := Event{Time: r.now, Action: Repair, Note: reason, Result: resultOK}
	if r.active != "" && !answered(r.events, r.active) {
		e.Digest = r.active
		st, err := r.store.Statement(r.active)
		if err != nil {
			e.Note += "; its statement is damaged: " + err.Error()
		}
		if st != nil {
			e.Revision, e.Created = st.Revision, st.Created
		}
	}
	r.store.notice("%s: repaired: %s", r.name, e.Note)
	then := r.State
	then.Newest = newer(then.Newest, e.Created, r.now)
	return r.carryOut(intent{Event: e, To: r.active, Then: then}, nil)
}

// clockSkew is how far the clock of a signing machine may be ahead of the clock of this machine.
const clockSkew = 5 * time.Minute

// newer returns the later of two signing times. It ignores created if that is in the future.
func newer(newest, created, now time.Time) time.Time {
	if created.After(newest) && !created.After(now.Add(clockSkew)) {
		return created
	}
	return newest
}

func (r *record) save() error {
	text, err := json.MarshalIndent(r.saved, "", "  ")
	if err != nil {
		return err
	}
	return r.store.write(r.store.stateOf(r.name), append(text, '\n'))
}

// carryOut records an intent, calls do, and records the result. do may be nil if the intent only changes the state.
func (r *record) carryOut(it intent, do func() error) error {
	before := r.saved
	r.Seq++
	it.Event.Seq = r.Seq
	r.Intent = &it
	if err := r.save(); err != nil {
		r.saved = before
		r.save() // the failed save may have replaced the file
		return err
	}
	var err error
	if do != nil {
		err = do()
	}
	return r.settle(err)
}

// errInterrupted is the result of an intent that a dead program recorded but did not carry out.
var errInterrupted = errors.New("the program ended before the switch")

// settle closes an intent. It reads from the link whether the change was made. failure is the error that the change
// returned, or nil if the program that recorded the intent died.
func (r *record) settle(failure error) error {
	it := *r.Intent
	var err error
	if r.active, err = r.store.Active(r.name); err != nil {
		return join(failure, err)
	}
	done := r.active == it.To
	if done {
		r.State = it.Then
	} else {
		result := failure
		if result == nil {
			result = errInterrupted
		}
		it.Event.Result = result.Error()
		r.Activated.done(it.Event.Time, 0, result)
	}
	if !noted(r.events, it.Event) {
		err = r.note(it.Event)
	}
	if err == nil {
		r.Intent = nil
		err = r.save()
	}
	if err != nil && done {
		err = fmt.Errorf("the change was made but could not be recorded; the next bindsync command records it: %w", err)
	}
	return join(failure, err)
}

// adoption holds a statement and its signature that a program is about to store for a snapshot. If the program dies
// after writing the first of these two files, the files do not match until the next program finishes the adoption.
type adoption struct {
	Digest    Digest `json:"digest"`
	Statement []byte `json:"statement"`
	Signature []byte `json:"signature"`
}

// adopt writes a statement and its signature for a snapshot in the store. It fails with errGone if the snapshot is not
// there.
func (r *record) adopt(d Digest, signed *origin.Signed) error {
	if exists, err := r.store.holds(d); !exists {
		return cmp.Or(err, errGone)
	}
	r.Adopting = &adoption{d, signed.Text, signed.Signature}
	if err := r.save(); err != nil {
		return err
	}
	return r.finishAdopting()
}

func (r *record) finishAdopting() error {
	a := r.Adopting
	exists, err := r.store.holds(a.Digest)
	if err == nil && exists {
		err = r.store.writeSigned(r.store.Path(a.Digest), origin.Signed{Text: a.Statement, Signature: a.Signature})
	}
	if err != nil {
		return err
	}
	r.Adopting = nil
	return r.save()
}
