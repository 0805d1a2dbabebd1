// Package origin records where a snapshot comes from in a signed statement, and checks such statements. Two files are
// stored next to a snapshot FILE:
//
//	FILE.meta.json  a Statement: name, SHA-256 of FILE, revision of the site, time
//	FILE.sig        an SSH signature of FILE.meta.json, as made by `ssh-keygen -Y sign -n bindc-snapshot`
//
// Sign creates both. Policy.Check accepts a snapshot only with a signature by a trusted key.
// Everything else, such as a missing signature, is a *Rejection. docs/trust.md explains what a
// signature proves.
package origin

import (
	"bytes"
	"cmp"
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

// Namespace is the namespace of SSH signatures of statements. Signatures for other namespaces, such as file or email,
// are rejected.
const Namespace = "bindc-snapshot"

const (
	StatementSuffix = ".meta.json"
	SignatureSuffix = ".sig"
)

// maxSidecar limits the size in bytes of each file next to a snapshot.
const maxSidecar = 64 << 10

// Statement describes a snapshot. Its JSON encoding is signed.
type Statement struct {
	Name     string    `json:"name"`               // name of the site in the store
	SHA256   string    `json:"sha256"`             // digest of the whole snapshot file, in hexadecimal
	Revision string    `json:"revision,omitempty"` // revision of the sources, such as a git commit
	Created  time.Time `json:"created"`
}

// Signed is an encoded Statement with its signature.
type Signed struct {
	Text      []byte // content of FILE.meta.json
	Signature []byte // content of FILE.sig
}

// Sign encodes s and signs it with key. It writes no files.
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

// Write writes s next to the snapshot at path, or next to the file that a symbolic link at path refers to. It writes
// the signature last. If Check runs while the files are being replaced, it rejects a combination that does not match.
// If the error is fsx.ErrUnsynced, both files are in place.
func (s Signed) Write(path string) (err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	options := fsx.ReplaceOptions{Limit: 0o666, Synced: true}
	for _, companion := range []struct {
		suffix string
		text   []byte
	}{{StatementSuffix, s.Text}, {SignatureSuffix, s.Signature}} {
		failed := fsx.Replace(path+companion.suffix, options, func(f *os.File) error {
			_, err := f.Write(companion.text)
			return err
		})
		if !fsx.InPlace(failed) {
			return failed
		}
		err = cmp.Or(err, failed)
	}
	return err
}

// Read reads the signed statement next to the snapshot at path. It returns nil if the snapshot is not signed. It does
// not verify the signature.
func Read(path string) (*Signed, error) {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(at + SignatureSuffix); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s, err := readCompanions(at)
	return &s, err
}

// Rejection is the error for a snapshot that is not accepted. Any other error means that the check failed for another
// reason.
type Rejection struct {
	Path   string // path of the snapshot
	Reason string
}

func (r *Rejection) Error() string { return r.Path + ": " + r.Reason }

// Origin is the proven origin of a snapshot: a statement and its signer.
type Origin struct {
	Statement
	Signer string // principals of the key in the allowed signers file
	Key    string // fingerprint of the key, SHA256:...
}

// Check checks the snapshot at path, with the given SHA-256, against the policy. If path is a
// symbolic link, the statement is next to the link's target. The error is a *Rejection, or an error
// of the operating system. Check may be called by several goroutines.
func (p *Policy) Check(path string, sum [32]byte) (Origin, error) {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Origin{}, err
	}
	signed, err := readCompanions(at)
	if err != nil {
		return Origin{}, err
	}
	return p.CheckSigned(path, signed, sum)
}

// CheckSigned is like Check for a snapshot that has not been fetched yet. It uses path only in errors.
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
		return refused("the signature does not match %s: %v", path+StatementSuffix, err)
	}
	o := Origin{Signer: by.principals, Key: ssh.FingerprintSHA256(sig.PublicKey)}
	d := json.NewDecoder(bytes.NewReader(signed.Text))
	if err := d.Decode(&o.Statement); err != nil {
		return refused("%s is not a valid origin statement: %v", path+StatementSuffix, err)
	}
	if got := hex.EncodeToString(sum[:]); !strings.EqualFold(o.SHA256, got) {
		return refused("its SHA-256 is %s, but the signature is for %s: the file is not the signed one", got, o.SHA256)
	}
	return o, nil
}

// readCompanions reads the files next to the snapshot at path. A missing file is a *Rejection.
func readCompanions(path string) (s Signed, err error) {
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
		return nil, &Rejection{path, path + suffix + " is not a regular file"}
	case info.Size() > maxSidecar:
		return nil, &Rejection{path, fmt.Sprintf("%s has more than %d bytes", path+suffix, maxSidecar)}
	}
	return os.ReadFile(path + suffix)
}
