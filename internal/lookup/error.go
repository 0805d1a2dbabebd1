package lookup

import (
	"errors"
	"io/fs"
	"strings"

	"bindc/snapshot"
)

// Error reports that the winning binding of a key has no value, or that no request can be made for the given facts. An
// Error stays valid after the snapshot is closed.
type Error struct {
	Key     string // key of the binding; "" if no lookup is involved
	Code    Code
	Message string
	Err     error // the cause, or nil
}

// Code is a stable name for a kind of error. bindq prints it.
type Code string

// The codes of an Error.
const (
	CodeTypeMismatch Code = "type_mismatch" // the value does not have the required type
	CodeAbstract     Code = "abstract"      // an abstract key has no value in this request
	CodeLoop         Code = "loop"          // the key depends on itself
	CodeDuplicate    Code = "duplicate"     // contributions with the same name conflict
	CodeEvaluation   Code = "evaluation"
	CodeProducer     Code = "producer"    // a Producer failed, or is not registered
	CodeEncrypted    Code = "encrypted"   // the value is encrypted and cannot be decrypted
	CodeEnvironment  Code = "environment" // no environment can be chosen, or it does not exist
	CodeFacts        Code = "facts"
)

// Codes of the other errors: ErrFormat, ErrVersion, *DamageError, and wrong usage.
const (
	CodeFormat  Code = "snapshot_format"
	CodeVersion Code = "snapshot_version"
	CodeDamaged Code = "snapshot_damaged"
	CodeUsage   Code = "usage"
)

// DamageError describes where a snapshot violates the format. Find it with errors.As.
type DamageError = snapshot.DamageError

// CodeOf returns the code of err. It returns "" for a *fs.PathError, and CodeUsage for any error that it does not know.
func CodeOf(err error) Code {
	var e *Error
	var damage *DamageError
	var path *fs.PathError
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &damage):
		return CodeDamaged
	case errors.Is(err, snapshot.ErrFormat):
		return CodeFormat
	case errors.Is(err, snapshot.ErrVersion):
		return CodeVersion
	case errors.As(err, &path):
		return ""
	}
	return CodeUsage
}

// failed returns an error about the binding of key. It clones key, which may refer to the mapped file.
func failed(key string, code Code, message string) *Error {
	return &Error{Key: strings.Clone(key), Code: code, Message: message}
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, so that errors.Is and errors.As find what a Producer returned.
func (e *Error) Unwrap() error { return e.Err }
