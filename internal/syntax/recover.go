package syntax

import (
	"slices"
	"strings"
)

// recover goes on behind what is wrong in the statement at begin: with the next one, or with the } of what both stand
// in.
func (p *setParser) recover(begin lexer) {
	found := p.errs[len(p.errs)-1].Off
	p.lexer, p.tok, p.open, p.ends = begin, token{}, 0, 0
	p.advance()
	header := p.atWord("when")
	for p.advance(); p.err == nil && p.tok.kind != tEOF; p.advance() {
		p.open = max(p.open, 0)
		switch {
		case p.tok.kind == tQuote:
			p.template(inQuotes)
			p.prev = token{kind: tString}
		case p.open == 0 && p.at("}"), p.beginsStatement():
			p.open = 0
			return
		case header && p.open == 0 && p.at("{"): // what it asks is wrong; what is under it may be as well
			p.advance()
			p.statementList()
			p.closing()
			p.note()
			return
		}
	}
	if p.err != nil {
		p.err = nil
		p.skipTo(found)
	}
}

// beginsStatement tells whether a statement begins at tok: with its first word, which is no key of a hash. Brackets
// that are open then were not closed.
func (p *setParser) beginsStatement() bool {
	return p.tok.kind == tName && slices.Contains(statementWords, p.tok.text) && !p.peek().is(tOp, "=>") &&
		(p.open == 0 || beginsLine(p.src, p.tok.off))
}

func beginsLine(src string, off int) bool {
	line := src[strings.LastIndexByte(src[:off], '\n')+1 : off]
	return strings.Trim(line, " \t") == ""
}

// skipTo goes on at the first line behind off that begins with the word of a statement. It is for text that is no
// tokens.
func (p *setParser) skipTo(off int) {
	p.lexer, p.tok, p.open = lexer{src: p.src, pos: len(p.src)}, token{}, 0
	for off < len(p.src) {
		off += lineLen(p.src[off:]) + 1
		if off >= len(p.src) {
			break
		}
		line := strings.TrimLeft(p.src[off:off+lineLen(p.src[off:])], " \t")
		if word := line[:bareWordEnd(line, 0)]; slices.Contains(statementWords, word) {
			p.pos = off
			break
		}
	}
	p.advance()
}
