package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a command of git in dir and returns what it prints.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Eve", "-c", "user.email=eve@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRepository returns a repository without commits.
func newRepository(t *testing.T) *Repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	run(t, dir, "init", "-q", "-b", "main", ".")
	r, err := Find(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExtractWritesExactBytesAndKinds(t *testing.T) {
	r := newRepository(t)
	for name, text := range map[string]string{".gitattributes": "* text eol=crlf\n", "a/b c\n.yaml": "x: 1\n", "empty": ""} {
		path := filepath.Join(r.Root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(r.Root, "link")); err != nil {
		t.Fatal(err)
	}
	run(t, r.Root, "add", ".")
	run(t, r.Root, "update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,modules/sub")
	run(t, r.Root, "commit", "-q", "-m", "First")
	commit, err := r.Commit("main")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	submodules, err := r.Extract(commit, dir)
	if err != nil || len(submodules) != 1 || submodules[0] != "modules/sub" {
		t.Fatalf("submodules %q, %v; expected modules/sub", submodules, err)
	}
	for name, want := range map[string]string{"a/b c\n.yaml": "x: 1\n", "empty": "", "link/b c\n.yaml": "x: 1\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want || err != nil {
			t.Errorf("%q has %q, %v; expected %q", name, got, err, want)
		}
	}
	if target, err := os.Readlink(filepath.Join(dir, "link")); target != "a" {
		t.Errorf("link leads to %q, %v", target, err)
	}
}

// A tree that git itself refuses to make can still be in a repository.
func TestExtractRefusesPathsOutsideTheDirectory(t *testing.T) {
	r := newRepository(t)
	file := filepath.Join(r.Root, "file")
	if err := os.WriteFile(file, []byte("evil"), 0o666); err != nil {
		t.Fatal(err)
	}
	blob := run(t, r.Root, "hash-object", "-w", "file")
	cmd := exec.Command("sh", "-c", `inner=$(printf '100644 evil\0'"$(printf %s `+blob+` | sed 's/../\\x&/g')" | `+
		`git hash-object -w -t tree --literally --stdin)
		outer=$(printf '40000 ..\0'"$(printf %s $inner | sed 's/../\\x&/g')" |
			git hash-object -w -t tree --literally --stdin)
		git -c user.name=Eve -c user.email=eve@example.com commit-tree -m Evil $outer`)
	cmd.Dir = r.Root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("git does not make such a tree: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "in")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err = r.Extract(strings.TrimSpace(string(out)), dir)
	if _, missing := os.Stat(filepath.Join(dir, "..", "evil")); err == nil || missing == nil {
		t.Errorf("the commit is written outside its directory: %v", err)
	}
}

func TestCommitRejectsOptions(t *testing.T) {
	r := newRepository(t)
	for _, name := range []string{"", "-x", "--output=x", "nope"} {
		if _, err := r.Commit(name); err == nil {
			t.Errorf("%q is accepted as a revision", name)
		}
	}
}
