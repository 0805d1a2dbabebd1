//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bindc/internal/testmode"
)

// asking lists command lines of each verb of bindq. FILE is the snapshot, OTHER is another snapshot, and NODES is a
// directory with the facts of nodes. nil marks verbs that read no snapshot.
var asking = map[string][][]string{
	"lookup": {
		{"lookup", "key::7", "computed", "users", "-s", "FILE", "--node", "n1"},
		{"lookup", "key::7", "-s", "FILE", "--node", "n1", "--explain", "--render-as", "json"},
		{"lookup", "key::8", "-s", "FILE", "--node", "n1", "--all"},
		{"lookup", "key::none", "-s", "FILE", "--node", "n1"},
		{"lookup", "failing", "-s", "FILE", "--node", "n1"},
	},
	"dump":  {{"dump", "-s", "FILE", "--node", "n1"}, {"dump", "-s", "FILE", "--node", "n2", "--render-as", "yaml"}},
	"keys":  {{"keys", "-s", "FILE"}},
	"batch": {{"batch", "-s", "FILE"}},
	"values": {{"values", "key::7", "-s", "FILE"}, {"values", "users", "-s", "FILE", "--render-as", "json"},
		{"values", "key::none", "-s", "FILE"}, {"values", "key::7", "-s", "FILE", "--facts-dir", "NODES"},
		{"values", "key::7", "7", "-s", "FILE"}, {"values", "key::7", "7", "-s", "FILE", "--node", "n1"}},
	"explain": {{"explain", "key::7", "-s", "FILE", "--node", "n1"}},
	"diff": {{"diff", "FILE", "OTHER"}, {"diff", "OTHER", "FILE", "--format", "json"},
		{"diff", "FILE", "OTHER", "--facts-dir", "NODES"}, {"diff", "OTHER", "FILE", "--facts-dir", "NODES"}},
	"nodes":        {{"nodes", "-s", "FILE", "--facts-dir", "NODES"}},
	"verify":       {{"verify", "FILE"}},
	"info":         {{"info", "FILE"}, {"info", "FILE", "--dump"}},
	"hiera-config": {{"hiera-config", "-s", "FILE"}},
	"completion":   nil,
	"help":         nil,
	"version":      nil,

	"serve": nil, // package serve has a test of its own
}

// queries is the input of batch.
const queries = `{"key": "key::7", "node": "n1"}
{"key": "computed", "node": "n2", "explain": true}
{"keys": ["users", "failing", "key::300"], "node": "n1"}
`

// If a file is truncated while a verb has it mapped, the verb reports that, unless it does not need the missing part.
// The short form tries every third command line and some lengths.
func TestVerbsReportTruncatedFile(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	out, err := exec.Command("bindq", "__complete", "").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		verb, _, isVerb := strings.Cut(line, "\t")
		if _, known := asking[verb]; isVerb && !known {
			t.Errorf("%s has no row in asking, so nothing tries it with a truncated file", verb)
		}
	}
	dir := t.TempDir()
	site, nodes := newLargeSite(t), filepath.Join(dir, "nodes")
	for _, name := range []string{"n1", "n2", "n3"} {
		write(t, filepath.Join(nodes, name+".json"), fmt.Sprintf(`{"fqdn": "%s"}`, name))
	}
	file, other := filepath.Join(dir, "file.bsnap"), filepath.Join(dir, "other.bsnap")
	succeed(t, "bindc", "build", site, "-o", file)
	write(t, filepath.Join(site, "data/nodes/n1.yaml"), "key::8: changed\n")
	succeed(t, "bindc", "build", site, "-o", other)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	step := os.Getpagesize()
	if !testmode.Thorough() {
		step *= 30
	}
	tried, damaged := 0, 0
	number := 0
	for _, verb := range slices.Sorted(maps.Keys(asking)) {
		for _, line := range asking[verb] {
			if number++; !testmode.Chosen(t, number, 3) {
				continue
			}
			args := strings.Split(strings.NewReplacer("FILE", file, "OTHER", other, "NODES", nodes).
				Replace(strings.Join(line, "\n")), "\n")
			want, status := ask(t, args...)
			for mapped := 1; ; mapped++ {
				none := true // whether no command maps the file this often
				for keep := 0; keep < len(whole); keep += step {
					r, out, met := askTruncated(t, file, mapped, keep, args)
					if err := os.WriteFile(file, whole, 0o666); err != nil {
						t.Fatal(err)
					}
					if none = !met; none {
						break
					}
					tried++
					what := fmt.Sprintf("%s, truncated in map %d to %d bytes", strings.Join(line, " "), mapped, keep)
					said := strings.Contains(r.stderr+out, "snapshot_damaged")
					switch {
					case r.signal != 0 || crashed(r) || strings.Contains(r.stderr, "fault"):
						t.Errorf("%s: it crashed: %s", what, r.stderr)
					case said && verb != "batch" && (r.status != 2 || !strings.Contains(r.stderr, file+":")):
						t.Errorf("%s: expected status 2 and the path, got %d: %s", what, r.status, r.stderr)
					case !said && (out != want || r.status != status):
						t.Errorf("%s: another answer, with status %d:\n%s%s", what, r.status, out, r.stderr)
					case keep == 0 && mapped == 1 && !said:
						t.Errorf("%s: nothing is left, and it says nothing", what)
					}
					if said {
						damaged++
					}
				}
				if none {
					break
				}
			}
		}
	}
	figures(t, "%d verbs had a file truncated below them: %d said so, the others did not need it", tried, damaged)
}

// newLargeSite writes a site with bindings of each kind, whose snapshot has several pages.
func newLargeSite(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	var common strings.Builder
	for i := range 400 {
		fmt.Fprintf(&common, "key::%d: 'the value of %d'\n", i, i)
	}
	write(t, filepath.Join(dir, "hiera.yaml"), "version: 2\nhierarchy: [[node, '${fqdn}', 'data/nodes/${fqdn}'], "+
		"[common, 'true', data/common]]\n")
	write(t, filepath.Join(dir, "data/common.yaml"), common.String())
	for i := range 40 {
		path := filepath.Join(dir, fmt.Sprintf("data/nodes/n%d.yaml", i))
		write(t, path, fmt.Sprintf("key::7: %d\nkey::%d: x\n", i, 100+i))
	}
	write(t, filepath.Join(dir, "bindings/default.yaml"), `bindings_version: 1
name: default
bind:
  - {name: computed, to: 'of ${fqdn}: ${lookup("key::8")}'}
  - {name: failing, to_expression: 'lookup("key::8") + 1'}
  - {name: users, type: 'Hash[String, Data]', multibind_id: users}
  - {name: alice, type: Data, in: users, to: {uid: 1}}
  - {name: password, sensitive: true, to: hunter2}
`)
	return dir
}

// ask runs bindq with the queries as its standard input.
func ask(t *testing.T, args ...string) (out string, status int) {
	t.Helper()
	return answer(t, "bindq", args...)
}

// answer runs a program with the queries as its standard input.
func answer(t *testing.T, program string, args ...string) (out string, status int) {
	t.Helper()
	cmd := command(program, args...)
	var text bytes.Buffer
	cmd.Stdin, cmd.Stdout = strings.NewReader(queries), &text
	r := outcome(t, cmd, cmd.Run())
	return text.String(), r.status
}

// askTruncated runs bindq and truncates path to the size keep after bindq has mapped it the given number of times, but
// before it reads from the last map. A signal stops bindq after each mapping. askTruncated reports whether bindq mapped
// the file that often.
func askTruncated(t *testing.T, path string, mapped, keep int, args []string) (
	r result, out string, reached bool) {
	t.Helper()
	stop := []string{"-f", "-qqq", "-o", os.DevNull, "-P", path, "-e", "trace=" + named("mmap"), "-e", "signal=none",
		"-e", "inject=" + named("mmap") + ":signal=STOP", "bindq"}
	cmd := command("strace", append(stop, args...)...)
	var text bytes.Buffer
	cmd.Stdin, cmd.Stdout = strings.NewReader(queries), &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for met := 0; ; {
		select {
		case err := <-ended:
			return outcome(t, cmd, err), text.String(), met >= mapped
		case <-time.After(time.Millisecond):
		}
		pid := childOf(cmd.Process.Pid)
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if pid == 0 || err != nil || strings.Count(string(maps), path) <= met {
			continue
		}
		met++
		if met == mapped {
			if err := os.Truncate(path, int64(keep)); err != nil {
				t.Error(err)
			}
		}
		syscall.Kill(pid, syscall.SIGCONT)
	}
}

// childOf returns the first child of a process, or 0.
func childOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), " ")
	child, _ := strconv.Atoi(first)
	return child
}
