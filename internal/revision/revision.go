// Package revision reads revisions of a git repository with the git command. It does not change the
// work tree, and does not run programs that the repository configures, such as hooks, filters and
// textconv drivers.
package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/subprocess"
)

// Repository is a git repository with a work tree.
type Repository struct {
	ctx context.Context
	top string // root directory of the work tree
}

// ErrNoRepository is wrapped in the error of Open for a directory that is not in a git repository.
var ErrNoRepository = errors.New("not in a git repository")

// Open returns the repository that contains dir. When ctx is done, running git commands are killed.
func Open(ctx context.Context, dir string) (*Repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is not installed; install it to read revisions")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil { // git's error would be about git
		return nil, err
	}
	r := &Repository{ctx: ctx, top: dir}
	out, err := r.git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, ErrNoRepository, err)
	}
	r.top = strings.TrimSuffix(string(out), "\n")
	return r, nil
}

// Top returns the path of the root of the work tree.
func (r *Repository) Top() string { return r.top }

// Path returns the path of a file or directory relative to the root of the work tree.
func (r *Repository) Path(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(r.top, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in the repository %s", name, r.top)
	}
	return rel, nil
}

// Commit returns the hash of the commit that a revision names, such as a branch, a tag or HEAD~3.
func (r *Repository) Commit(revision string) (string, error) {
	out, err := r.git("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("'%s' is not a revision of %s", revision, r.top)
	}
	return strings.TrimSpace(string(out)), nil
}

// MergeBase returns the hash of the best common ancestor of two commits.
func (r *Repository) MergeBase(a, b string) (string, error) {
	out, err := r.git("merge-base", a, b)
	if err != nil {
		return "", errors.New("the revisions have no common ancestor")
	}
	return strings.TrimSpace(string(out)), nil
}

// git runs git in the root of the work tree and returns its standard output.
func (r *Repository) git(args ...string) ([]byte, error) {
	return subprocess.RunIn(r.ctx, environment(), r.top, 0, append(plain(), args...))
}

// environment returns the environment variables for git. It leaves out variables that git sets for
// hooks, because they would select the hook's repository.
func environment() []string {
	hooks := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(hooks, name)
	})
}

// plain returns the git command with options that prevent it from running configured programs.
func plain() []string {
	return []string{"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "--no-optional-locks"}
}

type entry struct {
	mode, id, path string
}

const (
	modeLink       = "120000"
	modeSubmodule  = "160000"
	modeExecutable = "100755"
)

func (r *Repository) tree(commit string) ([]entry, error) {
	out, err := r.git("ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var all []entry
	for line := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		if len(line) == 0 {
			continue
		}
		about, path, _ := strings.Cut(string(line), "\t")
		fields := strings.Fields(about) // mode, type and ID
		if len(fields) != 3 || !filepath.IsLocal(path) {
			return nil, fmt.Errorf("git lists an entry that cannot be used: %q", line)
		}
		all = append(all, entry{fields[0], fields[2], path})
	}
	return all, nil
}

// ignored returns the files and directories of the work tree that git ignores. Directories end with
// a slash.
func (r *Repository) ignored() ([]string, error) {
	out, err := r.git("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\x00"), nil
}
