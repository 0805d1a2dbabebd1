// Package eyaml decrypts what hiera-eyaml has encrypted: ENC[PKCS7,...] in a text.
package eyaml

import (
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strings"

	"github.com/smallstep/pkcs7"
)

// Keys are private keys. They may be used by several goroutines.
type Keys struct{ keys []crypto.PrivateKey }

// Read reads private keys of hiera-eyaml, each from a file in PEM.
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

var errKey = errors.New("expected a private key of hiera-eyaml, RSA in PEM")

func parseKey(src []byte) (crypto.PrivateKey, error) {
	block, _ := pem.Decode(src)
	if block == nil {
		return nil, errKey
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	return nil, errKey
}

// token is one encrypted part of a text. Without a method it is PKCS7.
var token = regexp.MustCompile(`ENC\[(?:(\w+),)?([a-zA-Z0-9+/ =\n]+)\]`)

// Decrypt is text with its encrypted parts decrypted, without a newline at its end. The error does not show what is
// encrypted.
func (k *Keys) Decrypt(text string) (string, error) {
	var b strings.Builder
	last := 0
	for _, m := range token.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[last:m[0]])
		last = m[1]
		if m[2] >= 0 && !strings.EqualFold(text[m[2]:m[3]], "PKCS7") {
			return "", fmt.Errorf("the value is encrypted by the method %s: expected PKCS7", text[m[2]:m[3]])
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
		return nil, errors.New("it is not in base64")
	}
	p7, err := pkcs7.Parse(der)
	if err != nil {
		return nil, errors.New("it is not of PKCS7")
	}
	certs, err := recipients(der)
	if err != nil {
		return nil, err
	}
	for _, key := range k.keys {
		for _, cert := range certs {
			if plain, err := p7.Decrypt(cert, key); err == nil {
				return plain, nil
			}
		}
	}
	return nil, errors.New("no key that was given fits")
}

// recipients are those a message is encrypted to, as certificates that have nothing but the names. hiera-eyaml needs
// its public key too, only to name the recipient.
func recipients(der []byte) ([]*x509.Certificate, error) {
	var info struct {
		Type    asn1.ObjectIdentifier
		Content struct {
			Version    int
			Recipients []struct {
				Version int
				Name    struct {
					Issuer asn1.RawValue
					Serial *big.Int
				}
				Algorithm asn1.RawValue
				Key       []byte
			} `asn1:"set"`
			Rest asn1.RawValue
		} `asn1:"explicit,tag:0"`
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, errors.New("it is not encrypted to anybody")
	}
	var out []*x509.Certificate
	for _, r := range info.Content.Recipients {
		out = append(out, &x509.Certificate{RawIssuer: r.Name.Issuer.FullBytes, SerialNumber: r.Name.Serial})
	}
	return out, nil
}
