package eyaml

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixture is a string that hiera-eyaml 3.3.0 has encrypted with a key that was made for these tests.
type fixture struct{ What, Key, Plain, Text string }

func fixtures(t testing.TB) []fixture {
	t.Helper()
	src, err := os.ReadFile("testdata/encrypted.json")
	var out []fixture
	if err == nil {
		err = json.Unmarshal(src, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t testing.TB, names ...string) *Keys {
	t.Helper()
	for i, name := range names {
		names[i] = "testdata/" + name + ".pem"
	}
	k, err := Read(names)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestDecryptsStringsFromHieraEyaml(t *testing.T) {
	for _, f := range fixtures(t) {
		if plain, err := read(t, f.Key).Decrypt(f.Text); err != nil || plain != f.Plain {
			t.Errorf("%s: %q, %v, want %q", f.What, plain, err, f.Plain)
		}
	}
}

func TestDecryptsWithOneOfSeveralKeys(t *testing.T) {
	keys := read(t, "1024", "4096", "pkcs8") // pkcs8 is the key 2048 in another form
	for _, f := range fixtures(t) {
		if plain, err := keys.Decrypt(f.Text); err != nil || plain != f.Plain {
			t.Errorf("%s: %q, %v, want %q", f.What, plain, err, f.Plain)
		}
	}
}

func TestDecryptRejectsInvalidStringsAndOtherKeys(t *testing.T) {
	good := fixtures(t)[1].Text
	inner := strings.TrimSuffix(strings.TrimPrefix(good, "ENC[PKCS7,"), "]")
	for _, c := range []struct{ what, key, text, want string }{
		{"another key", "1024", good, "none of the keys can decrypt it"},
		{"method other than PKCS7", "2048", "ENC[GPG,AAAA]", "the method GPG: expected PKCS7"},
		{"invalid Base64", "2048", "ENC[PKCS7,A]", "it is not valid Base64"},
		{"a message that is not PKCS7", "2048", "ENC[PKCS7,AAAA]", "it is not PKCS7 enveloped data"},
		{"a truncated message", "2048", "ENC[PKCS7," + inner[:len(inner)-40] + "]", "it is not PKCS7 enveloped data"},
		{"one of two parts", "1024", fixtures(t)[0].Text + good, "none of the keys can decrypt it"},
	} {
		plain, err := read(t, c.key).Decrypt(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || plain != "" {
			t.Errorf("%s: %q, %v, want %q", c.what, plain, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), inner[:20]) {
			t.Errorf("%s: the error shows the text: %v", c.what, err)
		}
	}
}

func TestRejectsFilesThatAreNotPrivateKeys(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "text": "secret", "another": "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n",
	} {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read([]string{path}); err == nil || err.Error() != path+": "+errKey.Error() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read([]string{dir + "/nowhere"}); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

// FuzzDecrypt checks that Decrypt does not panic and does not change text outside the encrypted parts.
func FuzzDecrypt(f *testing.F) {
	for _, c := range fixtures(f) {
		f.Add(c.Text)
		der, _ := base64.StdEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(c.Text, "ENC[PKCS7,"), "]"))
		f.Add(string(der))
	}
	keys := read(f, "1024", "2048")
	f.Fuzz(func(t *testing.T, text string) {
		keys.decrypt(base64.StdEncoding.EncodeToString([]byte(text)))
		plain, err := keys.Decrypt(text)
		if err != nil && plain != "" {
			t.Errorf("%q beside %v", plain, err)
		}
		same := strings.TrimRight(plain, "\r\n") == strings.TrimRight(text, "\r\n")
		if err == nil && !token().MatchString(text) && !same {
			t.Errorf("%q became %q, and nothing in it is encrypted", text, plain)
		}
	})
}

// Late only fails for strings that no readable key decrypts. It also uses keys that appear later.
func TestLateUsesKeysThatAppearLater(t *testing.T) {
	dir := t.TempDir()
	text := fixtures(t)[1]
	late := &Late{Files: []string{filepath.Join(dir, "absent"), "testdata/" + text.Key + ".pem"}}
	if plain, err := late.Decrypt(text.Text); err != nil || plain != text.Plain {
		t.Errorf("with the other key: %q, %v", plain, err)
	}
	file := filepath.Join(dir, "key")
	late = &Late{Files: []string{file}}
	if plain, err := late.Decrypt("no secret"); err != nil || plain != "no secret" {
		t.Errorf("a text without secrets: %q, %v", plain, err)
	}
	want := "cannot decrypt the value: none of the keys can decrypt it; open " + file + ":"
	if _, err := late.Decrypt(text.Text); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
	src, err := os.ReadFile("testdata/" + text.Key + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, src, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if plain, err := late.Decrypt(text.Text); err != nil || plain != text.Plain {
			t.Errorf("when the key is there: %q, %v", plain, err)
		}
		os.Remove(file) // Late has already read the key
	}
}
