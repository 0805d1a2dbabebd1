package eyaml

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func public(t testing.TB, key string) *PublicKey {
	t.Helper()
	r, err := ReadPublicKey("testdata/" + key + ".cert.pem")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Texts of every length modulo the block size are decrypted as they were before the encryption.
func TestDecryptsWhatItEncrypted(t *testing.T) {
	for _, key := range []string{"1024", "2048", "4096"} {
		to, keys := public(t, key), read(t, key)
		for n := range 34 {
			want := strings.Repeat("ß", n) + "]!"
			text, err := to.Encrypt(want)
			if err != nil || !strings.HasPrefix(text, "ENC[PKCS7,MII") || strings.ContainsAny(text, " \n") {
				t.Fatalf("%s bits: %q, %v", key, text, err)
			}
			if plain, err := keys.Decrypt(text); err != nil || plain != want {
				t.Errorf("%s bits: %q, %v, want %q", key, plain, err, want)
			}
		}
	}
}

// Encrypting the same text twice gives different results.
func TestEncryptionIsRandomized(t *testing.T) {
	to := public(t, "2048")
	one, _ := to.Encrypt("same")
	two, _ := to.Encrypt("same")
	if one == two {
		t.Errorf("both are %s", one)
	}
}

// anotherAlgorithm is a certificate with a key that is not RSA, made by OpenSSL.
const anotherAlgorithm = `-----BEGIN CERTIFICATE-----
MIIBVTCB/aADAgECAhQOqEjB2MJl99FTFpiEutBmjytSLzAKBggqhkjOPQQDAjAA
MCAXDTI2MTEyMzE2MTczOVoYDzIwNzYxMTEwMTYxNzM5WjAAMFkwEwYHKoZIzj0C
AQYIKoZIzj0DAQcDQgAExJEkljFOVy6esHX0COztJKHXOGbnTYbCtOzAfxsABTd7
o0LFx7btSHbikyXZQGnso18caxVSJLcxWJeUtM4waqNTMFEwHQYDVR0OBBYEFJ+h
e+mhFnol5+17K/OxcWDIchDXMB8GA1UdIwQYMBaAFJ+he+mhFnol5+17K/OxcWDI
chDXMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgBKqNg6oriPuL
/WXS/GO4y+DlQ4lnDmwl0p0buBgD68ICIB2txa7Wodqr34BLdunt2ycnLplFoYSm
a01j5WxGPa3b
-----END CERTIFICATE-----
`

func TestRejectsFilesThatAreNotPublicKeys(t *testing.T) {
	pem := func(name string) string {
		src, err := os.ReadFile("testdata/" + name + ".pem")
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	one, two := pem("1024.cert"), pem("2048.cert")
	for _, c := range []struct{ what, text, want string }{
		{"empty file", "", "expected a hiera-eyaml public key"},
		{"text", "hunter2", "expected a hiera-eyaml public key"},
		{"a private key", pem("2048"), "in PEM format), found 'RSA PRIVATE KEY'"},
		{"two certificates", one + two, "expected one certificate, found 'CERTIFICATE' after it"},
		{"a certificate and its private key", two + pem("2048"), "found 'RSA PRIVATE KEY' after it"},
		{"a damaged certificate", strings.Replace(two, "MII", "MIJ", 1), "expected a hiera-eyaml public key"},
		{"a key of another algorithm", anotherAlgorithm, "in PEM format), found a key of ECDSA"},
	} {
		path := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadPublicKey(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
	if _, err := ReadPublicKey("testdata/nowhere"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

// EncryptMarked encrypts the marked strings and does not change the rest.
func TestEncryptsMarkedStrings(t *testing.T) {
	to, keys := public(t, "2048"), read(t, "2048")
	old := fixtures(t)[1].Text
	for _, c := range []struct {
		text, want string
		n          int
	}{
		{"", "", 0},
		{"a: 'b'\r\n# DEC, ENC[...] and ::PKCS7 ]!\n", "a: 'b'\r\n# DEC, ENC[...] and ::PKCS7 ]!\n", 0},
		{"DEC::PKCS7[x]!", "x", 1},
		{"a: DEC(12)::PKCS7[x]!\nb: 'y DEC::PKCS7[z ]]! DEC::PKCS7[!]!'\n", "a: x\nb: 'y z ] !'\n", 3},
		{"a: >\n  DEC::PKCS7[one\n  two]!\n", "a: >\n  one\n  two\n", 1},
		{"DECEMBER::PKCS7", "DECEMBER::PKCS7", 0},
	} {
		text, n, err := to.EncryptMarked(c.text + old)
		if err != nil || n != c.n || !strings.HasSuffix(text, old) {
			t.Errorf("%q: %d, %v", c.text, n, err)
		}
		text = strings.TrimSuffix(text, old) + "."
		if plain, err := keys.Decrypt(text); err != nil || plain != c.want+"." {
			t.Errorf("%q: %q, %v, want %q", c.text, plain, err, c.want)
		}
	}
}

// An invalid mark is an error, so that no secret remains in plain text.
func TestRejectsInvalidMarks(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: DEC::PKCS7[hunter2]\n", "1:4: expected ']!' at the end"},
		{"ß: 1\nö: DEC::PKCS7[hunter2\nb: DEC::PKCS7[hunter2]!", "2:4: expected ']!' at the end"},
		{"a: DEC::PKCS7[hun]!ter2]!", "1:4: expected one ']!', at the end"},
		{"a: DEC::PKCS7[]!", "1:4: expected text between"},
		{"a: DEC::GPG[hunter2]!", "1:4: expected the method PKCS7"},
		{"a: DEC::pkcs7[hunter2]!", "1:4: expected the method PKCS7"},
		{"a: DEC:PKCS7[hunter2]!", "1:4: expected 'DEC::PKCS7['"},
		{"a: dec::PKCS7[hunter2]!", "1:4: expected 'DEC::PKCS7['"},
		{"a: DEC::PKCS7(hunter2)!", "1:4: expected 'DEC::PKCS7['"},
		{"a: DEC(a)::PKCS7[hunter2]!", "1:4: expected 'DEC::PKCS7['"},
		{"a: DEC :: PKCS7 [hunter2]!", "1:4: expected 'DEC::PKCS7['"},
	} {
		text, _, err := public(t, "1024").EncryptMarked(c.text)
		var wrong *MarkError
		if text != "" || !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) ||
			strings.Contains(err.Error(), "hunter") {
			t.Errorf("%q: %q, %v, want %q", c.text, text, err, c.want)
		}
	}
}
