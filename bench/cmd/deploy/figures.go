package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bindc/bench/gen"
)

// row is one measurement: what was measured, and the formatted result.
type row struct{ what, found string }

// figures measures sites of the given sizes and prints a table with a column for each size.
func (w *way) figures(sizes []string, releases, switches int) error {
	var columns [][]row
	for _, size := range sizes {
		c, err := w.column(size, releases, switches)
		if err != nil {
			return fmt.Errorf("%s: %w", size, err)
		}
		columns = append(columns, c)
	}
	fmt.Printf("\n| what | %s |\n|---|%s\n", strings.Join(sizes, " | "), strings.Repeat("---|", len(sizes)))
	for i, r := range columns[0] {
		line := "| " + r.what
		for _, c := range columns {
			line += " | " + c[i].found
		}
		fmt.Println(line + " |")
	}
	return nil
}

// sized is a generated site of one size with two releases. The keys release and again are bound to
// the number of the release.
type sized struct {
	*way
	dir, name string
	releases  [2]string
}

func (w *way) column(size string, releases, switches int) (rows []row, err error) {
	s := &sized{way: w, name: size}
	if err := s.make(); err != nil {
		return nil, err
	}
	for _, part := range []func() ([]row, error){s.steps, s.idle,
		func() ([]row, error) { return s.follow(releases) },
		func() ([]row, error) { return s.switches(switches) }} {
		found, err := part()
		if err != nil {
			return nil, err
		}
		for _, r := range found { // print each result immediately, because a run takes half an hour
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", size, r.what, r.found)
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// make generates the site, adds a layer for the keys release and again, and builds both releases.
func (s *sized) make() error {
	s.dir = s.path("site-" + s.name)
	if _, err := gen.Write(s.dir, gen.Sizes[s.name]); err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(s.dir, "binder_config.yaml"))
	if err != nil {
		return err
	}
	text := strings.Replace(string(config), "layers:\n", "layers:\n  - {name: release, include: 'confdir:/default'}\n", 1)
	if err := s.write("site-"+s.name+"/binder_config.yaml", text); err != nil {
		return err
	}
	for i := range s.releases {
		if s.releases[i], err = s.build(i + 1); err != nil {
			return err
		}
	}
	return nil
}

func (s *sized) build(n int) (string, error) {
	err := s.write("site-"+s.name+"/bindings/default.yaml",
		fmt.Sprintf("bindings_version: 1\nname: default\nbind: [[release, %d], [again, %d]]\n", n, n))
	if err != nil {
		return "", err
	}
	return s.way.build(s.dir, n)
}

// steps measures each step of a deployment in five rounds and returns the medians.
func (s *sized) steps() ([]row, error) {
	_, at, end, err := s.server()
	if err != nil {
		return nil, err
	}
	defer end()
	info, err := os.Stat(s.releases[1])
	if err != nil {
		return nil, err
	}
	rows := []row{{"size of the snapshot", fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)}}
	var took [][]time.Duration
	for range 5 {
		round, err := s.round(at)
		if err != nil {
			return nil, err
		}
		took = append(took, round)
	}
	for i, what := range []string{"copy, sync and rename: the yardstick", "`bindc push`",
		"`bindc push` again, nothing new",
		"`bindq verify`", "`bindsync pull` from the registry: fetch, check, switch", "`bindsync pull`, nothing new",
		"`bindsync rollback`", "`bindsync activate`", "`bindsync pull` from nginx, HTTPS"} {
		rows = append(rows, row{what, round(quantile(took, i, 50))})
	}
	return rows, nil
}

// round runs each step once and returns the times in the order of the table.
func (s *sized) round(at string) (took []time.Duration, err error) {
	store, tag := s.path("round"), s.target+":round-"+s.name
	signers := s.path("allowed_signers")
	for _, dir := range []string{store, s.path("round-https"), s.path("registry")} {
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	pull := []string{"bindsync", "pull", tag, "--name", "production", "--plain-http", "--store", store,
		"--allowed-signers",
		signers}
	if _, err := s.push(s.releases[0], "round-"+s.name); err != nil {
		return nil, err
	}
	if _, err := s.run(nil, pull[0], pull[1:]...); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := copied(s.releases[1], s.path("copy")); err != nil {
		return nil, err
	}
	took = append(took, time.Since(start))
	if err := s.publish(s.releases[1]); err != nil {
		return nil, err
	}
	push := []string{"bindc", "push", s.releases[1], tag, "--plain-http"}
	for _, args := range [][]string{push, push, {"bindq", "verify", s.releases[1]}, pull, pull,
		{"bindsync", "rollback", "production", "--to", "r1", "--store", store},
		{"bindsync", "activate", "production", "r2", "--store", store, "--allowed-signers", signers},
		{"bindsync", "pull", "https://" + at + "/site.snap", "--name", "production", "--ca-file", s.path("deploy.crt"),
			"--store", s.path("round-https"), "--allowed-signers", signers}} {
		d, err := s.run(nil, args[0], args[1:]...)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return took, nil
}

func quantile(rounds [][]time.Duration, i, p int) time.Duration {
	var all []time.Duration
	for _, r := range rounds {
		all = append(all, r[i])
	}
	slices.Sort(all)
	return all[min(len(all)*p/100, len(all)-1)]
}

// copied copies a file and renames the copy, like scp followed by mv. It includes an fsync.
func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to + ".new")
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}

// follow measures the time from a push to the first lookup that returns the new value, on two
// masters that poll every second.
func (s *sized) follow(releases int) ([]row, error) {
	if _, err := s.push(s.releases[0], "figures"); err != nil {
		return nil, err
	}
	var masters []*master
	for _, name := range []string{"one-", "two-"} {
		m, err := s.master(name+s.name, s.target+":figures", "1s", "")
		if err != nil {
			return nil, err
		}
		defer m.end()
		masters = append(masters, m)
	}
	var took [][]time.Duration
	for n := 2; n < releases+2; n++ {
		path, err := s.build(n)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if _, err := s.push(path, "figures"); err != nil {
			return nil, err
		}
		for _, m := range masters {
			if err := m.answers(int64(n)); err != nil {
				return nil, err
			}
			took = append(took, []time.Duration{time.Since(start)})
		}
		if n > 2 {
			if err := os.Remove(path); err != nil {
				return nil, err
			}
		}
	}
	now, most := resident(masters[0].follow.Process.Pid)
	return []row{{fmt.Sprintf("from a push to the first new answer on two masters that look every 0.5 to 1.5 s, "+
		"%d releases: median, p99", releases),
		round(quantile(took, 0, 50)) + ", " + round(quantile(took, 0, 99))},
		{"memory of `follow` behind them: resident, at most", now + ", " + most}}, nil
}

func resident(pid int) (now, most string) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	field := func(name string) string {
		_, rest, _ := strings.Cut(string(text), name+":")
		var kilobytes int
		fmt.Sscan(rest, &kilobytes)
		return fmt.Sprintf("%d MB", kilobytes>>10)
	}
	return field("VmRSS"), field("VmHWM")
}
