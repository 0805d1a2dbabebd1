package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"bindc/origin"
)

// Checks are the checks that a snapshot has to pass before it becomes active. If a function is nil, all snapshots pass
// it.
type Checks struct {
	// Inspect reads the whole file at path, and checks its format and every checksum. It reports whether anything in
	// it is sensitive.
	Inspect func(path string) (sensitive bool, err error)
	// Origin verifies the signature of the snapshot with the given SHA-256 and returns the signer. label names the
	// snapshot in errors. Pull calls Origin before the download, Switch before an activation or a rollback. If Origin
	// is set, a snapshot must be signed for the name. Except in a rollback, it must not be signed earlier than a
	// snapshot that was active before.
	Origin func(label string, signed origin.Signed, sum [32]byte) (origin.Origin, error)
	// Gate decides whether the snapshot at path may replace the one at active. If no snapshot is active, active is "".
	Gate func(path, active string) error
	// Rules returns a string that changes when Inspect or Gate may decide differently. A rejected snapshot is then
	// checked again.
	Rules func() string
}

// Pull fetches a source's snapshot into the store and activates it under a name.
type Pull struct {
	Store  *Store
	Name   string
	Source Source
	Checks Checks
	// SignedAs is the name that signed statements must have. If it is "", they must have Name.
	SignedAs string
	MaxBytes int64 // maximum size of a snapshot in bytes
	Hold     bool  // store the snapshot but do not activate it
	// Turns is shared by several pulls. Its capacity limits how many of them fetch and check at once. If it is nil,
	// there is no limit.
	Turns chan struct{}
	By    string
	Now   func() time.Time

	sound   proof
	refused release // the last release found; its reason is "" if it was accepted
}

// Result is the result of Pull.Run.
type Result struct {
	Digest     Digest // digest of the snapshot in the source; "" if nothing is new
	Revision   string
	Downloaded bool // the snapshot was not in the store before
	Activated  bool // this pull made it active
	Already    bool // the snapshot was active before
	Pinned     bool // the name is pinned, so its release was not activated
	Repeated   bool // the previous run rejected the same release for the same reason
}

// Run polls the source once. If it fails, the active snapshot stays. If the source has a release that must not become
// active, the error is a *Refusal, an *origin.Rejection or the error of a check; any other error means that the release
// is unavailable. ReasonOf distinguishes them. If the active file is damaged, Run fetches it again.
func (p *Pull) Run(ctx context.Context) (Result, error) {
	var st State
	var active Digest
	var seq uint64
	begun := p.Now()
	err := p.Store.locked(p.Name, begun, func(r *record) error {
		st, active, seq = p.stateOf(r), r.active, r.Seq
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	damage := p.damage(active)
	if damage != nil {
		st.Validator, st.Refused = "", nil
	}
	var t taken
	for range maxTries {
		if t, err = p.take(ctx, st); !errors.Is(err, errGone) {
			break // errGone: another program has just removed the snapshot, so fetch it again
		}
	}
	t.seq = cmp.Or(t.seq, seq)
	if err == nil && t.Digest == "" {
		t.Pinned = st.Pinned
	}
	err = withoutRoom(err)
	repeated := p.refusedAgain(t, err)
	also := p.conclude(begun, t, err, damage)
	t.Repeated = repeated && also == nil
	return t.Result, join(err, also)
}

// release identifies a release in a source: by its digest, if that is known, or by its validator.
type release struct {
	digest    Digest
	validator string
	reason    Reason // why the release was rejected
	rules     string // result of Pull.rules at the rejection
}

// refusedAgain reports whether this poll rejected the same release for the same reason as the last poll that found one.
func (p *Pull) refusedAgain(t taken, err error) bool {
	reason := ReasonOf(err)
	if reason != "" && !reason.ofRelease() {
		return false
	}
	before := p.refused
	p.refused = release{t.Digest, t.validator, reason, p.rules()}
	return reason != "" && p.refused == before
}

// stateOf returns the state of a name without what no longer applies: the validator of another source, and a rejection
// under other rules or for another record.
func (p *Pull) stateOf(r *record) State {
	st := r.State
	if st.Source != p.Source.String() {
		st.Validator, st.Refused = "", nil
	}
	if no := st.Refused; no != nil && (p.Hold || no.Seq != r.Seq || no.Rules != p.rules()) {
		st.Refused = nil
	}
	return st
}

// rules returns a string that changes when the pull may reject other releases than before.
func (p *Pull) rules() string {
	rules := fmt.Sprintf("max_size %d", p.MaxBytes)
	if p.Checks.Rules != nil {
		rules += ", " + p.Checks.Rules()
	}
	return rules
}

// conclude records the result of a pull in the state. It returns an error if the active file is damaged or the state
// cannot be written.
func (p *Pull) conclude(begun time.Time, t taken, err, damage error) error {
	now := p.Now()
	reason := ReasonOf(err)
	noted := p.Store.locked(p.Name, now, func(r *record) error {
		var lost *lostError
		errors.As(damage, &lost)
		if damage != nil {
			damage = p.damage(r.active)
		}
		if damage == nil && lost != nil {
			p.Store.notice("%s: replaced the active snapshot, which was %s", p.Name, lost.what())
		}
		r.Damaged = ""
		if damage != nil {
			r.Damaged = bounded(damage.Error())
		}
		r.Checked.done(now, now.Sub(begun), err)
		r.Counts.polled(err)
		if t.looked {
			p.remark(r, t.note)
		}
		switch {
		case reason == "":
			r.Source, r.Refused = p.Source.String(), nil
		case reason.ofRelease():
			r.Source = p.Source.String()
			r.Refused = &RefusedRelease{Digest: t.Digest, Reason: reason, Error: r.Checked.Error, Seq: t.seq,
				Rules: p.rules()}
			if reason != Signature { // a signature can become valid, because signers and times change
				r.Refused.Validator = t.validator
			}
		}
		// Without the validator, the next poll finds the release again. That is intended if this pull only stored it,
		// or if the record has changed since the decision, for example by Resume.
		if err == nil && t.Digest != "" {
			r.Offered = t.Digest
			if !p.Hold && r.Seq == t.seq {
				r.Validator = t.validator
			}
		}
		return r.save()
	})
	return join(damage, noted)
}

// remark records why polls of the source are inefficient. It passes each new reason to Notice.
func (p *Pull) remark(r *record, note string) {
	if note = bounded(note); note != "" && note != r.Note {
		p.Store.notice("%s: %s", p.Name, note)
	}
	r.Note = note
}

// maxTries limits how often a pull fetches a snapshot again because another program removed it before its activation.
const maxTries = 3

// taken is a Result with the details that conclude records.
type taken struct {
	Result
	validator string // validator of the offer; "" if nothing changed
	seq       uint64 // number of the record that the decision is based on
	signed    *origin.Signed
	looked    bool // whether the poll got an offer
	note      string
}

// take polls the source, fetches the snapshot that it offers, and activates it. st is the state of the name. Run
// records the result.
func (p *Pull) take(ctx context.Context, st State) (t taken, err error) {
	offer, done, err := p.offer(ctx, st.validator())
	defer done()
	if errors.Is(err, ErrUnchanged) {
		return st.Refused.again()
	}
	if err != nil {
		return t, because(Network, err)
	}
	defer func() { err = join(err, because(Network, offer.Close())) }()
	t.Digest, t.Revision, t.validator = offer.Digest, offer.Revision, offer.Validator
	t.looked, t.note = true, offer.Note
	exists, err := p.want(ctx, offer, &t, st.Newest)
	if err == nil && !exists {
		err = p.download(ctx, offer, &t)
	}
	if err == nil {
		err = p.release(&t)
	}
	return t, err
}

// offer polls the source. If the source has an offer, it waits for a turn, which done ends. Before it waits, it closes
// the connection to the source; after the wait it polls again.
func (p *Pull) offer(ctx context.Context, validator string) (offer *Offer, done func(), err error) {
	done = func() {}
	if offer, err = p.Source.Look(ctx, validator); err != nil || p.Turns == nil {
		return offer, done, err
	}
	end := func() { <-p.Turns }
	select {
	case p.Turns <- struct{}{}:
		return offer, end, nil
	default:
	}
	if err := offer.Close(); err != nil {
		return nil, done, err
	}
	select {
	case p.Turns <- struct{}{}:
		offer, err = p.Source.Look(ctx, validator)
		return offer, end, err
	case <-ctx.Done():
		return nil, done, fmt.Errorf("waited for the downloads of other names: %w", ctx.Err())
	}
}

// again returns the result of a poll that finds the same release as before. If r is nil, that release was not rejected.
func (r *RefusedRelease) again() (t taken, err error) {
	if r == nil {
		return t, nil
	}
	t.Digest, t.validator = r.Digest, r.Validator
	return t, because(r.Reason, &Refusal{r.Error})
}

// want checks an offer before the download, so that a bad signature costs no download. exists reports whether the
// snapshot is already in the store. newest is the latest signing time of all snapshots that have been active.
func (p *Pull) want(ctx context.Context, offer *Offer, t *taken, newest time.Time) (exists bool, err error) {
	if offer.Size > p.MaxBytes {
		return false, p.tooLarge()
	}
	if offer.Signed != nil {
		if t.signed, err = offer.Signed(ctx); err != nil {
			return false, because(Network, err)
		}
	}
	o, err := p.origin(p.Source.String(), t.signed, t.Digest)
	if err != nil {
		return false, err
	}
	p.goByStatement(t, o)
	if offer.Digest != "" || strings.HasPrefix(t.validator, byStatement) {
		exists, err = p.Store.has(t.Digest)
	}
	if o == nil || err != nil {
		return exists, err
	}
	if exists || p.Hold {
		newest = time.Time{} // the snapshot may be active already: a switch decides whether it is too old
	}
	return exists, timely(o.Created, newest, p.Now(), p.Name)
}

// goByStatement sets the digest from a verified statement. If the source has no validator, goByStatement also makes one
// from the statement.
func (p *Pull) goByStatement(t *taken, o *origin.Origin) {
	if o != nil {
		t.Digest = Digest(strings.ToLower(o.SHA256))
	}
	if t.validator != "" {
		return
	}
	how := "every poll downloads the whole snapshot: use a server that sends ETags, or allowed_signers"
	if o != nil {
		t.validator = statementValidator(t.signed)
		how = "polls use the signed statement"
	}
	if t.note != "" {
		t.note += "; " + how
	}
}
