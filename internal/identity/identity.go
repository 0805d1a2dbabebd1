// Package identity reads the age recipients that a snapshot is encrypted to, and the identities that open it.
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

// Recipients reads what is given as --encrypt-to: recipients, age1..., and files of such, one a line.
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
			return nil, fmt.Errorf("expected a recipient, age1..., or a file of such: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// Wrap encrypts the key of a file to recipients.
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

// Unwrap is the function that decrypts what Wrap has made, with the identities of files as age-keygen writes them.
func Unwrap(files []string) (func(wrapped []byte) (key []byte, err error), error) {
	var ids []age.Identity
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found, err := age.ParseIdentities(bytes.NewReader(src))
		if err != nil {
			return nil, fmt.Errorf("%s: expected identities as age-keygen writes them: %w", path, err)
		}
		ids = append(ids, found...)
	}
	return func(wrapped []byte) ([]byte, error) {
		r, err := age.Decrypt(bytes.NewReader(wrapped), ids...)
		var none *age.NoIdentityMatchError
		if errors.As(err, &none) {
			return nil, errors.New("none of the identities is one that it was encrypted to")
		}
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(r, seal.KeySize+1))
	}, nil
}
