package syntax

// Token is a token for the formatter. The text between two tokens is white space, comments and heredocs.
type Token struct {
	Off, End  int
	Text      string // text as in the source
	Op        bool   // operator or bracket
	Operand   bool   // may end an operand
	Begins    bool   // first token of a statement
	Word      bool   // a word of the grammar or a category: a bracket after it begins a value
	Block     bool   // brace around statements
	Doc, Done int    // start and end of a heredoc's text, including its last line
}

// Tokens returns the tokens of a bindings file or of binder_config.pp.
func Tokens(src string) ([]Token, []SyntaxError) {
	p := newSetParser(src)
	p.trace = &trace{src: src}
	if p.errs == nil {
		p.advance()
		p.file()
	}
	return p.trace.tokens, p.errs
}

// TokensOfEnvironments is like Tokens for environments.pp.
func TokensOfEnvironments(src string) ([]Token, []SyntaxError) {
	p := newEnvironmentsParser(src)
	p.trace = &trace{src: src}
	p.environments()
	return p.trace.tokens, p.errs
}

// trace records the tokens of a file for the formatter.
type trace struct {
	src    string
	tokens []Token
}

func (t *trace) add(tok token) {
	if tok.kind == tEOF {
		return
	}
	out := Token{Off: tok.off, End: tok.end, Text: t.src[tok.off:tok.end], Op: tok.kind == tOp,
		Operand: tok.endsOperand() || tok.is(tOp, "}")}
	if tok.doc != nil {
		out.Doc, out.Done = tok.doc.begin, tok.doc.end
	}
	t.tokens = append(t.tokens, out)
}

// extend moves the end of the last token to end, because the parser reads strings without the lexer.
func (t *trace) extend(end int) {
	last := &t.tokens[len(t.tokens)-1]
	last.End, last.Text, last.Operand = end, t.src[last.Off:end], true
}

// last returns the trace's record of the current token, so that the parser can set flags in it.
func (p *parser) last() *Token {
	if p.trace == nil || p.tok.kind == tEOF || len(p.trace.tokens) == 0 {
		return &Token{}
	}
	return &p.trace.tokens[len(p.trace.tokens)-1]
}
