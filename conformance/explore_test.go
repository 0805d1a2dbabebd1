package conformance

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// explore starts bindc explore, and returns the address of the pages of the latest version.
func explore(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("bindc", append([]string{"explore", "--no-token", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line) + "s/latest"
}

// fetch returns the answer of a page.
func fetch(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s has status %d: %s", address, answer.StatusCode, text)
	}
	return string(text)
}

// bindq returns the output of bindq, regardless of its status.
func bindq(args ...string) string {
	out, _ := exec.Command("bindq", args...).Output()
	return string(out)
}

// merging is a site of Hiera 5 with merged, optional and computed values.
const merging = `
-- site/hiera.yaml --
version: 5
hierarchy:
  - {name: nodes, path: 'nodes/%{fqdn}.yaml'}
  - {name: os, path: 'os/%{osfamily}.yaml'}
  - {name: common, path: common.yaml}
-- site/data/common.yaml --
packages: [curl]
motd: "%{fqdn} asks %{lookup('server')}"
server: pool.example.org
users: {ann: {uid: 1}}
copy: "%{alias('absent')}"
secret: hunter2
lookup_options:
  packages: {merge: unique}
  users: {merge: deep}
  secret: {convert_to: Sensitive}
-- site/data/os/Debian.yaml --
packages: [apt]
server: debian.example.org
users: {ann: {shell: zsh}}
-- site/data/nodes/web1.yaml --
users: {bob: {uid: 2}}
absent: here
-- facts/web1.yaml --
fqdn: web1
osfamily: Debian
-- facts/db1.yaml --
fqdn: db1
osfamily: RedHat
`

// The JSON of every page has the same answers as the command line.
func TestExplorePagesShowAnswersOfBindq(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(merging)).Files {
		path := filepath.Join(dir, f.Name)
		os.MkdirAll(filepath.Dir(path), 0o777)
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	comparePages(t, filepath.Join(dir, "site"), filepath.Join(dir, "facts"), "osfamily=RedHat")
	comparePages(t, "../testdata/example", "../testdata/example-facts", "osfamily=RedHat")
}

func comparePages(t *testing.T, site, facts, change string) {
	t.Helper()
	snap, old := filepath.Join(t.TempDir(), "new.bsnap"), filepath.Join(t.TempDir(), "old.bsnap")
	for _, args := range [][]string{{"build", site, "-o", snap}, {"build", "../testdata/example", "-o", old}} {
		if out, err := exec.Command("bindc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	to := explore(t, snap, "--facts-dir", facts, "--old", old)
	same := func(path string, args ...string) {
		t.Helper()
		if found, expected := fetch(t, to+path), bindq(args...); found != expected || expected == "" {
			t.Errorf("%s is\n%s\nbindq %s prints\n%s", path, found, strings.Join(args, " "), expected)
		}
	}
	var keys []string
	var nodes map[string]any
	for path, list := range map[string]any{"/k.json": &keys, "/n.json": &nodes} {
		if err := json.Unmarshal([]byte(fetch(t, to+path)), list); err != nil {
			t.Fatal(err)
		}
	}
	same("/k.json", "keys", snap, "--format", "json")
	same("/n.json", "nodes", snap, "--facts-dir", facts, "--format", "json")
	same("/d.json", "diff", old, snap, "--facts-dir", facts, "--format", "json")
	for _, key := range keys {
		same("/k/"+url.PathEscape(key)+".json", "values", key, "-s", snap, "--facts-dir", facts, "--format", "json")
	}
	for node := range nodes {
		files, _ := filepath.Glob(filepath.Join(facts, node+".*"))
		of := []string{"-s", snap, "--facts", files[0], "--format", "json"}
		for _, key := range keys {
			same("/n/"+node+"/k/"+url.PathEscape(key)+".json", append([]string{"explain", key}, of...)...)
		}
		same("/n/"+node+".json", append(append([]string{"explain"}, keys...), of...)...)
		alone := t.TempDir() // a directory with the facts of this node only
		text, err := os.ReadFile(files[0])
		if err == nil {
			err = os.WriteFile(filepath.Join(alone, filepath.Base(files[0])), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		same("/n/"+node+".json?if="+url.QueryEscape(change), "diff", "-s", snap, "--if", change, "--facts-dir", alone,
			"--format", "json")
	}
}

// The pages show an edited site. While the site has errors, they show the errors and the last valid data.
func TestExploreFollowsEdits(t *testing.T) {
	t.Parallel()
	site := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(site, name)
		os.MkdirAll(filepath.Dir(path), 0o777)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("hiera.yaml", "version: 2\n")
	write("data/common.yaml", "ntp::server: first.example.org\n")
	to := explore(t, site)
	shows := func(path string, texts ...string) {
		t.Helper()
		page := ""
		for range 300 {
			page = fetch(t, to+path)
			missing := false
			for _, text := range texts {
				missing = missing || !strings.Contains(page, text)
			}
			if !missing {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("%s does not show %v:\n%s", path, texts, page)
	}
	shows("/k/ntp::server", "first.example.org")
	write("data/common.yaml", "ntp::server: second.example.org\n")
	shows("/k/ntp::server", "second.example.org")
	shows("/d", "first.example.org", "second.example.org")
	write("data/common.yaml", "ntp::server: [\n")
	shows("/k/ntp::server", "does not build", "common.yaml", "second.example.org")
	write("data/common.yaml", "ntp::server: third.example.org\n")
	shows("/k/ntp::server", "third.example.org")
}
