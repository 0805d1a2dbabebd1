// Package seal encrypts and decrypts the sensitive parts of a snapshot with the key of the file. It uses AES-256-GCM
// and puts a random nonce before each string. If all heads have the same length, a string that was sealed with one name
// and head cannot be opened with another name or head.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// Overhead is the difference between the lengths of a sealed text and its plain text.
const Overhead = 12 + 16 // nonce and authentication tag

// NewKey returns a random key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	rand.Read(key) // never fails
	return key
}

// Box seals and opens strings with a key. It is safe for concurrent use.
type Box struct{ aead cipher.AEAD }

// New returns the box for a key.
func New(key []byte) (*Box, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("expected a key of %d bytes, found %d", KeySize, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Box{aead}, nil
}

// Seal returns head, followed by the encrypted text. Opening it requires the same name and head.
func (b *Box) Seal(name, head, text string) string {
	return string(b.aead.Seal([]byte(head), nil, []byte(text), []byte(head+name)))
}

var errSealed = errors.New("it was not sealed with this key and for this place")

// Open returns the text that was sealed with name and head.
func (b *Box) Open(name, head, sealed string) (string, error) {
	text, err := b.aead.Open(nil, nil, []byte(sealed), []byte(head+name))
	if err != nil {
		return "", errSealed
	}
	return string(text), nil
}
