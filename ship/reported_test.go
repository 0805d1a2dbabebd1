package ship

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bindc/internal/testmode"
	"bindc/origin"
)

// failsAt makes one kind of file system access fail for paths that contain part.
func (m *master) failsAt(op, part string, with error) {
	m.store.files.fault = func(did, path string) error {
		if did == op && strings.Contains(path, part) {
			return with
		}
		return nil
	}
}

// A program that repairs a record reports any access that fails. The next program repairs the rest.
func TestRepairReportsEveryFailure(t *testing.T) {
	testmode.SkipUnderRace(t)
	like := signedStore(t)
	for name, damage := range map[string]func(m *master) error{
		"damaged state": func(m *master) error { return os.Truncate(m.store.stateOf("production"), 10) },
		"lost state":    func(m *master) error { return os.Remove(m.store.stateOf("production")) },
		"lost history":  func(m *master) error { return os.Remove(m.store.eventsOf("production")) },
		"damaged line": func(m *master) error {
			return os.WriteFile(m.store.eventsOf("production"), []byte("{}\n"), 0o644)
		},
		"interrupted switch": func(m *master) error {
			return m.store.locked("production", m.now, func(r *record) error {
				r.Seq++
				e := Event{Seq: r.Seq, Time: m.now, Action: Activate, Result: resultOK}
				r.Intent = &intent{Event: e, To: sum("two")}
				return r.save()
			})
		},
		"interrupted adoption": func(m *master) error {
			return m.store.locked("production", m.now, func(r *record) error {
				r.Adopting = &adoption{sum("two"), []byte("{}"), []byte("signature")}
				return r.save()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				m := newSignedMaster(t, like)
				if err := damage(m); err != nil {
					t.Fatal(err)
				}
				fault := m.fails(n, false, syscall.EIO)
				err := m.store.locked("production", m.now, func(*record) error { return nil })
				if m.store.files.fault = nil; fault.count < n {
					if err != nil {
						t.Errorf("without a fault: %v", err)
					}
					break
				}
				noted := func() bool { return strings.Contains(m.history()[0].Note, "input/output error") }
				if !errors.Is(err, syscall.EIO) && !(fault.op == "read" && err == nil && noted()) {
					t.Errorf("access %d, %s, fails: %v", n, fault.op, err)
				}
				if err := m.store.locked("production", m.now, func(*record) error { return nil }); err != nil {
					t.Errorf("after access %d, %s, failed: %v", n, fault.op, err)
				}
				m.repaired(fault.op)
			}
		})
	}
}

// If a state is restored from a backup, it is older than the history. Readers report that, and the next change rebuilds
// the state.
func TestStateFromBackupIsReportedAndRebuilt(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	path := m.store.stateOf("production")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m.mustRelease("two")
	if err := os.WriteFile(path, old, 0o644); err != nil {
		t.Fatal(err)
	}
	var damage *RecordError
	if _, err := m.store.State("production"); !errors.As(err, &damage) || !errors.Is(err, errLost) {
		t.Errorf("the old state was accepted: %v", err)
	}
	s := m.store.Status("production", m.now)
	if !strings.Contains(s.Problem, errLost.Error()) || s.Active != sum("two") || !s.Since.Equal(m.now) {
		t.Errorf("status %+v", s)
	}
	told := m.notices()
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	if len(*told) != 1 || !strings.Contains((*told)[0], errLost.Error()+"); it was rebuilt from the history") {
		t.Errorf("told %q", *told)
	}
	m.repaired("backup")
}

// If the user may not open the lock, the error names the owner of the store.
func TestErrorForForbiddenLockNamesOwnerOfStore(t *testing.T) {
	m := newMaster(t)
	m.failsAt("lock", "", fs.ErrPermission)
	err := m.pullNow()
	if !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), "cannot lock the store: ") ||
		!strings.Contains(err.Error(), "; only the owner of "+m.dir+" may write to the store. Run as that user.") {
		t.Error(err)
	}
	m.failsAt("lock", "", syscall.EIO)
	if err := m.pullNow(); !errors.Is(err, syscall.EIO) || strings.Contains(err.Error(), "run as") {
		t.Error(err)
	}
}

// If the names of the store cannot be listed, the error does not say that a name is unknown.
func TestUnlistableStoreDoesNotReportUnknownName(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	m.failsAt("list", "", syscall.EIO)
	s := m.change()
	s.Name = "prodution"
	for _, err := range []error{m.store.Unknown("prodution"), s.Resume()} {
		if !errors.Is(err, syscall.EIO) {
			t.Error(err)
		}
	}
}

// A rollback without a target returns the disk error if it cannot look for snapshots that were active.
func TestRollbackReturnsErrorOfListingTargets(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	m.shelf.text = "two"
	m.now = m.now.Add(time.Second) // "one" was active too briefly for a rollback
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	m.failsAt("stat", string(sum("one")), syscall.EIO)
	if _, err := m.change().Back(""); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// gc reports a snapshot or a temporary file that it cannot remove.
func TestGCReportsFilesThatItCannotRemove(t *testing.T) {
	for name, part := range map[string]string{"snapshot": "gone-", "temporary file": "pull-dead"} {
		m := newMaster(t)
		m.mustRelease("one", "two")
		dead := filepath.Join(m.store.incoming(), "pull-dead")
		if err := errors.Join(os.Mkdir(dead, 0o755), os.Chtimes(dead, day(1), day(1))); err != nil {
			t.Fatal(err)
		}
		m.failsAt("remove", part, syscall.EIO)
		if _, err := m.store.Collect(Keep{Last: 1}, time.Now().Add(time.Hour), false); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If the store has the downloaded snapshot but cannot read it, the pull reports that.
func TestDownloadReportsUnreadableSnapshotInStore(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	m.shelf.silent = true
	failed := false
	m.store.files.fault = func(op, path string) error {
		if !failed && op == "open" && path == m.store.Path(sum("one")) {
			failed = true
			return syscall.EIO
		}
		return nil
	}
	if _, err := m.release("one"); !errors.Is(err, syscall.EIO) || ReasonOf(err) != Disk {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
	m.answers("two")
}

// FindStore rejects a directory that is not a store.
func TestDirectoryWithoutStoreIsRejected(t *testing.T) {
	dir := t.TempDir()
	for _, dir := range []string{dir, filepath.Join(dir, "none")} {
		if _, err := FindStore(dir); !errors.Is(err, ErrNoStore) {
			t.Errorf("%s: %v", dir, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "store")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a store was created: %v", dir, err)
		}
	}
}

// Neither a switch by hand nor a rollback activates a snapshot with a bad signature.
func TestBadSignatureIsNotActivated(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	s := m.change()
	s.Checks.Origin = func(what string, _ origin.Signed, _ [32]byte) (origin.Origin, error) {
		return origin.Origin{}, &origin.Rejection{Path: what, Reason: "its key was revoked"}
	}
	_, back := s.Back(sum("one"))
	for _, err := range []error{s.Activate(sum("two")), back} {
		if ReasonOf(err) != Signature || !strings.Contains(err.Error(), "its key was revoked") {
			t.Errorf("%v (%s)", err, ReasonOf(err))
		}
	}
	m.answers("three")
	if h := m.history(); h[len(h)-1].Result == resultOK || h[len(h)-1].Action != Activate {
		t.Errorf("the history ends with %+v", h[len(h)-1])
	}
}

// If any step of writing a file or switching a link fails, the caller gets the error and no temporary file remains.
func TestFailureAtAnyStepOfWriteIsReported(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	path := m.store.stateOf("staging")
	for _, op := range []string{"create", "write", "sync", "chmod", "rename", "syncdir"} {
		m.failsAt(op, "", syscall.EIO)
		if err := m.store.write(path, []byte("text")); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", op, err)
		}
		m.clean()
		if text, err := os.ReadFile(path); (err == nil) != (op == "syncdir") || err == nil && string(text) != "text" {
			t.Errorf("%s fails: %q, %v", op, text, err)
		}
	}
	for _, op := range []string{"symlink", "rename", "syncdir"} {
		m.failsAt(op, "", syscall.EIO)
		if err := m.store.switchTo("staging", sum("one")); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", op, err)
		}
		m.clean()
	}
}

// Other users cannot access a file in store/tmp before it is complete.
func TestOnlyOwnerCanAccessTemporaryFiles(t *testing.T) {
	m := newMaster(t)
	f, err := m.store.files.create(m.store.temporary("file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir, err := m.store.temporaryDir("pull")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{f.Name(): 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %o (%v), expected %o", path, info.Mode().Perm(), err, want)
		}
	}
}

// If the new state cannot be synced, it is taken back. The change was not made, and nothing is left to repair.
func TestIntentThatCannotBeSyncedIsTakenBack(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	failed := false
	m.store.files.fault = func(op, path string) error {
		if !failed && op == "syncdir" && strings.HasSuffix(path, "state") {
			failed = true
			return syscall.EIO
		}
		return nil
	}
	before := len(m.history())
	if _, err := m.change().Back(sum("one")); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if st, _, err := m.store.savedState("production"); err != nil || st.Intent != nil || len(m.history()) != before {
		t.Errorf("intent %+v, %v, history %+v", st.Intent, err, m.history())
	}
	m.answers("three")
}

// The history records a failed switch with its cause. If that fails, too, both errors are reported, without the claim
// that the change was made.
func TestHistoryRecordsCauseOfFailedSwitch(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		m := newSignedMaster(t, signedStore(t))
		m.store.files.fault = func(op, path string) error {
			switch {
			case op == "rename" && strings.HasSuffix(path, Suffix) && filepath.Dir(path) == m.dir:
				return syscall.EIO
			case op == "rename" && strings.HasSuffix(path, ".jsonl") && !recorded:
				return syscall.EROFS
			}
			return nil
		}
		_, err := m.change().Back(sum("one"))
		if !errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS) == recorded ||
			strings.Contains(err.Error(), "the change was made") {
			t.Error(err)
		}
		h := m.history()
		last := h[len(h)-1]
		if recorded && (last.Digest != sum("one") || !strings.Contains(last.Result, "input/output")) {
			t.Errorf("the history ends with %+v", last)
		}
		m.answers("three")
	}
}

// A regular file in place of the store is an error for OpenStore and for FindStore.
func TestStoreAtRegularFileIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(file); err == nil || !strings.HasPrefix(err.Error(), "cannot use the store: ") {
		t.Error(err)
	}
	if _, err := FindStore(file); !errors.Is(err, syscall.ENOTDIR) || errors.Is(err, ErrNoStore) {
		t.Error(err)
	}
	m := newMaster(t)
	m.failsAt("stat", m.dir, fs.ErrNotExist) // as if somebody removed the store at this moment
	if err := m.store.inspect(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// sweep reports a file that it cannot examine.
func TestSweepReportsFailures(t *testing.T) {
	m := newMaster(t)
	if err := os.Mkdir(filepath.Join(m.store.incoming(), "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"list", "lstat"} {
		m.failsAt(op, m.store.incoming(), syscall.EIO)
		if err := m.store.sweep(m.now); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", op, err)
		}
	}
	m.failsAt("lstat", m.store.incoming(), fs.ErrNotExist) // as if another program had removed the file
	if err := m.store.sweep(m.now); err != nil {
		t.Error(err)
	}
}

// If a switch cannot look for the snapshot, it reports the disk error, and not that the snapshot is missing.
func TestSwitchReportsErrorOfLookingForSnapshot(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	m.failsAt("stat", string(sum("one")), syscall.EIO)
	if err := m.change().Activate(sum("one")); !errors.Is(err, syscall.EIO) || errors.Is(err, errGone) {
		t.Error(err)
	}
	m.answers("two")
}
