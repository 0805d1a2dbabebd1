package origin

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Policy defines which signatures are accepted. It is immutable.
type Policy struct {
	signers []signer
	revoked map[string]bool // revoked keys, by fingerprint
	now     func() time.Time
}

// signer is a line of an allowed signers file.
type signer struct {
	principals    string
	key           ssh.PublicKey
	namespaces    []string // patterns; if empty, the key may sign for all namespaces
	after, before time.Time
}

// ReadPolicy reads a file of allowed signers in the format of ssh-keygen(1), ALLOWED SIGNERS. If
// revoked is not "", it is a file of revoked public keys, one per line. Lines of certificate
// authorities are ignored, because certificates are not supported. now returns the time for keys
// with a validity period.
func ReadPolicy(allowed, revoked string, now func() time.Time) (*Policy, error) {
	p := &Policy{revoked: map[string]bool{}, now: now}
	err := eachLine(allowed, func(line string) error {
		s, ok, err := parseSigner(line)
		if ok {
			p.signers = append(p.signers, s)
		}
		return err
	})
	if err == nil && len(p.signers) == 0 {
		err = fmt.Errorf("%s: expected allowed signers, found none", allowed)
	}
	if err != nil || revoked == "" {
		return p, err
	}
	return p, eachLine(revoked, func(line string) error {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			return fmt.Errorf("expected a public key: %w", err)
		}
		p.revoked[ssh.FingerprintSHA256(key)] = true
		return nil
	})
}

// eachLine calls f with each line of a file, except empty lines and comments. It adds the position to errors of f.
func eachLine(file string, f func(line string) error) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(src, []byte("SSHKRL\n\x00")) {
		return fmt.Errorf("%s: this is a binary revocation list; expected public keys, one per line", file)
	}
	lines := bufio.NewScanner(bytes.NewReader(src))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := f(line); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// parseSigner parses `principals [options] type key [comment]`. It returns false for a certificate authority.
func parseSigner(line string) (signer, bool, error) {
	principals, rest, ok := cutField(line)
	if !ok {
		return signer{}, false, fmt.Errorf("expected principals followed by a public key")
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(rest))
	if err != nil {
		return signer{}, false, fmt.Errorf("expected a public key after the principals: %w", err)
	}
	s := signer{principals: principals, key: key}
	for _, o := range options {
		name, val, _ := strings.Cut(o, "=")
		val = strings.Trim(val, `"`)
		switch strings.ToLower(name) {
		case "cert-authority":
			return signer{}, false, nil
		case "namespaces":
			s.namespaces = strings.Split(val, ",")
		case "valid-after":
			s.after, err = parseTime(val)
		case "valid-before":
			s.before, err = parseTime(val)
		default:
			err = fmt.Errorf("unknown option '%s'", name)
		}
		if err != nil {
			return signer{}, false, err
		}
	}
	return s, true, nil
}

// cutField cuts off the first field, which may be quoted.
func cutField(line string) (field, rest string, ok bool) {
	if quoted, found := strings.CutPrefix(line, `"`); found {
		field, rest, ok = strings.Cut(quoted, `"`)
	} else if i := strings.IndexAny(line, " \t"); i > 0 {
		field, rest, ok = line[:i], line[i:], true
	}
	return field, strings.TrimSpace(rest), ok && field != ""
}

// parseTime parses YYYYMMDD[HHMM[SS]][Z]. The time is local unless it ends with Z.
func parseTime(text string) (time.Time, error) {
	digits, utc := strings.CutSuffix(text, "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if t, err := time.ParseInLocation(layout, digits, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("expected a time as YYYYMMDD[HHMM[SS]][Z], found '%s'", text)
}

// signer returns the allowed signer who made sig, or the reason why sig is not accepted.
func (p *Policy) signer(sig *sshsig.Signature) (by signer, reason string) {
	fingerprint := ssh.FingerprintSHA256(sig.PublicKey)
	if _, ok := sig.PublicKey.(*ssh.Certificate); ok {
		return by, "it is signed with a certificate; expected a key of the allowed signers"
	}
	if sig.Namespace != Namespace {
		return by, fmt.Sprintf("the signature was made for '%s', expected one for '%s'", sig.Namespace, Namespace)
	}
	if p.revoked[fingerprint] {
		return by, "it is signed with the key " + fingerprint + ", which is revoked"
	}
	reason = "it is signed with the key " + fingerprint + ", which is not among the allowed signers"
	for _, s := range p.signers {
		if !bytes.Equal(s.key.Marshal(), sig.PublicKey.Marshal()) {
			continue
		}
		if reason = s.unfit(p.now); reason == "" {
			return s, ""
		}
		reason = "it is signed with the key " + fingerprint + " of " + s.principals + ", " + reason
	}
	return by, reason
}

// unfit returns the reason why the key of an allowed signer does not count now, or "".
func (s *signer) unfit(now func() time.Time) string {
	switch {
	case len(s.namespaces) > 0 && !matchesList(s.namespaces, Namespace):
		return "which may sign for " + strings.Join(s.namespaces, ", ") + " only"
	case !s.after.IsZero() && now().Before(s.after):
		return "which is valid from " + s.after.Format(time.RFC3339) + " on"
	case !s.before.IsZero() && !now().Before(s.before):
		return "which was valid until " + s.before.Format(time.RFC3339)
	}
	return ""
}

// matchesList reports whether text matches a list of patterns, as in ssh. A matching pattern that begins with '!'
// excludes the text.
func matchesList(patterns []string, text string) bool {
	fits := false
	for _, pattern := range patterns {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if !matches(pattern, text) {
			continue
		}
		if negated {
			return false
		}
		fits = true
	}
	return fits
}

// matches reports whether text matches a pattern with '*' and '?'. Unlike path.Match, it has no character classes.
func matches(pattern, text string) bool {
	for ; pattern != ""; pattern, text = pattern[1:], text[1:] {
		if pattern[0] == '*' {
			return matches(pattern[1:], text) || text != "" && matches(pattern, text[1:])
		}
		if text == "" || pattern[0] != '?' && pattern[0] != text[0] {
			return false
		}
	}
	return text == ""
}
