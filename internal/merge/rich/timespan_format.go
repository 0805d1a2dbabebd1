package rich

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"bindc/internal/pattern"
)

var errWidth = fmt.Errorf("a width outside 1 to 1000 in a Timespan format %w", ErrUnsupported)

type spanFormat struct {
	source   string
	segments []segment
}

// segment is a part of a format: literal text, or a directive for a number.
type segment struct {
	literal string
	letter  byte // the unit of the number; 0 for literal text
	pad     byte // '0' or ' ', or '-' for no padding
	width   int  // 0 if not given
	total   bool // the segment has the format's largest unit, so its number is unlimited
}

// spanLetters lists the units from the smallest to the largest.
const spanLetters = "NLSMHD"

var segmentWidths = map[byte]int{'D': 1, 'H': 2, 'M': 2, 'S': 2, 'L': 3, 'N': 9}

var segmentFactors = map[byte]int64{'D': 86400 * nsPerSecond, 'H': 3600 * nsPerSecond, 'M': 60 * nsPerSecond,
	'S': nsPerSecond}

var spanDirective = pattern.Lazy(`^%([-_0]?)([0-9]*)([DHMSLN%])`)

func parseSpanFormat(source string) (*spanFormat, error) {
	f := &spanFormat{source: source}
	for rest := source; rest != ""; {
		if rest[0] != '%' {
			text, _, _ := strings.Cut(rest, "%")
			f.addLiteral(text)
			rest = rest[len(text):]
			continue
		}
		m := spanDirective().FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("the format '%s' has an unknown directive at '%s'; "+
				"a Timespan has %%D, %%H, %%M, %%S, %%L and %%N", shortened(source), shortened(rest))
		}
		rest = rest[len(m[0]):]
		if m[3] == "%" {
			f.addLiteral("%")
			continue
		}
		s, err := newSegment(m[1], m[2], m[3][0])
		if err != nil {
			return nil, err
		}
		f.segments = append(f.segments, s)
	}
	f.markTotal()
	return f, nil
}

func newSegment(pad, width string, letter byte) (segment, error) {
	s := segment{letter: letter, pad: '0'}
	switch pad {
	case "-":
		s.pad = '-'
	case "_":
		s.pad = ' '
	}
	if width == "" {
		return s, nil
	}
	n, err := strconv.Atoi(width)
	if err != nil || n < 1 || n > 1000 {
		return s, errWidth
	}
	s.width = n
	return s, nil
}

func (f *spanFormat) addLiteral(text string) {
	if last := len(f.segments) - 1; last >= 0 && f.segments[last].letter == 0 {
		f.segments[last].literal += text
		return
	}
	f.segments = append(f.segments, segment{literal: text})
}

// markTotal marks the first segment with the format's largest unit.
func (f *spanFormat) markTotal() {
	highest := -1
	for i, s := range f.segments {
		if s.letter == 0 {
			continue
		}
		if highest < 0 || strings.IndexByte(spanLetters, s.letter) > strings.IndexByte(spanLetters,
			f.segments[highest].letter) {
			highest = i
		}
	}
	if highest >= 0 {
		f.segments[highest].total = true
	}
}

const digitOrSpace = `[0-9 \t\r\n\f\v]`

// expression returns a regular expression with one group that matches the segment.
func (s *segment) expression() string {
	width := strconv.Itoa(s.width)
	most := strconv.Itoa(segmentWidths[s.letter])
	switch {
	case s.letter == 0:
		return "(" + regexp.QuoteMeta(s.literal) + ")"
	case s.width == 0 && s.total && s.pad == ' ':
		return `[ \t\r\n\f\v]*([0-9]+)`
	case s.width == 0 && s.total:
		return `([0-9]+)`
	case s.width == 0 && s.pad == ' ':
		return "(" + digitOrSpace + "{1," + most + "})"
	case s.width == 0:
		return "([0-9]{1," + most + "})"
	case s.pad == '-':
		return "([0-9]{1," + width + "})"
	case s.pad == '0':
		return "([0-9]{" + width + "})"
	}
	return "(" + digitOrSpace + "{" + width + "})"
}

// parse returns the time span in text, in nanoseconds.
func (f *spanFormat) parse(text string) (*big.Int, error) {
	expression := `\A-?`
	for i := range f.segments {
		expression += f.segments[i].expression()
	}
	re, err := regexp.Compile(expression + `\z`)
	if err != nil {
		return nil, errWidth
	}
	m := re.FindStringSubmatch(text)
	if m == nil {
		return nil, noFormat(text, []string{f.source})
	}
	sum := new(big.Int)
	for i := range f.segments {
		if f.segments[i].letter == 0 {
			continue
		}
		ns, err := f.segments[i].nanoseconds(strings.TrimLeft(m[i+1], " \t\r\n\f\v"))
		if err != nil {
			return nil, noFormat(text, []string{f.source})
		}
		sum.Add(sum, ns)
	}
	if strings.HasPrefix(text, "-") {
		sum.Neg(sum)
	}
	return sum, nil
}

// nanoseconds converts the digits of a segment to nanoseconds. It returns an error if a fraction of a second has more
// than nine digits, or if the format consists only of a fraction.
func (s *segment) nanoseconds(digits string) (*big.Int, error) {
	fraction := s.letter == 'L' || s.letter == 'N'
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok || strings.Trim(digits, "0123456789") != "" || fraction && s.total {
		return nil, errArguments
	}
	factor := big.NewInt(segmentFactors[s.letter])
	if fraction {
		factor.Exp(big.NewInt(10), big.NewInt(int64(max(0, 9-len(digits)))), nil)
	}
	return n.Mul(n, factor), nil
}
