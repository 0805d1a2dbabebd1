package origin_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bindc/origin"
)

// site is a directory with a snapshot, and keys made by ssh-keygen.
type site struct {
	t    *testing.T
	dir  string
	sum  [32]byte
	now  time.Time
	keys map[string]string // public keys, by name
}

func newSite(t *testing.T, keys ...string) *site {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen, which these tests are held against, is not installed: apt-get install openssh-client")
	}
	s := &site{t: t, dir: t.TempDir(), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), keys: map[string]string{}}
	s.write("site.snap", "the bytes of a snapshot")
	s.sum = sha256.Sum256([]byte("the bytes of a snapshot"))
	for _, name := range keys {
		kind, _, _ := strings.Cut(name, "-")
		s.run("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", name, "-f", name)
		s.keys[name] = strings.TrimSpace(s.read(name + ".pub"))
	}
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *site) run(name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (s *site) sign(key string) {
	s.t.Helper()
	signer, done, err := origin.ReadKey(s.path(key), "")
	if err != nil {
		s.t.Fatal(err)
	}
	defer done()
	sum := hex.EncodeToString(s.sum[:])
	statement := origin.Statement{Name: "example", SHA256: sum, Revision: "abc123", Created: s.now}
	signed, err := origin.Sign(statement, signer)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("site.snap.meta.json", string(signed.Text))
	s.write("site.snap.sig", string(signed.Signature))
}

// check checks the snapshot against a policy with these allowed signers and revoked keys.
func (s *site) check(allowed string, revoked ...string) (origin.Origin, error) {
	s.t.Helper()
	s.write("allowed", allowed)
	file := ""
	if len(revoked) > 0 {
		file = s.path("revoked")
		s.write("revoked", strings.Join(revoked, "\n")+"\n")
	}
	p, err := origin.ReadPolicy(s.path("allowed"), file, func() time.Time { return s.now })
	if err != nil {
		s.t.Fatal(err)
	}
	return p.Check(s.path("site.snap"), s.sum)
}

func (s *site) refused(err error, reason string) {
	s.t.Helper()
	var refusal *origin.Rejection
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, reason) {
		s.t.Errorf("expected a refusal with %q, got %v", reason, err)
	}
}

func TestSshKeygenAcceptsOurSignature(t *testing.T) {
	s := newSite(t, "ed25519-a", "ecdsa-b", "rsa-c")
	for name, public := range s.keys {
		s.sign(name)
		o, err := s.check("deploy@example.com " + public)
		if err != nil || o.Name != "example" || o.Revision != "abc123" || o.Signer != "deploy@example.com" {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "deploy@example.com",
			"-n", origin.Namespace, "-s", "site.snap.sig")
		cmd.Dir, cmd.Stdin = s.dir, bytes.NewReader([]byte(s.read("site.snap.meta.json")))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: ssh-keygen: %v: %s", name, err, out)
		}
	}
}

func TestCheckAcceptsSignatureOfSshKeygen(t *testing.T) {
	s := newSite(t, "ed25519-a")
	s.sign("ed25519-a")
	if err := os.Remove(s.path("site.snap.sig")); err != nil {
		t.Fatal(err)
	}
	s.run("ssh-keygen", "-q", "-Y", "sign", "-f", "ed25519-a", "-n", origin.Namespace, "site.snap.meta.json")
	s.write("site.snap.sig", s.read("site.snap.meta.json.sig"))
	if _, err := s.check("* " + s.keys["ed25519-a"]); err != nil {
		t.Error(err)
	}
}

func TestCheckReturnsReasonForRejection(t *testing.T) {
	s := newSite(t, "ed25519-a", "ed25519-b")
	a, b := s.keys["ed25519-a"], s.keys["ed25519-b"]
	_, err := s.check("x " + a)
	s.refused(err, "there is no "+s.path("site.snap.sig"))

	s.sign("ed25519-a")
	lines := []struct{ allowed, reason string }{
		{"x " + b, "not among the allowed signers"},
		{"x cert-authority " + a + "\nx " + b, "not among the allowed signers"},
		{`x namespaces="git,file" ` + a, "which may sign for git, file only"},
		{`x namespaces="*,!bindc-*" ` + a, "only"},
		{`x valid-before="20260501" ` + a, "which was valid until"},
		{`x valid-after="202605021200Z" ` + a, "which is valid from"},
	}
	for _, l := range lines {
		_, err := s.check(l.allowed)
		s.refused(err, l.reason)
	}
	for _, allowed := range []string{
		`"deploy master" namespaces="bindc-snap*" ` + a,
		`x valid-after="20260430Z",valid-before="20260503Z" ` + a,
		"# a comment\n\nx " + b + "\ny " + a,
	} {
		if _, err := s.check(allowed); err != nil {
			t.Errorf("%s: %v", allowed, err)
		}
	}
	_, err = s.check("x "+a, b, a)
	s.refused(err, "revoked")

	good := s.read("site.snap.meta.json")
	s.write("site.snap.meta.json", strings.Replace(good, "abc123", "abc124", 1))
	_, err = s.check("x " + a)
	s.refused(err, "does not match")
	if err := os.Remove(s.path("site.snap.meta.json")); err != nil {
		t.Fatal(err)
	}
	_, err = s.check("x " + a)
	s.refused(err, "there is no")
	s.write("site.snap.meta.json", good)

	s.sum[0]++
	_, err = s.check("x " + a)
	s.refused(err, "not the signed one")
	s.sum[0]--

	s.run("ssh-keygen", "-q", "-Y", "sign", "-f", "ed25519-a", "-n", "file", "site.snap.meta.json")
	s.write("site.snap.sig", s.read("site.snap.meta.json.sig"))
	_, err = s.check("x " + a)
	s.refused(err, "made for 'file'")
	s.write("site.snap.sig", "nothing")
	_, err = s.check("x " + a)
	s.refused(err, "not an SSH signature")
}

func TestReadPolicyRejectsInvalidFiles(t *testing.T) {
	s := newSite(t, "ed25519-a")
	a := s.keys["ed25519-a"]
	for _, c := range []struct{ allowed, expect string }{
		{"", "expected allowed signers, found none"},
		{"x\n", ":1: expected principals followed by a public key"},
		{"x " + a + "\ny nonsense", ":2: expected a public key"},
		{"x frobnicate " + a, "unknown option 'frobnicate'"},
		{`x valid-before="tomorrow" ` + a, "expected a time as"},
	} {
		s.write("allowed", c.allowed)
		_, err := origin.ReadPolicy(s.path("allowed"), "", time.Now)
		if err == nil || !strings.Contains(err.Error(), c.expect) {
			t.Errorf("%q: expected %q, got %v", c.allowed, c.expect, err)
		}
	}
	s.write("allowed", "x "+a)
	s.write("revoked", "SSHKRL\n\x00...")
	if _, err := origin.ReadPolicy(s.path("allowed"), s.path("revoked"), time.Now); err == nil ||
		!strings.Contains(err.Error(), "binary revocation list") {
		t.Errorf("a binary list: %v", err)
	}
	if _, err := origin.ReadPolicy(s.path("allowed"), s.path("absent"), time.Now); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent list: %v", err)
	}
}
