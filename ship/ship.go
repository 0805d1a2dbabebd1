// Package ship distributes snapshots to the machines that use them. A machine pulls snapshots from a Source into its
// Store. Files in the store are complete, checked and never changed. A name is a symbolic link, which is switched to
// another file in one step. If anything fails, the link does not change.
//
// The package knows files and who signed them (package origin), but not the content of a snapshot: the caller supplies
// functions that check it. docs/deploy.md is the manual.
//
// # The store
//
//	NAME.snap                          symbolic link to the active snapshot of NAME
//	store/sha256/DIGEST/site.snap      read-only, with site.snap.meta.json and site.snap.sig if it is signed
//	store/tmp/                         files that are being written
//	state/NAME.json                    a State
//	history/NAME.jsonl                 an Event per line, oldest first
//	lock                               held during changes to anything but store/tmp
//
// # How a name changes
//
// A program that switches a name, or changes its state, follows these steps:
//
//  1. It reads the record of the name under the lock: state, link and history. It remembers the number of the record.
//  2. It runs the checks without the lock, as they may take seconds.
//  3. It takes the lock and reads the record again. If the number has changed, another program has changed the name,
//     and it begins again at 1. So it notices a rollback, with its pin, during the checks of a pull.
//  4. It writes its intent into the state: the event, the new target of the link, and the state after the switch.
//  5. It switches the link.
//  6. It adds the event to the history.
//  7. It replaces the state by the one of the intent.
//
// Each step writes a new file in store/tmp, syncs it, renames it and syncs the directory. A program may therefore die,
// or lose power, between any two calls. The next program that takes the lock finds the intent. If the link leads to the
// target of the intent, the switch happened, and this program does steps 6 and 7. Otherwise this program adds the
// failure to the history and removes the intent. A reader without the lock, such as 'bindsync status', computes the
// same view without repairing anything.
//
// A statement for a snapshot that is already in the store is written in the same way, because it is two files.
//
// A missing or damaged state is rebuilt from the history. An active snapshot that is not in the history is added to it.
// Each such repair is an event (Repair) and calls Store.Notice.
package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"bindc/origin"
)

// Digest names a snapshot in a store: the SHA-256 of the whole file, as 64 lower-case hex digits. (The digest in the
// header of the file covers only the content.)
type Digest string

// ParseDigest parses a digest, which may begin with the prefix "sha256:".
func ParseDigest(text string) (Digest, error) {
	d := strings.TrimPrefix(text, "sha256:")
	if len(d) != 64 || strings.Trim(d, "0123456789abcdef") != "" {
		return "", fmt.Errorf("expected the SHA-256 of a snapshot, 64 hex digits, found '%s'", text)
	}
	return Digest(d), nil
}

// Short returns the first digits of the digest, for display.
func (d Digest) Short() string { return string(d[:min(len(d), 12)]) }

// IsStored reports whether path is a snapshot in a store, or a link to one. Nothing may write to such a
// file, because the name of its directory is its digest.
func IsStored(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.Base(real) != snapshotFile {
		return false
	}
	entry := filepath.Dir(real)
	digests := filepath.Dir(entry)
	_, err = ParseDigest(filepath.Base(entry))
	return err == nil && filepath.Base(digests) == "sha256" && filepath.Base(filepath.Dir(digests)) == "store"
}

// nameRunes are the characters of names; maxName is the maximum length in bytes.
const (
	nameRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
	maxName   = 128
)

// CheckName returns an error for a name that is not a plain file name. Names are usually names of environments.
func CheckName(name string) error {
	fits := name != "" && len(name) <= maxName && strings.Trim(name, nameRunes) == "" && name[0] != '.' &&
		name[0] != '-'
	if !fits || strings.HasSuffix(name, Suffix) {
		return fmt.Errorf("expected a name of letters, digits, '_', '-' and '.', such as production, found '%s'", name)
	}
	return nil
}

// A Source offers snapshots. Look polls it without reading the whole snapshot. validator is the validator of the last
// offer that was taken, or "". If the source still has that snapshot, the error is ErrUnchanged. Several goroutines may
// call Look at once.
type Source interface {
	Look(ctx context.Context, validator string) (*Offer, error)
	String() string // the source as configured, but without a password
}

// ErrUnchanged reports that a source has nothing new.
var ErrUnchanged = errors.New("nothing new")

// Offer is the snapshot that a source has. The caller must call Close.
type Offer struct {
	Validator string
	Digest    Digest // "" if unknown
	Size      int64  // size in bytes, or -1 if unknown
	Note      string // why polling this source is inefficient; usually ""
	Revision  string // revision of the sources; a signed statement overrides it
	// Body reads the snapshot. It is called at most once, and its reader is valid until Close.
	Body func(context.Context) (io.ReadCloser, error)
	// Signed returns the signed statement, or nil if the snapshot is not signed. Signed itself may be nil.
	Signed func(context.Context) (*origin.Signed, error)
	Close  func() error
}

// Refusal is the error for an available snapshot that must not become active.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// join combines the errors that are not nil into one, on one line.
func join(errs ...error) (all error) {
	for _, err := range errs {
		switch {
		case all == nil:
			all = err
		case err != nil && !bothFull(all, err):
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

func bothFull(a, b error) bool {
	var full *noRoom
	return errors.As(a, &full) && errors.As(b, &full)
}

func refused(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Event is a line of the history of a name.
type Event struct {
	Seq      uint64    `json:"seq,omitempty"` // number of the change, from 1
	Time     time.Time `json:"time"`
	Action   string    `json:"action"` // Activate, Rollback, Resume, Reset or Repair
	Digest   Digest    `json:"digest,omitempty"`
	Revision string    `json:"revision,omitempty"`
	Created  time.Time `json:"created,omitzero"` // time of the signed statement
	Source   string    `json:"source,omitempty"`
	By       string    `json:"by,omitempty"` // the user or program that caused the event
	Note     string    `json:"note,omitempty"`
	Pinned   bool      `json:"pinned,omitempty"` // the event pinned the name
	Result   string    `json:"result"`           // "ok", or the error
}

// Actions of an Event.
const (
	Activate = "activate"
	Rollback = "rollback"
	Resume   = "resume"
	Reset    = "reset"  // resets the limit on the signing time of releases
	Repair   = "repair" // repairs the records of a name, or an interrupted switch
)

const resultOK = "ok"

// happened reports whether the event made a snapshot active.
func (e *Event) happened() bool { return e.Result == resultOK && e.Digest != "" }
