package fsx

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Overlay contains files that exist only in memory, such as unsaved files of an editor. They
// replace files on disk. A nil Overlay is empty.
type Overlay struct {
	texts map[string][]byte
	dirs  map[string][]string // for each directory, the names of its files and subdirectories in the overlay
}

// NewOverlay returns an Overlay of the given contents. The keys of texts are absolute paths.
func NewOverlay(texts map[string][]byte) *Overlay {
	o := &Overlay{texts: texts, dirs: map[string][]string{}}
	for path := range texts {
		for dir := filepath.Dir(path); dir != path; path, dir = dir, filepath.Dir(dir) {
			if name := filepath.Base(path); !slices.Contains(o.dirs[dir], name) {
				o.dirs[dir] = append(o.dirs[dir], name)
			}
		}
	}
	return o
}

// Text returns the content of the overlay's file at path, and whether there is one.
func (o *Overlay) Text(path string) (text []byte, ok bool) {
	if o == nil {
		return nil, false
	}
	text, ok = o.texts[path]
	return text, ok
}

// info returns the file information of a file or directory in the overlay, or nil if the overlay
// does not have it.
func (o *Overlay) info(path string) fs.FileInfo {
	if o == nil {
		return nil
	}
	if text, ok := o.texts[path]; ok {
		return overlaid{name: filepath.Base(path), size: int64(len(text))}
	}
	if o.dirs[path] != nil {
		return overlaid{name: filepath.Base(path), mode: fs.ModeDir}
	}
	return nil
}

// addTo adds the overlay's files and directories in dir to entries. It keeps the entries sorted by
// name.
func (o *Overlay) addTo(entries []fs.DirEntry, dir string) []fs.DirEntry {
	if o == nil || o.dirs[dir] == nil {
		return entries
	}
	byName := func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }
	for _, name := range o.dirs[dir] {
		i, found := slices.BinarySearchFunc(entries, name, byName)
		if !found {
			entries = slices.Insert(entries, i, fs.FileInfoToDirEntry(o.info(filepath.Join(dir, name))))
		}
	}
	return entries
}

type overlaid struct {
	name string
	size int64
	mode fs.FileMode
}

func (i overlaid) Name() string       { return i.name }
func (i overlaid) Size() int64        { return i.size }
func (i overlaid) Mode() fs.FileMode  { return i.mode }
func (i overlaid) ModTime() time.Time { return time.Time{} }
func (i overlaid) IsDir() bool        { return i.mode.IsDir() }
func (i overlaid) Sys() any           { return nil }
