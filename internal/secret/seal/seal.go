// Package seal encrypts and decrypts the sensitive parts of a snapshot with the key of the file: AES-256-GCM with a
// random nonce in front. A text sealed for one name cannot be opened for another name, or with other bytes in front.
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

// Overhead is how much longer what is sealed is.
const Overhead = 12 + 16 // the nonce, and what tells whether it was changed

// NewKey is a random key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	rand.Read(key) // never fails
	return key
}

// Box seals and opens with one key. It may be used by several goroutines.
type Box struct{ aead cipher.AEAD }

// New is the box of a key.
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

// Seal is head, and behind it text encrypted: to be opened for that name, and behind that head, only.
func (b *Box) Seal(name, head, text string) string {
	return string(b.aead.Seal([]byte(head), nil, []byte(text), []byte(head+name)))
}

var errSealed = errors.New("it is not what was sealed here with this key")

// Open is the text that was sealed for name behind head.
func (b *Box) Open(name, head, sealed string) (string, error) {
	text, err := b.aead.Open(nil, nil, []byte(sealed), []byte(head+name))
	if err != nil {
		return "", errSealed
	}
	return string(text), nil
}
