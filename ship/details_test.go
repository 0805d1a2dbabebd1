package ship

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"bindc/origin"
)

func TestLengthOfNames(t *testing.T) {
	for n, fits := range map[int]bool{0: false, 1: true, maxName: true, maxName + 1: false} {
		if err := CheckName(strings.Repeat("n", n)); (err == nil) != fits {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A state without a number and without any time is not that of an active snapshot. States of older versions have times.
func TestStateThatLacksTheLastChange(t *testing.T) {
	at := Step{At: day(1)}
	for name, c := range map[string]struct {
		state  saved
		events []Event
		active Digest
		lacks  bool
	}{
		"empty":                    {saved{}, nil, "a", true},
		"empty, none active":       {saved{}, nil, "", false},
		"polled":                   {saved{State: State{Checked: at}}, nil, "a", false},
		"activated":                {saved{State: State{Activated: at}}, nil, "a", false},
		"adopting":                 {saved{Adopting: &adoption{}}, nil, "a", false},
		"with a number":            {saved{Seq: 1}, nil, "a", false},
		"as new as the history":    {saved{Seq: 2}, []Event{{Seq: 1}, {Seq: 2}}, "a", false},
		"older than the history":   {saved{Seq: 1, State: State{Checked: at}}, []Event{{Seq: 2}, {Seq: 1}}, "", true},
		"a history of old version": {saved{State: State{Checked: at}}, []Event{{}}, "a", false},
	} {
		if got := c.state.lacks(c.events, c.active); got != c.lacks {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A rollback ends the tenures after the one that it goes back to. An activation of an earlier snapshot begins a new
// one.
func TestTenuresAfterARollback(t *testing.T) {
	for name, want := range map[string]string{"a b c": "a b c", "a b c -a": "a", "a b c -a d": "a d", "a b a": "a b a",
		"a b a -b d": "a b d", "a b -c d": "a b c d", "a b c -b -a d e": "a d e"} {
		var history []Event
		for text := range strings.FieldsSeq(name) {
			e := Event{Action: Activate, Result: resultOK, Digest: Digest(strings.TrimPrefix(text, "-"))}
			if strings.HasPrefix(text, "-") {
				e.Action = Rollback
			}
			history = append(history, e)
		}
		var got []string
		for _, tenure := range tenures(history) {
			got = append(got, string(tenure.digest))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}

// The time of a file counts from two seconds on: it may be written twice in a second.
func TestTimeOfAFileThatHasJustChanged(t *testing.T) {
	const changed = "Mon, 04 May 2026 03:00:00 GMT"
	for date, want := range map[string]string{"Mon, 04 May 2026 03:00:01 GMT": tooNew, "": tooNew,
		"Mon, 04 May 2026 03:00:02 GMT": byTime + changed} {
		resp := &http.Response{Header: http.Header{"Last-Modified": {changed}, "Date": {date}}}
		if got := validatorOf(resp); got != want {
			t.Errorf("at %s: '%s', expected '%s'", date, got, want)
		}
	}
}

// The event of a rollback has the signing time of its snapshot.
func TestRollbackHasItsTimeInTheHistory(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	if _, err := m.change().Back(sum("one")); err != nil {
		t.Fatal(err)
	}
	if h := m.history(); !h[len(h)-1].Created.Equal(day(1)) {
		t.Errorf("the history ends with %+v", h[len(h)-1])
	}
}

// Only a sensitive snapshot is hidden from other users.
func TestPermissionsOfASnapshot(t *testing.T) {
	for sensitive, want := range map[bool]os.FileMode{true: 0o440, false: 0o444} {
		m := newMaster(t)
		m.pull.Checks.Inspect = func(string) (bool, error) { return sensitive, nil }
		m.mustRelease("one")
		if info, err := os.Stat(m.store.Path(sum("one"))); err != nil || info.Mode() != want {
			t.Errorf("sensitive %v: mode %v, %v", sensitive, info.Mode(), err)
		}
	}
}

// A snapshot that is not in the store is neither checked nor signed anew.
func TestSnapshotThatIsNotInTheStore(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	s := m.change()
	s.Checks.Inspect = func(string) (bool, error) { t.Error("it was checked"); return false, nil }
	if err := s.Activate(sum("nowhere")); !errors.Is(err, errGone) {
		t.Error(err)
	}
	for _, want := range []error{errGone, syscall.EIO} {
		err := m.store.locked("production", m.now, func(r *record) error {
			if want == syscall.EIO {
				m.failsAt("stat", string(sum("nowhere")), want)
			}
			err := r.adopt(sum("nowhere"), &origin.Signed{})
			if r.Adopting != nil {
				t.Errorf("adopting %+v", r.Adopting)
			}
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("%v, expected %v", err, want)
		}
	}
}

// Files that belong to the owner of the store already are not given away.
func TestFilesOfTheRightOwnerStay(t *testing.T) {
	m := newMaster(t)
	m.failsAt("chown", "", syscall.EPERM)
	m.mustRelease("one")
}
