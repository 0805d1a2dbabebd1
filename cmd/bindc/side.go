package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bindc/internal/revision"
)

// side is a state of a site that plan compares with another one: a snapshot, a directory, or a commit.
type side struct {
	name     string // the name that the user typed
	snapshot string // path of the snapshot; "" until it is built
	dir      string // path of the site, if the side is a directory

	repository *revision.Repository // the commit's repository, if the side is a commit
	commit     string
	below      string // path of the site inside the repository
	tree       string // directory that contains the extracted commit
}

// sides returns the old and the new side that the arguments of plan select.
func (f *planFlags) sides(args []string) (both [2]side, err error) {
	switch {
	case len(args) == 2:
		for i, name := range args {
			if both[i], err = f.side(name); err != nil {
				return both, err
			}
		}
		return both, nil
	case len(args) == 1 && strings.Contains(args[0], ".."):
		return f.between(args[0])
	case len(args) == 1 && strings.HasSuffix(args[0], "^!"):
		commit := strings.TrimSuffix(args[0], "^!")
		return f.between(commit + "^.." + commit)
	}
	old := "HEAD"
	if len(args) == 1 {
		old = args[0]
	}
	both[1] = side{name: "the site " + f.site, dir: f.site}
	both[0], err = f.revision(old)
	return both, err
}

func (f *planFlags) between(text string) (both [2]side, err error) {
	old, now, isMerge := strings.Cut(text, "...")
	if !isMerge {
		old, now, _ = strings.Cut(text, "..")
	}
	for i, name := range []string{old, now} {
		if name == "" {
			name = "HEAD"
		}
		if both[i], err = f.revision(name); err != nil {
			return both, err
		}
	}
	if isMerge {
		base, err := both[0].repository.MergeBase(both[0].commit, both[1].commit)
		if err != nil {
			return both, fmt.Errorf("%s: %w", text, err)
		}
		both[0].name, both[0].commit = base[:12], base
	}
	return both, nil
}

// side returns the side called name. An existing file or directory takes precedence over a revision with the same name.
func (f *planFlags) side(name string) (side, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return side{name: name, dir: name}, nil
	case err == nil:
		return side{name: name, snapshot: name}, nil
	}
	s, err := f.revision(name)
	if err != nil {
		return s, fmt.Errorf("'%s' is not a file, a directory or a revision: %w", name, err)
	}
	return s, nil
}

// revision returns the side for a revision of the repository that contains the site.
func (f *planFlags) revision(name string) (side, error) {
	r, err := revision.Open(f.signals.stopped, f.site)
	if err != nil {
		return side{}, err
	}
	below, err := r.Path(f.site)
	if err != nil {
		return side{}, err
	}
	commit, err := r.Commit(name)
	return side{name: name, repository: r, commit: commit, below: below}, err
}

// checkOut extracts the commit of s below dir, and returns the site's directory in it. If s is not a commit, it returns
// s.dir. The caller prints notes.
func (s *side) checkOut(dir string) (site string, notes []string, err error) {
	if s.repository == nil {
		return s.dir, nil, nil
	}
	s.tree = filepath.Join(dir, filepath.Base(s.repository.Top())) // a site can depend on the name of its directory
	if err := os.MkdirAll(s.tree, 0o700); err != nil {
		return "", nil, err
	}
	if notes, err = s.repository.Extract(s.commit, s.tree); err != nil {
		return "", nil, err
	}
	site = filepath.Join(s.tree, s.below)
	if _, err := os.Stat(site); err != nil {
		return "", nil, fmt.Errorf("%s has no directory %s", s.name, s.below)
	}
	return site, notes, nil
}

// displayName returns the name of a file in a commit as git writes it, REV:PATH.
func (s *side) displayName(file string) string {
	if s.tree == "" {
		return file
	}
	rel, err := filepath.Rel(s.tree, file)
	if err != nil || !filepath.IsLocal(rel) {
		return file
	}
	return s.name + ":" + rel
}
