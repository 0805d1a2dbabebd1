package ship

import (
	"errors"
	"io/fs"

	"bindc/origin"
)

// Reason says why a release did not become active.
type Reason string

// All reasons except Network and Disk are problems of the release itself.
const (
	Network   Reason = "network"   // the source cannot be read, or the transfer is incomplete
	Content   Reason = "content"   // the release is damaged, too large, not a snapshot, or not the one announced
	Signature Reason = "signature" // the signature is missing, from an unknown key, or for another name or time
	Gate      Reason = "gate"      // a gate rejected the release
	Disk      Reason = "disk"      // this machine cannot read or write the store
)

// ofRelease reports whether the release itself is the cause, so that another poll would fail in the same way.
func (r Reason) ofRelease() bool { return r == Content || r == Signature || r == Gate }

type reasoned struct {
	error
	reason Reason
}

func (r *reasoned) Unwrap() error { return r.error }

// because adds a reason to an error that has none. A Refusal is never a Network error, and an unreadable file is never
// a Content error.
func because(reason Reason, err error) error {
	if err == nil || reasonIn(err) != "" {
		return err
	}
	var refused *Refusal
	var file *fs.PathError
	switch {
	case reason == Network && errors.As(err, &refused): // the source answered, so the release is at fault
		reason = Content
	case reason == Content && errors.As(err, &file): // the stored file cannot be read
		reason = Disk
	}
	return &reasoned{err, reason}
}

func reasonIn(err error) Reason {
	var reason *reasoned
	var signature *origin.Rejection
	switch {
	case errors.As(err, &reason):
		return reason.reason
	case errors.As(err, &signature):
		return Signature
	}
	return ""
}

// ReasonOf returns the reason of an error from Pull.Run or Switch. It returns "" only if err is nil.
func ReasonOf(err error) Reason {
	var refused *Refusal
	switch reason := reasonIn(err); {
	case err == nil || reason != "":
		return reason
	case errors.As(err, &refused):
		return Content
	}
	return Disk
}
