package site

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
)

// Tree is a directory that a hierarchy searches for data files.
type Tree struct {
	Files
	Dir   string
	Real  string          // Dir with links resolved
	Roots map[string]bool // directories of the site and all modules, with links resolved

	ForData   bool            // a data directory of Hiera 5 that contains only data
	Dangling  bool            // ignore dangling links, as Hiera 5 does
	Lost      *[]string       // if not nil, the dangling links are added to it
	Globbed   map[string]bool // dangling links that globs match
	toldAgain bool            // warnOfAgain has warned
	listings  map[listing][]Listed
	links     map[string]bool // directories that Below has entered through a link
	prefix    string          // Dir with a trailing slash, see PathOf
}

// listing is the key of a cached result of Below.
type listing struct {
	dir    string
	depth  int
	hidden bool
}

// Listed is a file in a tree, or a directory or device with a file's name.
type Listed struct {
	Path    string // relative to the directory of the tree, with slashes
	Outside bool   // a link that leads out of the tree
	Err     error  // why the file cannot be read
}

// Below returns the files in dir and in its subdirectories up to the given depth, sorted by name. dir is "" or ends
// with a slash. A depth of -1 means no limit. Unless hidden is set, Below skips names that begin with a dot, with
// everything below them.
func (t *Tree) Below(dir string, depth int, hidden bool) []Listed {
	if t == nil {
		return nil // dir does not exist
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

// IsLink reports whether the last element of dir is a symbolic link. Below must have listed the files in dir.
func (t *Tree) IsLink(dir string) bool { return t.links[dir] }

// HasLinks reports whether Below has entered a directory through a symbolic link.
func (t *Tree) HasLinks() bool { return len(t.links) > 0 }

type walk struct {
	*Tree
	hidden  bool
	parents []string // the current directory and its parents, with links resolved
	nested  int      // number of links among parents
	linked  int      // number of linked directories so far
	again   bool     // the current directory is below a link to a directory that contains the link
	agains  int      // number of such links that were entered

	linkedAgain int // number of linked directories below them
	out         []Listed
}

// maxLinks limits how many links to directories may be nested. Without a limit, walking directories that link to each
// other would never end.
const maxLinks = 8

// maxLinked limits the number of linked directories. If 20 directories all link to each other, maxLinks alone would
// allow billions.
const maxLinked = 2000

// maxAgain limits how many links to a parent directory are entered. Each lists that directory again, with all that is
// below it.
const maxAgain = 8

// Path returns the path of a file in the tree.
func (t *Tree) Path(rel string) string { return filepath.Join(t.Dir, filepath.FromSlash(rel)) }

// PathOf returns the path of a listed file. It returns the same as Path, but is faster because the path needs no
// cleaning.
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
		w.listDir(dir, real, depth)
	}
}

// listDir lists dir; real is dir with links resolved.
func (w *walk) listDir(dir, real string, depth int) {
	w.parents = append(w.parents, real)
	defer func() { w.parents = w.parents[:len(w.parents)-1] }()
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
				w.listDir(dir+name, filepath.Join(real, name), depth-1)
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

func (w *walk) outside() bool { return !IsBelow(w.Real, w.parents[len(w.parents)-1]) }

// link follows a symbolic link. It reports a broken link only if the link might be a directory. Otherwise the error is
// reported later, if a path matches the link.
func (w *walk) link(path string, depth int) {
	enters := depth != 0
	info, err := w.Disk.Info(w.Path(path))
	if info == nil && err == nil {
		return // the link has been removed meanwhile
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
	case err != nil && enters: // the link might lead to a directory
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

// follow enters a linked directory. In a data directory of Hiera 5, it also enters a directory of the tree that
// contains the link, but not again below that link.
func (w *walk) follow(path, real string, depth int) {
	if slices.ContainsFunc(w.parents, func(d string) bool { return IsBelow(real, d) }) {
		if w.again || !w.ForData || !IsBelow(w.Real, real) {
			return
		}
		if w.agains++; w.agains > maxAgain {
			w.warnOfAgain(path)
			return
		}
		w.again = true
		defer func() { w.again = false }()
	}
	if w.again {
		if w.linkedAgain++; w.linkedAgain > maxLinked {
			w.warnOfAgain(path)
			return
		}
	}
	if w.nested == maxLinks {
		w.Failed(w.Path(path), errors.New("symbolic links are nested too deeply: expected at most 8 levels"))
		return
	}
	if w.linked == maxLinked {
		w.Failed(w.Path(path), errors.New("symbolic links lead to more than 2000 directories"))
		return
	}
	if w.links == nil {
		w.links = map[string]bool{}
	}
	w.links[path] = true
	if !w.again {
		w.linked++
	}
	w.nested++
	w.listDir(path, real, depth)
	w.nested--
}

// warnOfAgain warns about the first link that is not entered because of links to parent directories.
func (w *walk) warnOfAgain(path string) {
	if w.toldAgain {
		return
	}
	w.toldAgain = true
	w.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: w.Path(path)}, Severity: diag.Warning, Code: "data_unreached",
		Message: "too many symbolic links of this data directory lead to a parent directory; paths with variables and " +
			"globs may find no data through this link and later ones",
		Hint: "use paths without these links in hiera.yaml"})
}

// notData lists the files that configure or describe a site or a module. At the top of a site or module, they are never
// data, even if a path matches them.
var notData = []string{"hiera.yaml", "hiera2.yaml", "hiera5.yaml", "binder_config.yaml", "bindings_config.yaml",
	"binder_config.pp", "metadata.json", "checksums.json"}

// Name returns the path without its extension. Hiera 2 hierarchies refer to files by this name.
func (f Listed) Name() string { return strings.TrimSuffix(f.Path, filepath.Ext(f.Path)) }

// IsDataExtension reports whether ext is a usual extension of data files.
func IsDataExtension(ext string) bool {
	return slices.Contains([]string{".yaml", ".json", ".yml"}, ext)
}
