package ship

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"bindc/internal/fsx"
	"bindc/origin"
)

// Checks are the checks that a snapshot has to pass before it becomes active. A nil check passes all.
type Checks struct {
	// Inspect reads the whole file at path, and checks its format and every checksum. It reports whether anything in
	// it is sensitive.
	Inspect func(path string) (sensitive bool, err error)
	// Origin returns who signed the snapshot with the given SHA-256. It is called before the download; what names the
	// snapshot in errors. If Origin is set, a snapshot has to be signed for the name, and not earlier than one that
	// was active before.
	Origin func(what string, signed origin.Signed, sum [32]byte) (origin.Origin, error)
	// Gate compares a snapshot with the active one, whose path is "" if there is none.
	Gate func(path, active string) error
	// Rules returns a text that changes if Inspect or Gate may decide differently. A snapshot that they refused is
	// then checked again.
	Rules func() string
}

// Pull fetches the snapshot of a source into the store and activates it for a name.
type Pull struct {
	Store  *Store
	Name   string
	Source Source
	Checks Checks
	// SignedAs is the name that signed statements must have; by default Name.
	SignedAs string
	MaxBytes int64 // of a snapshot
	Hold     bool  // store the snapshot but do not activate it
	// Turns limits how many of the pulls that share it fetch and check at once, by its capacity. nil is no limit.
	Turns chan struct{}
	By    string
	Now   func() time.Time

	sound   proof
	refused release // by the last run that could tell; no reason if it was not refused
}

// Result is the result of a Pull.
type Result struct {
	Digest     Digest // of the snapshot in the source; "" if nothing is new
	Revision   string
	Downloaded bool // the snapshot was not in the store before
	Activated  bool // this pull made it active
	Already    bool // it was active before
	Pinned     bool // a pin keeps the name from following the source
	Repeated   bool // the run before refused the same release for the same reason
}

// Run polls the source once. If it fails, the active snapshot stays. If the source has a release that must not become
// active, the error is a *Refusal, an *origin.Refusal or the error of a check; any other error means that the release
// is unavailable. ReasonOf distinguishes them. If the active file is damaged, Run fetches it again.
func (p *Pull) Run(ctx context.Context) (Result, error) {
	var st State
	var active Digest
	begun := p.Now()
	err := p.Store.locked(p.Name, begun, func(r *record) error {
		st, active = p.known(r), r.active
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
			break // otherwise another program removed it between two steps: fetch it again
		}
	}
	if err == nil && t.Digest == "" {
		t.Pinned = st.Pinned
	}
	err = withoutRoom(err)
	repeated := p.refusedAgain(t, err)
	also := p.conclude(begun, t, err, damage)
	t.Repeated = repeated && also == nil
	return t.Result, join(err, also)
}

// release names what a source has: its digest, if that is known, or its validator.
type release struct {
	digest    Digest
	validator string
	reason    Reason // why it was refused
	rules     string // by which
}

// refusedAgain reports whether a poll refuses the release that the poll before refused, for the same reason. Polls
// between them that find no release do not count.
func (p *Pull) refusedAgain(t taken, err error) bool {
	reason := ReasonOf(err)
	if reason != "" && !reason.ofRelease() {
		return false
	}
	before := p.refused
	p.refused = release{t.Digest, t.validator, reason, p.rules()}
	return reason != "" && p.refused == before
}

// known returns the state of a name without outdated parts: the validator of another source, and a refusal under other
// rules or for another record.
func (p *Pull) known(r *record) State {
	st := r.State
	if st.Source != p.Source.String() {
		st.Validator, st.Refused = "", nil
	}
	if no := st.Refused; no != nil && (p.Hold || no.Seq != r.Seq || no.Rules != p.rules()) {
		st.Refused = nil
	}
	return st
}

// rules returns a text that changes if the pull may refuse other releases than before.
func (p *Pull) rules() string {
	rules := fmt.Sprintf("max_size %d", p.MaxBytes)
	if p.Checks.Rules != nil {
		rules += ", " + p.Checks.Rules()
	}
	return rules
}

// conclude records the result of a pull in the state. It returns the damage of the active file.
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
			r.Refused = &Refused{Digest: t.Digest, Reason: reason, Error: r.Checked.Error, Seq: r.Seq, Rules: p.rules()}
			if reason != Signature { // signers and times change
				r.Refused.Validator = t.validator
			}
		}
		// A pull that only stores leaves the activation to the next one. If the record has changed since the decision,
		// for example by resume, the next poll decides again.
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

// remark records why polling the source is inefficient, and reports a new reason once.
func (p *Pull) remark(r *record, note string) {
	if note = bounded(note); note != "" && note != r.Note {
		p.Store.notice("%s: %s", p.Name, note)
	}
	r.Note = note
}

// maxTries is how often a pull fetches a snapshot that another program removes before it is activated.
const maxTries = 3

// reverify is the time after which a pull reads the active file again, although it seems unchanged.
const reverify = time.Hour

// proof records that a file was undamaged.
type proof struct {
	digest Digest
	file   fsx.Identity
	at     time.Time
}

// lostError reports that the active file is missing or has other content.
type lostError struct {
	name, path string
	digest     Digest
}

func (l *lostError) Error() string {
	return "the active snapshot of '" + l.name + "' is " + l.what() +
		"; a pull replaces it if the source has it; otherwise run 'bindq rollback " + l.name + "' or activate another one"
}

func (l *lostError) what() string {
	return fmt.Sprintf("missing or damaged: %s does not have the SHA-256 %s", l.path, l.digest)
}

// damage returns an error if the active file is damaged or missing. It skips reading a file that was undamaged less
// than an hour ago and seems unchanged.
func (p *Pull) damage(active Digest) error {
	if active == "" {
		return nil
	}
	path := p.Store.Path(active)
	id, _ := fsx.IdentityAt(path)
	if p.sound.digest == active && p.sound.file == id && p.Now().Sub(p.sound.at) < reverify {
		return nil
	}
	whole, err := p.Store.has(active)
	if err != nil {
		return fmt.Errorf("cannot read the active snapshot of '%s': %w", p.Name, err)
	}
	if !whole {
		return &lostError{p.Name, path, active}
	}
	p.sound = proof{active, id, p.Now()}
	return nil
}

// withoutRoom adds advice to an error of a full disk or an exceeded quota.
func withoutRoom(err error) error {
	var said *noRoom
	if errors.As(err, &said) {
		return err
	}
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return &noRoom{err}
		}
	}
	return err
}

// noRoom is the error of a full disk. join keeps only the first one.
type noRoom struct{ error }

func (n *noRoom) Error() string {
	return n.error.Error() + ": the store needs more room; 'bindq gc' removes snapshots that no name needs"
}

func (n *noRoom) Unwrap() error { return n.error }

// taken is the result of a pull, with the details that conclude records.
type taken struct {
	Result
	validator string // of the offer; "" if nothing changed
	seq       uint64 // number of the record that the decision is based on
	signed    *origin.Signed
	looked    bool   // the source had an offer
	note      string // of the offer
}

// take does the work of Run, which then records the result. st is the state of the name.
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
	there, err := p.want(ctx, offer, &t, st.Newest)
	if err == nil && !there {
		err = p.download(ctx, offer, &t)
	}
	if err == nil {
		err = p.release(&t)
	}
	return t, err
}

// offer polls the source, and waits for a turn if it has an offer. done ends the turn. While waiting, offer closes the
// connection to the source; after that, it polls again.
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

// again returns the result of a poll that finds the same release as before. r is nil if that was not refused.
func (r *Refused) again() (t taken, err error) {
	if r == nil {
		return t, nil
	}
	t.Digest, t.validator = r.Digest, r.Validator
	return t, because(r.Reason, &Refusal{r.Error})
}

// want checks an offer as far as possible without the snapshot, so that a bad signature costs no download. It reports
// whether the snapshot is in the store. newest is the time of the latest statement that was active.
func (p *Pull) want(ctx context.Context, offer *Offer, t *taken, newest time.Time) (there bool, err error) {
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
		there, err = p.Store.has(t.Digest)
	}
	if o == nil || err != nil {
		return there, err
	}
	if there || p.Hold {
		newest = time.Time{} // it may be active already: a switch decides whether it is too old
	}
	return there, timely(o.Created, newest, p.Now(), p.Name)
}

// goByStatement takes the digest, and the validator if the source has none, from a verified statement.
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

func (p *Pull) tooLarge() error {
	return refused("expected at most %d bytes, the source has more; raise --max-size", p.MaxBytes)
}

// download reads the offered snapshot into a temporary directory, checks it there, and moves it into the store.
func (p *Pull) download(ctx context.Context, offer *Offer, t *taken) (err error) {
	begun := p.Now()
	var size int64
	defer func() {
		now := p.Now()
		noted := p.Store.locked(p.Name, now, func(r *record) error {
			r.Downloaded.done(now, now.Sub(begun), err)
			r.Counts.Downloads++
			r.Counts.Bytes += uint64(size)
			return r.save()
		})
		err = join(err, noted)
	}()
	if err := p.Store.sweep(p.Now()); err != nil {
		return err
	}
	dir, err := p.Store.temporaryDir("pull")
	if err != nil {
		return err
	}
	defer p.Store.files.removeAll(dir) // unless it was moved
	path := filepath.Join(dir, snapshotFile)
	var d Digest
	if d, size, err = p.receive(ctx, offer, path); err != nil {
		return err
	}
	if said := t.Digest; said != "" && said != d {
		t.Digest, t.validator = d, "" // perhaps the source is replacing snapshot and statement one after the other
		return refused("its SHA-256 is %s; the source said %s", d, said)
	}
	t.Digest = d
	if there, err := p.Store.has(d); there || err != nil {
		return err
	}
	if t.signed != nil {
		if err := p.Store.writeSigned(path, *t.signed); err != nil {
			return err
		}
	}
	sensitive, err := p.Checks.inspect(path)
	if err != nil {
		return &fetched{err, strings.ReplaceAll(err.Error(), path, p.Source.String())}
	}
	t.Downloaded = true
	return p.Store.exclusively(func() error { return p.Store.commit(dir, d, sensitive) })
}

// fetched is an error about a fetched snapshot. Its text has the source instead of the temporary path.
type fetched struct {
	err  error
	text string
}

func (f *fetched) Error() string { return f.text }
func (f *fetched) Unwrap() error { return f.err }

// receive writes the offered snapshot to path and syncs it. It returns the digest and the number of bytes received.
func (p *Pull) receive(ctx context.Context, offer *Offer, path string) (d Digest, n int64, err error) {
	body, err := offer.Body(ctx)
	if err != nil {
		return "", n, because(Network, err)
	}
	defer body.Close()
	f, err := p.Store.files.create(path)
	if err != nil {
		return "", n, err
	}
	defer f.Close()
	limit := p.MaxBytes
	if offer.Size >= 0 {
		limit = offer.Size
	}
	sum := sha256.New()
	n, err = io.Copy(io.MultiWriter(f.writer(), sum), io.LimitReader(fromSource{body}, limit+1))
	switch {
	case err != nil:
		return "", n, fmt.Errorf("cannot fetch the snapshot: %w", err)
	case offer.Size >= 0 && n > limit:
		return "", n, refused("expected %d bytes, as announced by the source; it sends more", limit)
	case n > limit:
		return "", n, p.tooLarge()
	case offer.Size >= 0 && n < limit:
		return "", n, because(Network, fmt.Errorf("expected %d bytes, the source gave %d", offer.Size, n))
	}
	return Digest(hex.EncodeToString(sum.Sum(nil))), n, f.finish()
}

// fromSource marks errors of reading as errors of the source, to distinguish them from errors of the disk.
type fromSource struct{ io.Reader }

func (f fromSource) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = because(Network, err)
	}
	return n, err
}

func (c *Checks) inspect(path string) (sensitive bool, err error) {
	if c.Inspect == nil {
		return false, nil
	}
	sensitive, err = c.Inspect(path)
	return sensitive, because(Content, err)
}

// origin returns who signed a snapshot; nil after an error, or if signatures are not checked. what names the snapshot
// in errors. If d is "", origin uses the digest in the statement.
func (p *Pull) origin(what string, signed *origin.Signed, d Digest) (*origin.Origin, error) {
	if p.Checks.Origin == nil {
		return nil, nil
	}
	if signed == nil {
		return nil, &origin.Refusal{Path: what, Reason: "it is not signed"}
	}
	var st origin.Statement
	if d == "" && json.Unmarshal(signed.Text, &st) == nil {
		d = Digest(strings.ToLower(st.SHA256))
	}
	var sum [32]byte
	if _, err := hex.Decode(sum[:], []byte(d)); err != nil || len(d) != 2*len(sum) {
		return nil, because(Signature, refused("the signed text is not the statement of a snapshot"))
	}
	o, err := p.Checks.Origin(what, *signed, sum)
	if err != nil {
		return nil, because(Signature, err)
	}
	if name := cmp.Or(p.SignedAs, p.Name); o.Name != name {
		return nil, because(Signature, refused("it is signed as '%s', expected '%s'", o.Name, name))
	}
	return &o, nil
}

// errStays ends a switch that is not needed or not allowed.
var errStays = errors.New("the active snapshot stays")

// release activates a snapshot of the store, unless it is already active, or the name is pinned, or Hold is set.
func (p *Pull) release(t *taken) error {
	if err := p.adopt(t.Digest, t.signed); err != nil {
		if there, failed := p.Store.holds(t.Digest); !there && failed == nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
		return err
	}
	if p.Hold {
		return nil
	}
	s := Switch{Store: p.Store, Name: p.Name, Checks: p.Checks, SignedAs: p.SignedAs, Source: p.Source.String(),
		Revision: t.Revision, By: p.By, Now: p.Now}
	var err error
	t.seq, err = s.to(Activate, func(r *record) (Digest, error) {
		t.Already, t.Pinned = r.active == t.Digest, r.Pinned
		if t.Already {
			return "", cmp.Or(p.renew(r), errStays)
		}
		if t.Pinned {
			return "", errStays
		}
		return t.Digest, nil
	})
	if errors.Is(err, errStays) {
		return nil
	}
	t.Activated = err == nil
	return err
}

// adopt stores a statement for a snapshot in the store, unless the store has a newer one: the same bytes may be
// released again with a later statement. want has checked it.
func (p *Pull) adopt(d Digest, signed *origin.Signed) error {
	if signed == nil {
		return nil
	}
	if newer, err := p.isNewer(d, signed); !newer || err != nil {
		return err
	}
	return p.Store.locked(p.Name, p.Now(), func(r *record) error {
		if newer, err := p.isNewer(d, signed); !newer || err != nil {
			return err // another program was quicker
		}
		return r.adopt(d, signed)
	})
}

// isNewer reports whether a signed statement replaces the one of a snapshot in the store.
func (p *Pull) isNewer(d Digest, signed *origin.Signed) (bool, error) {
	offered := new(origin.Statement)
	if err := json.Unmarshal(signed.Text, offered); err != nil {
		return false, refused("the signed text is not a statement of an origin: %v", err)
	}
	have, err := p.Store.signed(d)
	if have == nil {
		return err == nil, err
	}
	if bytes.Equal(have.Text, signed.Text) {
		return !bytes.Equal(have.Signature, signed.Signature), nil
	}
	st := new(origin.Statement)
	if json.Unmarshal(have.Text, st) != nil {
		return true, nil // the stored statement is damaged
	}
	return offered.Created.After(st.Created), nil
}

// renew records a later signature of the active snapshot, so that releases signed in between count as old. A snapshot
// whose signature no longer counts, for example because its key was revoked, stays active.
func (p *Pull) renew(r *record) error {
	signed, err := p.Store.signed(r.active)
	if err != nil {
		return err
	}
	o, _ := p.origin(p.Store.Path(r.active), signed, r.active)
	if o == nil || timely(o.Created, r.Newest, p.Now(), p.Name) != nil || !o.Created.After(r.Newest) {
		return nil
	}
	r.Newest = o.Created
	return r.save()
}
