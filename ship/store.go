package ship

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"bindc/origin"
)

// Suffix is the suffix of links to snapshots. `bindq serve -s DIR` and the Puppet module expect NAME.snap.
const Suffix = ".snap"

const stateSuffix = ".json"

// snapshotFile is the file name of each snapshot. Its directory, which is named after the digest, also contains the
// signed statement.
const snapshotFile = "site.snap"

// Store is a directory of snapshots. The package comment describes its files and how they change. Several programs may
// use one store at the same time. Programs that only read snapshots need not know about the store.
type Store struct {
	// Notice, if not nil, is called with a description of each repair. The history records repairs too.
	Notice func(text string)

	dir   string
	mode  fs.FileMode
	owner owner
	files files
}

// ErrNoStore reports that a directory is not a store.
var ErrNoStore = errors.New("expected a store of snapshots, as 'bindsync pull' creates it")

// FindStore is like OpenStore, but returns ErrNoStore if dir is not a store.
func FindStore(dir string) (*Store, error) {
	s := &Store{dir: dir}
	if _, err := os.Stat(s.entries()); errors.Is(err, fs.ErrNotExist) {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: ErrNoStore}
	} else if err != nil {
		return nil, err
	}
	return OpenStore(dir)
}

// OpenStore opens the store in dir, creating missing directories. It rejects a world-writable store, because any user
// could replace the active snapshot.
func OpenStore(dir string) (*Store, error) {
	s := &Store{dir: dir}
	if err := s.create(); err != nil {
		return nil, fmt.Errorf("cannot use the store: %w", err)
	}
	return s, nil
}

func (s *Store) create() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	if err := s.inspect(); err != nil {
		return err
	}
	for _, dir := range s.dirs() {
		if err := s.createDir(dir); err != nil {
			return err
		}
	}
	return s.createLock()
}

func (s *Store) createDir(dir string) error {
	err := s.files.mkdir(dir, 0o755)
	if err == nil {
		return s.give(dir, s.mode)
	}
	if errors.Is(err, fs.ErrExist) {
		return s.hand(dir) // the program that created the store may have died before this step
	}
	return err
}

// createLock creates the lock file with its owner and permissions, unless it exists. Other users may not open the file,
// because a user who can open it can hold the lock.
func (s *Store) createLock() error {
	if _, err := s.files.lstat(s.lock()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := s.files.create(s.temporary("lock"))
	if err != nil {
		return err
	}
	defer s.files.removeAll(f.Name())
	if err := join(f.Close(), s.give(f.Name(), s.fileMode()&0o660)); err != nil {
		return err
	}
	if err := s.files.link(f.Name(), s.lock()); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// dirs returns the directories of the store, parents first.
func (s *Store) dirs() []string {
	return []string{s.path("store"), s.entries(), s.incoming(), s.path("state"), s.path("history")}
}

// inspect sets s.mode and s.owner to those of the store's directory. It rejects a directory that every user may write
// to.
func (s *Store) inspect() error {
	for i, dir := range append([]string{s.dir}, s.dirs()...) {
		info, err := s.files.stat(dir)
		if errors.Is(err, fs.ErrNotExist) && i > 0 {
			continue
		}
		if err != nil {
			return err
		}
		if openToAll(info) {
			return fmt.Errorf("%s has mode %04o: every user may write to it and replace snapshots; "+
				"run 'chmod o-w %s'", dir, info.Mode().Perm(), dir)
		}
		if i == 0 {
			s.mode = info.Mode() & (fs.ModePerm | fs.ModeSetgid)
			s.owner, _ = ownerOf(info)
		}
	}
	return nil
}

// fileMode returns the permissions of new files in the store: those of the store's directory, without execution.
func (s *Store) fileMode() fs.FileMode { return s.mode.Perm() & 0o666 }

func (s *Store) notice(format string, args ...any) {
	if s.Notice != nil {
		s.Notice(fmt.Sprintf(format, args...))
	}
}

func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

func (s *Store) lock() string              { return s.path("lock") }
func (s *Store) entries() string           { return s.path("store", "sha256") }
func (s *Store) incoming() string          { return s.path("store", "tmp") }
func (s *Store) entry(d Digest) string     { return filepath.Join(s.entries(), string(d)) }
func (s *Store) linkOf(name string) string { return s.path(name + Suffix) }
func (s *Store) stateOf(n string) string   { return s.path("state", n+stateSuffix) }
func (s *Store) eventsOf(n string) string  { return s.path("history", n+".jsonl") }

// Path returns the path at which the store keeps the snapshot with the given digest.
func (s *Store) Path(d Digest) string { return filepath.Join(s.entry(d), snapshotFile) }

// lockWait is how long a program waits for the lock of a store. No program does slow work under the lock.
const lockWait = time.Minute

// exclusively calls do while no other program changes the store.
func (s *Store) exclusively(do func() error) error {
	path := s.lock()
	l := flock.New(path, flock.SetFlag(os.O_RDWR))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	err := s.files.change("lock", path, func() error {
		_, err := l.TryLockContext(ctx, 2*time.Millisecond)
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("another program has held %s for %v", path, lockWait)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; only the owner of %s may write to the store. Run as that user. If other users own files in "+
			"it, run 'chown -R --reference=%s %s'", err, s.dir, s.dir, s.dir)
	}
	if err != nil {
		return fmt.Errorf("cannot lock the store: %w", err)
	}
	defer l.Unlock()
	if err := s.hand(path); err != nil {
		return err
	}
	return do()
}

// Names returns the names that have a link or a state, sorted. This includes names that never had an active snapshot.
func (s *Store) Names() ([]string, error) {
	links, err := s.files.readDir(s.dir)
	if err != nil {
		return nil, err
	}
	states, err := s.files.readDir(s.path("state"))
	if err != nil {
		return nil, err
	}
	var names []string
	add := func(name string, ok bool) {
		if ok && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	for _, e := range links {
		name, ok := strings.CutSuffix(e.Name(), Suffix)
		add(name, ok && e.Type()&fs.ModeSymlink != 0)
	}
	for _, e := range states {
		add(strings.CutSuffix(e.Name(), stateSuffix))
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Active returns the digest of the active snapshot of name, or "". It returns an error for a file that is not a link
// into the store, because bindsync must not replace files of others.
func (s *Store) Active(name string) (Digest, error) {
	target, err := s.files.readLink(s.linkOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("expected a symbolic link into the store: %w", err)
	}
	d, err := ParseDigest(filepath.Base(filepath.Dir(target)))
	if err != nil || filepath.Clean(filepath.Join(s.dir, target)) != filepath.Clean(s.Path(d)) {
		return "", fmt.Errorf("%s: expected a symbolic link into the store, found a link to %s; remove it if nothing needs it",
			s.linkOf(name), target)
	}
	return d, nil
}

// Statement returns the signed statement of a snapshot in the store, or nil if the snapshot is not signed. It does not
// check the signature.
func (s *Store) Statement(d Digest) (*origin.Statement, error) {
	signed, err := s.signed(d)
	if signed == nil {
		return nil, err
	}
	st := new(origin.Statement)
	if err := json.Unmarshal(signed.Text, st); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path(d)+origin.StatementSuffix, err)
	}
	return st, nil
}

// signed returns the statement and signature of a snapshot in the store, or nil if the snapshot is not signed.
func (s *Store) signed(d Digest) (*origin.Signed, error) {
	text, err := s.files.readFile(s.Path(d) + origin.StatementSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	signature, err := s.files.readFile(s.Path(d) + origin.SignatureSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &origin.Signed{Text: text, Signature: signature}, nil
}

func (s *Store) writeSigned(path string, signed origin.Signed) error {
	if err := s.write(path+origin.StatementSuffix, signed.Text); err != nil {
		return err
	}
	return s.write(path+origin.SignatureSuffix, signed.Signature)
}

// holds reports whether the store has a snapshot, without reading it.
func (s *Store) holds(d Digest) (bool, error) {
	_, err := s.files.stat(s.Path(d))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// has reads a snapshot in the store and reports whether it exists and is undamaged.
func (s *Store) has(d Digest) (bool, error) {
	f, err := s.files.open(s.Path(d))
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

// discard removes a snapshot and its directory in one step, so that no part remains.
func (s *Store) discard(d Digest) error {
	away := s.temporary("gone")
	if err := s.files.rename(s.entry(d), away); err != nil {
		return err
	}
	return s.files.removeAll(away)
}

// commit moves the snapshot in dir to its place in the store and syncs it. If the store has a damaged copy, commit
// replaces only the file, so that links to it never dangle. The caller holds the lock.
func (s *Store) commit(dir string, d Digest, sensitive bool) error {
	mode := fs.FileMode(0o444)
	if sensitive {
		mode = 0o440
	}
	made := filepath.Join(dir, snapshotFile)
	if err := s.give(made, mode&s.mode); err != nil {
		return err
	}
	if err := s.give(dir, s.mode); err != nil {
		return err
	}
	if err := s.files.syncDir(dir); err != nil {
		return err
	}
	_, err := s.files.lstat(s.entry(d))
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.files.rename(dir, s.entry(d)); err != nil {
			return err
		}
		return s.files.syncDir(s.entries())
	}
	if err != nil {
		return err
	}
	if exists, err := s.has(d); exists || err != nil {
		return err // another program has already added the snapshot
	}
	if err := s.files.rename(made, s.Path(d)); err != nil {
		return err
	}
	return s.files.syncDir(s.entry(d))
}

// switchTo atomically makes the link of name point to the snapshot d. The caller holds the lock.
func (s *Store) switchTo(name string, d Digest) error {
	target, err := filepath.Rel(s.dir, s.Path(d))
	if err != nil {
		return err
	}
	made := s.temporary("link")
	if err := s.files.symlink(target, made); err != nil {
		return err
	}
	err = s.hand(made)
	if err == nil {
		err = s.files.rename(made, s.linkOf(name))
	}
	if err != nil {
		s.files.removeAll(made)
		return err
	}
	return s.files.syncDir(s.dir)
}

// stale is the age at which files in store/tmp count as abandoned. No download takes that long.
const stale = 24 * time.Hour

// sweep removes files of dead programs from store/tmp.
func (s *Store) sweep(now time.Time) error {
	all, err := s.files.readDir(s.incoming())
	if err != nil {
		return err
	}
	for _, e := range all {
		path := filepath.Join(s.incoming(), e.Name())
		info, err := s.files.lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if now.Sub(info.ModTime()) > stale {
			if err := s.files.removeAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}
