package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// equivalents lists mutants that behave like the original code, so that no test can kill them. The
// reasons say why.
type equivalents struct {
	reasons map[string]string
	order   []string
}

// readEquivalents reads a list of equivalent mutants. Each key, as mutate prints it, is on a line
// of its own. One or more keys are followed by an indented reason. Lines that begin with # are
// comments.
func readEquivalents(path string) (*equivalents, error) {
	list := &equivalents{reasons: map[string]string{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	} else if err != nil {
		return nil, err
	}
	var open []string
	for i, line := range strings.Split(string(text), "\n") {
		reason := strings.TrimSpace(line)
		switch {
		case reason == "" || strings.HasPrefix(line, "#"):
		case reason != line:
			if len(list.order) == 0 {
				return nil, fmt.Errorf("%s:%d: a reason without a mutant", path, i+1)
			}
			for _, key := range open {
				list.reasons[key] = reason
			}
			open = nil
		default:
			if _, twice := list.reasons[line]; twice {
				return nil, fmt.Errorf("%s:%d: listed twice: %s", path, i+1, line)
			}
			list.reasons[line] = ""
			list.order = append(list.order, line)
			open = append(open, line)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%s: no reason for %s", path, open[0])
	}
	return list, nil
}

func (l *equivalents) names(key string) bool { return l.reasons[key] != "" }

// unused returns the listed keys of the given packages for which there is no mutant.
func (l *equivalents) unused(packages []*pkg) []string {
	found := map[string]bool{}
	names := map[string]bool{}
	for _, p := range packages {
		names[p.name] = true
		for _, m := range p.mutants {
			found[m.key] = true
		}
	}
	var unused []string
	for _, key := range l.order {
		if name, _, _ := strings.Cut(key, "."); names[name] && !found[key] {
			unused = append(unused, key)
		}
	}
	return unused
}
