package lookup

import (
	"errors"
	"io/fs"
	"strings"

	"bindc/snapshot"
)

// Error says why there is no answer: why a binding that wins has no value, or what is wrong with facts. An Error stays
// valid when the snapshot is closed.
type Error struct {
	Key     string // whose binding it is; "" where no lookup is concerned
	Code    Code
	Message string
	Err     error // the cause, if it is another error
}

// Code is the stable name of a kind of errors, as bindq shows it.
type Code string

// The codes of an Error.
const (
	CodeTypeMismatch Code = "type_mismatch" // the value is not of the type it is held to
	CodeAbstract     Code = "abstract"      // nothing binds an abstract key for this request
	CodeLoop         Code = "loop"          // the key needs itself
	CodeDuplicate    Code = "duplicate"     // two contributions of one name, and neither has precedence
	CodeEvaluation   Code = "evaluation"    // an expression failed
	CodeProducer     Code = "producer"      // a Producer failed, or is not registered
	CodeEncrypted    Code = "encrypted"     // the value is encrypted, and cannot be decrypted
	CodeEnvironment  Code = "environment"   // reserved
	CodeFacts        Code = "facts"         // the facts cannot be used
)

// What programs call the errors of the other kinds: ErrFormat, ErrVersion, a *DamageError, and asking in a wrong way.
const (
	CodeFormat  Code = "snapshot_format"
	CodeVersion Code = "snapshot_version"
	CodeDamaged Code = "snapshot_damaged"
	CodeUsage   Code = "usage"
)

// DamageError says where a snapshot breaks the format. It is found with errors.As.
type DamageError = snapshot.DamageError

// CodeOf returns the code of an error, "" for an error of the operating system. Every other error is about wrong usage.
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

// failed returns an error of the binding of key. It copies key, which may be text of the mapped file.
func failed(key string, code Code, message string) *Error {
	return &Error{Key: strings.Clone(key), Code: code, Message: message}
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, so that errors.Is and errors.As find what a Producer returned.
func (e *Error) Unwrap() error { return e.Err }
