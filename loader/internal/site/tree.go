package site

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/fsx"
)

// Tree is the directory of a hiera.yaml with everything below it.
type Tree struct {
	Files
	Dir   string
	Real  string          // dir without symbolic links
	Roots map[string]bool // the directories of the site and of modules, without symbolic links

	ForData  bool      // a data directory of Hiera 5, with nothing else in it
	Dangling bool      // ignore links that lead nowhere, as Hiera 5 does
	Lost     *[]string // receives these links, if it is not nil
	listings map[listing][]Listed
	prefix   string // of the paths of listed files
}

// listing is the state of listing a directory of a tree.
type listing struct {
	dir    string
	depth  int
	hidden bool
}

// Listed is a file below a directory, or anything else with the name of one.
type Listed struct {
	Path    string // with slashes, relative to the directory of the tree
	Outside bool   // a link that leads out of that directory
	Err     error  // why it cannot be read
}

// Below returns the files in dir, which is "" or ends with a slash, and up to depth directories below it; -1 is no
// limit. They are sorted by name. Files whose names begin with a dot are included only with hidden.
func (t *Tree) Below(dir string, depth int, hidden bool) []Listed {
	if t == nil {
		return nil // the directory does not exist
	}
	key := listing{dir, depth, hidden}
	out, ok := t.listings[key]
	if ok {
		return out
	}
	if t.listings == nil {
		t.listings = map[listing][]Listed{}
	}
	w := walk{Tree: t, hidden: hidden}
	w.enter(strings.TrimSuffix(dir, "/"), depth)
	t.listings[key] = w.out
	return w.out
}

// walk lists files of a tree.
type walk struct {
	*Tree
	hidden bool
	down   []string // the directories it is in, without symbolic links
	links  int      // those of them that a link led to
	linked int      // all directories that links led to
	out    []Listed
}

// maxLinks limits the nesting of directories that links lead to: directories that all refer to each other would be
// entered forever.
const maxLinks = 8

// maxLinked limits such directories in total: twenty directories that all refer to each other, eight deep, would be
// billions.
const maxLinked = 2000

// Path returns the path of a file of the tree.
func (t *Tree) Path(rel string) string { return filepath.Join(t.Dir, filepath.FromSlash(rel)) }

// PathOf returns the path of a listed file, which Path would return too. It is faster, as such a path is clean.
func (t *Tree) PathOf(f Listed) string {
	if t.prefix == "" {
		t.prefix = strings.TrimSuffix(t.Path("x"), "x")
	}
	return t.prefix + filepath.FromSlash(f.Path)
}

// enter lists dir, if it exists.
func (w *walk) enter(dir string, depth int) {
	resolve := w.Files.Real
	if w.Dangling {
		resolve = w.RealUnlessDangling
	}
	if real, ok := resolve(w.Path(dir)); ok {
		w.into(dir, real, depth)
	}
}

// into lists dir; real is its path without symbolic links.
func (w *walk) into(dir, real string, depth int) {
	w.down = append(w.down, real)
	defer func() { w.down = w.down[:len(w.down)-1] }()
	entries := w.List(w.Path(dir))
	if dir != "" {
		dir += "/"
	}
	w.out = slices.Grow(w.out, len(entries))
	root, outside := dir == "" || w.Roots[real], w.outside()
	for _, e := range entries {
		switch name := e.Name(); {
		case name[0] == '.' && !w.hidden:
		case root && slices.Contains(notData, name):
		case e.Type()&fs.ModeSymlink != 0:
			w.link(dir+name, depth)
		case e.IsDir():
			w.add(dir+name, outside, e.Type())
			if depth != 0 {
				w.into(dir+name, filepath.Join(real, name), depth-1)
			}
		default:
			w.add(dir+name, outside, e.Type())
		}
	}
}

func (w *walk) add(path string, outside bool, mode fs.FileMode) {
	f := Listed{Path: path, Outside: outside}
	if !mode.IsRegular() {
		f.Err = fsx.NotAFile(w.Path(path), mode)
	}
	w.out = append(w.out, f)
}

// outside reports whether the current directory is outside of the tree.
func (w *walk) outside() bool { return !IsBelow(w.Real, w.down[len(w.down)-1]) }

// link follows a symbolic link. A useless link that does not lead to a directory is only reported if a path matches it.
func (w *walk) link(path string, depth int) {
	enters := depth != 0 && !w.outside() // outside of the tree, no further links are followed
	info, err := w.Disk.Info(w.Path(path))
	if info == nil && err == nil {
		return // it was removed in the meantime
	}
	var real string
	if err == nil {
		real, err = w.Disk.Resolve(w.Path(path))
	}
	switch {
	case w.Dangling && errors.Is(err, fsx.ErrDangling):
		if w.Lost != nil {
			*w.Lost = append(*w.Lost, path)
		}
		return
	case err != nil && enters: // it might lead to a directory
		w.Failed(w.Path(path), err)
		return
	case err != nil:
		w.out = append(w.out, Listed{Path: path, Err: err})
		return
	}
	outside := w.outside() || !IsBelow(w.Real, real)
	w.out = append(w.out, Listed{path, outside, fsx.NotAFile(w.Path(path), info.Mode())})
	if info.IsDir() && enters {
		w.follow(path, real, depth-1)
	}
}

// follow enters a directory that a link leads to. A directory that contains itself is entered once.
func (w *walk) follow(path, real string, depth int) {
	if slices.ContainsFunc(w.down, func(d string) bool { return IsBelow(real, d) }) {
		return
	}
	if w.links == maxLinks {
		w.Failed(w.Path(path), errors.New("links lead to links: expected at most 8 inside one another"))
		return
	}
	if w.linked == maxLinked {
		w.Failed(w.Path(path), errors.New("links lead to more than 2000 directories"))
		return
	}
	w.linked++
	w.links++
	w.into(path, real, depth)
	w.links--
}

// notData has the files that configure or describe a site or a module. In its directory they are not data, even if a
// path of a hierarchy matches them.
var notData = []string{"hiera.yaml", "hiera2.yaml", "hiera5.yaml", "binder_config.yaml", "bindings_config.yaml",
	"binder_config.pp", "metadata.json", "checksums.json"}

// Name returns the path without its extension, as a hierarchy names it.
func (f Listed) Name() string { return strings.TrimSuffix(f.Path, filepath.Ext(f.Path)) }

// IsDataExtension reports whether files with this extension usually have data.
func IsDataExtension(ext string) bool {
	return slices.Contains([]string{".yaml", ".json", ".yml"}, ext)
}
