package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A suite contains the tests of a package, compiled with the mutants of all mutated packages.
type suite struct {
	path, dir string
	binary    string
}

// A bench contains the compiled test suites and programs.
type bench struct {
	dir      string
	suites   []*suite
	programs string
}

// build compiles tests and programs. An overlay replaces the source files with the instrumented
// ones.
func build(dir string, o options, packages []*pkg) (*bench, error) {
	overlay := map[string]map[string]string{"Replace": {}}
	write := func(path string, text []byte) error {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(overlay["Replace"])))
		overlay["Replace"][path] = to
		return os.WriteFile(to, text, 0o666)
	}
	for _, p := range packages {
		if err := write(filepath.Join(p.dir, "mutant_switches.go"), []byte(p.switches())); err != nil {
			return nil, err
		}
		for _, s := range p.files {
			if err := write(s.path, s.changed); err != nil {
				return nil, err
			}
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(config, text, 0o666); err != nil {
		return nil, err
	}
	b := &bench{dir: dir}
	patterns := o.suites
	for _, p := range packages {
		patterns = append(patterns, p.path)
	}
	if b.suites, err = suites(patterns); err != nil {
		return nil, err
	}
	for i, s := range b.suites {
		s.binary = filepath.Join(dir, fmt.Sprintf("%d.test", i))
		if _, err := run("go", "test", "-c", "-overlay", config, "-o", s.binary, s.path); err != nil {
			return nil, err
		}
	}
	if len(o.programs) == 0 {
		return b, nil
	}
	b.programs = filepath.Join(dir, "programs")
	args := []string{"build", "-buildvcs=false", "-overlay", config, "-o", b.programs + string(filepath.Separator)}
	_, err = run("go", append(args, o.programs...)...)
	return b, err
}

func suites(patterns []string) ([]*suite, error) {
	out, err := run("go", append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	var found []*suite
	for l := range decode[struct {
		ImportPath, Dir           string
		TestGoFiles, XTestGoFiles []string
	}](out, &err) {
		if len(l.TestGoFiles)+len(l.XTestGoFiles) > 0 {
			found = append(found, &suite{path: l.ImportPath, dir: l.Dir})
		}
	}
	return found, err
}
