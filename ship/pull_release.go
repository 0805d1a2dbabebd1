package ship

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"bindc/origin"
)

// origin returns who signed a snapshot, or nil if signatures are not checked. label names the snapshot in errors. If d
// is "", origin uses the digest in the statement.
func (p *Pull) origin(label string, signed *origin.Signed, d Digest) (*origin.Origin, error) {
	if p.Checks.Origin == nil {
		return nil, nil
	}
	if signed == nil {
		return nil, &origin.Rejection{Path: label, Reason: "it is not signed"}
	}
	var st origin.Statement
	if d == "" && json.Unmarshal(signed.Text, &st) == nil {
		d = Digest(strings.ToLower(st.SHA256))
	}
	var sum [32]byte
	if _, err := hex.Decode(sum[:], []byte(d)); err != nil || len(d) != 2*len(sum) {
		return nil, because(Signature, refused("the signed text is not the statement of a snapshot"))
	}
	o, err := p.Checks.Origin(label, *signed, sum)
	if err != nil {
		return nil, because(Signature, err)
	}
	if name := cmp.Or(p.SignedAs, p.Name); o.Name != name {
		return nil, because(Signature, refused("it is signed as '%s', expected '%s'", o.Name, name))
	}
	return &o, nil
}

// Vet returns an error if the checks of p reject the active snapshot. Run does not check it again if the source has
// nothing new, so checks that were added later do not see it. Vet ignores when the snapshot was signed. It changes
// nothing.
func (p *Pull) Vet() error {
	active, err := p.Store.Active(p.Name)
	if err != nil || active == "" {
		return err
	}
	s := Switch{Store: p.Store, Name: p.Name, Checks: p.Checks, SignedAs: p.SignedAs, Now: p.Now}
	_, err = s.signature(active, time.Time{}, Rollback)
	if err == nil && p.Checks.Gate != nil {
		err = because(Gate, p.Checks.Gate(p.Store.Path(active), ""))
	}
	if err != nil {
		return fmt.Errorf("the active snapshot %s does not pass the checks, but stays active: %w", active.Short(), err)
	}
	return nil
}

// errStays makes perform end without a switch, because none is needed or allowed.
var errStays = errors.New("the active snapshot stays")

// release activates the snapshot t.Digest. It does nothing if the snapshot is already active, the name is pinned, or
// Hold is set.
func (p *Pull) release(t *taken) error {
	if err := p.adopt(t.Digest, t.signed); err != nil {
		if exists, failed := p.Store.holds(t.Digest); !exists && failed == nil {
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
	t.seq, err = s.perform(Activate, func(r *record) (Digest, error) {
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

// adopt stores a statement that want has verified, unless the store has a newer one. The snapshot is already in the
// store, because the same bytes may be released again with a later statement.
func (p *Pull) adopt(d Digest, signed *origin.Signed) error {
	if signed == nil {
		return nil
	}
	if newer, err := p.isNewer(d, signed); !newer || err != nil {
		return err
	}
	return p.Store.locked(p.Name, p.Now(), func(r *record) error {
		if newer, err := p.isNewer(d, signed); !newer || err != nil {
			return err // another program has stored a newer statement
		}
		return r.adopt(d, signed)
	})
}

// isNewer reports whether signed has to replace the stored statement of the snapshot d.
func (p *Pull) isNewer(d Digest, signed *origin.Signed) (bool, error) {
	offered := new(origin.Statement)
	if err := json.Unmarshal(signed.Text, offered); err != nil {
		return false, refused("the signed text is not a valid origin statement: %v", err)
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
