package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A unit is a test, or a subtest of a slow test, that is run on its own.
type unit struct {
	suite     *suite
	top, sub  string
	processor time.Duration // CPU time when no mutant is active
	reaches   []bool        // reaches[i] reports whether the unit reaches mutant i
}

func (u *unit) name() string {
	if u.sub == "" {
		return u.top
	}
	return u.top + "/" + u.sub
}

// long is the CPU time from which a test is split into its subtests.
const long = 2 * time.Second

// measure runs every test and records its CPU time and which of the n mutants it reaches. It
// excludes tests that fail without a mutant, for example because they count allocations.
func (b *bench) measure(n int, out io.Writer) ([]*unit, error) {
	var units []*unit
	for _, s := range b.suites {
		list, err := b.command(s, "", "-test.list", ".").Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
		for _, top := range strings.Fields(string(list)) {
			if strings.HasPrefix(top, "Benchmark") {
				continue
			}
			u := &unit{suite: s, top: top}
			ok, subs, err := b.record(u, n)
			if err != nil {
				return nil, err
			}
			if u.processor < long || len(subs) == 0 {
				units = appendPassing(out, units, u, ok)
				continue
			}
			for _, sub := range subs {
				u := &unit{suite: s, top: top, sub: sub}
				ok, _, err := b.record(u, n)
				if err != nil {
					return nil, err
				}
				units = appendPassing(out, units, u, ok)
			}
		}
	}
	return units, nil
}

func appendPassing(out io.Writer, units []*unit, u *unit, ok bool) []*unit {
	if !ok {
		fmt.Fprintf(out, "%s: %s fails without a mutant and is excluded\n", u.suite.path, u.name())
		return units
	}
	return append(units, u)
}

// record runs a unit, and records its CPU time and the mutants that it reaches. It returns whether
// the unit passes, and the names of its subtests.
func (b *bench) record(u *unit, n int) (ok bool, subs []string, err error) {
	log := filepath.Join(b.dir, "reached")
	if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil, err
	}
	cmd := b.command(u.suite, "log:"+log, "-test.v", "-test.run", pattern([]*unit{u}))
	out, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return false, nil, err
	}
	ok = err == nil
	u.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		rest, isRun := strings.CutPrefix(sc.Text(), "=== RUN   "+u.top+"/")
		if isRun && !strings.Contains(rest, "/") {
			subs = append(subs, rest)
		}
	}
	reached, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil, err
	}
	u.reaches = make([]bool, n)
	for ; len(reached) >= 4; reached = reached[4:] {
		u.reaches[binary.LittleEndian.Uint32(reached)] = true
	}
	return ok, subs, nil
}

// pattern returns a regular expression for -run that selects units. They must be tests, or subtests
// of a single test.
func pattern(units []*unit) string {
	var names []string
	for _, u := range units {
		if u.sub == "" {
			names = append(names, u.top)
		} else {
			names = append(names, regexp.QuoteMeta(u.sub))
		}
	}
	p := "^(" + strings.Join(names, "|") + ")$"
	if units[0].sub != "" {
		return "^" + units[0].top + "$/" + p
	}
	return p
}

func (b *bench) command(s *suite, setting string, args ...string) *exec.Cmd {
	cmd := exec.Command(s.binary, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "MUTANT="+setting, "PROGRAMS="+b.programs)
	return cmd
}

// try decides the fate of the mutants, in order, until ctx is done.
func (b *bench) try(ctx context.Context, mutants []*mutant, units []*unit, jobs int) {
	work := make(chan *mutant)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for m := range work {
				fate, by := b.fate(m, units)
				if !interrupted(ctx) {
					m.fate, m.by = fate, by
				}
				if m.lives() {
					fmt.Fprintln(os.Stderr, m)
				}
			}
		})
	}
	for i, m := range mutants {
		if ctx.Err() != nil {
			break
		}
		work <- m
		if i%100 == 99 {
			fmt.Fprintf(os.Stderr, "%d of %d\n", i+1, len(mutants))
		}
	}
	close(work)
	wg.Wait()
}

// interrupted reports whether the user interrupted the run. Test results then do not count, because
// an interrupt kills the tests.
func interrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// fate runs the units that reach a mutant, quickest first, until one of them fails.
func (b *bench) fate(m *mutant, units []*unit) (fate, string) {
	var reaching []*unit
	for _, u := range units {
		if u.reaches[m.id] {
			reaching = append(reaching, u)
		}
	}
	if len(reaching) == 0 {
		return unreached, ""
	}
	slices.SortStableFunc(reaching, func(a, b *unit) int { return int(a.processor - b.processor) })
	for limit := long / 8; len(reaching) > 0; limit *= 2 {
		var batch []*unit
		batch, reaching = cut(reaching, limit)
		if b.kills(m, batch) {
			return killed, batch[0].suite.path
		}
	}
	return survived, ""
}

// cut splits units. batch contains the first unit and others that can run in the same process,
// until their total CPU time exceeds limit.
func cut(units []*unit, limit time.Duration) (batch, rest []*unit) {
	first, spent := units[0], time.Duration(0)
	for _, u := range units {
		together := u.suite == first.suite && (u.sub == "") == (first.sub == "") && (u.sub == "" || u.top == first.top)
		if together && (len(batch) == 0 || spent+u.processor <= limit) {
			batch = append(batch, u)
			spent += u.processor
		} else {
			rest = append(rest, u)
		}
	}
	return batch, rest
}

// kills reports whether a test of the batch fails with the mutant. Limits on memory and CPU time
// stop a mutant that loops, and a limit on wall time stops a mutant that blocks.
func (b *bench) kills(m *mutant, batch []*unit) bool {
	var takes time.Duration
	for _, u := range batch {
		takes += u.processor
	}
	seconds := 3 + int(10*takes/time.Second)
	cmd := b.command(batch[0].suite, strconv.Itoa(m.id), "-test.failfast", "-test.run", pattern(batch),
		"-test.timeout", (90*time.Second + 20*takes).String())
	limits := fmt.Sprintf(`ulimit -t %d; ulimit -v %d; exec "$0" "$@"`, seconds, 4<<20)
	cmd.Args = append([]string{"sh", "-c", limits}, cmd.Args...)
	cmd.Path = "/bin/sh"
	return cmd.Run() != nil
}
