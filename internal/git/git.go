// Package git reads commits of a repository through the program git. It runs only commands that read, and none of the
// programs that a repository can configure: hooks, filters, monitors of files, converters of text.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Repository is a repository with a work tree.
type Repository struct {
	Root string // the top directory of the work tree
	ctx  context.Context
}

// Find returns the repository that dir is in. The commands of the repository end when ctx is done.
func Find(ctx context.Context, dir string) (*Repository, error) {
	r := &Repository{Root: dir, ctx: ctx}
	out, err := r.run("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	r.Root = strings.TrimSuffix(string(out), "\n")
	return r, nil
}

// Commit returns the full name of the commit that a revision names.
func (r *Repository) Commit(revision string) (string, error) {
	if revision == "" || strings.HasPrefix(revision, "-") {
		return "", fmt.Errorf("expected a revision, such as main or HEAD~3, found '%s'", revision)
	}
	out, err := r.run("rev-parse", "--verify", "--quiet", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("'%s' is not a revision of the repository %s", revision, r.Root)
	}
	return strings.TrimSpace(string(out)), nil
}

// MergeBase returns the newest commit that both commits have as an ancestor.
func (r *Repository) MergeBase(a, b string) (string, error) {
	out, err := r.run("merge-base", a, b)
	if err != nil {
		return "", fmt.Errorf("there is no common ancestor (%w); a shallow clone lacks it: run 'git fetch --unshallow'", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Ignored returns the paths below the top directory that git ignores, as directories where all of one is ignored.
func (r *Repository) Ignored() ([]string, error) {
	out, err := r.run("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return nil, err
	}
	return fields(out), nil
}

// fields splits what git prints with -z.
func fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// command returns a command of git in the top directory.
func (r *Repository) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.ctx, "git", append([]string{"--no-pager", "--no-optional-locks", "-c",
		"core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Dir = r.Root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isOfHook), "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return cmd
}

// isOfHook reports whether git sets the variable for hooks: its paths are relative to another directory.
func isOfHook(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
}

// run runs a command and returns what it prints.
func (r *Repository) run(args ...string) ([]byte, error) {
	cmd := r.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	return out, failure(err, stderr.String())
}

// ErrMissing says that the program git is not installed.
var ErrMissing = errors.New("git is not installed; install it, or put it into PATH")

// failure returns the error of a command with the message of git.
func failure(err error, message string) error {
	switch message = strings.TrimSpace(message); {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return ErrMissing
	case message != "":
		return fmt.Errorf("git: %s", strings.TrimPrefix(message, "fatal: "))
	}
	return fmt.Errorf("git: %w", err)
}
