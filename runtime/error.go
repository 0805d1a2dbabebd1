package runtime

import (
	"errors"
	"fmt"
	"io/fs"

	"bindc/internal/lookup"
	"bindc/snapshot"
)

// Error is the reason why a lookup has no result: the winning binding has no value, or the facts
// are invalid. Its fields are Key, the key of the binding ("" if no lookup is involved); Code;
// Message, which Error returns; and Err, the cause if it is another error, for errors.Is and
// errors.As. An *Error is found with errors.As. It stays valid after the snapshot is closed.
type Error = lookup.Error

// Code is a stable name for a kind of error. bindq prints it.
type Code = lookup.Code

// The codes of an Error.
const (
	CodeTypeMismatch = lookup.CodeTypeMismatch // the value does not have the required type
	CodeAbstract     = lookup.CodeAbstract     // nothing binds an abstract key for this request
	CodeLoop         = lookup.CodeLoop         // the key depends on itself
	CodeDuplicate    = lookup.CodeDuplicate    // two contributions have the same name and the same precedence
	CodeEvaluation   = lookup.CodeEvaluation   // an expression failed
	CodeProducer     = lookup.CodeProducer     // a Producer failed or is not registered
	CodeEncrypted    = lookup.CodeEncrypted    // the value is encrypted and cannot be decrypted
	CodeEnvironment  = lookup.CodeEnvironment  // no environment can be chosen, or it does not exist
	CodeFacts        = lookup.CodeFacts        // the facts are invalid
)

// Codes of the other errors: ErrFormat, ErrVersion, *DamageError, and wrong usage.
const (
	CodeFormat  = lookup.CodeFormat
	CodeVersion = lookup.CodeVersion
	CodeDamaged = lookup.CodeDamaged
	CodeUsage   = lookup.CodeUsage
)

// Open wraps these errors. Use errors.Is to find them.
var (
	ErrFormat  = snapshot.ErrFormat  // the file is not a snapshot
	ErrVersion = snapshot.ErrVersion // the file is a snapshot in another version of the format
)

// DamageError describes where a snapshot violates the format. A *DamageError is found with
// errors.As.
type DamageError = snapshot.DamageError

// inFile adds the path of the file to an error. Errors of the operating system already have it.
func inFile(path string, err error) error {
	var named *fs.PathError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
