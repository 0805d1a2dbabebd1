package syntax

import "strings"

func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isLower(c byte) bool    { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool    { return 'A' <= c && c <= 'Z' }
func isWordByte(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) || c == '_' }

// bareWordEnd returns the offset after the bare word at i, or i if there is none. A bare word consists of parts
// joined by '::'. Each part begins with a-z or '_' and may contain dashes.
func bareWordEnd(s string, i int) int {
	for {
		j := i
		if strings.HasPrefix(s[j:], "::") {
			j += 2
		}
		if j == len(s) || !isLower(s[j]) && s[j] != '_' {
			return i
		}
		for j < len(s) && (isWordByte(s[j]) || s[j] == '-') {
			j++
		}
		i = len(strings.TrimRight(s[:j], "-"))
		if !strings.HasPrefix(s[i:], "::") {
			return i
		}
	}
}

// isName reports whether a bare word is a valid function name: each part must begin with a-z and contain no dash.
func isName(word string) bool {
	start := true
	for i := range len(word) {
		c := word[i]
		switch {
		case c == ':':
			start = true
		case c == '-' || start && !isLower(c):
			return false
		default:
			start = false
		}
	}
	return true
}

// typeNameEnd returns the offset after the type name at i, or i if there is none.
func typeNameEnd(s string, i int) int {
	for {
		j := i
		if strings.HasPrefix(s[j:], "::") {
			j += 2
		}
		if j == len(s) || !isUpper(s[j]) {
			return i
		}
		for j < len(s) && isWordByte(s[j]) {
			j++
		}
		i = j
	}
}

// variableEnd returns the offset after the variable name at i, or i if there is none.
func variableEnd(s string, i int) int {
	end := i
	for {
		j := end
		if strings.HasPrefix(s[j:], "::") {
			j += 2
		} else if end > i {
			return end
		}
		if j == len(s) || !isWordByte(s[j]) {
			return end
		}
		for j < len(s) && isWordByte(s[j]) {
			j++
		}
		end = j
	}
}

// isVariable reports whether name is a valid variable name. Numbers are not: see isMatchVariable.
func isVariable(name string) bool {
	if strings.IndexByte(name, '-') >= 0 { // a bare word in ${} may contain a dash
		return false
	}
	name = strings.TrimPrefix(name, "::")
	for {
		part, rest, more := strings.Cut(name, "::")
		if part == "" || !isLower(part[0]) && (more || part[0] != '_') {
			return false
		}
		if !more {
			return true
		}
		name = rest
	}
}

// isMatchVariable reports whether name is a number, as in the match variables $0, $1, ...
func isMatchVariable(name string) bool {
	for i := range len(name) {
		if !isDigit(name[i]) {
			return false
		}
	}
	return name == "0" || name[0] != '0'
}
