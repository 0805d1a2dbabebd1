package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/git"
	"bindc/loader"
	"bindc/snapshot"
)

// repository is the git repository of the site, found when a revision is asked for.
type repository struct {
	*git.Repository
	site string // the directory of the site, relative to the top directory
}

// side is one side of a plan. It has exactly one of commit, dir and snapshot.
type side struct {
	name     string // as messages name it
	commit   string
	dir      string // of a site
	snapshot string
}

// sides returns the old and the new side that the arguments name.
func (p *planning) sides(args []string) (out [2]side, err error) {
	worktree := side{name: "the work tree", dir: p.site}
	switch len(args) {
	case 0:
		out[0], err = p.revision("HEAD")
		out[1] = worktree
		return out, err
	case 1:
		if from, to, isRange := strings.Cut(args[0], ".."); isRange && !isPath(args[0]) {
			return p.revisions(from, to)
		}
		out[0], err = p.sideOf(args[0])
		out[1] = worktree
		return out, err
	}
	for i, arg := range args {
		if out[i], err = p.sideOf(arg); err != nil {
			return out, err
		}
	}
	return out, nil
}

// revisions returns both sides of a range of git. A third dot is at the start of to.
func (p *planning) revisions(from, to string) (out [2]side, err error) {
	to, isMerge := strings.CutPrefix(to, ".")
	for i, name := range []string{from, to} {
		if name == "" {
			name = "HEAD"
		}
		if out[i], err = p.revision(name); err != nil {
			return out, err
		}
	}
	if isMerge {
		out[0].commit, err = p.git.MergeBase(out[0].commit, out[1].commit)
		out[0].name = fmt.Sprintf("where %s left %s", out[1].name, out[0].name)
	}
	return out, err
}

// isPath reports whether an argument names a file, also one that does not exist.
func isPath(arg string) bool {
	if filepath.IsAbs(arg) || strings.HasPrefix(arg+"/", "./") || strings.HasPrefix(arg+"/", "../") {
		return true
	}
	_, err := os.Stat(arg)
	return err == nil
}

// sideOf returns the side that an argument names: a path if it exists, and a revision otherwise.
func (p *planning) sideOf(arg string) (side, error) {
	info, err := os.Stat(arg)
	if err != nil {
		if isPath(arg) {
			return side{}, err
		}
		return p.revision(arg)
	}
	if !strings.ContainsRune(arg, filepath.Separator) && arg != "." && arg != ".." {
		if _, err := p.revision(arg); err == nil {
			return side{}, fmt.Errorf("'%s' is a revision and a file; write refs/heads/%s or ./%s", arg, arg, arg)
		}
	}
	if info.IsDir() {
		return side{name: arg, dir: arg}, nil
	}
	return side{name: arg, snapshot: arg}, nil
}

// revision returns the side of a revision.
func (p *planning) revision(name string) (side, error) {
	if err := p.openRepository(); err != nil {
		return side{}, fmt.Errorf("%s: %w", name, err)
	}
	commit, err := p.git.Commit(name)
	return side{name: name, commit: commit}, err
}

// openRepository finds the repository of the site.
func (p *planning) openRepository() error {
	if p.git.Repository != nil {
		return nil
	}
	dir, err := filepath.Abs(p.site)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return fmt.Errorf("--site: %w", err)
	}
	repo, err := git.Find(p.signals.stopped, dir)
	if err != nil {
		return err
	}
	if p.git.site, err = filepath.Rel(repo.Root, dir); err != nil || !filepath.IsLocal(p.git.site) {
		return fmt.Errorf("--site: %s is outside the repository %s", dir, repo.Root)
	}
	p.git.Repository = repo
	return nil
}

// build returns the snapshots of both sides. If both have errors, it reports both.
func (p *planning) build(sides [2]side) (paths [2]string, err error) {
	shared := p.cache == ""
	if shared { // the second build finds what the first has read
		p.cache, p.cacheName = filepath.Join(p.tmp, "cache"), p.tmp
	}
	var refused error
	for i, s := range sides {
		if s.snapshot != "" {
			paths[i] = s.snapshot
			continue
		}
		if !shared {
			p.cacheName = ""
		}
		paths[i] = p.snapshotPath([]string{"old", "new"}[i])
		err := p.buildSide(s, paths[i], shared)
		if errors.Is(err, errNoPlan) {
			refused = err
		} else if err != nil {
			return paths, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return paths, refused
}

// buildSide writes the snapshot of a site or of a revision.
func (p *planning) buildSide(s side, path string, shared bool) error {
	dir, root, options := s.dir, "", p.options()
	if s.commit != "" {
		root = strings.TrimSuffix(path, ".bsnap")
		if err := p.extract(s, root); err != nil {
			return err
		}
		dir = filepath.Join(root, p.git.site)
		options = p.within(root, options)
		if !shared { // the pack of the work tree would forget its files
			p.cacheName = filepath.Join(p.git.Root, p.git.site, "revisions")
		}
	}
	if _, err := os.ReadDir(dir); err != nil {
		if root != "" {
			return fmt.Errorf("the revision has no directory %s (--site)", filepath.ToSlash(p.git.site))
		}
		return err
	}
	c, err := p.compile(p.cmd, dir, "", options)
	if err != nil {
		return err
	}
	if err := p.reportSide(s, c, root); err != nil {
		return err
	}
	_, err = snapshot.Write(path, c.content)
	return err
}

// within returns options that name the files of the revision in root in place of files of the work tree.
func (p *planning) within(root string, o loader.Options) loader.Options {
	move := func(path string) string {
		abs, err := filepath.Abs(path)
		if err != nil {
			return path
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		if rel, err := filepath.Rel(p.git.Root, abs); path != "" && err == nil && filepath.IsLocal(rel) {
			return filepath.Join(root, rel)
		}
		return path
	}
	o.BinderConfig, o.GlobalHiera = move(o.BinderConfig), move(o.GlobalHiera)
	for i, dir := range o.ModulePath {
		o.ModulePath[i] = move(dir)
	}
	return o
}

// extract writes the files of a revision into root. Directories that git does not have are linked from the work tree.
func (p *planning) extract(s side, root string) error {
	if err := os.Mkdir(root, 0o700); err != nil {
		return err
	}
	progress := cli.NewProgress(p.cmd.ErrOrStderr())
	progress.Begin("reading "+diag.Visible(s.name), 0)
	submodules, err := p.git.Extract(s.commit, root)
	progress.End()
	if err != nil {
		return err
	}
	ignored, err := p.git.Ignored()
	if err != nil {
		return err
	}
	var linked, missing []string
	for _, name := range append(submodules, ignored...) {
		isSubmodule := slices.Contains(submodules, name)
		if !isSubmodule && !p.isOfSite(name) {
			continue
		}
		switch ok, err := p.link(root, name); {
		case err != nil:
			return err
		case ok:
			linked = append(linked, strings.TrimSuffix(name, "/"))
		case isSubmodule:
			missing = append(missing, name)
		}
	}
	if len(linked) > 0 {
		note(p.cmd, s.name+": not in the commit, and taken from the work tree: "+diag.Quoted(linked))
	}
	if len(missing) > 0 {
		note(p.cmd, s.name+": submodules that are not checked out, so their data is missing: "+diag.Quoted(missing)+
			"; run 'git submodule update --init'")
	}
	return nil
}

// isOfSite reports whether an ignored path is a directory in the site.
func (p *planning) isOfSite(name string) bool {
	rel, err := filepath.Rel(p.git.site, strings.TrimSuffix(name, "/"))
	return err == nil && filepath.IsLocal(rel) && strings.HasSuffix(name, "/")
}

// link makes a directory of the work tree a part of a revision, unless the revision has one or the directory is empty.
func (p *planning) link(root, name string) (bool, error) {
	from, to := filepath.Join(p.git.Root, name), filepath.Join(root, name)
	entries, err := os.ReadDir(from)
	if err != nil || len(entries) == 0 {
		return false, nil
	}
	if _, err := os.Lstat(to); err == nil {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	return true, os.Symlink(from, to)
}

// reportSide prints the errors of a side with paths as in the repository, whose top directory is in root.
func (p *planning) reportSide(s side, c *compilation, root string) error {
	list := c.diags.Sorted()
	isError := func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error || p.strict && d.Severity == diag.Warning
	}
	if !slices.ContainsFunc(list, isError) {
		isOther := func(d diag.Diagnostic) bool { return d.Severity != diag.Warning }
		if n := len(slices.DeleteFunc(list, isOther)); n > 0 {
			note(p.cmd, fmt.Sprintf("%s: %s; 'bindc check' shows them", s.name, diag.Count(n, "warning")))
		}
		return nil
	}
	name := s.name
	if s.commit != "" {
		name += " (commit " + s.commit[:12] + ")"
	}
	fmt.Fprintf(p.cmd.ErrOrStderr(), "bindc: %s does not build:\n", diag.Visible(name))
	report := func() error { return p.report(p.cmd, list, len(c.site.Inputs)) }
	var err error
	if root != "" {
		err = inDir(root, report)
	} else {
		err = report()
	}
	if errors.Is(err, errRefused) {
		return errNoPlan
	}
	return err
}
