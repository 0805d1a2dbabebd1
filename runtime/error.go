package runtime

import (
	"errors"
	"fmt"
	"io/fs"

	"bindc/internal/lookup"
	"bindc/snapshot"
)

// Error says why there is no answer: why a binding that wins has no value, or what is wrong with facts. Its fields are
// Key, the key whose binding it is, "" where no lookup is concerned; Code; Message, which Error returns; and Err, the
// cause if it is another error, which errors.Is and errors.As find. It is found with errors.As, as *Error, and stays
// valid when the snapshot is closed.
type Error = lookup.Error

// Code is the stable name of a kind of errors, as bindq shows it: a string.
type Code = lookup.Code

// The codes of an Error.
const (
	CodeTypeMismatch = lookup.CodeTypeMismatch // the value is not of the type it is held to
	CodeAbstract     = lookup.CodeAbstract     // nothing binds an abstract key for this request
	CodeLoop         = lookup.CodeLoop         // the key needs itself
	CodeDuplicate    = lookup.CodeDuplicate    // two contributions of one name, and neither has precedence
	CodeEvaluation   = lookup.CodeEvaluation   // an expression failed
	CodeProducer     = lookup.CodeProducer     // a Producer failed, or is not registered
	CodeEncrypted    = lookup.CodeEncrypted    // the value is encrypted, and cannot be decrypted
	CodeEnvironment  = lookup.CodeEnvironment  // reserved
	CodeFacts        = lookup.CodeFacts        // the facts cannot be used
)

// What programs call the errors of the other kinds: ErrFormat, ErrVersion, a *DamageError, and asking in a wrong way.
const (
	CodeFormat  = lookup.CodeFormat
	CodeVersion = lookup.CodeVersion
	CodeDamaged = lookup.CodeDamaged
	CodeUsage   = lookup.CodeUsage
)

// Errors about a file, to be found with errors.Is.
var (
	ErrFormat  = snapshot.ErrFormat  // it is not a snapshot
	ErrVersion = snapshot.ErrVersion // it is a snapshot of another version of the format
)

// DamageError says where a snapshot breaks the format. It is found with errors.As, as *DamageError.
type DamageError = snapshot.DamageError

// inFile names the file in an error about it; those of the operating system do already.
func inFile(path string, err error) error {
	var named *fs.PathError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
