package lookup

import (
	"bindc/internal/secret/seal"
	"bindc/snapshot"
)

// unseal returns the box that opens the sealed recipes of f. It calls with to decrypt the key. It returns nil if f has
// no sealed recipes or with is nil.
func unseal(f *snapshot.Snapshot, with func(sealed []byte) (key []byte, err error)) (*seal.Box, error) {
	sealed, ok := f.Seal()
	if !ok || with == nil {
		return nil, nil
	}
	var wrapped []byte
	if err := f.Protect(func() error { wrapped = []byte(sealed); return nil }); err != nil {
		return nil, err
	}
	key, err := with(wrapped)
	var box *seal.Box
	if err == nil {
		box, err = seal.New(key)
	}
	if err != nil {
		message := "cannot decrypt the sensitive values: " + err.Error()
		return nil, &Error{Code: CodeEncrypted, Message: message, Err: err}
	}
	return box, nil
}
