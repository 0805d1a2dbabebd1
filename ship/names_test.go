package ship

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// OpenStore completes a store whose creator died, and reports every failure.
func TestOpenStoreReportsEveryFailure(t *testing.T) {
	for n := 1; ; n++ {
		dir := t.TempDir()
		s, count, failed := &Store{dir: dir}, 0, ""
		s.files.fault = func(op, _ string) error {
			if count++; count == n {
				failed = op
				return syscall.EIO
			}
			return nil
		}
		err := s.create()
		if failed != "" && failed != "remove" && !errors.Is(err, syscall.EIO) {
			t.Errorf("access %d, %s: %v", n, failed, err)
		}
		again, err := OpenStore(dir)
		if err != nil {
			t.Fatalf("after access %d failed: %v", n, err)
		}
		for _, path := range append(again.dirs(), again.lock()) {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("after access %d failed: %v", n, err)
			}
		}
		if count < n {
			break
		}
	}
}

func TestNamesListsLinksAndStates(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	refused := *m.pull
	refused.Name = "a-refused"
	refused.Checks.Gate = func(string, string) error { return &Refusal{"no"} }
	if _, err := refused.Run(t.Context()); err == nil {
		t.Fatal("the gate let it through")
	}
	for path, target := range map[string]string{"b.snap": "", "-c.snap": "x", "state/.d.json": "", "state/e": ""} {
		var err error
		if path = filepath.Join(m.dir, path); target == "" {
			err = os.WriteFile(path, nil, 0o644)
		} else {
			err = os.Symlink(target, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	names, err := m.store.Names()
	if err != nil || !slices.Equal(names, []string{"a-refused", "production"}) {
		t.Errorf("names %q, %v", names, err)
	}
	for op, n := range map[string]int{"list": 2} {
		for i := 1; i <= n; i++ {
			m.fails(i, false, syscall.EIO)
			if _, err := m.store.Names(); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s %d fails: %v", op, i, err)
			}
		}
	}
}

// A link that does not lead to the path of a digest in the store is an error.
func TestLinkOutOfStoreIsAnError(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	link := m.store.linkOf("production")
	for _, target := range []string{"other/sha256/" + string(sum("one")) + "/site.snap",
		"store/sha256/" + string(sum("one")) + "/other.snap", "store/sha256/one/site.snap"} {
		if err := errors.Join(os.Remove(link), os.Symlink(target, link)); err != nil {
			t.Fatal(err)
		}
		if d, err := m.store.Active("production"); err == nil || !strings.Contains(err.Error(),
			"found a link to "+target) {
			t.Errorf("a link to %s: %s, %v", target, d.Short(), err)
		}
		if _, err := m.store.Collect(Keep{}, time.Now(), false); err == nil {
			t.Errorf("a link to %s: gc removes a snapshot that it may need", target)
		}
	}
}

func TestFindReportsAmbiguousDigests(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	if err := os.Remove(m.store.eventsOf("production")); err != nil {
		t.Fatal(err)
	}
	if d, err := m.store.Find("production", "r-two"); err != nil || d != sum("two") {
		t.Errorf("by the revision of a statement: %s, %v", d.Short(), err)
	}
	two := string(sum("two"))
	like := two[:8] + strings.Repeat("0", 56)
	if err := os.Mkdir(m.store.entry(Digest(like)), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := m.store.Find("production", two[:6]); err == nil || !strings.Contains(err.Error(),
		"matches 2 snapshots, such as "+min(two, like)[:12]+" and "+max(two, like)[:12]) {
		t.Errorf("a beginning that two digests have: %v", err)
	}
	if d, err := m.store.Find("production", two[:9]); err != nil && d != sum("two") {
		t.Errorf("a longer one: %s, %v", d.Short(), err)
	}
	for n := 1; ; n++ {
		fault := m.fails(n, false, syscall.EIO)
		_, err := m.store.Find("production", "r-two")
		if fault.count < n {
			break
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("access %d, %s, fails: %v", n, fault.op, err)
		}
	}
}

// A rollback skips snapshots that were active for less than a minute.
func TestRollbackSkipsBriefReleases(t *testing.T) {
	for lasted, want := range map[time.Duration]string{settled: "two", settled - 1: "one"} {
		m := newMaster(t)
		m.mustRelease("one", "two")
		m.now = m.now.Add(lasted)
		m.shelf.text = "three"
		if err := m.pullNow(); err != nil {
			t.Fatal(err)
		}
		if d, err := m.change().Back(""); err != nil || d != sum(want) {
			t.Errorf("after %v: back to %s, %v; expected %s", lasted, d.Short(), err, want)
		}
	}
}

func TestReadersReportFailures(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	for n := 1; ; n++ {
		fault := m.fails(n, false, syscall.EIO)
		s := m.store.Status("production", m.now)
		if fault.count < n {
			break
		}
		if !strings.Contains(s.Problem, "input/output error") {
			t.Errorf("access %d, %s, fails: %+v", n, fault.op, s)
		}
	}
}

func TestWriteMetricsWritesAllNames(t *testing.T) {
	at := time.Unix(1000, 0)
	all := []Status{{Name: "production", Active: sum("one"), Revision: `a"b\c`, Since: at,
		State: State{Pinned: true, Checked: Step{OK: at.Add(time.Second), Error: "no"}, Damaged: "yes"}},
		{Name: "staging", Problem: "x", State: State{Refused: &RefusedRelease{}, Checked: Step{At: at, Took: 1.25},
			Counts: Counts{map[string]uint64{"ok": 7, "gate": 2}, 3, 4_000_000_000, 5, 6}}}, {Name: "test"}}
	var text bytes.Buffer
	if err := WriteMetrics(&text, all); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`bindc_active_info{name="production",digest="` + string(sum("one")) + `",revision="a\"b\\c"} 1`,
		`bindc_active_since_seconds{name="production"} 1000`, `bindc_checked_seconds{name="production"} 1001`,
		`bindc_check_failed{name="production"} 1`, `bindc_check_failed{name="staging"} 0`,
		`bindc_damaged{name="production"} 1`, `bindc_damaged{name="staging"} 1`, `bindc_damaged{name="test"} 0`,
		`bindc_pinned{name="production"} 1`, `bindc_pinned{name="test"} 0`,
		`bindc_refused{name="staging"} 1`, `bindc_refused{name="production"} 0`,
		`bindc_polls_total{name="staging",result="ok"} 7`, `bindc_polls_total{name="staging",result="gate"} 2`,
		`bindc_polls_total{name="staging",result="network"} 0`, `bindc_polls_total{name="test",result="disk"} 0`,
		`bindc_downloads_total{name="staging"} 3`, `bindc_downloaded_bytes_total{name="staging"} 4000000000`,
		`bindc_activations_total{name="staging"} 5`, `bindc_rollbacks_total{name="staging"} 6`,
		`bindc_poll_duration_seconds{name="staging"} 1.25`,
		"# TYPE bindc_polls_total counter", "# TYPE bindc_rollbacks_total counter",
		"# TYPE bindc_pinned gauge", "# HELP bindc_active_info The active snapshot.",
	} {
		if !strings.Contains(text.String(), line+"\n") {
			t.Errorf("expected %s in\n%s", line, text.String())
		}
	}
	for _, absent := range []string{`bindc_active_since_seconds{name="test"}`, `bindc_poll_duration_seconds{name="test"}`} {
		if strings.Contains(text.String(), absent) {
			t.Errorf("a name without events has %s:\n%s", absent, text.String())
		}
	}
}

// If the clock advances while a release is fetched and checked, the steps have a duration, and the counters include
// each step.
func TestEventsAreCountedAndTimed(t *testing.T) {
	m := newMaster(t)
	m.pull.Checks.Inspect = func(string) (bool, error) { m.now = m.now.Add(time.Second); return false, nil }
	m.pull.Checks.Gate = func(string, string) error { m.now = m.now.Add(2 * time.Second); return nil }
	m.mustRelease("one", "three")
	s := m.state()
	if s.Downloaded.Took != 1 || s.Activated.Took != 3 || s.Checked.Took != 4 {
		t.Errorf("a download of %g s, an activation of %g s, a poll of %g s; expected 1, 3 and 4", s.Downloaded.Took,
			s.Activated.Took, s.Checked.Took)
	}
	m.shelf.fails = io.ErrUnexpectedEOF
	m.pullNow()
	m.pullNow()
	m.now = m.now.Add(time.Hour)
	if _, err := m.change().Back(sum("one")); err != nil {
		t.Fatal(err)
	}
	want := Counts{map[string]uint64{"ok": 2, "network": 2}, 2, uint64(len("onethree")), 2, 1}
	if got := m.state().Counts; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, expected %+v", got, want)
	}
}
