package manifest

import "strings"

// expressionEnd returns the index after the expression that begins at token i. A comma, a closing bracket or the end of
// the line ends an expression, unless an operator continues it on the next line.
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

// expressionStart returns the index at which the expression before token end begins.
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

// startsStatement reports whether token j is the first on its line and no operator connects it to the previous line.
func (p *parser) startsStatement(j int) bool {
	if j == 0 {
		return true
	}
	before, t := &p.tokens[j-1], &p.tokens[j]
	isOperator := t.kind == punct && strings.Contains(".?+-=|{", t.text)
	isContinued := before.kind == punct && !strings.Contains(")]}", before.text)
	return strings.Contains(p.src[before.end:t.at], "\n") && !isOperator && !isContinued
}

// opening returns the index of the bracket that matches the closing bracket at token i, or -1.
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
