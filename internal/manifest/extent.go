package manifest

import "strings"

// expressionEnd returns the index after the expression that begins at token i. The expression ends at a comma, at a
// closing bracket, or at the end of a line, unless an operator continues it.
func (p *parser) expressionEnd(i int) int {
	depth := 0
	for j := i; j < len(p.tokens); j++ {
		if depth == 0 && j > i && p.startsStatement(j) {
			return j
		}
		switch t := &p.tokens[j]; {
		case t.kind != punct:
		case strings.Contains("([{", t.text):
			depth++
		case strings.Contains(")]}", t.text):
			if depth--; depth < 0 {
				return j
			}
		case depth == 0 && strings.Contains(",;", t.text):
			return j
		}
	}
	return len(p.tokens)
}

// expressionStart returns the index of the first token of the expression that ends before token end.
func (p *parser) expressionStart(end int) int {
	depth := 0
	for j := end - 1; j >= 0; j-- {
		switch t := &p.tokens[j]; {
		case t.kind != punct:
		case strings.Contains(")]}", t.text):
			depth++
		case strings.Contains("([{", t.text):
			if depth--; depth < 0 {
				return j + 1
			}
		case depth == 0 && (strings.Contains(",;=", t.text) || t.text == "=>"):
			return j + 1
		}
		if depth == 0 && p.startsStatement(j) {
			return j
		}
	}
	return 0
}

// startsStatement reports whether token j is the first of its line, and no operator connects it with the line above.
func (p *parser) startsStatement(j int) bool {
	if j == 0 {
		return true
	}
	before, t := &p.tokens[j-1], &p.tokens[j]
	isOperator := t.kind == punct && strings.Contains(".?+-=|{", t.text)
	isContinued := before.kind == punct && !strings.Contains(")]}", before.text)
	return strings.Contains(p.src[before.end:t.at], "\n") && !isOperator && !isContinued
}

// opening returns the index of the bracket that the one at token i closes, or -1.
func (p *parser) opening(i int) int {
	depth := 0
	for ; i >= 0; i-- {
		switch t := &p.tokens[i]; {
		case t.kind != punct:
		case strings.Contains(")]}", t.text):
			depth++
		case strings.Contains("([{", t.text):
			if depth--; depth <= 0 {
				return i
			}
		}
	}
	return -1
}
