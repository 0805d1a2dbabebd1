package syntax

import (
	"slices"
	"strings"

	"bindc/diag"
)

// here returns a copy of the lexer at the start of the current token.
func (p *setParser) here() lexer {
	begin := p.lexer
	begin.pos = p.tok.off
	return begin
}

// recover continues after an invalid statement that starts at begin. It moves to the next statement, or to the '}' of
// the enclosing block.
func (p *setParser) recover(begin lexer) {
	first := begin.src[begin.pos:bareWordEnd(begin.src, begin.pos)]
	isWhen := first == "when" || diag.DidYouMean(first, []string{"when"}) != ""
	indent := indentOf(p.src, begin.pos)
	if last := p.errs[len(p.errs)-1]; last.Message == unclosed { // the tokens after an unclosed quote are meaningless
		p.skipLines(last.Off, p.beginsStatement)
		return
	}
	p.skip(begin, func() bool {
		return p.beginsStatement() || p.misspelt(indent) || p.open == 0 && p.at("{") && (isWhen || p.bodyFollows())
	})
	if p.accept("{") { // the condition is invalid; its statements are still parsed
		p.statementList()
		p.closing()
		p.note()
	}
}

// skip moves to the first token after begin for which next returns true, or to the '}' of the enclosing block. next
// examines the current token.
func (p *setParser) skip(begin lexer, next func() bool) {
	found := max(p.errs[len(p.errs)-1].Off, begin.pos)
	p.lexer, p.tok, p.open, p.inEndsAt = begin, token{}, 0, 0
	p.advance()
	for p.advance(); p.err == nil && p.tok.kind != tEOF; p.advance() {
		p.open = max(p.open, 0)
		switch {
		case p.tok.kind == tQuote:
			p.template(inQuotes)
			p.prev = token{kind: tString}
		case p.open == 0 && p.at("}"), next():
			p.open = 0
			return
		}
	}
	if p.err != nil {
		p.skipLines(found, next)
	}
}

// skipLines moves to the first line after off for whose first token next returns true. It is for text that cannot be
// split into tokens.
func (p *setParser) skipLines(off int, next func() bool) {
	for off < len(p.src) {
		off += lineLen(p.src[off:]) + 1
		start := off + indentOf(p.src, off)
		if start >= len(p.src) || !isLower(p.src[start]) && !isUpper(p.src[start]) && p.src[start] != '$' {
			continue
		}
		p.lexer, p.tok, p.open = lexer{src: p.src, pos: start}, token{}, 0
		if p.advance(); p.err == nil && next() {
			return
		}
	}
	p.stop()
}

func (p *setParser) stop() {
	p.lexer, p.tok, p.open = lexer{src: p.src, pos: len(p.src)}, token{}, 0
	p.advance()
}

// beginsStatement reports whether the current token begins a statement and is not the key of a hash. Inside brackets,
// which may be unclosed, the token must be the first on its line.
func (p *setParser) beginsStatement() bool {
	return p.tok.kind == tName && slices.Contains(statementWords, p.tok.text) && !p.peek().is(tOp, "=>") &&
		(p.open == 0 || beginsLine(p.src, p.tok.off))
}

// misspelt reports whether the current token may be a misspelt first word of a statement. It must be a name, the
// first on its line, not indented deeper than indent, and followed by a token that fits. Inside brackets, it must
// also resemble such a word.
func (p *setParser) misspelt(indent int) bool {
	if !p.beginsAt(indent) || slices.Contains(bindWords, p.tok.text) || slices.Contains(innerWords, p.tok.text) {
		return false
	}
	rest := strings.TrimLeft(p.src[p.tok.end:p.tok.end+lineLen(p.src[p.tok.end:])], " \t")
	if rest == "" || !isLower(rest[0]) && !isUpper(rest[0]) && !strings.ContainsRune(`'"[:`, rune(rest[0])) {
		return false
	}
	return p.open == 0 || diag.DidYouMean(p.tok.text, statementWords) != ""
}

// innerWords lists the words that occur inside statements, except those after bind.
var innerWords = []string{"as", "optional", "producer"}

// bodyFollows reports whether statements follow the current token, a '{'.
func (p *setParser) bodyFollows() bool {
	ahead := p.lexer
	word, then := ahead.next(), ahead.next()
	return word.kind == tName && slices.Contains(statementWords, word.text) && !then.is(tOp, "=>")
}

// beginsLine reports whether only blanks precede off on its line. It reads only those blanks, because a line may be
// as long as the file.
func beginsLine(src string, off int) bool {
	before := strings.TrimRight(src[:off], " \t")
	return before == "" || strings.HasSuffix(before, "\n")
}

// indentOf returns the number of blanks at the start of the line that contains off.
func indentOf(src string, off int) int {
	off = min(off, len(src))
	line := src[strings.LastIndexByte(src[:off], '\n')+1:]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}
