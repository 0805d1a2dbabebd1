package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

type recorded struct {
	with   string // Go toolchain and architecture
	counts map[string]int
}

func toolchain() string { return runtime.Version() + " " + runtime.GOARCH }

// comparable reports whether the counts were recorded with this toolchain. Other compilers generate
// different instructions.
func (r *recorded) comparable() bool { return r.with == toolchain() }

const heading = "# Instructions of one operation. Written by go run ./cmd/instructions -record; see README.md.\n"

func writeFigures(path string, operations []operation, counts map[string]int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%stoolchain %s\n", heading, toolchain())
	for _, op := range operations {
		fmt.Fprintf(&b, "%s %d\n", op.name, counts[op.name])
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func readFigures(path string) (*recorded, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &recorded{counts: map[string]int{}}
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, rest, _ := strings.Cut(line, " ")
		switch name {
		case "#":
		case "toolchain":
			r.with = rest
		default:
			if r.counts[name], err = strconv.Atoi(rest); err != nil || r.counts[name] <= 0 {
				return nil, fmt.Errorf("%s:%d: expected a name and a count, found %q", path, n+1, line)
			}
		}
	}
	return r, nil
}
