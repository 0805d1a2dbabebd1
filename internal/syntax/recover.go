package syntax

import (
	"slices"
	"strings"

	"bindc/diag"
)

// here returns where to return to, to go over what begins at tok once more.
func (p *setParser) here() lexer {
	begin := p.lexer
	begin.pos = p.tok.off
	return begin
}

// recover continues after what is wrong in the statement at begin: with the next one, or with the } of what both stand
// in.
func (p *setParser) recover(begin lexer) {
	first := begin.src[begin.pos:bareWordEnd(begin.src, begin.pos)]
	isWhen := first == "when" || diag.DidYouMean(first, []string{"when"}) != ""
	indent := indentOf(p.src, begin.pos)
	if last := p.errs[len(p.errs)-1]; last.Message == unclosed { // tokens after the quote mean nothing
		p.skipLines(last.Off, p.beginsStatement)
		return
	}
	p.skip(begin, func() bool {
		return p.beginsStatement() || p.misspelt(indent) || p.open == 0 && p.at("{") && (isWhen || p.bodyFollows())
	})
	if p.accept("{") { // what it asks is wrong; what is under it may be as well
		p.statementList()
		p.closing()
		p.note()
	}
}

// skip continues after begin at the first token that next wants, or at a } that closes what begin stands in.
func (p *setParser) skip(begin lexer, next func() bool) {
	found := max(p.errs[len(p.errs)-1].Off, begin.pos)
	p.lexer, p.tok, p.open, p.ends = begin, token{}, 0, 0
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

// skipLines goes on at the first line after off that begins with what next wants. It is for text that is no tokens.
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

// stop has nothing more be parsed.
func (p *setParser) stop() {
	p.lexer, p.tok, p.open = lexer{src: p.src, pos: len(p.src)}, token{}, 0
	p.advance()
}

// beginsStatement reports whether a statement begins at tok: with its first word, which is no key of a hash. Brackets
// that are open then were not closed.
func (p *setParser) beginsStatement() bool {
	return p.tok.kind == tName && slices.Contains(statementWords, p.tok.text) && !p.peek().is(tOp, "=>") &&
		(p.open == 0 || beginsLine(p.src, p.tok.off))
}

// misspelt reports whether a statement may begin at tok whose first word is none: a name in front of a line that is
// indented no deeper than the statement before it, with what may follow such a word. In brackets that are open, it
// resembles one.
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

// innerWords has those inside of statements, beside what may follow bind.
var innerWords = []string{"as", "optional", "producer"}

// bodyFollows reports whether the { at tok has statements after it.
func (p *setParser) bodyFollows() bool {
	ahead := p.lexer
	word, then := ahead.next(), ahead.next()
	return word.kind == tName && slices.Contains(statementWords, word.text) && !then.is(tOp, "=>")
}

// beginsLine reports whether only blanks precede off in its line. It reads no further than the blanks because a line
// may be a whole file.
func beginsLine(src string, off int) bool {
	before := strings.TrimRight(src[:off], " \t")
	return before == "" || strings.HasSuffix(before, "\n")
}

// indentOf returns how many blanks the line begins with in which off is.
func indentOf(src string, off int) int {
	off = min(off, len(src))
	line := src[strings.LastIndexByte(src[:off], '\n')+1:]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}
