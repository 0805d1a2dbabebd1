package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
)

// A pkg is one package to be mutated.
type pkg struct {
	path, dir string
	name      string
	files     []*source
	mutants   []*mutant
	importer  types.Importer
}

// A source is one file of it.
type source struct {
	path    string // absolute
	name    string // from the directory the program runs in
	text    []byte
	edits   []edit
	changed []byte // the text with all mutants in it
}

// load finds the packages, and the export data of all that they import.
func load(patterns []string) ([]*pkg, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Name,Dir,GoFiles,Export,DepOnly,Standard"}, patterns...)
	out, err := run("go", append(args, "cmp", "encoding/binary", "os", "strconv", "strings", "sync")...) // what switches.txt imports
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []*pkg
	for l := range decode[struct {
		ImportPath, Name, Dir, Export string
		GoFiles                       []string
		DepOnly, Standard             bool
	}](out, &err) {
		exports[l.ImportPath] = l.Export
		if l.DepOnly || l.Standard || len(l.GoFiles) == 0 {
			continue
		}
		p := &pkg{path: l.ImportPath, name: l.Name, dir: l.Dir, importer: imp}
		for _, f := range l.GoFiles {
			path := filepath.Join(l.Dir, f)
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(here, path)
			if err != nil {
				return nil, err
			}
			p.files = append(p.files, &source{path: path, name: filepath.ToSlash(name), text: text})
		}
		packages = append(packages, p)
	}
	return packages, err
}

// decode yields the values of a stream of JSON.
func decode[T any](stream []byte, err *error) iter.Seq[T] {
	return func(yield func(T) bool) {
		for dec := json.NewDecoder(bytes.NewReader(stream)); dec.More(); {
			var v T
			if *err = dec.Decode(&v); *err != nil || !yield(v) {
				return
			}
		}
	}
}

// check parses and checks texts of the package; places are those in the text.
func (p *pkg) check(texts func(*source) []byte) (fset *token.FileSet, files []*ast.File, info *types.Info, errs []types.Error, err error) {
	fset = token.NewFileSet()
	for _, s := range p.files {
		f, err := parser.ParseFile(fset, s.path, texts(s), parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		files = append(files, f)
	}
	switches, err := parser.ParseFile(fset, "mutant.go", p.switches(), parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: p.importer, Error: func(err error) { errs = append(errs, err.(types.Error)) }}
	config.Check(p.path, fset, append(files, switches), info)
	return fset, files, info, errs, nil
}

func run(name string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, stderr.Bytes())
	}
	return out, nil
}
