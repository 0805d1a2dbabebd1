package main

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bindc/internal/explore"
)

// pollInterval is the minimum pause between two polls of the site's files. The pause after a slow poll is ten times as
// long as the poll.
const pollInterval = 300 * time.Millisecond

// follow shows the site and, in the background, rebuilds it after each change.
func (f *exploreFlags) follow(cmd *cobra.Command, server *explore.Server) error {
	before := f.fingerprint()
	b, err := f.build(cmd)
	if err != nil {
		return err
	}
	if b.path == "" {
		fmt.Fprint(cmd.ErrOrStderr(), b.text)
		return errRefused
	}
	first, err := f.open(cmd, b)
	if err != nil {
		return err
	}
	server.Show(first)
	if f.oldData == nil {
		f.oldData = first // later versions show the changes since the start
	}
	go f.watch(cmd, server, before)
	return nil
}

// watch rebuilds the site whenever its files change. It never returns.
func (f *exploreFlags) watch(cmd *cobra.Command, server *explore.Server, before uint64) {
	for pause := pollInterval; ; {
		time.Sleep(pause)
		start := time.Now()
		now := f.fingerprint()
		pause = max(pollInterval, 10*time.Since(start))
		if now == before {
			continue
		}
		before = now
		if err := f.rebuild(cmd, server); err != nil {
			text := message(err)
			fmt.Fprintln(cmd.ErrOrStderr(), "bindc:", text)
			server.Fail(text)
			f.failed = true
		}
	}
}

// rebuild builds the site and shows it, or its errors.
func (f *exploreFlags) rebuild(cmd *cobra.Command, server *explore.Server) error {
	b, err := f.build(cmd)
	if err != nil {
		return err
	}
	if b.path == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "bindc: the site has errors; the pages show them, and the last version that builds")
		server.Fail(strings.TrimSpace(b.text))
		f.failed = true
		return nil
	}
	d, err := f.open(cmd, b)
	if err != nil {
		return err
	}
	server.Show(d)
	if f.failed {
		fmt.Fprintln(cmd.ErrOrStderr(), "bindc: the site builds again")
	}
	f.failed = false
	return os.Remove(b.path) // d has mapped the file and can still read it
}

// fingerprint returns a digest of the names, sizes and times of all files that the pages depend on.
func (f *exploreFlags) fingerprint() uint64 {
	sum := fnv.New64a()
	seen := map[string]bool{}
	var walk func(path string)
	walk = func(path string) {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(sum, "%q %v\n", path, err)
			return
		}
		fmt.Fprintf(sum, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		if !info.IsDir() {
			return
		}
		if real, err := filepath.EvalSymlinks(path); err != nil || seen[real] {
			return
		} else {
			seen[real] = true
		}
		entries, _ := os.ReadDir(path) // the build reports the error
		for _, entry := range entries {
			if !isHiddenDir(entry) {
				walk(filepath.Join(path, entry.Name()))
			}
		}
	}
	for _, path := range append(f.options().ModulePath, f.site, f.factsDir, f.globalHiera, f.binderConfig) {
		if path != "" {
			walk(path)
		}
	}
	return sum.Sum64()
}

// isHiddenDir reports whether entry is a hidden directory, such as .git. Changes in such a directory do not affect the
// site.
func isHiddenDir(entry fs.DirEntry) bool {
	return entry.IsDir() && strings.HasPrefix(entry.Name(), ".")
}
