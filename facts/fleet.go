package facts

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"bindc/diag"
)

// Fleet finds the facts of single nodes in a directory.
type Fleet struct {
	dir   string
	files map[string][]file // files that may have a node's facts, by node name; nil before the first search
	wrong []error           // errors of unreadable files
}

// NewFleet returns the fleet in dir, without reading dir.
func NewFleet(dir string) *Fleet { return &Fleet{dir: dir} }

// Node returns the facts of a node, from the file with its name or from a file that contains its name. It is an error
// if two files have the node, or if one of them cannot be read. The first call finds out which files contain which
// names. Later calls read only the files of the node, with their current content. If Node finds no facts, its error
// also describes unreadable files, because they might contain the node.
func (f *Fleet) Node(name string) (Node, error) {
	candidates, err := f.candidates(name)
	if err != nil {
		return Node{}, err
	}
	var found []Node
	for _, file := range candidates {
		nodes, err := file.read()
		if err != nil {
			return Node{}, err
		}
		if i := named(nodes, name); i >= 0 {
			found = append(found, nodes[i])
		}
	}
	switch len(found) {
	case 0:
		return f.search(name)
	case 1:
		return found[0], nil
	}
	return Node{}, twice(found[0], found[1])
}

// search reads all files to find a node, including files that candidates misses.
func (f *Fleet) search(name string) (Node, error) {
	nodes, wrong, err := ReadGood(f.dir)
	if err != nil {
		return Node{}, err
	}
	if i := named(nodes, name); i >= 0 {
		return nodes[i], nil
	}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	hint := diag.DidYouMean(name, names)
	if hint == "" {
		hint = fmt.Sprintf("expected %s.json, .yaml or .yml, or a file that names this node", name)
	}
	if len(wrong) > 0 {
		hint += "; " + diag.Count(len(wrong), "file") + " cannot be read and may have them: " + wrong[0].Error()
	}
	return Node{}, fail("%s: found no facts for '%s'; %s", f.dir, name, hint)
}

func named(nodes []Node, name string) int {
	return slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
}

// candidates returns the files that may have the facts of a node: files with the node's name, and files that contain
// it.
func (f *Fleet) candidates(name string) ([]file, error) {
	if f.files == nil {
		var err error
		if f.files, f.wrong, err = index(f.dir); err != nil {
			return nil, err
		}
	}
	var out []file
	if name == filepath.Base(name) {
		for _, ext := range extensions {
			path := filepath.Join(f.dir, name+ext)
			if _, err := os.Lstat(path); err == nil {
				out = append(out, file{path, name})
			}
		}
	}
	for _, other := range f.files[name] {
		if !slices.Contains(out, other) {
			out = append(out, other)
		}
	}
	return out, nil
}

// Wrong returns an error for each file that could not be read during the first search.
func (f *Fleet) Wrong() []error { return f.wrong }

// index maps each name in the files of dir to the files that contain it. wrong has the errors of unreadable files.
func index(dir string) (files map[string][]file, wrong []error, err error) {
	l, err := list(dir)
	if err != nil {
		return nil, nil, err
	}
	out, wrong := map[string][]file{}, l.wrong
	for _, f := range l.files {
		src, err := f.text()
		if err != nil {
			wrong = append(wrong, failAt(diag.Pos{File: f.path}, err.Error()))
			continue
		}
		for name := range namesIn(src) {
			files := out[string(name)]
			if len(files) == 0 || files[len(files)-1] != f {
				out[string(name)] = append(files, f)
			}
		}
	}
	return out, wrong, nil
}

// namesIn returns an iterator over the strings after keys such as name or certname in JSON or YAML. It does not parse,
// so that searching a fleet takes no longer than reading it. It misses names with escapes, anchors or tags, which
// programs do not write.
func namesIn(src []byte) func(yield func(name []byte) bool) {
	const quotes, blanks = `"'`, " \t\r\n"
	return func(yield func([]byte) bool) {
		for {
			i := bytes.Index(src, []byte("name"))
			if i < 0 {
				return
			}
			src = src[i+len("name"):]
			rest := src
			if len(rest) > 0 && bytes.IndexByte([]byte(quotes), rest[0]) >= 0 {
				rest = rest[1:]
			}
			rest, isKey := bytes.CutPrefix(bytes.TrimLeft(rest, blanks), []byte(":"))
			if !isKey {
				continue
			}
			rest = bytes.TrimLeft(bytes.TrimLeft(rest, blanks), quotes)
			if end := bytes.IndexAny(rest[:min(len(rest), maxName)], quotes+",}]\r\n\t #"); end >= 0 {
				rest = rest[:end]
			}
			if len(rest) > 0 && len(rest) <= maxName && !yield(rest) {
				return
			}
		}
	}
}

// maxName is the maximum length in bytes of a name that namesIn finds.
const maxName = 300
