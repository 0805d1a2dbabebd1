package lookup

import (
	"errors"
	"io/fs"
	"strings"

	"bindc/snapshot"
)

// Error is the reason why a lookup has no result: the winning binding has no value, or the facts
// are invalid. An Error stays valid after the snapshot is closed.
type Error struct {
	Key     string // key of the binding; "" if no lookup is involved
	Code    Code
	Message string
	Err     error // the cause, if it is another error
}

// Code is a stable name for a kind of error. bindq prints it.
type Code string

// The codes of an Error.
const (
	CodeTypeMismatch Code = "type_mismatch" // the value does not have the required type
	CodeAbstract     Code = "abstract"      // nothing binds an abstract key for this request
	CodeLoop         Code = "loop"          // the key depends on itself
	CodeDuplicate    Code = "duplicate"     // two contributions have the same name and the same precedence
	CodeEvaluation   Code = "evaluation"    // an expression failed
	CodeProducer     Code = "producer"      // a Producer failed, or is not registered
	CodeEncrypted    Code = "encrypted"     // the value is encrypted and cannot be decrypted
	CodeEnvironment  Code = "environment"   // no environment can be chosen, or it does not exist
	CodeFacts        Code = "facts"         // the facts are invalid
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

// CodeOf returns the code of an error, or "" for an error of the operating system. For any error that it does not
// know, it returns CodeUsage.
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

// failed returns an error about the binding of key. It copies key, which may be text of the mapped
// file.
func failed(key string, code Code, message string) *Error {
	return &Error{Key: strings.Clone(key), Code: code, Message: message}
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, so that errors.Is and errors.As find what a Producer returned.
func (e *Error) Unwrap() error { return e.Err }
