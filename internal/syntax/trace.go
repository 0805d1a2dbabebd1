package syntax

// trace is all tokens of a file.
type trace struct{ tokens []token }

func (t *trace) add(tok token) { t.tokens = append(t.tokens, tok) }

// extend has the last token end elsewhere: a string is read by the parser.
func (t *trace) extend(end int) { t.tokens[len(t.tokens)-1].end = end }
