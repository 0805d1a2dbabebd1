package revision

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

// git runs git in dir, without the configuration of the user.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "user.name=ann",
		"-c", "user.email=ann@example.org"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// repository creates a repository with the given files in one commit.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, files)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	testmode.WriteFiles(t, dir, files)
}

// extracted extracts HEAD of the repository in dir into a new directory.
func extracted(t *testing.T, dir string) (into string, notes []string) {
	t.Helper()
	r, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	commit, err := r.Commit("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	into = t.TempDir()
	if notes, err = r.Extract(commit, into); err != nil {
		t.Fatal(err)
	}
	return into, notes
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", path, got, err, want)
	}
}

func TestExtractWritesTheCommitNotTheWorkTree(t *testing.T) {
	dir := repository(t, map[string]string{"data/a.yaml": "a: 1\n", "empty": "", "na me\nx": "y"})
	write(t, dir, map[string]string{"data/a.yaml": "a: 2\n", "new": "x"})
	into, notes := extracted(t, dir)
	wantFile(t, filepath.Join(into, "data/a.yaml"), "a: 1\n")
	wantFile(t, filepath.Join(into, "empty"), "")
	wantFile(t, filepath.Join(into, "na me\nx"), "y")
	if _, err := os.Stat(filepath.Join(into, "new")); err == nil {
		t.Error("a file that is not in the commit was written")
	}
	if len(notes) > 0 {
		t.Errorf("notes: %q", notes)
	}
}

func TestExtractReadsSubmodulesOfTheCommit(t *testing.T) {
	module := repository(t, map[string]string{"data/common.yaml": "m: 1\n"})
	dir := repository(t, map[string]string{"a": "a"})
	git(t, dir, "submodule", "add", "-q", module, "modules/m")
	git(t, dir, "commit", "-q", "-m", "with a module")
	write(t, filepath.Join(dir, "modules/m"), map[string]string{"data/common.yaml": "m: 2\n"})
	into, notes := extracted(t, dir)
	wantFile(t, filepath.Join(into, "modules/m/data/common.yaml"), "m: 1\n")
	if len(notes) > 0 {
		t.Errorf("notes: %q", notes)
	}

	if err := os.RemoveAll(filepath.Join(dir, "modules/m")); err != nil {
		t.Fatal(err)
	}
	_, notes = extracted(t, dir)
	if len(notes) != 1 || !strings.Contains(notes[0], "modules/m") {
		t.Errorf("without the submodule: notes %q", notes)
	}
}

func TestExtractNeverWritesThroughLinks(t *testing.T) {
	outside := t.TempDir()
	dir := repository(t, map[string]string{"a": "a", ".gitignore": "ignored\n"})
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "a link")
	if err := os.Remove(filepath.Join(dir, "link")); err != nil { // an ignored file follows below
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"link/ignored": "x"})
	r, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	commit, err := r.Commit("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	notes, err := r.Extract(commit, t.TempDir())
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "link/ignored") {
		t.Errorf("notes %q, error %v; want a note about link/ignored", notes, err)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("%s was written outside", left[0].Name())
	}
}

func TestCommitRejectsOptionsAndUnknownRevisions(t *testing.T) {
	dir := repository(t, map[string]string{"a": "a"})
	r, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nope", "--all", "-h", "HEAD:a", ""} {
		if id, err := r.Commit(name); err == nil {
			t.Errorf("Commit(%q) = %s", name, id)
		}
	}
}

func TestOpenOutsideRepositoryFails(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if _, err := Open(context.Background(), t.TempDir()); !errors.Is(err, ErrNoRepository) {
		t.Errorf("error: %v", err)
	}
}
