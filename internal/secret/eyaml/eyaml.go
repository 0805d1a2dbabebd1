// Package eyaml decrypts and encrypts values in the format of hiera-eyaml, ENC[PKCS7,...].
package eyaml

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"bindc/internal/pattern"
)

// Keys is a set of private hiera-eyaml keys. It is safe for concurrent use.
type Keys struct{ keys []*rsa.PrivateKey }

// Read reads private keys from PEM files. Each file contains one key.
func Read(files []string) (*Keys, error) {
	k := &Keys{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		key, err := parseKey(src)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		k.keys = append(k.keys, key)
	}
	return k, nil
}

var errKey = errors.New("expected a hiera-eyaml private key (RSA, in PEM format)")

func parseKey(src []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(src)
	if block == nil {
		return nil, errKey
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if any, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if key, ok := any.(*rsa.PrivateKey); ok {
			return key, nil
		}
	}
	return nil, errKey
}

// token matches an encrypted part of a string. Its method is PKCS7 if it does not name one.
var token = pattern.Lazy(`ENC\[(?:(\w+),)?([a-zA-Z0-9+/ =\n]+)\]`)

// Decrypt returns text with all encrypted parts decrypted. It removes a final newline. Errors do
// not contain the encrypted text.
func (k *Keys) Decrypt(text string) (string, error) {
	var b strings.Builder
	last := 0
	for _, m := range token().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[last:m[0]])
		last = m[1]
		if m[2] >= 0 && !strings.EqualFold(text[m[2]:m[3]], "PKCS7") {
			return "", fmt.Errorf("the value is encrypted with the method %s: expected PKCS7", text[m[2]:m[3]])
		}
		plain, err := k.decrypt(text[m[4]:m[5]])
		if err != nil {
			return "", fmt.Errorf("cannot decrypt the value: %w", err)
		}
		b.Write(plain)
	}
	b.WriteString(text[last:])
	return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r"), nil
}

var blanks = strings.NewReplacer(" ", "", "\n", "")

func (k *Keys) decrypt(encoded string) ([]byte, error) {
	der, err := base64.StdEncoding.DecodeString(blanks.Replace(encoded))
	if err != nil {
		return nil, errors.New("it is not valid Base64")
	}
	var e envelope
	if rest, err := asn1.Unmarshal(der, &e); err != nil || len(rest) > 0 || !e.Type.Equal(enveloped) {
		return nil, errors.New("it is not PKCS7 enveloped data")
	}
	for _, key := range k.keys {
		for _, r := range e.Content.Recipients {
			//lint:ignore SA1019 hiera-eyaml uses it; an attacker cannot try often enough to learn from errors
			if secret, err := rsa.DecryptPKCS1v15(nil, key, r.Key); err == nil {
				if plain, err := e.Content.Data.open(secret); err == nil {
					return plain, nil
				}
			}
		}
	}
	return nil, errors.New("none of the keys can decrypt it")
}

// envelope is a PKCS7 message (RFC 2315, section 10) in DER, as hiera-eyaml writes it with OpenSSL.
// A complete PKCS7 library is not used, because it panics on forged messages and keeps its cipher
// in a package variable.
type envelope struct {
	Type    asn1.ObjectIdentifier
	Content struct {
		Version    int
		Recipients []recipient `asn1:"set"`
		Data       encrypted
	} `asn1:"explicit,tag:0"`
}

var enveloped = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 3}

// recipient contains the key of a message, encrypted for one recipient. Name identifies the
// recipient's certificate; it is ignored, because all available keys are tried.
type recipient struct {
	Version   int
	Name      asn1.RawValue
	Algorithm pkix.AlgorithmIdentifier
	Key       []byte
}

type encrypted struct {
	Type      asn1.ObjectIdentifier
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte `asn1:"tag:0"`
}

// ciphers maps the OIDs of AES-CBC to the sizes of their keys in bytes.
var ciphers = map[string]int{"2.16.840.1.101.3.4.1.2": 16, "2.16.840.1.101.3.4.1.22": 24, "2.16.840.1.101.3.4.1.42": 32}

var errCipher = errors.New("the key cannot decrypt it")

func (e *encrypted) open(key []byte) ([]byte, error) {
	var iv []byte
	if _, err := asn1.Unmarshal(e.Algorithm.Parameters.FullBytes, &iv); err != nil {
		return nil, errCipher
	}
	whole := len(e.Data) > 0 && len(e.Data)%aes.BlockSize == 0
	if size := ciphers[e.Algorithm.Algorithm.String()]; len(key) != size || len(iv) != aes.BlockSize || !whole {
		return nil, errCipher
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(e.Data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, e.Data)
	pad := int(plain[len(plain)-1])
	text := plain[:len(plain)-min(pad, len(plain))]
	if pad == 0 || pad > aes.BlockSize || !bytes.Equal(plain[len(text):], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, errCipher
	}
	return text, nil
}
