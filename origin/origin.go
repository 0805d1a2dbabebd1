// Package origin says where a snapshot comes from, and holds it to that. Beside a snapshot FILE stand two more:
//
//	FILE.meta.json  a Statement: name, SHA-256 of FILE, revision of the site, time
//	FILE.sig        an SSH signature of FILE.meta.json, as `ssh-keygen -Y sign -n bindc-snapshot` makes one
//
// Sign writes both. Policy.Check accepts a snapshot only with a signature by a key that it trusts; everything else, an
// absent signature included, is a *Rejection. docs/trust.md says what that proves and what it does not.
package origin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"bindc/internal/fsx"
)

// Namespace is what signatures are made for: one made for files or mails does not count.
const Namespace = "bindc-snapshot"

// What the names of the two files beside a snapshot end with.
const (
	StatementSuffix = ".meta.json"
	SignatureSuffix = ".sig"
)

// maxBeside is how long a file beside a snapshot is at most, in bytes.
const maxBeside = 64 << 10

// Statement is what is signed.
type Statement struct {
	Name     string    `json:"name"`               // of the site, as its masters know it
	SHA256   string    `json:"sha256"`             // of the whole snapshot file, in hex
	Revision string    `json:"revision,omitempty"` // of the sources, as a git commit
	Created  time.Time `json:"created"`
}

// Signed is a statement as it is stored: text is what the signature is of.
type Signed struct {
	Text      []byte // of FILE.meta.json
	Signature []byte // of FILE.sig
}

// Sign signs s. It does not touch the file system.
func Sign(s Statement, key ssh.Signer) (Signed, error) {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return Signed{}, err
	}
	text = append(text, '\n')
	sig, err := sshsig.Sign(bytes.NewReader(text), key, sshsig.HashSHA512, Namespace)
	if err != nil {
		return Signed{}, fmt.Errorf("cannot sign: %w", err)
	}
	return Signed{text, sshsig.Armor(sig)}, nil
}

// Write puts s beside the snapshot at path, or beside the file that a symbolic link leads to from there: the signature
// last. While they change, and the snapshot before them, Check refuses what does not fit together.
func (s Signed) Write(path string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	options := fsx.ReplaceOptions{Limit: 0o666, Synced: true}
	for _, companion := range []struct {
		suffix string
		text   []byte
	}{{StatementSuffix, s.Text}, {SignatureSuffix, s.Signature}} {
		err := fsx.Replace(path+companion.suffix, options, func(f *os.File) error {
			_, err := f.Write(companion.text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Read is what is signed of the snapshot at path, as it stands beside it; nil if there is no signature. Whether it
// counts is not asked.
func Read(path string) (*Signed, error) {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(at + SignatureSuffix); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s, err := readBeside(at)
	return &s, err
}

// Rejection says why a snapshot is not accepted. Any other error means that it could not be found out.
type Rejection struct {
	Path   string // of the snapshot
	Reason string
}

func (r *Rejection) Error() string { return r.Path + ": " + r.Reason }

// Origin is what is proven of a snapshot: a statement, and who signed it.
type Origin struct {
	Statement
	Signer string // the principals of the key, as the allowed signers have them
	Key    string // its fingerprint, SHA256:...
}

// Check holds the snapshot at path, whose bytes have the given SHA-256, to the policy. What is signed stands beside the
// file that path leads to, if that is a symbolic link. The error is a *Rejection, or of the operating system. It may be
// called by several goroutines at once.
func (p *Policy) Check(path string, sum [32]byte) (Origin, error) {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Origin{}, err
	}
	signed, err := readBeside(at)
	if err != nil {
		return Origin{}, err
	}
	return p.CheckSigned(path, signed, sum)
}

// CheckSigned checks the signature of a snapshot that has not been fetched yet. Errors name it path.
func (p *Policy) CheckSigned(path string, signed Signed, sum [32]byte) (Origin, error) {
	refused := func(format string, args ...any) (Origin, error) {
		return Origin{}, &Rejection{path, fmt.Sprintf(format, args...)}
	}
	sig, err := sshsig.Unarmor(signed.Signature)
	if err != nil {
		return refused("%s is not an SSH signature: %v", path+SignatureSuffix, err)
	}
	by, reason := p.signer(sig)
	if reason != "" {
		return refused("%s", reason)
	}
	err = sshsig.Verify(bytes.NewReader(signed.Text), sig, sig.PublicKey, sig.HashAlgorithm, Namespace)
	if err != nil {
		return refused("the signature is not of %s: %v", path+StatementSuffix, err)
	}
	o := Origin{Signer: by.principals, Key: ssh.FingerprintSHA256(sig.PublicKey)}
	d := json.NewDecoder(bytes.NewReader(signed.Text))
	if err := d.Decode(&o.Statement); err != nil {
		return refused("%s is no statement of an origin: %v", path+StatementSuffix, err)
	}
	if got := hex.EncodeToString(sum[:]); !strings.EqualFold(o.SHA256, got) {
		return refused("its SHA-256 is %s; what is signed is %s: another file", got, o.SHA256)
	}
	return o, nil
}

// readBeside reads what stands beside the snapshot at path. What is absent is a refusal.
func readBeside(path string) (s Signed, err error) {
	if s.Signature, err = readSmall(path, SignatureSuffix); err != nil {
		return s, err
	}
	s.Text, err = readSmall(path, StatementSuffix)
	return s, err
}

func readSmall(path, suffix string) ([]byte, error) {
	info, err := os.Stat(path + suffix)
	switch {
	case os.IsNotExist(err):
		return nil, &Rejection{path, "it is not signed: there is no " + path + suffix}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &Rejection{path, path + suffix + " is no file"}
	case info.Size() > maxBeside:
		return nil, &Rejection{path, fmt.Sprintf("%s has more than %d bytes", path+suffix, maxBeside)}
	}
	return os.ReadFile(path + suffix)
}
