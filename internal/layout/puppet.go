package layout

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/syntax"
)

// Puppet returns src, a file in Puppet syntax, in canonical layout: each statement on a new line,
// two spaces per open bracket, and a single space between most tokens. It keeps line breaks within
// statements. If src has an error, Puppet adds diagnostics and returns false.
func Puppet(file string, src []byte, diags *diag.List) ([]byte, bool) {
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	tokensOf := syntax.Tokens
	if filepath.Base(file) == "environments.pp" || environments().MatchString(text) {
		tokensOf = syntax.TokensOfEnvironments
	}
	tokens, errs := tokensOf(text)
	for _, e := range errs {
		diags.Add(diag.Diagnostic{Pos: positionAt(file, text, e.Off), Code: "syntax", Message: e.Message, Hint: e.Hint,
			Secret: true})
	}
	if len(errs) > 0 {
		return nil, false
	}
	s := newSetter(text, tokens)
	err := s.all()
	out := written(s.lines)
	if err == nil && !slices.Equal(pieces(text, tokens, nil), pieces(string(out), nil, tokensOf)) {
		err = errors.New("formatting would change the meaning of the file")
	}
	if err != nil {
		diags.Add(diag.Diagnostic{Pos: diag.Pos{File: file}, Code: "layout",
			Message: err.Error() + "; the file was not changed", Secret: true})
		return nil, false
	}
	return out, true
}

// IsPuppet reports whether src looks like Puppet syntax rather than YAML.
func IsPuppet(src []byte) bool { return firstWord().Match(src) || environments().Match(src) }

// Patterns for the beginning of a bindings file and of an environments file. Comments may precede
// it.
var (
	firstWord    = pattern.Lazy(`^(\s|#.*\n)*(bindings\s+[a-z]|site\s*\{)`)
	environments = pattern.Lazy(`^(\s|#.*\n)*(\$\w+\s*=|(if|unless|case)\s+[$(!]|` +
		`site\s*\{(\s|#.*\n)*(Environment|environment|dynamic_environments)\b)`)
)

func positionAt(file, text string, off int) diag.Pos {
	before := text[:off]
	start := strings.LastIndexByte(before, '\n') + 1
	return diag.Pos{File: file, Line: strings.Count(before, "\n") + 1, Col: len([]rune(before[start:])) + 1}
}

// pieces returns the tokens, comments and heredoc texts of text in order. If tokens is nil, it
// calls tokensOf to get them. It returns nil if text has a syntax error.
func pieces(text string, tokens []syntax.Token, tokensOf func(string) ([]syntax.Token, []syntax.SyntaxError)) []string {
	if tokens == nil && tokensOf != nil {
		var errs []syntax.SyntaxError
		if tokens, errs = tokensOf(text); errs != nil {
			return nil
		}
	}
	var out []string
	s := newSetter(text, tokens)
	for i := range tokens {
		for _, c := range s.before(i).comments {
			out = append(out, c.text)
		}
		t := &tokens[i]
		out = append(out, t.Text, text[t.Doc:t.Done])
	}
	for _, c := range s.before(len(tokens)).comments {
		out = append(out, c.text)
	}
	return out
}

type gap struct {
	comments []remark
	newline  bool // whether the next token is on another line
	empty    bool // whether an empty line precedes the next token
	blank    bool // whether there is any text
	err      error
}

type remark struct {
	text  string
	alone bool // whether the comment is the first text on its line
	last  bool // whether the comment is the last text on its line
	empty bool // whether an empty line precedes the comment
}

type setter struct {
	src    string
	tokens []syntax.Token

	heredocs map[int]int // from the start to the end of each heredoc text

	lines []line
	open  []bracket
	at    line // the current line
	some  bool // whether the current line has any text
	docs  []string
}

func newSetter(src string, tokens []syntax.Token) *setter {
	s := &setter{src: src, tokens: tokens, heredocs: map[int]int{}}
	for _, t := range tokens {
		if t.Done > 0 {
			s.heredocs[t.Doc] = t.Done
		}
	}
	return s
}

type bracket struct {
	indent int // indentation of the line with the bracket
	block  bool
	pipe   bool // whether a parameter list of a lambda is open inside the bracket
}

// before returns the gap before token i. For i == len(s.tokens), it returns the gap after the last
// token.
func (s *setter) before(i int) (g gap) {
	from, to := 0, len(s.src)
	if i > 0 {
		from = s.tokens[i-1].End
	}
	if i < len(s.tokens) {
		to = s.tokens[i].Off
	}
	g.newline = i == 0
	newlines := 0
	for from < to {
		c := s.src[from]
		if done := s.heredocs[from]; done > 0 {
			from, g.newline, newlines = done, true, 1
			continue
		}
		switch {
		case c == '\n':
			newlines++
			g.newline, g.blank = true, true
			g.empty = g.empty || newlines > 1
			from++
		case c == '#' || strings.HasPrefix(s.src[from:], "/*"):
			text := remarkAt(s.src[from:to])
			from += len(text)
			rest := strings.TrimLeft(s.src[from:], " \t\r")
			last := rest == "" || rest[0] == '\n'
			g.comments = append(g.comments, remark{strings.TrimRight(text, " \t\r"), g.newline, last, g.empty})
			newlines, g.empty, g.newline, g.blank = 0, false, false, true
		default:
			rest := strings.TrimLeftFunc(s.src[from:to], func(r rune) bool { return r != '\n' && unicode.IsSpace(r) })
			if len(rest) == to-from {
				g.err = errors.New("unsupported syntax")
				return g
			}
			g.blank = true
			from = to - len(rest)
		}
	}
	return g
}

func remarkAt(text string) string {
	end := strings.IndexByte(text, '\n')
	if text[0] == '/' {
		end = strings.Index(text, "*/") + 2
	}
	if end < 0 {
		return text
	}
	return text[:end]
}

func (s *setter) all() error {
	for i := range s.tokens {
		g := s.before(i)
		if g.err != nil {
			return g.err
		}
		s.remarks(g, i)
		s.token(i, g)
	}
	g := s.before(len(s.tokens))
	s.remarks(g, len(s.tokens))
	s.flush()
	return g.err
}

// indentOf returns the indentation of a line whose first token is token i.
func (s *setter) indentOf(i int) int {
	if len(s.open) == 0 {
		return s.outside(i)
	}
	top := s.open[len(s.open)-1]
	switch t := s.peek(i); {
	case t.Op && closes(t.Text):
		return top.indent
	case top.block && !t.Begins:
		return top.indent + 4 // continuation of a statement
	}
	return top.indent + 2
}

// outside returns the indentation of a line outside all brackets whose first token is token i.
// Continuation lines are indented, except for else, elsif and opening braces.
func (s *setter) outside(i int) int {
	switch t := s.peek(i); {
	case i == 0 || t.Begins || t.Text == "" || t.Text == "else" || t.Text == "elsif" || t.Op && t.Text == "{":
		return 0
	}
	return 2
}

func (s *setter) peek(i int) syntax.Token {
	if i < len(s.tokens) {
		return s.tokens[i]
	}
	return syntax.Token{}
}

func closes(text string) bool { return text == ")" || text == "]" || text == "}" }

// remarks formats the comments in the gap before token i.
func (s *setter) remarks(g gap, i int) {
	for n, c := range g.comments {
		hash := c.text[0] == '#'
		last := n == len(g.comments)-1
		switch {
		case !c.alone && s.some && s.at.comment == "" && (c.last || last && s.breaks(i)):
			s.at.comment = c.text
		case !c.alone && s.some && !hash && !strings.Contains(c.text, "\n") && s.at.comment == "":
			s.at.text += " " + c.text // more text follows on the line
		default:
			s.flush()
			s.separate(c.empty)
			s.at = line{indent: s.remarkIndent(i), text: c.text}
			s.some = true
			s.flush()
		}
	}
}

// remarkIndent returns the indentation of a comment on a line of its own before token i. The
// comment is aligned with the token or, before a closing bracket, with the text inside the
// brackets.
func (s *setter) remarkIndent(i int) int {
	if t := s.peek(i); t.Op && closes(t.Text) && len(s.open) > 0 {
		return s.open[len(s.open)-1].indent + 2
	}
	return s.indentOf(i)
}

// separate adds an empty line if wanted is true, but not at the start of the file or a block.
func (s *setter) separate(wanted bool) {
	if n := len(s.lines); wanted && n > 0 && !strings.HasSuffix(s.lines[n-1].text, "{") {
		s.lines = append(s.lines, line{})
	}
}

// flush adds the current line to lines and begins a new one.
func (s *setter) flush() {
	if s.some {
		s.at.below = s.docs
		s.lines = append(s.lines, s.at)
	}
	s.at, s.some, s.docs = line{}, false, nil
}

// breaks reports whether token i always begins a new line.
func (s *setter) breaks(i int) bool {
	t := s.peek(i)
	after := i > 0 && s.tokens[i-1].Block && s.tokens[i-1].Text == "{"
	return t.Begins || t.Block && t.Text == "}" && !after || after && !(t.Block && t.Text == "}")
}

func (s *setter) token(i int, g gap) {
	t := &s.tokens[i]
	emptyBlock := i > 0 && t.Block && s.tokens[i-1].Block && s.tokens[i-1].Text == "{" && t.Text == "}" &&
		len(g.comments) == 0
	if !emptyBlock && (g.newline || s.breaks(i)) || s.at.comment != "" {
		s.flush()
		s.separate(g.empty && !(t.Op && closes(t.Text)))
	}
	if !s.some {
		s.at.indent = s.indentOf(i)
	} else if s.spaced(i, g) && !emptyBlock {
		s.at.text += " "
	}
	s.at.text += t.Text
	s.some = true
	s.bracket(t)
	if t.Done > 0 {
		s.docs = append(s.docs, strings.Split(strings.TrimSuffix(s.src[t.Doc:t.Done], "\n"), "\n")...)
	}
}

// bracket keeps track of open brackets. It must be called for each token.
func (s *setter) bracket(t *syntax.Token) {
	switch {
	case !t.Op:
	case t.Text == "(" || t.Text == "[" || t.Text == "{":
		s.open = append(s.open, bracket{indent: s.at.indent, block: t.Block})
	case closes(t.Text) && len(s.open) > 0:
		s.open = s.open[:len(s.open)-1]
	case t.Text == "|" && len(s.open) > 0:
		top := &s.open[len(s.open)-1]
		top.pipe = !top.pipe
	}
}

// inPipe reports whether the parameter list of a lambda is open.
func (s *setter) inPipe() bool { return len(s.open) > 0 && s.open[len(s.open)-1].pipe }

// spaced reports whether to write a space before token i. The token must not be the first on its
// line.
func (s *setter) spaced(i int, g gap) bool {
	t, prev := &s.tokens[i], &s.tokens[i-1]
	op, before := "", ""
	if t.Op {
		op = t.Text
	}
	if prev.Op {
		before = prev.Text
	}
	switch {
	case op == "," || op == ";" || op == ":" || op == ")" || op == "]" || op == "." || before == ".":
		return false
	case before == "(" || before == "[" || before == "?" && op == "?":
		return false
	case (op == "[" || op == "(") && prev.Word:
		return true
	case op == "[" && (before == "" || prev.Operand || strings.Contains("-!*", before)):
		return g.blank // without a space, it would be an access
	case op == "(" && before == "":
		return g.blank
	case op == "}":
		return before != "{"
	case op == "|" && s.inPipe(), before == "|" && s.inPipe():
		return false
	case before == "~" && (op == "=" || op == "!"):
		return false
	case before == "-" || before == "!" || before == "*":
		return !s.unary(i-1, g)
	}
	return true
}

// unary reports whether the operator at token i is a prefix operator. g is the gap after it.
func (s *setter) unary(i int, g gap) bool {
	if s.tokens[i].Text == "!" || i == 0 || !s.tokens[i-1].Operand {
		return true
	}
	return s.before(i).blank && !g.blank
}
