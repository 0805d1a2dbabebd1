package ship

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"bindc/internal/replace"
)

// State is what is remembered of a name beside its link.
type State struct {
	Source     string    `json:"source,omitempty"`
	Validator  string    `json:"validator,omitempty"` // of what was had from the source last
	Pinned     bool      `json:"pinned,omitempty"`    // after a rollback: what is new is stored and not activated
	Newest     time.Time `json:"newest,omitzero"`     // the latest time of a signed statement that came into force
	Checked    Step      `json:"checked,omitzero"`    // the source was asked
	Downloaded Step      `json:"downloaded,omitzero"`
	Activated  Step      `json:"activated,omitzero"`
}

// Step is how something went that is done again and again.
type Step struct {
	OK    time.Time `json:"ok,omitzero"`     // when it went well last
	At    time.Time `json:"at,omitzero"`     // when it was tried last
	Error string    `json:"error,omitempty"` // of that; "" if it went well
}

func (s *Step) done(at time.Time, err error) {
	s.At, s.Error = at, ""
	if err != nil {
		s.Error = err.Error()
		return
	}
	s.OK = at
}

// State is that of name; the zero one if there is none yet.
func (s *Store) State(name string) (st State, err error) {
	text, err := os.ReadFile(s.stateOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	if err := json.Unmarshal(text, &st); err != nil {
		return State{}, fmt.Errorf("%s: %w", s.stateOf(name), err)
	}
	return st, nil
}

// change changes the state of name. The caller holds the lock.
func (s *Store) change(name string, by func(*State)) error {
	st, err := s.State(name)
	if err != nil {
		return err
	}
	by(&st)
	text, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	return replace.File(s.stateOf(name), replace.Options{Limit: 0o644, Synced: true}, func(f *os.File) error {
		_, err := f.Write(append(text, '\n'))
		return err
	})
}

// record appends to the history of name. The caller holds the lock.
func (s *Store) record(name string, e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.eventsOf(name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' { // torn by a crash
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Sync()
}

// History is what happened to name, oldest first. Lines that a crash has torn are left out.
func (s *Store) History(name string) ([]Event, error) {
	f, err := os.Open(s.eventsOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Event
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) == nil && !e.Time.IsZero() {
			all = append(all, e)
		}
	}
	return all, lines.Err()
}

// tenure is how long a snapshot answered for a name.
type tenure struct {
	digest Digest
	since  time.Time
	lasted time.Duration // until something else answered
}

// tenures are those a name can be taken back to, oldest first, and the present one: what a rollback has left does not
// count, so that another rollback goes further back.
func tenures(history []Event) (all []tenure) {
	for _, e := range history {
		if e.Result != resultOK || e.Digest == "" {
			continue
		}
		if n := len(all); n > 0 {
			all[n-1].lasted += e.Time.Sub(all[n-1].since)
		}
		if e.Action == Rollback {
			if i := lastOf(all, e.Digest); i >= 0 {
				all = all[:i+1]
				all[i].since = e.Time
				continue
			}
		}
		all = append(all, tenure{digest: e.Digest, since: e.Time})
	}
	return all
}

func lastOf(all []tenure, d Digest) int {
	for i, t := range slices.Backward(all) {
		if t.digest == d {
			return i
		}
	}
	return -1
}
