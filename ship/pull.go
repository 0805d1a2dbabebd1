package ship

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"bindc/origin"
)

// Checks are what a snapshot has to pass before it answers. A nil one is passed by all.
type Checks struct {
	// Inspect reads the whole file at path: its format and every checksum. It tells whether anything in it is
	// sensitive.
	Inspect func(path string) (sensitive bool, err error)
	// Origin is asked who signed the snapshot at path, whose bytes have the sum, with what is signed beside it. Once it
	// is set, a snapshot has to be signed for the name, and not earlier than one that answered before.
	Origin func(path string, sum [32]byte) (origin.Origin, error)
	// Gate compares a snapshot with the one that answers, whose path is "" if none does.
	Gate func(path, active string) error
}

// Pull takes what a source has into the store, and has it answer for a name.
type Pull struct {
	Store  *Store
	Name   string
	Source Source
	Checks Checks
	// SignedAs is the name that signed statements have to give; "": Name.
	SignedAs string
	MaxBytes int64 // of a snapshot
	Hold     bool  // store it, and do not have it answer
	By       string
	Now      func() time.Time
}

// Result is what came of a Pull.
type Result struct {
	Digest     Digest // of what the source has; "" where that is as it was
	Revision   string
	Downloaded bool // it was not in the store before
	Activated  bool // it answers since now
	Pinned     bool // it would, but for a rollback
}

// Run asks the source once. Whatever the error, the store holds what it held, and what answered answers. The error is
// a *Refusal, an *origin.Refusal or that of a check if the source has something that may not answer; any other means
// that it could not be had.
func (p *Pull) Run(ctx context.Context) (Result, error) {
	st, err := p.Store.State(p.Name)
	if err != nil {
		return Result{}, err
	}
	active, err := p.Store.Active(p.Name)
	if err != nil {
		return Result{}, err
	}
	if st.Source != p.Source.String() || !p.Store.holds(active) {
		st.Validator = ""
	}
	res, validator, err := p.take(ctx, st.Validator)
	err = withoutRoom(err)
	now := p.Now()
	noted := p.Store.locked(func() error {
		return p.Store.change(p.Name, func(st *State) {
			st.Checked.done(now, err)
			if err == nil {
				st.Source = p.Source.String()
			}
			if err == nil && validator != "" && !p.Hold { // what is held back is still to be activated
				st.Validator = validator
			}
		})
	})
	return res, errors.Join(err, noted)
}

// withoutRoom says what to do where the disk is full, or the user may have no more of it.
func withoutRoom(err error) error {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return fmt.Errorf("%w: the store needs more room; 'bindq gc' removes what no name needs", err)
		}
	}
	return err
}

// take is Run without its notes. It returns the validator of what is in the store now, "" where nothing changed.
func (p *Pull) take(ctx context.Context, validator string) (res Result, _ string, err error) {
	offer, err := p.Source.Look(ctx, validator)
	if errors.Is(err, ErrUnchanged) {
		return res, "", nil
	}
	if err != nil {
		return res, "", err
	}
	defer func() { err = errors.Join(err, offer.Close()) }()
	if offer.Size > p.MaxBytes {
		return res, "", p.tooLarge()
	}
	var signed *origin.Signed
	if offer.Signed != nil {
		if signed, err = offer.Signed(ctx); err != nil {
			return res, "", err
		}
	}
	there := false
	if res.Digest, res.Revision = offer.Digest, offer.Revision; res.Digest != "" {
		if there, err = p.Store.has(res.Digest); err != nil {
			return res, "", err
		}
	}
	if !there {
		err = p.download(ctx, offer, signed, &res)
	}
	if err == nil {
		err = p.release(&res, signed)
	}
	if err != nil {
		return res, "", err
	}
	return res, offer.Validator, nil
}

func (p *Pull) tooLarge() error {
	return refused("expected at most %d bytes, the source has more; raise --max-size", p.MaxBytes)
}

// download reads what is offered into a directory of its own, checks it there, and moves it to its place.
func (p *Pull) download(ctx context.Context, offer *Offer, signed *origin.Signed, res *Result) (err error) {
	defer func() {
		noted := p.Store.locked(func() error {
			return p.Store.change(p.Name, func(st *State) { st.Downloaded.done(p.Now(), err) })
		})
		err = errors.Join(err, noted)
	}()
	if err := p.Store.sweep(p.Now()); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(p.Store.incoming(), "pull-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // unless it was moved
	path := filepath.Join(dir, snapshotFile)
	d, err := p.receive(ctx, offer, path)
	if err != nil {
		return err
	}
	if res.Digest != "" && res.Digest != d {
		return refused("its SHA-256 is %s; the source said %s", d, res.Digest)
	}
	res.Digest = d
	if there, err := p.Store.has(d); there || err != nil {
		return err
	}
	if signed != nil {
		if err := signed.Write(path); err != nil {
			return err
		}
	}
	sensitive, err := p.inspect(path)
	if err != nil {
		return &fetched{err, strings.ReplaceAll(err.Error(), path, p.Source.String())}
	}
	if _, err := p.origin(path, d); err != nil {
		return &fetched{err, strings.ReplaceAll(err.Error(), path, p.Source.String())}
	}
	res.Downloaded = true
	return p.Store.locked(func() error { return p.Store.commit(dir, d, sensitive) })
}

// fetched is an error about a snapshot that was fetched, which names its source and not where it lay to be checked.
type fetched struct {
	err  error
	text string
}

func (f *fetched) Error() string { return f.text }
func (f *fetched) Unwrap() error { return f.err }

// receive writes what is offered to path, to the disk, and returns its digest.
func (p *Pull) receive(ctx context.Context, offer *Offer, path string) (d Digest, err error) {
	body, err := offer.Body(ctx)
	if err != nil {
		return "", err
	}
	defer body.Close()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(body, p.MaxBytes+1))
	if err != nil {
		return "", fmt.Errorf("cannot fetch the snapshot: %w", err)
	}
	if n > p.MaxBytes {
		return "", p.tooLarge()
	}
	if offer.Size >= 0 && n != offer.Size {
		return "", fmt.Errorf("expected %d bytes, the source gave %d", offer.Size, n)
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return Digest(hex.EncodeToString(sum.Sum(nil))), f.Close()
}

func (p *Pull) inspect(path string) (sensitive bool, err error) {
	if p.Checks.Inspect == nil {
		return false, nil
	}
	return p.Checks.Inspect(path)
}

// origin is who signed the snapshot at path; nil where that is not asked.
func (p *Pull) origin(path string, d Digest) (*origin.Origin, error) {
	if p.Checks.Origin == nil {
		return nil, nil
	}
	var sum [32]byte
	if _, err := hex.Decode(sum[:], []byte(d)); err != nil {
		return nil, err
	}
	o, err := p.Checks.Origin(path, sum)
	if err != nil {
		return nil, err
	}
	name := p.SignedAs
	if name == "" {
		name = p.Name
	}
	if o.Name != name {
		return nil, refused("it is signed as '%s', expected '%s'", o.Name, name)
	}
	return &o, nil
}

// release has a snapshot of the store answer for the name, unless it is not to, or does.
func (p *Pull) release(res *Result, signed *origin.Signed) error {
	if err := p.adopt(res.Digest, signed); err != nil {
		return err
	}
	if p.Hold {
		return nil
	}
	st, err := p.Store.State(p.Name)
	if err != nil {
		return err
	}
	active, err := p.Store.Active(p.Name)
	if err != nil || active == res.Digest {
		return err
	}
	if res.Pinned = st.Pinned; res.Pinned {
		return nil
	}
	s := Switch{Store: p.Store, Name: p.Name, Checks: p.Checks, SignedAs: p.SignedAs, Source: p.Source.String(),
		Revision: res.Revision, By: p.By, Now: p.Now}
	err = s.Activate(res.Digest)
	res.Activated = err == nil
	return err
}

// adopt puts what is signed beside a snapshot of the store, if it counts and is not older than what is there: the same
// bytes may be released again, and have a later statement then.
func (p *Pull) adopt(d Digest, signed *origin.Signed) error {
	if signed == nil {
		return nil
	}
	have, err := p.Store.Statement(d)
	if err != nil {
		return err
	}
	offered := new(origin.Statement)
	if err := json.Unmarshal(signed.Text, offered); err != nil {
		return refused("what is signed is no statement of an origin: %v", err)
	}
	if have != nil && !offered.Created.After(have.Created) {
		return nil
	}
	if p.Checks.Origin != nil { // asked where nobody looks
		dir, err := os.MkdirTemp(p.Store.incoming(), "signed-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, snapshotFile)
		if err := os.Link(p.Store.Path(d), path); err != nil {
			return err
		}
		if err := signed.Write(path); err != nil {
			return err
		}
		if _, err := p.origin(path, d); err != nil {
			return err
		}
	}
	return signed.Write(p.Store.Path(d))
}
