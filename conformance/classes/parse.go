package classes

import (
	"bufio"
	"bytes"
	_ "embed" // for parse.rb
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

//go:embed parse.rb
var parse string

// Definition is a class or a type alias that Puppet's parser finds in a manifest.
type Definition struct {
	Name   string
	Tree   string // the type of an alias, as Puppet prints it; "" for a class
	Params []Param
}

type Param struct {
	Name, Type string
	Optional   bool // whether the parameter has a default
}

// Parse runs Puppet's parser on manifests. It returns the definitions of each manifest by its path,
// in their order. Manifests that Puppet rejects are not in the result.
func Parse(paths []string) (map[string][]Definition, error) {
	cmd := exec.Command("ruby", "-e", parse)
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	all := map[string][]Definition{}
	for _, path := range paths {
		if !lines.Scan() {
			return nil, fmt.Errorf("puppet printed nothing about %s", path)
		}
		var found [][]any
		if err := json.Unmarshal(lines.Bytes(), &found); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if found == nil {
			continue
		}
		all[path] = []Definition{}
		for _, f := range found {
			all[path] = append(all[path], definition(f))
		}
	}
	return all, nil
}

func definition(f []any) Definition {
	d := Definition{Name: text(f[0])}
	if len(f) == 3 {
		d.Tree = text(f[2])
		return d
	}
	for _, p := range f[1].([]any) {
		p := p.([]any)
		d.Params = append(d.Params, Param{text(p[0]), text(p[1]), p[2].(bool)})
	}
	return d
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
