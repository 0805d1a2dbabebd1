package ship

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"
	"unicode/utf8"
)

// State is what the store records about a name in addition to the name's link and history.
type State struct {
	Source     string          `json:"source,omitempty"`
	Validator  string          `json:"validator,omitempty"` // validator of the release at the last poll
	Offered    Digest          `json:"offered,omitempty"`   // the release at the last poll, if it was acceptable
	Pinned     bool            `json:"pinned,omitempty"`    // set by hand: new releases are stored but not activated
	Newest     time.Time       `json:"newest,omitzero"`     // latest signing time of the snapshots that were active
	Damaged    string          `json:"damaged,omitempty"`   // describes the damage of the active file
	Refused    *RefusedRelease `json:"refused,omitempty"`   // the release in the source, if it was rejected
	Checked    Step            `json:"checked,omitzero"`    // the last poll
	Downloaded Step            `json:"downloaded,omitzero"`
	Activated  Step            `json:"activated,omitzero"`
	Note       string          `json:"note,omitempty"` // describes why polls are inefficient
	Counts     Counts          `json:"counts,omitzero"`
}

// Counts holds the counters of a name. If the state is lost, they restart from zero.
type Counts struct {
	Polls       map[string]uint64 `json:"polls,omitempty"` // by Reason, or "ok"
	Downloads   uint64            `json:"downloads,omitempty"`
	Bytes       uint64            `json:"bytes,omitempty"`
	Activations uint64            `json:"activations,omitempty"`
	Rollbacks   uint64            `json:"rollbacks,omitempty"`
}

func (c *Counts) polled(err error) {
	polls := maps.Clone(c.Polls)
	if polls == nil {
		polls = map[string]uint64{}
	}
	polls[cmp.Or(string(ReasonOf(err)), resultOK)]++
	c.Polls = polls
}

// validator returns the validator of the release at the last poll.
func (s *State) validator() string {
	if s.Refused != nil {
		return s.Refused.Validator
	}
	return s.Validator
}

// RefusedRelease is a rejected release. While the source still offers the release, pulls do not fetch and check it
// again, unless the record or the rules change.
type RefusedRelease struct {
	Digest    Digest `json:"digest,omitempty"`
	Validator string `json:"validator,omitempty"`
	Reason    Reason `json:"reason"`
	Error     string `json:"error"`
	Seq       uint64 `json:"seq"`   // number of the record
	Rules     string `json:"rules"` // result of Pull.rules
}

// Step records the last success and the last attempt of something that is repeated, such as polls.
type Step struct {
	OK    time.Time `json:"ok,omitzero"`     // time of the last success
	At    time.Time `json:"at,omitzero"`     // time of the last attempt
	Error string    `json:"error,omitempty"` // error of the last attempt; "" if it succeeded

	Reason Reason  `json:"reason,omitempty"`
	Took   float64 `json:"seconds,omitempty"` // duration of the last attempt
}

func (s *Step) done(at time.Time, took time.Duration, err error) {
	s.At, s.Error, s.Reason, s.Took = at, "", ReasonOf(err), took.Seconds()
	if err != nil {
		s.Error = bounded(err.Error())
		return
	}
	s.OK = at
}

// maxText limits each string in a state or a history, in bytes.
const maxText = 1 << 10

// bounded truncates text to maxText bytes. The result ends with the original length.
func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	note := fmt.Sprintf("… (%d bytes)", len(text))
	cut := maxText - len(note)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + note
}

// saved is the content of state/NAME.json.
type saved struct {
	State
	Seq    uint64  `json:"seq,omitempty"` // number of the last intent; a program decides again if it has changed
	Intent *intent `json:"intent,omitempty"`

	Adopting *adoption `json:"adopting,omitempty"`
}

// intent records a change that a program is about to make. If an intent is still in the state, the link shows whether
// the program made the change.
type intent struct {
	Event Event  `json:"event"`
	To    Digest `json:"to,omitempty"` // target of the link after the change
	Then  State  `json:"then"`         // state after the change
}

// RecordError reports that a record of a name cannot be read.
type RecordError struct {
	Path string
	Err  error
}

func (d *RecordError) Error() string {
	if d.Err == errMissing {
		return d.Path + " is missing"
	}
	return fmt.Sprintf("%s is damaged (%v)", d.Path, d.Err)
}
func (d *RecordError) Unwrap() error { return d.Err }

// savedState reads state/NAME.json. found is false if the file does not exist.
func (s *Store) savedState(name string) (st saved, found bool, err error) {
	text, err := s.files.readFile(s.stateOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return saved{}, false, nil
	}
	if err != nil {
		return saved{}, false, err
	}
	if err := json.Unmarshal(text, &st); err != nil {
		return saved{}, true, &RecordError{s.stateOf(name), err}
	}
	return st, true, nil
}

// These errors report that a part of a record lacks what another part has.
var (
	errLost       = errors.New("it does not contain the last change")
	errMissing    = errors.New("the state is missing")
	errUnanswered = errors.New("it does not have the active snapshot")
)

// lacks reports whether a state is older than the history. Each change writes its number to the state first, so a
// larger number in the history shows that the latest state was lost. Older versions of bindsync wrote times instead of
// numbers.
func (st *saved) lacks(events []Event, active Digest) bool {
	for _, e := range events {
		if e.Seq > st.Seq {
			return true
		}
	}
	return st.Seq == 0 && active != "" && st.Checked.At.IsZero() && st.Activated.At.IsZero() && st.Adopting == nil
}

// State returns the state of name, or the zero State. The result includes a switch that a dead program made but did not
// record; the next change records it. If the state is damaged, the error is a *RecordError.
func (s *Store) State(name string) (State, error) {
	v, err := s.view(name)
	return v.State, err
}

// view is the record of a name as seen by a reader without the lock.
type view struct {
	State
	active Digest
	events []Event
	lost   int // number of damaged lines in the history
}

// view reads the record of name. Its parts only belong together if no program changes them meanwhile, so it reads them
// again before it reports that one lacks what another has.
func (s *Store) view(name string) (v view, err error) {
	for range 2 {
		var damage *RecordError
		if v, err = s.viewOnce(name); !errors.As(err, &damage) {
			break
		}
	}
	return v, err
}

func (s *Store) viewOnce(name string) (v view, err error) {
	st, found, err := s.savedState(name)
	if err != nil {
		return v, err
	}
	if v.active, err = s.Active(name); err != nil {
		return v, err
	}
	if v.events, v.lost, err = s.events(name); err != nil {
		return v, err
	}
	switch {
	case found && st.lacks(v.events, v.active):
		return v, &RecordError{s.stateOf(name), errLost}
	case !found && len(v.events) > 0:
		return v, &RecordError{s.stateOf(name), errMissing}
	}
	v.State = st.State
	if it := st.Intent; it != nil && it.To == v.active {
		v.State = it.Then
		if !noted(v.events, it.Event) {
			v.events = append(v.events, it.Event)
		}
	}
	if v.active != "" && v.lost == 0 && !answered(v.events, v.active) {
		return v, &RecordError{s.eventsOf(name), errUnanswered}
	}
	return v, nil
}
