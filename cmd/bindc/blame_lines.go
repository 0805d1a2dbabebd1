package main

import "strings"

// lastLine returns the last line of the binding that begins on line first. Lines count from 1. source is YAML, JSON or
// Puppet syntax. More deeply indented lines belong to the binding, and so do list elements and closing brackets at its
// own indentation.
func lastLine(source string, first int) int {
	lines := strings.Split(source, "\n")
	if first < 1 || first > len(lines) {
		return first
	}
	indent, text := indentation(lines[first-1])
	isElement := strings.HasPrefix(text, "-")
	last := first
	for i, line := range lines[first:] {
		deep, text := indentation(line)
		switch {
		case text == "" || text[0] == '#': // belongs to the binding only if more of it follows
		case deep > indent, deep == indent && continues(text, isElement):
			last = first + 1 + i
		default:
			return last
		}
	}
	return last
}

// continues reports whether text, a line at the binding's indentation, belongs to the binding. isElement reports
// whether the binding is itself a list element.
func continues(text string, isElement bool) bool {
	isNextElement := text == "-" || strings.HasPrefix(text, "- ")
	return isNextElement && !isElement || text[0] == ']' || text[0] == '}'
}

func indentation(line string) (columns int, text string) {
	text = strings.TrimLeft(line, " \t")
	return len(line) - len(text), strings.TrimSpace(text)
}
