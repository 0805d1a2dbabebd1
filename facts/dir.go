package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
)

var extensions = []string{".json", ".yaml", ".yml"}

// naming is the end of messages about files that are not read.
const naming = "a facts file is NAME.json, NAME.yaml or NAME.yml"

type listing struct {
	files []file
	wrong []error  // entries that look like misnamed facts files
	other []string // entries that are not read
}

// file is an entry with the name of a facts file. It may not be a regular file.
type file struct {
	path string
	node string // the file name without its extension, the default name of the node
}

// list lists the directory of a fleet. It ignores hidden entries.
func list(dir string) (listing, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return listing{}, fail("cannot read the facts: %v", err)
	}
	var out listing
	for _, e := range entries {
		name := e.Name()
		ext := filepath.Ext(name)
		path := filepath.Join(dir, name)
		switch {
		case strings.HasPrefix(name, "."):
		case slices.Contains(extensions, ext):
			out.files = append(out.files, file{path, strings.TrimSuffix(name, ext)})
		case slices.Contains(extensions, strings.ToLower(ext)):
			text := "the extension '" + ext + "' is not read; write it in lower case"
			out.wrong = append(out.wrong, failAt(diag.Pos{File: path}, text))
		case e.IsDir():
			out.other = append(out.other, name+"/")
		default:
			out.other = append(out.other, name)
		}
	}
	return out, nil
}

const maxListed = 5

// Unread describes the entries of dir that are not read because of their names, except hidden ones. It returns "" if
// all are read.
func Unread(dir string) string {
	l, err := list(dir)
	if err != nil || len(l.other) == 0 {
		return ""
	}
	names := strings.Join(l.other[:min(len(l.other), maxListed)], ", ")
	if more := len(l.other) - maxListed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return "not read in " + dir + ": " + names + "; " + naming
}

// Names returns the names of the facts files in dir without their extensions, sorted. It does not read the files.
func Names(dir string) ([]string, error) {
	l, err := list(dir)
	var out []string
	for _, f := range l.files {
		out = append(out, f.node)
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

// ReadDir reads the facts of all nodes in dir and sorts the nodes by name. A file has the facts of one node or of
// several. A node without a name gets the name of its file. The error describes every file that cannot be read.
func ReadDir(dir string) ([]Node, error) {
	out, wrong, _, err := readAll(dir)
	if err != nil {
		return nil, err
	}
	if len(wrong) > 0 {
		return nil, Join(wrong)
	}
	return out, nil
}

// Join returns one error, with the code facts, that describes all errors in errs. If all of them are nil, it returns
// nil.
func Join(errs []error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	return fail("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// Check is like ReadDir, but reports errors to diags and returns the nodes of the other files. It also reports entries
// of dir that are not read. whole reports whether all files could be read.
func Check(dir string, diags *diag.List) (nodes []Node, whole bool, err error) {
	nodes, wrong, _, err := readAll(dir)
	for _, err := range wrong {
		d := diag.Diagnostic{Pos: diag.Pos{File: dir}, Code: "facts", Message: err.Error()}
		var m *misfit
		if errors.As(err, &m) {
			d.Pos, d.Message = m.at, m.text
		}
		diags.Add(d)
	}
	if text := Unread(dir); err == nil && text != "" {
		diags.Add(diag.Diagnostic{Pos: diag.Pos{File: dir}, Severity: diag.Info, Code: "facts", Message: text})
	}
	return nodes, len(wrong) == 0, err
}

// ReadGood is like ReadDir, but skips files that cannot be read and nodes that are in two files. wrong has an error for
// each of them. err is not nil if dir cannot be read or has no facts.
func ReadGood(dir string) (out []Node, wrong []error, err error) {
	out, wrong, ambiguous, err := readAll(dir)
	return slices.DeleteFunc(out, func(n Node) bool { return ambiguous[n.Name] }), wrong, err
}

// readAll reads the facts of all nodes in dir. ambiguous contains the names of nodes that are in more than one file.
func readAll(dir string) (out []Node, wrong []error, ambiguous map[string]bool, err error) {
	l, err := list(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	wrong = l.wrong
	for _, f := range l.files {
		nodes, err := f.read()
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		out = append(out, nodes...)
	}
	slices.SortStableFunc(out, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	ambiguous = map[string]bool{}
	for i := 1; i < len(out); i++ {
		if name := out[i].Name; name == out[i-1].Name && !ambiguous[name] {
			ambiguous[name] = true
			wrong = append(wrong, twice(out[i-1], out[i]))
		}
	}
	if len(out)+len(wrong) == 0 {
		return nil, nil, nil, fail("%s: expected a facts file per node, found none; %s", dir, naming)
	}
	return out, wrong, ambiguous, nil
}

func twice(first, second Node) error {
	return failAt(diag.Pos{File: second.File},
		"found the facts of '"+second.Name+"' twice: they are in "+first.File+" too")
}

// read reads the nodes of a facts file. A single node without a name gets the name of the file, and NamedByFile if its
// facts have another name.
func (f file) read() ([]Node, error) {
	src, err := f.text()
	if err != nil {
		return nil, failAt(diag.Pos{File: f.path}, err.Error())
	}
	nodes, err := Parse(f.path, src)
	for i := range nodes {
		nodes[i].File = f.path
	}
	if err != nil || len(nodes) != 1 || nodes[0].Name != "" {
		return nodes, err
	}
	n := &nodes[0]
	n.Name = f.node
	n.NamedByFile = n.identifiesAnother()
	return nodes, nil
}

// text returns the content of f, which must be a regular file: reading a named pipe might block forever.
func (f file) text() ([]byte, error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("expected a facts file, found a broken symbolic link")
	case err == nil && info.IsDir():
		return nil, errors.New("expected a facts file, found a directory")
	case err == nil && !info.Mode().IsRegular():
		return nil, errors.New("expected a facts file, found a pipe, socket or device")
	}
	src, err := os.ReadFile(f.path)
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the facts: %w", err)
	}
	return src, nil
}
