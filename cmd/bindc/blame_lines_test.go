package main

import "testing"

func TestLastLineFindsEndOfBinding(t *testing.T) {
	for _, c := range []struct {
		name, source string
		first, last  int
	}{
		{"value on the line of the key", "a: 1\nb: 2\n", 1, 1},
		{"indented hash", "a:\n  x: 1\n  y:\n    z: 2\nb: 2\n", 1, 4},
		{"list at the indentation of the key", "a:\n- 1\n- 2\nb: 2\n", 1, 3},
		{"element of a list", "bind:\n  - name: a\n    to: 1\n  - name: b\n", 2, 3},
		{"last binding", "a: 1\nb:\n  - 2", 2, 3},
		{"comments and blank lines inside", "a:\n  x: 1\n\n# comment\n  y: 2\n\n# about b\nb: 3\n", 1, 5},
		{"block of text", "a: |\n  x\n\n  y\nb: 3\n", 1, 4},
		{"closing bracket", "{\n  \"a\": [\n    1\n  ],\n  \"b\": 2\n}\n", 2, 4},
		{"line after the end of the file", "a: 1\n", 7, 7},
	} {
		if found := lastLine(c.source, c.first); found != c.last {
			t.Errorf("%s: found line %d, expected %d", c.name, found, c.last)
		}
	}
}
