package lookup

import (
	"strings"

	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/snapshot"
)

// unseal returns the box that opens the sealed recipes of f, or nil if there are none or with is nil.
func unseal(f *snapshot.Snapshot, with func(sealed []byte) (key []byte, err error)) (*seal.Box, error) {
	sealed, ok := f.Seal()
	if !ok || with == nil {
		return nil, nil
	}
	var wrapped []byte
	if err := f.Guard(func() error { wrapped = []byte(sealed); return nil }); err != nil {
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

// sealed opens the sealed recipe that key is bound to. It does so each time, because no decrypted recipe is kept, or
// used for another key.
func (s *Snapshot) sealed(key, encoded string) (*recipe.Recipe, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(key, recipe.MergeKey("")), "\x00")
	if s.box == nil {
		return nil, failed(name, CodeEncrypted, "'"+name+"' is encrypted, and no identity is given that can decrypt it")
	}
	text, err := recipe.Unseal(encoded, key, s.box)
	if err != nil {
		return nil, failed(name, CodeEncrypted, "'"+name+"' cannot be decrypted: "+err.Error())
	}
	r, err := recipe.Decode(text)
	if err != nil { // only the holder of the key could seal this; Verify cannot check it
		return nil, failed(name, CodeEncrypted, "'"+name+"' cannot be decrypted: expected a recipe: "+err.Error())
	}
	return r, nil
}
