package yaml

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// FuzzScribe compares both parsers on realistic documents, which both parsers must accept. Each byte of the input is a
// choice of the scribe that writes the document.
func FuzzScribe(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
	f.Add([]byte("\x06\a\b\t\n\v\f\x10\x11\x12\x13\x14")) // a folded block above a deeper key
	f.Add([]byte{0, 9, 1, 8, 2, 7, 3, 6, 4, 5, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9})
	f.Fuzz(func(t *testing.T, choices []byte) {
		src := scribed(choices)
		if name := deviationIn(src); name != "" || !agrees(t, "f", src) {
			t.Errorf("%q was not compared: one of the parsers refuses it, or %q can affect it", src, name)
		}
	})
}

// scribed returns the document that a scribe writes.
func scribed(choices []byte) []byte {
	s := scribe{choices: choices}
	s.collection(0, 0)
	return []byte(s.out.String())
}

func scribedAtRandom(random *rand.Rand) []byte {
	choices := make([]byte, random.IntN(50))
	for i := range choices {
		choices[i] = byte(random.Uint32())
	}
	return scribed(choices)
}

// scribe writes a document that is determined by a list of choices.
type scribe struct {
	choices []byte
	out     strings.Builder
	anchors int
}

// pick returns the next choice, a number less than n. Without further choices, it returns 0.
func (s *scribe) pick(n int) int {
	if len(s.choices) == 0 {
		return 0
	}
	c := int(s.choices[0])
	s.choices = s.choices[1:]
	return c % n
}

// Scalars for each style, as real data has them. Colons and braces in brackets are left out because they are among
// goccyDeviations.
var (
	flowTexts   = []string{"a", "x-y", "é ü", "12", "0644", "true", "~", "1.5", "/etc/x", "a#b", "10.0.0.1", "it's", "-1"}
	plainTexts  = append([]string{"b::c", "x%{facts.os}", "yes", "http://x:80/y"}, flowTexts...)
	quotedTexts = []string{"''", "'it''s'", `"a\nb"`, `"\u00e9"`, "'a: b'", `"#c"`, "'- d'", `"\"q\""`, "' x '", `"{"`}
	blockTexts  = []string{"|", "|-", ">", ">-"}
)

// collection writes a hash or list in block style, with one entry per line.
func (s *scribe) collection(indent, depth int) {
	list := s.pick(3) == 0
	for i := range 1 + s.pick(4) {
		if s.pick(8) == 1 {
			s.out.WriteString("\n# comment: [\n")
		}
		s.out.WriteString(strings.Repeat(" ", indent))
		if list {
			s.out.WriteString("-")
		} else {
			s.key(i)
		}
		s.entry(indent, depth)
	}
}

func (s *scribe) key(i int) {
	key := "k" + strconv.Itoa(i)
	switch s.pick(4) {
	case 1:
		key = "'" + key + " x'"
	case 2:
		key = "m::" + key
	case 3:
		key = `"` + key + `"`
	}
	s.out.WriteString(key + ":")
}

// entry writes the value after a colon or dash.
func (s *scribe) entry(indent, depth int) {
	switch kind := s.pick(7); {
	case kind == 1:
		s.out.WriteString(" " + quotedTexts[s.pick(len(quotedTexts))])
	case kind == 2 && depth < 4:
		s.out.WriteString("\n")
		s.collection(indent+2, depth+1)
		return
	case kind == 3:
		s.out.WriteString(" " + blockTexts[s.pick(len(blockTexts))] + "\n")
		for range 1 + s.pick(3) {
			s.out.WriteString(strings.Repeat(" ", indent+2) + "text: [" + strconv.Itoa(s.pick(9)) + "\n")
		}
		return
	case kind == 4:
		s.out.WriteString(" ")
		s.flow(0)
	case kind == 5 && s.anchors > 0 && s.pick(2) == 1:
		s.out.WriteString(" *n" + strconv.Itoa(1+s.pick(s.anchors)))
	case kind == 5:
		s.anchors++
		s.out.WriteString(" &n" + strconv.Itoa(s.anchors) + " " + plainTexts[s.pick(len(plainTexts))])
	default:
		s.out.WriteString(" " + plainTexts[s.pick(len(plainTexts))])
	}
	if s.pick(5) == 1 {
		s.out.WriteString("  # comment")
	}
	s.out.WriteString("\n")
}

// flow writes a hash or list in brackets.
func (s *scribe) flow(depth int) {
	hash, n := s.pick(2) == 1, s.pick(4)
	s.out.WriteString([]string{"[", "{"}[btoi(hash)])
	for i := range n {
		if i > 0 {
			s.out.WriteString(", ")
		}
		if hash {
			s.out.WriteString("k" + strconv.Itoa(i) + ": ")
		}
		switch s.pick(4) {
		case 1:
			s.out.WriteString(quotedTexts[s.pick(len(quotedTexts))])
		case 2:
			if depth < 3 {
				s.flow(depth + 1)
				continue
			}
			fallthrough
		default:
			s.out.WriteString(flowTexts[s.pick(len(flowTexts))])
		}
	}
	s.out.WriteString([]string{"]", "}"}[btoi(hash)])
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
