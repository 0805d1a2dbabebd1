package eyaml

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
)

// PublicKey is a public key of hiera-eyaml.
type PublicKey struct {
	name asn1.RawValue // issuer and serial number of the certificate
	key  *rsa.PublicKey
}

// ReadPublicKey reads a public key from a PEM file with exactly one certificate. Like hiera-eyaml,
// it does not check the signature and the validity of the certificate.
func ReadPublicKey(file string) (*PublicKey, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p, err := ParsePublicKey(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

var errPublicKey = errors.New("expected a hiera-eyaml public key (certificate of an RSA key, in PEM format)")

// ParsePublicKey parses a public key. src is a PEM file with exactly one certificate.
func ParsePublicKey(src []byte) (*PublicKey, error) {
	block, rest := pem.Decode(src)
	if block == nil {
		return nil, errPublicKey
	}
	if block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("%w, found '%s'", errPublicKey, block.Type)
	}
	if more, _ := pem.Decode(rest); more != nil {
		return nil, fmt.Errorf("expected one certificate, found '%s' after it; keep the certificate whose private key "+
			"decrypts", more.Type)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPublicKey, err)
	}
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%w, found a key of %s", errPublicKey, cert.PublicKeyAlgorithm)
	}
	name, err := asn1.Marshal(struct {
		Issuer asn1.RawValue
		Serial *big.Int
	}{asn1.RawValue{FullBytes: cert.RawIssuer}, cert.SerialNumber})
	return &PublicKey{asn1.RawValue{FullBytes: name}, key}, err
}

var (
	data         = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	rsaAlgorithm = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	aes256CBC    = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
)

// Encrypt encrypts text as hiera-eyaml does. It returns ENC[PKCS7,…] on a single line.
func (p *PublicKey) Encrypt(text string) (string, error) {
	secret := make([]byte, ciphers[aes256CBC.String()])
	rand.Read(secret) // never returns an error
	content, err := seal(secret, text)
	if err != nil {
		return "", err
	}
	//lint:ignore SA1019 hiera-eyaml requires it; an attacker has no oracle to query
	key, err := rsa.EncryptPKCS1v15(rand.Reader, p.key, secret)
	if err != nil {
		return "", err
	}
	e := envelope{Type: enveloped}
	e.Content.Data = content
	e.Content.Recipients = []recipient{{Name: p.name, Key: key,
		Algorithm: pkix.AlgorithmIdentifier{Algorithm: rsaAlgorithm, Parameters: asn1.NullRawValue}}}
	der, err := asn1.Marshal(e)
	if err != nil {
		return "", err
	}
	return "ENC[PKCS7," + base64.StdEncoding.EncodeToString(der) + "]", nil
}

// seal encrypts text with AES-256-CBC, as open expects it. PKCS7 padding fills the last block: each
// padding byte is the number of padding bytes.
func seal(key []byte, text string) (encrypted, error) {
	iv := make([]byte, aes.BlockSize)
	rand.Read(iv)
	block, err := aes.NewCipher(key)
	if err != nil {
		return encrypted{}, err
	}
	sealed := []byte(text)
	for pad := aes.BlockSize - len(text)%aes.BlockSize; len(sealed) < len(text)+pad; {
		sealed = append(sealed, byte(pad))
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(sealed, sealed)
	parameters := asn1.RawValue{Tag: asn1.TagOctetString, Bytes: iv}
	return encrypted{data, pkix.AlgorithmIdentifier{Algorithm: aes256CBC, Parameters: parameters}, sealed}, nil
}
