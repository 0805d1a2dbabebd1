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
	files map[string][]file // the files that may give a node this name; nil until the first question
	wrong []error           // of the files that cannot be read
}

// NewFleet returns the fleet of a directory.
func NewFleet(dir string) *Fleet { return &Fleet{dir: dir} }

// Node returns the facts of the node of that name: of the file that is called so, or of one whose content names it. It
// is an error if two files name the node, or if one of them cannot be read. Node parses only the files that name the
// node, each time anew. The first call notes which file names which node. If Node finds no facts, its error also
// describes the files that cannot be read, because they may name the node.
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

// search finds a node among all nodes. It also finds one that candidates misses.
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
	return Node{}, fail("%s: found no facts of '%s'; %s", f.dir, name, hint)
}

// named returns the index of the node of that name, or -1.
func named(nodes []Node, name string) int {
	return slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
}

// candidates returns the files that may have the facts of a node: those called so, and those that name it.
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

// Wrong returns an error for each file that could not be read when the first question was asked.
func (f *Fleet) Wrong() []error { return f.wrong }

// index returns the files of a directory by the names in them, and an error for each file that it cannot read.
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

// namesIn yields the texts in JSON or YAML that follow a key like name or certname. It does not parse, so that a fleet
// is searched at the speed of reading it. It misses names with escapes, anchors or tags, which no program writes.
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

// maxName is the length of the names that namesIn yields.
const maxName = 300
