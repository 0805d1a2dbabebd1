package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// story pushes releases and checks what two masters do with them: accept the valid ones, and reject
// all others.
type story struct {
	*way
	masters  []*master
	catalogs *catalogs
	n        int // number of the active release
}

func (w *way) story() error {
	s := &story{way: w}
	if err := w.write("check.jsonl", `{"keys": ["release", "again"], "facts": {}}`+"\n"); err != nil {
		return err
	}
	if err := s.release(1, "x", nil); err != nil {
		return err
	}
	for _, name := range []string{"one", "two"} {
		gates := fmt.Sprintf("    check_keys: %s\n    max_change: 20%%\n", w.path("check.jsonl"))
		m, err := w.master(name, w.target+":production", "1s", gates)
		if err != nil {
			return err
		}
		defer m.end()
		s.masters = append(s.masters, m)
	}
	var err error
	if s.catalogs, err = w.catalogs("one", "two"); err != nil {
		return err
	}
	defer s.catalogs.end()
	for _, step := range []func() error{s.releases, s.refusals, s.rollback} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// answer checks that lookups and catalogs on both masters return the values of release n.
func (s *story) answer(n int) error {
	for _, m := range s.masters {
		if err := m.answers(int64(n)); err != nil {
			return err
		}
	}
	s.n = n
	return s.catalogs.hold(fmt.Sprintf("%d %d", n, n))
}

func (s *story) releases() error {
	if err := s.answer(1); err != nil {
		return err
	}
	start := time.Now()
	if err := s.release(2, "x", nil); err != nil {
		return err
	}
	for _, m := range s.masters {
		if err := m.answers(2); err != nil {
			return err
		}
	}
	took := time.Since(start)
	if err := s.answer(2); err != nil {
		return err
	}
	say("built, signed, pushed: release 2 is active on two masters that poll every second after %s, and in a "+
		"catalog of each, by %s, after %s", round(took), s.catalogs.by, round(time.Since(start)))
	return nil
}

// refusals pushes releases that must be rejected, and checks the reason that each master reports.
func (s *story) refusals() error {
	for _, bad := range []struct {
		what, reason string
		release      func() error
	}{
		{"a key that --check-keys names is missing", "'again' is not found", func() error {
			return s.release(3, "x", []string{"again"})
		}},
		{"all bindings change, at most 20 % may", "bindings change, more than 20%", func() error {
			return s.release(3, "y", nil)
		}},
		{"signed with a key that is not allowed", "is not among the allowed signers", func() error {
			return s.release(3, "x", nil, "--sign", s.path("other"))
		}},
		{"signed as another site", "it is signed as 'staging', expected 'production'", func() error {
			return s.release(3, "x", nil, "--name", "staging")
		}},
		{"not signed", "it is not signed", s.unsigned},
		{"with the signature of another release", "another file", s.mixed},
		{"cut short in the registry", "mismatch Content-Length", s.truncated},
		{"release 1, sent again", "and one of", func() error {
			_, err := s.push(s.path("release1.snap"), "production")
			return err
		}},
	} {
		if err := bad.release(); err != nil {
			return err
		}
		if err := s.refused(bad.reason); err != nil {
			return fmt.Errorf("%s: %w", bad.what, err)
		}
		say("refused on both masters: %s", bad.what)
	}
	return s.answer(s.n)
}

// release builds, signs and pushes release n of a small site. Keys in missing are left out.
func (s *story) release(n int, filling string, missing []string, flags ...string) error {
	site, err := s.small("site", n, filling, missing...)
	if err != nil {
		return err
	}
	path, err := s.build(site, n, flags...)
	if err == nil {
		_, err = s.push(path, "production")
	}
	return err
}

func (s *story) unsigned() error {
	site, err := s.small("site", 3, "x")
	if err != nil {
		return err
	}
	if _, err := s.run(nil, "bindc", "build", site, "-o", s.path("unsigned.snap")); err != nil {
		return err
	}
	_, err = s.push(s.path("unsigned.snap"), "production")
	return err
}

// mixed pushes a snapshot with the signature of another snapshot.
func (s *story) mixed() error {
	for _, suffix := range []string{".meta.json", ".sig"} {
		text, err := os.ReadFile(s.path("release2.snap" + suffix))
		if err != nil {
			return err
		}
		if err := s.write("unsigned.snap"+suffix, string(text)); err != nil {
			return err
		}
	}
	_, err := s.push(s.path("unsigned.snap"), "production")
	return err
}

// truncated pushes a valid release whose snapshot is truncated in the registry's storage.
func (s *story) truncated() error {
	before, err := s.layers()
	if err != nil {
		return err
	}
	site, err := s.small("site", 4, "x")
	if err != nil {
		return err
	}
	path, err := s.build(site, 4)
	if err != nil {
		return err
	}
	if _, err := s.push(path, "later"); err != nil {
		return err
	}
	after, err := s.layers()
	if err != nil {
		return err
	}
	for layer, size := range after {
		if before[layer] == 0 {
			if err := os.Truncate(layer, size/2); err != nil {
				return err
			}
		}
	}
	_, err = s.push(path, "production")
	return err
}

// layers returns the paths and sizes of the snapshots in the registry's storage, which are
// compressed with zstd.
func (s *story) layers() (map[string]int64, error) {
	out := map[string]int64{}
	err := filepath.WalkDir(s.path("registry"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "data" || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.HasPrefix(text, []byte("\x28\xb5\x2f\xfd")) {
			out[path] = int64(len(text))
		}
		return err
	})
	return out, err
}

// refused waits until both masters report reason for a rejection, and checks that the previous
// release is still active.
func (s *story) refused(reason string) error {
	for _, m := range s.masters {
		if err := m.look(); err != nil {
			return err
		}
		last := ""
		err := eventually("it is refused", func() (bool, error) {
			st, err := m.state()
			last = st.Checked.Error
			return strings.Contains(last, reason), err
		})
		if err != nil {
			return fmt.Errorf("%w: expected '%s', found '%s'", err, reason, last)
		}
		if a, b, err := both(m.reader); err != nil || a != int64(s.n) || b != a {
			return fmt.Errorf("release %d was active, now %d and %d: %w", s.n, a, b, err)
		}
	}
	return nil
}

// rollback rolls both masters back, checks that they ignore a new release, and lets them follow
// again.
func (s *story) rollback() error {
	store := func(m *master) string { return "--store=" + m.store }
	each := func(verb func(m *master) []string) error {
		for _, m := range s.masters {
			if _, err := s.run(nil, "bindsync", verb(m)...); err != nil {
				return err
			}
		}
		return nil
	}
	err := each(func(m *master) []string { return []string{"rollback", "production", "--to", "r1", store(m)} })
	if err == nil {
		err = s.answer(1)
	}
	if err == nil {
		err = s.release(5, "x", nil)
	}
	if err != nil {
		return err
	}
	for _, m := range s.masters {
		err := errors.Join(m.look(), eventually("release 5 is stored", func() (bool, error) {
			st, err := m.state()
			return st.Checked.Error == "" && strings.Contains(st.Source, "production") &&
				st.Checked.OK.After(st.Activated.OK) && st.Pinned, err
		}))
		if a, _, failed := both(m.reader); err != nil || failed != nil || a != 1 {
			return errors.Join(err, failed, errors.New("after a rollback, release "+strconv.Itoa(int(a))+" is active"))
		}
	}
	err = each(func(m *master) []string { return []string{"follow", "--resume", "production", store(m)} })
	for _, m := range s.masters {
		err = errors.Join(err, m.look())
	}
	if err == nil {
		err = s.answer(5)
	}
	say("rolled back: release 1 is active, in catalogs too; release 5 becomes active after resume")
	return err
}
