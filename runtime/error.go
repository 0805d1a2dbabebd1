package runtime

import (
	"errors"
	"fmt"
	"io/fs"

	"bindc/internal/lookup"
	"bindc/snapshot"
)

// Error reports that the winning binding of a key has no value, or that no request can be made for the given facts. Its
// fields are Key, the key of the binding or "" if no lookup is involved; Code; Message, which Error returns; and Err,
// the cause or nil, for errors.Is and errors.As. An *Error stays valid after the snapshot is closed.
type Error = lookup.Error

// Code is a stable name for a kind of error. bindq prints it.
type Code = lookup.Code

// The codes of an Error.
const (
	CodeTypeMismatch = lookup.CodeTypeMismatch // the value does not have the required type
	CodeAbstract     = lookup.CodeAbstract     // an abstract key has no value in this request
	CodeLoop         = lookup.CodeLoop         // the key depends on itself
	CodeDuplicate    = lookup.CodeDuplicate    // contributions with the same name conflict
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

// Open wraps these errors; use errors.Is to find them.
var (
	ErrFormat  = snapshot.ErrFormat  // the file is not a snapshot
	ErrVersion = snapshot.ErrVersion // the file is a snapshot in another version of the format
)

// DamageError describes where a snapshot violates the format. Use errors.As to find it.
type DamageError = snapshot.DamageError

// inFile adds path to err, unless err has a *fs.PathError, which names the file already.
func inFile(path string, err error) error {
	var named *fs.PathError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
