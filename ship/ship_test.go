package ship

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bindc/origin"
)

// shelf is a source with a single snapshot.
type shelf struct {
	text, revision string
	signed         *origin.Signed
	silent         bool  // offers have neither digest, size nor validator
	fails          error // error of Look
	breaks         error // error in the middle of Body
	wrong          Digest
	looks, reads   int
	mu             sync.Mutex
}

// set changes what the source offers next.
func (s *shelf) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *shelf) String() string { return "shelf" }

func (s *shelf) Look(_ context.Context, validator string) (*Offer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looks++; s.fails != nil {
		return nil, s.fails
	}
	now := s.text
	if s.signed != nil {
		now += string(s.signed.Text)
	}
	if validator == now {
		return nil, ErrUnchanged
	}
	o := &Offer{Validator: now, Digest: sum(s.text), Size: int64(len(s.text)), Revision: s.revision,
		Close: func() error { return nil }}
	if s.silent {
		o.Validator, o.Digest, o.Size = "", "", -1
	}
	if s.wrong != "" {
		o.Digest = s.wrong
	}
	if s.signed != nil {
		o.Signed = func(context.Context) (*origin.Signed, error) { return s.signed, nil }
	}
	o.Body = func(context.Context) (io.ReadCloser, error) {
		s.reads++
		var r io.Reader = strings.NewReader(s.text)
		if s.breaks != nil {
			r = io.MultiReader(strings.NewReader(s.text[:len(s.text)/2]), &broken{s.breaks})
		}
		return io.NopCloser(r), nil
	}
	return o, nil
}

type broken struct{ err error }

func (b *broken) Read([]byte) (int, error) { return 0, b.err }

func sum(text string) Digest {
	h := sha256.Sum256([]byte(text))
	return Digest(hex.EncodeToString(h[:]))
}

// master is a store with one name, production, which is pulled from a shelf. The test sets its time.
type master struct {
	*testing.T
	dir   string
	store *Store
	shelf *shelf
	pull  *Pull
	now   time.Time
}

func newMaster(t *testing.T) *master {
	m := &master{T: t, dir: t.TempDir(), shelf: &shelf{}, now: time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)}
	var err error
	if m.store, err = OpenStore(m.dir); err != nil {
		t.Fatal(err)
	}
	m.pull = &Pull{Store: m.store, Name: "production", Source: m.shelf, MaxBytes: 1000, By: "test",
		Now: func() time.Time { return m.now }}
	return m
}

// release makes the shelf offer a snapshot one day later, and pulls it.
func (m *master) release(text string) (Result, error) {
	m.now = m.now.Add(24 * time.Hour)
	m.shelf.text = text
	return m.pull.Run(m.Context())
}

func (m *master) mustRelease(texts ...string) {
	m.Helper()
	for _, text := range texts {
		if _, err := m.release(text); err != nil {
			m.Fatal(err)
		}
		m.answers(text)
	}
}

// answers checks the content of production.snap.
func (m *master) answers(text string) {
	m.Helper()
	got, err := os.ReadFile(filepath.Join(m.dir, "production.snap"))
	if text == "" && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || string(got) != text {
		m.Fatalf("production.snap has '%s' (%v), expected '%s'", got, err, text)
	}
}

// clean checks that a failed pull left no files.
func (m *master) clean() {
	m.Helper()
	if left, err := os.ReadDir(m.store.incoming()); err != nil || len(left) > 0 {
		m.Errorf("store/tmp holds %v (%v)", left, err)
	}
}

func (m *master) change() *Switch {
	return &Switch{Store: m.store, Name: "production", Checks: m.pull.Checks, Now: m.pull.Now}
}

func TestStoresSnapshotOnceAndActivatesIt(t *testing.T) {
	m := newMaster(t)
	m.shelf.revision = "abc123"
	m.mustRelease("one")
	if r, err := m.release("one"); err != nil || r != (Result{}) || m.shelf.reads != 1 {
		t.Errorf("nothing new gave %+v, %v, and %d reads", r, err, m.shelf.reads)
	}
	m.mustRelease("two")
	r, err := m.release("one")
	if want := (Result{Digest: sum("one"), Revision: "abc123", Activated: true}); err != nil || r != want {
		t.Errorf("a stored snapshot gave %+v, %v; expected %+v", r, err, want)
	}
	if m.shelf.reads != 2 {
		t.Errorf("%d reads of two snapshots", m.shelf.reads)
	}
	info, err := os.Stat(m.store.Path(sum("one")))
	if err != nil || info.Mode() != 0o444 {
		t.Errorf("mode %v (%v), expected 0444", info.Mode(), err)
	}
	s := m.store.Status("production", m.now.Add(time.Hour))
	if s.Active != sum("one") || s.Revision != "abc123" || !s.Since.Equal(m.now) || s.Age != 3600 ||
		s.Persisted || s.Checked.Error != "" {
		t.Errorf("status %+v", s)
	}
	m.clean()
}

// A pull verifies what a source claims about a snapshot. A rejected snapshot changes nothing.
func TestRejectedReleaseChangesNothing(t *testing.T) {
	gate := errors.New("the gate is shut")
	for name, c := range map[string]struct {
		spoil   func(m *master)
		refused bool
		says    string
	}{
		"a source that is gone": {func(m *master) { m.shelf.fails = io.ErrUnexpectedEOF }, false, "unexpected EOF"},
		"a body that ends early": {func(m *master) { m.shelf.breaks = io.ErrUnexpectedEOF }, false,
			"cannot fetch the snapshot: unexpected EOF"},
		"a body that is cut": {func(m *master) { m.shelf.breaks = io.EOF }, false,
			"the source announced 3 bytes but sent only 1"},
		"another digest": {func(m *master) { m.shelf.wrong = sum("else") }, true, "the source announced " +
			string(sum("else"))},
		"too large": {func(m *master) { m.pull.MaxBytes = 2 }, true, "expected at most 2 bytes"},
		"too large, and the source does not say": {func(m *master) { m.pull.MaxBytes, m.shelf.silent = 2, true }, true,
			"expected at most 2 bytes"},
		"damaged": {func(m *master) {
			m.pull.Checks.Inspect = func(string) (bool, error) { return false, &Refusal{"damaged"} }
		}, true, "damaged"},
		"not signed": {func(m *master) {
			m.pull.Checks.Origin = readsStatement
		}, true, "it is not signed"},
		"a gate": {func(m *master) { m.pull.Checks.Gate = func(string, string) error { return gate } }, false,
			gate.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMaster(t)
			m.mustRelease("old")
			c.spoil(m)
			_, err := m.release("new")
			var r *Refusal
			var signature *origin.Rejection
			is := errors.As(err, &r) || errors.As(err, &signature)
			if err == nil || is != c.refused || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, refused %v; expected '%s', refused %v", err, is, c.says, c.refused)
			}
			m.answers("old")
			m.clean()
			s := m.store.Status("production", m.now)
			if s.Active != sum("old") || !strings.Contains(s.Checked.Error, c.says) || !s.Persisted ||
				s.Age != 24*3600 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

func TestGateGetsBothSnapshots(t *testing.T) {
	m := newMaster(t)
	var saw []string
	m.pull.Checks.Gate = func(path, active string) error {
		now, err := os.ReadFile(path)
		before, _ := os.ReadFile(active)
		saw = append(saw, string(before)+">"+string(now))
		return err
	}
	m.mustRelease("one", "two")
	if got := strings.Join(saw, " "); got != ">one one>two" {
		t.Errorf("the gate saw %s", got)
	}
}

func TestHeldSnapshotCanBeActivatedLater(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	m.pull.Hold = true
	if r, err := m.release("two"); err != nil || !r.Downloaded || r.Activated {
		t.Errorf("%+v, %v", r, err)
	}
	m.answers("one")
	m.pull.Hold = false
	m.mustRelease("two")
}

func TestRollbackGoesBackAndStaysThere(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	m.shelf.text = "flash" // active for less than a minute
	if _, err := m.pull.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.now = m.now.Add(30 * time.Second)
	m.shelf.text = "three"
	if _, err := m.pull.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.now = m.now.Add(time.Hour)
	for _, want := range []string{"one"} { // "two" was active for no time, "flash" for half a minute
		d, err := m.change().Back("")
		if err != nil || d != sum(want) {
			t.Fatalf("back to %s, %v; expected %s", d.Short(), err, want)
		}
		m.answers(want)
	}
	if _, err := m.change().Back(""); err == nil || !strings.Contains(err.Error(), "--to DIGEST") {
		t.Errorf("nothing is before the first: %v", err)
	}
	r, err := m.release("four")
	if err != nil || !r.Pinned || r.Activated {
		t.Errorf("after a rollback: %+v, %v", r, err)
	}
	m.answers("one")
	if err := m.change().Resume(); err != nil {
		t.Fatal(err)
	}
	m.mustRelease("four")
	if m.shelf.reads != 5 {
		t.Errorf("%d reads of five snapshots", m.shelf.reads)
	}
}

func TestRollbackGoesFurtherBackEachTime(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two", "three", "four")
	for _, want := range []string{"three", "two"} {
		m.now = m.now.Add(time.Hour)
		if d, err := m.change().Back(""); err != nil || d != sum(want) {
			t.Fatalf("back to %s, %v; expected %s", d.Short(), err, want)
		}
	}
	m.now = m.now.Add(time.Hour)
	if err := m.change().Activate(sum("four")); err != nil {
		t.Fatal(err)
	}
	m.now = m.now.Add(time.Hour)
	if d, err := m.change().Back(""); err != nil || d != sum("two") { // "three" was rolled back, so it is skipped
		t.Errorf("back to %s, %v; expected two", d.Short(), err)
	}
	if d, err := m.change().Back(sum("one")); err != nil || d != sum("one") {
		t.Errorf("back to %s, %v; expected one", d.Short(), err)
	}
}

// signs creates the signed statement of a snapshot. The key does not matter here.
func signs(t *testing.T, text, name string, created time.Time) *origin.Signed {
	statement, err := json.Marshal(origin.Statement{Name: name, SHA256: string(sum(text)), Revision: "r-" + text,
		Created: created})
	if err != nil {
		t.Fatal(err)
	}
	return &origin.Signed{Text: statement, Signature: []byte("signature")}
}

// readsStatement is an Origin check that trusts all signatures.
func readsStatement(_ string, signed origin.Signed, sum [32]byte) (o origin.Origin, err error) {
	if err = json.Unmarshal(signed.Text, &o.Statement); err == nil && o.SHA256 != hex.EncodeToString(sum[:]) {
		err = &origin.Rejection{Reason: "another file"}
	}
	return o, err
}

func TestSignedSnapshotIsNotDownloadedAgain(t *testing.T) {
	m := newMaster(t)
	m.pull.Checks.Origin = readsStatement
	at := func(day int) time.Time { return time.Date(2026, 5, day, 0, 0, 0, 0, time.UTC) }
	send := func(text, name string, day int) error {
		m.shelf.signed = signs(t, text, name, at(day))
		_, err := m.release(text)
		return err
	}
	if err := errors.Join(send("one", "production", 1), send("two", "production", 2)); err != nil {
		t.Fatal(err)
	}
	var r *Refusal
	if err := send("one", "production", 1); !errors.As(err, &r) || !strings.Contains(err.Error(), "use rollback") {
		t.Errorf("what answered before is sent again: %v", err)
	}
	if err := send("three", "staging", 3); !errors.As(err, &r) || !strings.Contains(err.Error(),
		"signed as 'staging'") {
		t.Errorf("that of another name: %v", err)
	}
	m.answers("two")
	if d, err := m.change().Back(""); err != nil || d != sum("one") {
		t.Errorf("a rollback may: %s, %v", d.Short(), err)
	}
	if err := m.change().Resume(); err != nil {
		t.Fatal(err)
	}
	if err := send("between", "production", 1); !errors.As(err, &r) {
		t.Errorf("a rollback must not allow older releases: %v", err)
	}
	if err := send("one", "production", 4); err != nil { // the same bytes with a later statement
		t.Errorf("signed again: %v", err)
	}
	m.answers("one")
	if s, err := m.store.Statement(sum("one")); err != nil || !s.Created.Equal(at(4)) {
		t.Errorf("its statement is %+v, %v; expected the later one", s, err)
	}
	if s := m.store.Status("production", m.now); s.Revision != "r-one" || !s.Created.Equal(at(4)) {
		t.Errorf("status %+v", s)
	}
}

// A pull fetches a damaged file of the store again.
func TestDamagedEntryIsReplaced(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	path := m.store.Path(sum("one"))
	if err := errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, []byte("0ne"), 0o644)); err != nil {
		t.Fatal(err)
	}
	m.mustRelease("one")
	if m.shelf.reads != 3 {
		t.Errorf("%d reads, expected a third", m.shelf.reads)
	}
	m.clean()
}

// If the active snapshot was removed, a pull fetches it again although the source has nothing new.
func TestLostEntryIsFetchedAgain(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	if err := os.RemoveAll(m.store.entry(sum("one"))); err != nil {
		t.Fatal(err)
	}
	m.mustRelease("one")
}

func TestFileThatIsNotALinkIsNotReplaced(t *testing.T) {
	m := newMaster(t)
	link := filepath.Join(m.dir, "production.snap")
	if err := os.WriteFile(link, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.release("one"); err == nil || !strings.Contains(err.Error(),
		"expected a symbolic link into the store") {
		t.Errorf("%v", err)
	}
	m.answers("mine")
	os.Remove(link)
	if err := os.Symlink("/etc/passwd", link); err != nil {
		t.Fatal(err)
	}
	if _, err := m.release("one"); err == nil || !strings.Contains(err.Error(), "found a link to /etc/passwd") {
		t.Errorf("%v", err)
	}
}

func TestCollectRemovesUnneededSnapshots(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two", "three", "four")
	if _, err := m.change().Back(sum("one")); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(m.store.incoming(), "pull-dead")
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(30 * 24 * time.Hour)
	would, err := m.store.Collect(Keep{Last: 2}, later, true)
	if err != nil || len(would) != 2 {
		t.Errorf("would collect %v, %v", would, err)
	}
	for _, path := range []string{left, m.store.Path(would[0]), m.store.Path(would[1])} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a dry run removes it: %v", err)
		}
	}
	for _, d := range would {
		if err := os.Chtimes(m.store.entry(d), later, later); err != nil {
			t.Fatal(err)
		}
	}
	if gone, err := m.store.Collect(Keep{Last: 2, Younger: time.Hour}, later.Add(time.Hour-1), false); err != nil ||
		len(gone) > 0 {
		t.Errorf("collected a snapshot that is younger than an hour: %v, %v", gone, err)
	}
	if gone, err := m.store.Collect(Keep{Last: 2, Younger: time.Hour}, later.Add(time.Hour), true); err != nil ||
		len(gone) != 2 {
		t.Errorf("would collect %v, %v of the snapshots that are an hour old", gone, err)
	}
	if err := os.Mkdir(left, 0o755); err != nil { // the first call of Collect removed the directory
		t.Fatal(err)
	}
	gone, err := m.store.Collect(Keep{Last: 2}, later, false) // "one" is active; "four" was active before it
	if err != nil || len(gone) != 2 || bytes.Contains([]byte(gone[0]+gone[1]), []byte(sum("one"))) {
		t.Errorf("collected %v, %v", gone, err)
	}
	for text, stays := range map[string]bool{"one": true, "two": false, "three": false, "four": true} {
		if exists, err := m.store.has(sum(text)); exists != stays || err != nil {
			t.Errorf("%s is there: %v, %v; expected %v", text, exists, err, stays)
		}
	}
	m.clean()
	if gone, err := m.store.Collect(Keep{Last: 0, Younger: 60 * 24 * time.Hour}, later, false); err != nil ||
		len(gone) > 0 {
		t.Errorf("collected young snapshots: %v, %v", gone, err)
	}
	m.answers("one")
}

func TestSnapshotsAreFoundByDigestAndRevision(t *testing.T) {
	m := newMaster(t)
	m.shelf.revision = "v1"
	m.mustRelease("one")
	m.shelf.revision = "v2"
	m.mustRelease("two")
	one := string(sum("one"))
	for text, want := range map[string]Digest{one: sum("one"), "sha256:" + one: sum("one"), one[:8]: sum("one"),
		"v2":    sum("two"),
		one[:5]: "", "v3": "", "": ""} {
		if d, err := m.store.Find("production", text); d != want || (err == nil) != (want != "") {
			t.Errorf("'%s' is %s, %v; expected %s", text, d.Short(), err, want.Short())
		}
	}
}

// A crash may leave an incomplete last line in a history.
func TestIncompleteHistoryLineIsSkipped(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	f, err := os.OpenFile(m.store.eventsOf("production"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"time":"2026-0`)
	f.Close()
	m.mustRelease("two")
	h, err := m.store.History("production")
	if err != nil || len(h) != 3 || h[0].Digest != sum("one") || h[1].Action != Repair || h[2].Digest != sum("two") {
		t.Errorf("history %+v, %v", h, err)
	}
}

func TestNamesThatLeaveTheDirectoryAreRejected(t *testing.T) {
	for name, fits := range map[string]bool{"production": true, "dev_1.x-y": true, "": false, ".": false, "..": false,
		"a/b": false,
		"-x":  false, ".hidden": false, "a\x00": false, "x.snap": false, strings.Repeat("a", 129): false, "ä": false} {
		if err := CheckName(name); (err == nil) != fits {
			t.Errorf("'%s': %v", name, err)
		}
	}
}
