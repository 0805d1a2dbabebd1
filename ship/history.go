package ship

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// A history keeps at most maxEvents events. At most maxFailures of them are failures.
const (
	maxEvents   = 1000
	maxFailures = 200
)

// History returns the events of name, oldest first. It skips damaged lines, and reports them through Notice.
func (s *Store) History(name string) ([]Event, error) {
	all, lost, err := s.events(name)
	if lost > 0 {
		s.notice("%s: %s", name, problem(&RecordError{s.eventsOf(name), damagedLines(lost)}, name))
	}
	return all, err
}

// events reads the history of name. It skips damaged lines; damaged is their number.
func (s *Store) events(name string) (all []Event, damaged int, err error) {
	text, err := s.files.readFile(s.eventsOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged, nil
	}
	if err != nil {
		return nil, damaged, err
	}
	for line := range bytes.Lines(text) {
		var e Event
		if json.Unmarshal(line, &e) == nil && !e.Time.IsZero() {
			all = append(all, e)
		} else {
			damaged++
		}
	}
	return all, damaged, nil
}

type damagedLines int

func (n damagedLines) Error() string {
	if n == 1 {
		return "a line is not an event"
	}
	return fmt.Sprintf("%d lines are not events", int(n))
}

func noted(all []Event, e Event) bool {
	return slices.ContainsFunc(all, func(have Event) bool { return have.Seq == e.Seq })
}

// compacted drops the oldest failures beyond maxFailures, and then the oldest events beyond maxEvents.
func compacted(all []Event) []Event {
	failures := 0
	for _, e := range all {
		if e.Result != resultOK {
			failures++
		}
	}
	all = slices.DeleteFunc(all, func(e Event) bool {
		if e.Result == resultOK || failures <= maxFailures {
			return false
		}
		failures--
		return true
	})
	return all[max(0, len(all)-maxEvents):]
}

// note adds an event to the history of the name. The caller must hold the lock.
func (r *record) note(e Event) error {
	for _, text := range []*string{&e.Revision, &e.Source, &e.By, &e.Note, &e.Result} {
		*text = bounded(*text)
	}
	if n := len(r.events); n > 0 && e.Result != resultOK && repeats(r.events[n-1], e) {
		return nil // a release that is rejected at every poll is recorded once
	}
	all := compacted(append(slices.Clone(r.events), e))
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, e := range all {
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	if err := r.store.write(r.store.eventsOf(r.name), text.Bytes()); err != nil {
		return err
	}
	r.events = all
	return nil
}

// repeats reports whether two events are equal except for their times and numbers.
func repeats(a, b Event) bool {
	a.Time, a.Seq = b.Time, b.Seq
	return a == b
}

// tenure is a period during which a snapshot was active.
type tenure struct {
	digest Digest
	since  time.Time
	lasted time.Duration // time until the next snapshot became active
}

// tenures returns the tenures in history, oldest first. The last one is the current one. Tenures that a rollback has
// undone are left out, so that another rollback goes further back.
func tenures(history []Event) (all []tenure) {
	for _, e := range history {
		if !e.happened() {
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
