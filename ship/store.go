package ship

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"bindc/origin"
)

// Suffix is what links to snapshots end with: NAME.snap, as `bindq serve -s DIR` and the Puppet module expect it.
const Suffix = ".snap"

// snapshotFile is a snapshot in the directory of its digest; what is signed stands beside it.
const snapshotFile = "site.snap"

// Store is a directory of snapshots:
//
//	NAME.snap                          symbolic link to one of those below: what answers for NAME
//	store/sha256/DIGEST/site.snap      read-only, with site.snap.meta.json and site.snap.sig where it is signed
//	store/tmp/                         what is being downloaded
//	state/NAME.json                    a State
//	history/NAME.jsonl                 an Event per line, oldest first
//	lock                               held while any of it but store/tmp changes
//
// Several programs may use one store at a time, and readers need not know of it.
type Store struct{ dir string }

// ErrNoStore says that a directory holds no store.
var ErrNoStore = errors.New("expected a store of snapshots, as 'bindq pull' makes it")

// FindStore is the store in dir, which must be there.
func FindStore(dir string) (*Store, error) {
	s := &Store{dir}
	if _, err := os.Stat(s.entries()); errors.Is(err, fs.ErrNotExist) {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: ErrNoStore}
	} else if err != nil {
		return nil, err
	}
	return OpenStore(dir)
}

// OpenStore makes what is missing of the store in dir. That it be written by one user only is a matter of its mode.
func OpenStore(dir string) (*Store, error) {
	s := &Store{dir}
	for _, d := range []string{s.entries(), s.incoming(), s.path("state"), s.path("history")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, fmt.Errorf("cannot use the store: %w", err)
		}
	}
	return s, nil
}

func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

func (s *Store) entries() string          { return s.path("store", "sha256") }
func (s *Store) incoming() string         { return s.path("store", "tmp") }
func (s *Store) entry(d Digest) string    { return filepath.Join(s.entries(), string(d)) }
func (s *Store) link(name string) string  { return s.path(name + Suffix) }
func (s *Store) stateOf(n string) string  { return s.path("state", n+".json") }
func (s *Store) eventsOf(n string) string { return s.path("history", n+".jsonl") }

// Path is where the snapshot with the digest lies, if it is in the store.
func (s *Store) Path(d Digest) string { return filepath.Join(s.entry(d), snapshotFile) }

// locked runs do while no other program changes the store.
func (s *Store) locked(do func() error) error {
	l := flock.New(s.path("lock"))
	if err := l.Lock(); err != nil {
		return fmt.Errorf("cannot lock the store: %w", err)
	}
	defer l.Unlock()
	return do()
}

// Names are those that a link stands for, in order.
func (s *Store) Names() ([]string, error) {
	all, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range all {
		name, ok := strings.CutSuffix(e.Name(), Suffix)
		if ok && e.Type()&fs.ModeSymlink != 0 && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// Active is the digest of what answers for name; "" if nothing does. What is there and is no link into the store is an
// error: somebody else's file is not replaced.
func (s *Store) Active(name string) (Digest, error) {
	target, err := os.Readlink(s.link(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("expected a symbolic link into the store: %w", err)
	}
	d, err := ParseDigest(filepath.Base(filepath.Dir(target)))
	if err != nil || filepath.Clean(filepath.Join(s.dir, target)) != filepath.Clean(s.Path(d)) {
		return "", fmt.Errorf("%s: expected a symbolic link into the store, it leads to %s", s.link(name), target)
	}
	return d, nil
}

// Statement is what is signed of a snapshot in the store; nil if nothing is. Who signed it is not asked.
func (s *Store) Statement(d Digest) (*origin.Statement, error) {
	text, err := os.ReadFile(s.Path(d) + origin.StatementSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	st := new(origin.Statement)
	if err := json.Unmarshal(text, st); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path(d)+origin.StatementSuffix, err)
	}
	return st, nil
}

// holds tells whether a snapshot is there to be read.
func (s *Store) holds(d Digest) bool {
	_, err := os.Stat(s.Path(d))
	return d != "" && err == nil
}

// has tells whether the snapshot is in the store, whole: it reads it. One that is damaged is had again, and replaced.
func (s *Store) has(d Digest) (bool, error) {
	f, err := os.Open(s.Path(d))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == string(d), nil
}

// discard takes an entry away: in one step, so that no half of one is ever there.
func (s *Store) discard(d Digest) error {
	away := filepath.Join(s.incoming(), fmt.Sprintf("gone-%s-%08x", d.Short(), rand.Uint32()))
	if err := os.Rename(s.entry(d), away); err != nil {
		return err
	}
	return os.RemoveAll(away)
}

// commit moves the snapshot in the directory dir to its place in the store. It is on the disk when commit returns.
func (s *Store) commit(dir string, d Digest, sensitive bool) error {
	mode := fs.FileMode(0o444)
	if sensitive {
		mode = 0o440
	}
	if err := os.Chmod(filepath.Join(dir, snapshotFile), mode); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // MkdirTemp made it for its owner
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	if _, err := os.Lstat(s.entry(d)); err == nil {
		if there, err := s.has(d); there || err != nil {
			return err // another program was quicker
		}
		if err := s.discard(d); err != nil {
			return err
		}
	}
	if err := os.Rename(dir, s.entry(d)); err != nil {
		return err
	}
	return syncDir(s.entries())
}

// switchTo has the link of name lead to the snapshot, in one step.
func (s *Store) switchTo(name string, d Digest) error {
	if _, err := s.Active(name); err != nil {
		return err
	}
	target, err := filepath.Rel(s.dir, s.Path(d))
	if err != nil {
		return err
	}
	made := s.path("store", "tmp", fmt.Sprintf("link-%s-%08x", name, rand.Uint32()))
	if err := os.Symlink(target, made); err != nil {
		return err
	}
	if err := os.Rename(made, s.link(name)); err != nil {
		os.Remove(made)
		return err
	}
	return syncDir(s.dir)
}

// stale is after what time what lies in store/tmp is nobody's any more: longer than a download may take.
const stale = 24 * time.Hour

// sweep removes what dead programs left in store/tmp.
func (s *Store) sweep(now time.Time) error {
	all, err := os.ReadDir(s.incoming())
	if err != nil {
		return err
	}
	for _, e := range all {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if now.Sub(info.ModTime()) > stale {
			if err := os.RemoveAll(filepath.Join(s.incoming(), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncDir has what was renamed in dir be on the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
