package ship

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"time"

	"bindc/origin"
)

// refusing is a master with a check that rejects releases. It counts the calls.
type refusing struct {
	*master
	rules string
	asked int
}

func newRefusing(t *testing.T, refuse func(c *Checks, ask func() error)) *refusing {
	r := &refusing{master: newMaster(t), rules: "strict"}
	r.mustRelease("old")
	refuse(&r.pull.Checks, func() error {
		r.asked++
		if r.rules == "strict" {
			return &Refusal{"bad"}
		}
		return nil
	})
	r.pull.Checks.Rules = func() string { return r.rules }
	r.shelf.text = "new"
	return r
}

// poll pulls once. It expects a rejection for the given reason, and the given totals of checks and downloads.
func (r *refusing) poll(reason Reason, asked, reads int) {
	r.Helper()
	r.now = r.now.Add(time.Minute)
	err := r.pullNow()
	if ReasonOf(err) != reason || err.Error() != "bad" {
		r.Errorf("%v (%s), expected 'bad' (%s)", err, ReasonOf(err), reason)
	}
	if r.asked != asked || r.shelf.reads != reads+1 {
		r.Errorf("%d checks, %d downloads; expected %d, %d", r.asked, r.shelf.reads-1, asked, reads)
	}
	st := r.state()
	if st.Refused == nil || st.Refused.Digest != sum("new") || st.Refused.Reason != reason ||
		st.Refused.Error != "bad" || st.Checked.Reason != reason || !st.Checked.At.Equal(r.now) {
		r.Errorf("remembered: %+v, checked %+v", st.Refused, st.Checked)
	}
	r.answers("old")
}

// A rejected release is neither fetched nor checked again until something changes that may change the outcome.
func TestRejectedReleaseIsRemembered(t *testing.T) {
	byGate := func(c *Checks, ask func() error) { c.Gate = func(string, string) error { return ask() } }
	byContent := func(c *Checks, ask func() error) { c.Inspect = func(string) (bool, error) { return false, ask() } }
	for reason, refuse := range map[Reason]func(*Checks, func() error){Gate: byGate, Content: byContent} {
		t.Run(string(reason), func(t *testing.T) {
			r := newRefusing(t, refuse)
			r.poll(reason, 1, 1)
			r.poll(reason, 1, 1)
			r.pull.MaxBytes++ // changes the rules, too
			again := 1
			if reason == Content {
				again = 2 // a release that failed a gate is in the store
			}
			r.poll(reason, 2, again)
			r.poll(reason, 2, again)
			r.rules = "lenient"
			if err := r.pullNow(); err != nil {
				t.Fatal(err)
			}
			r.answers("new")
			if st := r.state(); st.Refused != nil {
				t.Errorf("still refused: %+v", st.Refused)
			}
		})
	}
}

// A gate compares with the active snapshot. When another one becomes active, the release is checked again.
func TestRejectedReleaseIsCheckedAgainAfterSwitch(t *testing.T) {
	r := newRefusing(t, func(c *Checks, ask func() error) { c.Gate = func(string, string) error { return ask() } })
	r.poll(Gate, 1, 1)
	s := r.change()
	s.Checks = Checks{}
	if err := s.Activate(sum("old")); err != nil {
		t.Fatal(err)
	}
	if st := r.state(); st.Refused == nil || st.Refused.Digest != sum("new") {
		t.Errorf("after the activation of another one, the state has %+v", st.Refused)
	}
	r.poll(Gate, 2, 1)
	if err := s.Activate(sum("new")); err != nil { // by hand, which ignores the rules
		t.Fatal(err)
	}
	if st := r.state(); st.Refused != nil {
		t.Errorf("it answers, and is refused: %+v", st.Refused)
	}
	if err := r.pullNow(); err != nil || r.asked != 2 {
		t.Errorf("%v, %d checks; expected that it answers already", err, r.asked)
	}
}

// It is not an error if a source replaces a rejected release with the active one.
func TestSourceMayReturnToActiveRelease(t *testing.T) {
	r := newRefusing(t, func(c *Checks, ask func() error) { c.Gate = func(string, string) error { return ask() } })
	r.poll(Gate, 1, 1)
	r.shelf.text = "old"
	if err := r.pullNow(); err != nil {
		t.Fatal(err)
	}
	if st := r.state(); st.Refused != nil || st.Checked.Error != "" || st.Checked.Reason != "" {
		t.Errorf("state %+v", st)
	}
}

// A release with a bad signature is not downloaded. The signature is checked at each poll, because signers and clocks
// change.
func TestSignatureIsCheckedBeforeTheDownload(t *testing.T) {
	for name, bad := range map[string]func(m *master){
		"not signed":        func(m *master) { m.shelf.signed = nil },
		"another name":      func(m *master) { m.shelf.signed = signs(m.T, "four", "staging", day(4)) },
		"another snapshot":  func(m *master) { m.shelf.signed = signs(m.T, "five", "production", day(4)) },
		"from the future":   func(m *master) { m.shelf.signed = signs(m.T, "four", "production", day(5)) },
		"older":             func(m *master) { m.shelf.signed = signs(m.T, "four", "production", day(2)) },
		"no statement":      func(m *master) { m.shelf.signed = &origin.Signed{Text: []byte("{}")} },
		"an unknown signer": func(m *master) { m.pull.Checks.Origin = refusesSigner },
	} {
		t.Run(name, func(t *testing.T) {
			m := newSignedMaster(t, signedStore(t))
			bad(m)
			for range 2 {
				if err := m.pullNow(); ReasonOf(err) != Signature {
					t.Errorf("%v (%s), expected reason signature", err, ReasonOf(err))
				}
			}
			if m.shelf.reads != 0 {
				t.Errorf("%d downloads", m.shelf.reads)
			}
			if st := m.state(); st.Refused == nil || st.Refused.Reason != Signature || st.Refused.Validator != "" {
				t.Errorf("remembered: %+v", st.Refused)
			}
			m.answers("three")
			m.pull.Checks.Origin = readsStatement
			m.offer("four", 4)
			if err := m.pullNow(); err != nil {
				t.Errorf("signed by one who may: %v", err)
			}
			m.answers("four")
		})
	}
}

func refusesSigner(what string, _ origin.Signed, _ [32]byte) (origin.Origin, error) {
	return origin.Origin{}, &origin.Rejection{Path: what, Reason: "not among the allowed signers"}
}

// If the source announces no digest, a pull uses the signed digest and does not fetch a snapshot that is already in the
// store.
func TestSignedDigestSavesADownload(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	m.shelf.silent = true
	m.offer("two", 4)
	if err := m.pullNow(); err != nil || m.shelf.reads != 0 {
		t.Errorf("%v, %d downloads", err, m.shelf.reads)
	}
	m.answers("two")
}

// A source cannot send more than it announced.
func TestDownloadEndsAtTheAnnouncedSize(t *testing.T) {
	m := newMaster(t)
	m.shelf.text = "a snapshot"
	sent := 0
	m.pull.Source = lying{m.shelf, &sent}
	err := m.pullNow()
	if ReasonOf(err) != Content || err.Error() != "the source announced 10 bytes but sends more" {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
	if sent > 100 {
		t.Errorf("%d bytes were read", sent)
	}
	m.clean()
}

// A poll that finds the rejected release again does not confirm the rejection for a snapshot that was activated by hand
// during the poll: the gate may accept the release in place of that one.
func TestReleaseIsCheckedAgainAfterActivationDuringPoll(t *testing.T) {
	r := newRefusing(t, func(c *Checks, ask func() error) { c.Gate = func(string, string) error { return ask() } })
	r.poll(Gate, 1, 1)
	s := Switch{Store: r.store, Name: r.pull.Name, Now: func() time.Time { return r.now }}
	r.pull.Source = during{r.shelf, func() {
		if err := s.Activate(sum("old")); err != nil {
			t.Error(err)
		}
	}}
	if err := r.pullNow(); ReasonOf(err) != Gate {
		t.Errorf("%v, expected the rejection", err)
	}
	r.pull.Source, r.asked = r.shelf, 0
	if err := r.pullNow(); ReasonOf(err) != Gate || r.asked != 1 {
		t.Errorf("%v after %d checks, expected a rejection after 1", err, r.asked)
	}
}

// during is a source that calls do in each poll.
type during struct {
	*shelf
	do func()
}

func (d during) Look(ctx context.Context, validator string) (*Offer, error) {
	d.do()
	return d.shelf.Look(ctx, validator)
}

// lying is a source that sends endlessly more than it announces.
type lying struct {
	*shelf
	sent *int
}

func (l lying) Look(ctx context.Context, validator string) (*Offer, error) {
	o, err := l.shelf.Look(ctx, validator)
	if err == nil {
		o.Body = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(l), nil }
	}
	return o, err
}

func (l lying) Read(p []byte) (int, error) {
	n := min(len(p), 11)
	*l.sent += n
	return n, nil
}

func TestReasonOfReturnsInnermostReason(t *testing.T) {
	file := &fs.PathError{Op: "read", Path: "x", Err: io.ErrUnexpectedEOF}
	for _, c := range []struct {
		err  error
		want Reason
	}{
		{nil, ""},
		{because(Network, nil), ""},
		{io.EOF, Disk},
		{&Refusal{"too large"}, Content},
		{&origin.Rejection{}, Signature},
		{because(Network, io.EOF), Network},
		{because(Network, &Refusal{"an image"}), Content},
		{because(Network, &origin.Rejection{}), Signature},
		{because(Content, io.EOF), Content},
		{because(Content, file), Disk},
		{because(Gate, file), Gate},
		{because(Gate, because(Network, io.EOF)), Network},
		{&fetched{because(Gate, io.EOF), "text"}, Gate},
	} {
		if got := ReasonOf(c.err); got != c.want {
			t.Errorf("%v: '%s', expected '%s'", c.err, got, c.want)
		}
	}
	if because(Gate, io.EOF).Error() != "EOF" || !errors.Is(because(Gate, io.EOF), io.EOF) {
		t.Error("a reason changes the error")
	}
}
