// Package ship takes snapshots to the machines that answer from them. A machine pulls: from a Source into its Store,
// where a file is whole, checked and never changed, and a name is a symbolic link that one step switches to another
// file. Whatever fails, the link leads where it led before.
//
// The package knows files and who signed them (package origin), and nothing of what is in a snapshot: what a file has
// to pass is handed to it as functions. docs/deploy.md is its manual.
package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"bindc/origin"
)

// Digest names a snapshot in a store: the SHA-256 of the whole file, as 64 lower-case hex digits. (The digest in its
// header is that of the content, without the header.)
type Digest string

// ParseDigest reads a digest, also with sha256: before it. The error says what was expected.
func ParseDigest(text string) (Digest, error) {
	d := strings.TrimPrefix(text, "sha256:")
	if len(d) != 64 || strings.Trim(d, "0123456789abcdef") != "" {
		return "", fmt.Errorf("expected the SHA-256 of a snapshot, 64 hex digits, found '%s'", text)
	}
	return Digest(d), nil
}

// Short is the digest as people read it.
func (d Digest) Short() string { return string(d[:min(len(d), 12)]) }

// nameRunes are what names are made of; maxName is how many bytes one has at most.
const (
	nameRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
	maxName   = 128
)

// CheckName refuses what cannot name a snapshot, mostly an environment, without leaving its directory.
func CheckName(name string) error {
	fits := name != "" && len(name) <= maxName && strings.Trim(name, nameRunes) == "" && name[0] != '.' &&
		name[0] != '-'
	if !fits || strings.HasSuffix(name, Suffix) {
		return fmt.Errorf("expected a name of letters, digits, '_', '-' and '.', as production, found '%s'", name)
	}
	return nil
}

// A Source is where snapshots come from. Look asks it what is there now, without reading all of it; validator is what
// the source gave with the offer that was taken last, "" for none. Where that is still what is there, the error is
// ErrUnchanged. Sources may be asked by several goroutines at once.
type Source interface {
	Look(ctx context.Context, validator string) (*Offer, error)
	String() string // as it is written in the configuration, without any password
}

// ErrUnchanged says that a source has nothing that it did not have before.
var ErrUnchanged = errors.New("nothing new")

// Offer is the snapshot that a source has. It has to be closed.
type Offer struct {
	Validator string
	Digest    Digest // "" where the source does not say
	Size      int64  // in bytes; -1 where the source does not say
	Revision  string // of the sources; a signed statement goes before it
	// Body reads the snapshot. It is called once at most, and ends with Close.
	Body func(context.Context) (io.ReadCloser, error)
	// Signed is what is signed of it; nil where nothing is.
	Signed func(context.Context) (*origin.Signed, error)
	Close  func() error
}

// Refusal says why a snapshot does not come into force, though it could be had.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

func refused(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Event is a line of the history of a name.
type Event struct {
	Time     time.Time `json:"time"`
	Action   string    `json:"action"` // Activate, Rollback, Resume
	Digest   Digest    `json:"digest,omitempty"`
	Revision string    `json:"revision,omitempty"`
	Source   string    `json:"source,omitempty"`
	By       string    `json:"by,omitempty"` // the user, or the program
	Result   string    `json:"result"`       // "ok", or why it failed
}

// The actions of an Event.
const (
	Activate = "activate"
	Rollback = "rollback"
	Resume   = "resume"
)

const resultOK = "ok"
