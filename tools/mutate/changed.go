package main

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A span is a range of lines. Both ends are included.
type span struct{ first, last int }

func within(spans []span, line int) bool {
	for _, s := range spans {
		if s.first <= line && line <= s.last {
			return true
		}
	}
	return false
}

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// changedLines returns the lines of each file that have changed since commit. If commit is "", it
// returns nil.
func changedLines(commit string) (map[string][]span, error) {
	if commit == "" {
		return nil, nil
	}
	diff, err := run("git", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--relative", "--dst-prefix=b/",
		commit, "--", "*.go")
	if err != nil {
		return nil, err
	}
	return hunks(diff)
}

func hunks(diff []byte) (map[string][]span, error) {
	lines := map[string][]span{}
	file := ""
	for sc := bufio.NewScanner(bytes.NewReader(diff)); sc.Scan(); {
		if name, ok := strings.CutPrefix(sc.Text(), "+++ b/"); ok {
			file = name
		}
		m := hunk.FindStringSubmatch(sc.Text())
		if m == nil {
			continue
		}
		first, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, fmt.Errorf("git diff: %w", err)
		}
		n := 1
		if m[2] != "" {
			if n, err = strconv.Atoi(m[2]); err != nil {
				return nil, fmt.Errorf("git diff: %w", err)
			}
		}
		if n > 0 {
			lines[file] = append(lines[file], span{first, first + n - 1})
		}
	}
	return lines, nil
}
