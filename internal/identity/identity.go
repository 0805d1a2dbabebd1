// Package identity encrypts the key of a snapshot to age recipients, and decrypts it with age identities.
package identity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"

	"bindc/internal/secret/seal"
)

// Recipients parses the arguments of --encrypt-to. Each is an age recipient (age1…) or the name of
// a file with one recipient per line.
func Recipients(given []string) ([]age.Recipient, error) {
	var out []age.Recipient
	for _, text := range given {
		src := []byte(text)
		if !strings.HasPrefix(text, "age1") {
			var err error
			if src, err = os.ReadFile(text); err != nil {
				return nil, err
			}
		}
		found, err := age.ParseRecipients(bytes.NewReader(src))
		if err != nil {
			return nil, fmt.Errorf("expected a recipient (age1...) or a file of recipients: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// Wrap encrypts a snapshot's key, so that each of the recipients can decrypt it.
func Wrap(key []byte, to []age.Recipient) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(key); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// Unwrap returns a function that decrypts what Wrap has encrypted. files contain identities in the
// format of age-keygen.
func Unwrap(files []string) (func(wrapped []byte) (key []byte, err error), error) {
	var ids []age.Identity
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found, err := age.ParseIdentities(bytes.NewReader(src))
		if err != nil {
			return nil, fmt.Errorf("%s: expected identities in the format of age-keygen: %w", path, err)
		}
		ids = append(ids, found...)
	}
	return func(wrapped []byte) ([]byte, error) {
		r, err := age.Decrypt(bytes.NewReader(wrapped), ids...)
		var none *age.NoIdentityMatchError
		if errors.As(err, &none) {
			return nil, errors.New("none of the identities can decrypt it")
		}
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(r, seal.KeySize+1))
	}, nil
}
