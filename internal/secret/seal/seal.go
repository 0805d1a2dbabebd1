// Package seal encrypts the sensitive parts of a snapshot with the snapshot's key. It uses
// AES-256-GCM with a random nonce for each string. A sealed string can be opened only with the name
// and the head that it was sealed with, provided that all heads have the same length.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
)

// KeySize is the size of a key in bytes.
const KeySize = 32

// Overhead is the number of bytes by which a sealed text is longer than its plain text.
const Overhead = 12 + 16 // 12 for the nonce, 16 for the authentication tag

func NewKey() []byte {
	key := make([]byte, KeySize)
	rand.Read(key) // never fails
	return key
}

type Box struct{ aead cipher.AEAD }

// New returns a Box that uses key, which must have KeySize bytes.
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

// Seal encrypts text and returns head followed by the result. Open needs the same name and head.
func (b *Box) Seal(name, head, text string) string {
	return string(b.aead.Seal([]byte(head), nil, []byte(text), []byte(head+name)))
}

var errSealed = errors.New("it was not sealed with this key and for this place")

// Open decrypts what Seal has returned, without head. It returns an error unless name and head are
// those given to Seal.
func (b *Box) Open(name, head, sealed string) (string, error) {
	text, err := b.aead.Open(nil, nil, []byte(sealed), []byte(head+name))
	if err != nil {
		return "", errSealed
	}
	return string(text), nil
}
