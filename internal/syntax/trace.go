package syntax

// Token is a token of a file, for formatting. Between tokens there are blanks, comments and the text of heredocs.
type Token struct {
	Off, End  int
	Text      string // as it is written
	Op        bool   // it is an operator or a bracket
	Operand   bool   // an operand may end with it
	Begins    bool   // a statement begins here
	Word      bool   // a word of a statement or the category of a condition: a bracket after it begins a value
	Block     bool   // it is a brace around statements
	Doc, Done int    // the start and end of the text of a heredoc, with the line that ends it
}

// Tokens returns the tokens of a set, or of binder_config.pp.
func Tokens(src string) ([]Token, []SyntaxError) {
	p := newSetParser(src)
	p.trace = &trace{src: src}
	if p.errs == nil {
		p.advance()
		p.file()
	}
	return p.trace.tokens, p.errs
}

// TokensOfEnvironments returns the tokens of environments.pp.
func TokensOfEnvironments(src string) ([]Token, []SyntaxError) {
	p := newEnvironmentsParser(src)
	p.trace = &trace{src: src}
	p.environments()
	return p.trace.tokens, p.errs
}

// trace records all tokens of a file.
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

// extend moves the end of the last token: the parser reads strings, not the lexer.
func (t *trace) extend(end int) {
	last := &t.tokens[len(t.tokens)-1]
	last.End, last.Text, last.Operand = end, t.src[last.Off:end], true
}

// last returns the token at the parser's position, so that notes can be added to it.
func (p *parser) last() *Token {
	if p.trace == nil || p.tok.kind == tEOF || len(p.trace.tokens) == 0 {
		return &Token{}
	}
	return &p.trace.tokens[len(p.trace.tokens)-1]
}
