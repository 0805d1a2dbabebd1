package yaml

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	goyaml "go.yaml.in/yaml/v4"

	"bindc/diag"
)

// The library and libyaml, which Puppet uses, disagree about some files. This file mends or refuses them.

// repair changes src where the library rejects syntax that libyaml accepts and that real files contain. It overwrites
// a comment directly after a quote or bracket with blanks, and %YAML 1.2 with %YAML 1.1. Positions do not change. It
// returns false if neither explains err.
func (c *converter) repair(src []byte, err error) ([]byte, bool) {
	var at *goyaml.LoadError
	if !errors.As(err, &at) {
		return nil, false
	}
	off := c.doc.offset(at.Mark.Line, at.Mark.Column)
	switch {
	case off == len(src):
	case at.Message == "found a comment without preceding whitespace" && src[off] == '#':
		fixed := bytes.Clone(src)
		for ; off < len(src) && src[off] != '\n' && src[off] != '\r'; off++ {
			fixed[off] = ' '
		}
		return fixed, true
	case at.Message == "found incompatible YAML document":
		version := off + len("%YAML 1.")
		if version < len(src) && string(src[off:version+1]) == "%YAML 1.2" {
			fixed := bytes.Clone(src)
			fixed[version] = '1'
			return fixed, true
		}
	}
	return nil, false
}

// repairEnding removes a newline from top, the tree of src. If src ends in a line of blanks without a line break, the
// library adds a newline to a block scalar. libyaml does not.
//
// Whether these blanks are part of the scalar depends on its indentation, which the tree does not tell. So repairEnding
// reads src again: with one more character, and if that does not tell, without the blanks.
func repairEnding(top *goyaml.Node, src []byte) {
	shorter := bytes.TrimRight(src, " \t")
	if before, _ := utf8.DecodeLastRune(shorter); len(shorter) == len(src) || !isBreak(before) {
		return
	}
	n := lastBlock(top)
	if n == nil || !strings.HasSuffix(n.Value, "\n") {
		return
	}
	longer, ok := strings.CutSuffix(textOfLastBlock(append(bytes.Clone(src), '.')), ".")
	if ok && n.Value == longer+"\n" {
		n.Value = longer
	} else if text := textOfLastBlock(shorter); n.Value == text+"\n" {
		n.Value = text
	}
}

// textOfLastBlock returns the text of the last block scalar in src, or "".
func textOfLastBlock(src []byte) string {
	var top goyaml.Node
	loader, err := newLoader(src)
	if err != nil || loader.Load(&top) != nil {
		return ""
	}
	if n := lastBlock(&top); n != nil {
		return n.Value
	}
	return ""
}

// lastBlock returns the last block scalar in n, or nil.
func lastBlock(n *goyaml.Node) *goyaml.Node {
	if n.Kind == goyaml.ScalarNode && n.Style&(goyaml.LiteralStyle|goyaml.FoldedStyle) != 0 {
		return n
	}
	for i := len(n.Content) - 1; i >= 0; i-- {
		if last := lastBlock(n.Content[i]); last != nil {
			return last
		}
	}
	return nil
}

// refuseIndicators reports text without quotes that begins with '?' or ':' in n, if n is in brackets or braces. The
// library reads {?a: b} as {'?a': b}, libyaml as {a: b}. The library reads {a: :b} as {a: ':b'}, libyaml rejects it.
func (c *converter) refuseIndicators(n *goyaml.Node) {
	if n.Style&goyaml.FlowStyle == 0 {
		return
	}
	for _, kid := range n.Content {
		switch {
		case !isPlain(kid):
		case strings.HasPrefix(kid.Value, "?"):
			c.fail(c.position(kid), "yaml_syntax", "in brackets and braces, a '?' before text marks a key",
				"put the text in quotes; without the quotes, the '?' is not part of it")
		case strings.HasPrefix(kid.Value, ":"):
			c.fail(c.position(kid), "yaml_syntax", "in brackets and braces, text cannot begin with ':'",
				"put the text in quotes")
		}
	}
}

// refuseByteOrderMark reports text at the start of a line that begins with a byte order mark. libyaml ignores the mark,
// but then the text is in another column than the lines around it, so the file may end there or have a syntax error.
func (c *converter) refuseByteOrderMark(n *goyaml.Node) {
	if !isPlain(n) || !strings.HasPrefix(n.Value, byteOrderMark) {
		return
	}
	at := c.doc.offset(n.Line, n.Column) // of the tag or anchor, if there is one
	at += max(0, bytes.Index(c.doc.src[at:], []byte(byteOrderMark)))
	if pos := c.doc.posAt(at); pos.Col == 1 {
		c.refuseMarkAt(pos)
	}
}

func (r *report) refuseMarkAt(pos diag.Pos) {
	r.correct(pos, "yaml_syntax", "this line begins with a byte order mark (U+FEFF), which is invisible",
		"remove it: only a file may begin with it", diag.Fix{Old: byteOrderMark, Syntax: true})
}

// byteOrderMark reports a byte order mark at the start of the line of a syntax error, or of the line above it.
func (r *report) byteOrderMark(c complaint, _ int) bool {
	for line := c.pos.Line; line >= max(2, c.pos.Line-1); line-- {
		if bytes.HasPrefix(r.doc.src[r.doc.offset(line, 1):], []byte(byteOrderMark)) {
			r.refuseMarkAt(diag.Pos{File: c.pos.File, Line: line, Col: 1})
			return true
		}
	}
	return false
}
