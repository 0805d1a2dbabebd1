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

type pkg struct {
	path, dir string
	name      string
	files     []*source
	mutants   []*mutant
	importer  types.Importer
}

type source struct {
	path    string
	name    string // path relative to the working directory
	text    []byte
	edits   []edit
	changed []byte // text with all mutants
}

// load returns the packages to mutate. It builds export data for all their imports.
func load(patterns []string) ([]*pkg, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Name,Dir,GoFiles,Export,DepOnly,Standard"}
	args = append(args, "cmp", "encoding/binary", "os", "strconv", "strings", "sync") // the imports of switches.txt
	out, err := run("go", append(args, patterns...)...)
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
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

// decode returns an iterator over the values in a stream of JSON. If one is invalid, it sets err
// and stops.
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

type checked struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	errs  []types.Error
}

// check parses and type-checks the package with the given texts of its files and the mutant
// switches.
func (p *pkg) check(texts func(*source) []byte) (*checked, error) {
	c := &checked{fset: token.NewFileSet(), info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Uses:  map[*ast.Ident]types.Object{},
		Defs:  map[*ast.Ident]types.Object{},
	}}
	for _, s := range p.files {
		f, err := parser.ParseFile(c.fset, s.path, texts(s), parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
	}
	switches, err := parser.ParseFile(c.fset, "mutant.go", p.switches(), parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: p.importer, Error: func(err error) { c.errs = append(c.errs, err.(types.Error)) }}
	config.Check(p.path, c.fset, append(c.files[:len(c.files):len(c.files)], switches), c.info)
	return c, nil
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
