package rich

import (
	"slices"
	"strconv"
	"strings"

	"bindc/internal/pattern"
)

// moment is the result of strptime: the parts of a date and time that the text contains.
type moment struct {
	numbers  map[byte]int64 // by directive: Y year, m month, d day, H hour, M minute, S second
	fraction string         // the digits after the second's decimal point
	minus    bool           // the fraction has a minus sign
	zone     string
}

// scanner matches a string against a format of Ruby's strptime.
type scanner struct {
	moment
	text string
	at   int
}

// composites maps directives that abbreviate a longer format to that format.
var composites = map[byte]string{'c': "%a %b %e %H:%M:%S %Y", 'D': "%m/%d/%y", 'F': "%Y-%m-%d", 'n': " ", 't': " ",
	'R': "%H:%M", 'r': "%I:%M:%S %p", 'T': "%H:%M:%S", 'v': "%e-%b-%Y", 'X': "%H:%M:%S", 'x': "%m/%d/%y",
	'+': "%a %b %e %H:%M:%S %Z %Y"}

// numbered describes a directive for a number with a limited number of digits.
type numbered struct {
	field     byte
	width     int
	low, high int64
	blank     bool // the first digit may be a space
}

var numberedDirectives = map[byte]numbered{
	'd': {'d', 2, 1, 31, true}, 'e': {'d', 2, 1, 31, true}, 'H': {'H', 2, 0, 24, true}, 'k': {'H', 2, 0, 24, true},
	'I': {'H', 2, 1, 12, true}, 'l': {'H', 2, 1, 12, true}, 'j': {'j', 3, 1, 366, false},
	'M': {'M', 2, 0, 59, false}, 'm': {'m', 2, 1, 12, false}, 'S': {'S', 2, 0, 60, false},
	'U': {'U', 2, 0, 53, false}, 'W': {'W', 2, 0, 53, false}, 'u': {'u', 1, 1, 7, false},
	'V': {'V', 2, 1, 53, false}, 'w': {'w', 1, 0, 6, false}, 'y': {'Y', 2, 0, 99, false},
	'g': {'G', 2, 0, 99, false},
}

var (
	weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	months   = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
		"october", "november", "december"}
	halfPattern = pattern.Lazy(`\A(?i:([ap])(?:m|\.m\.))`)
	zonePattern = pattern.Lazy(`\A(?:(?i:gmt|utc?)?[-+][0-9]+(?:[,.:][0-9]+(?::[0-9]+)?)?` +
		`|[\pL.\s\v]+(?i:standard|daylight)[\s\v]+(?i:time)\b|\pL+(?i:[\s\v]+dst)?\b)`)
)

// strptime parses text with Ruby's Date._strptime. It fails unless the format matches the whole text.
func strptime(text, format string) (*moment, bool) {
	s := scanner{moment: moment{numbers: map[byte]int64{}}, text: text}
	if !s.scan(format) || s.at < len(text) {
		return nil, false
	}
	if century, ok := s.numbers['C']; ok {
		if year, ok := s.numbers['Y']; ok {
			s.numbers['Y'] = year + century*100
		}
	}
	if half, ok := s.numbers['p']; ok {
		if hour, ok := s.numbers['H']; ok {
			s.numbers['H'] = hour%12 + half
		}
	}
	return &s.moment, true
}

func (s *scanner) scan(format string) bool {
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case isSpace(c):
			s.skipSpace()
		case c != '%':
			if !s.literal(format[i : i+1]) {
				return false
			}
		default:
			letter, width := directiveAt(format[i+1:])
			if letter == ':' {
				return false
			} else if letter == 0 {
				if !s.literal(format[i : i+1+width]) {
					return false
				}
			} else if !s.directive(letter, isNumeric(format[i+1+width:])) {
				return false
			}
			i += width
		}
	}
	return true
}

// directiveAt returns the letter of the directive at the start of format, and the length of the directive with its
// modifiers. The letter is 0 for literal text. It is ':' for colons without a following z, which no text matches.
func directiveAt(format string) (letter byte, width int) {
	skip := 0
	switch {
	case format == "":
		return 0, 0
	case len(format) > 1 && format[0] == 'E' && strings.IndexByte("cCxXyY", format[1]) >= 0,
		len(format) > 1 && format[0] == 'O' && strings.IndexByte("deHImMSuUVwWy", format[1]) >= 0:
		skip = 1
	case format[0] == ':':
		colons := len(format) - len(strings.TrimLeft(format, ":"))
		if colons > 3 || !strings.HasPrefix(format[colons:], "z") {
			return ':', 0
		}
		skip = colons
	}
	c := format[skip]
	_, composed := composites[c]
	_, number := numberedDirectives[c]
	switch {
	case composed, number, strings.IndexByte("AaBbhCGYLNPpQsZz%", c) >= 0:
		return c, skip + 1
	case c == 'E' || c == 'O':
		return 0, 0
	}
	return 0, 1
}

// isNumeric reports whether format begins with a digit or with a directive for a number.
func isNumeric(format string) bool {
	if format == "" {
		return false
	}
	if isDigit(format[0]) {
		return true
	}
	rest, ok := strings.CutPrefix(format, "%")
	if !ok {
		return false
	}
	if rest != "" && (rest[0] == 'E' || rest[0] == 'O') {
		rest = rest[1:]
	}
	return rest != "" && (isDigit(rest[0]) || strings.IndexByte("CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy", rest[0]) >= 0)
}

// directive matches one directive. If another number follows, directives for numbers of any length read a limited
// number of digits.
func (s *scanner) directive(letter byte, numberFollows bool) bool {
	if format, ok := composites[letter]; ok {
		return s.scan(format)
	}
	if d, ok := numberedDirectives[letter]; ok {
		return s.numbered(letter, d)
	}
	most := 0
	if numberFollows {
		most = map[byte]int{'C': 2, 'G': 4, 'Y': 4, 'L': 3, 'N': 9}[letter]
	}
	switch letter {
	case 'A', 'a':
		_, ok := s.name(weekdays)
		return ok
	case 'B', 'b', 'h':
		i, ok := s.name(months)
		s.numbers['m'] = int64(i + 1)
		return ok
	case 'C', 'G', 'Y', 'Q', 's':
		n, ok := s.signed(letter, most)
		s.numbers[letter] = n
		return ok
	case 'L', 'N':
		return s.second(most)
	case 'P', 'p':
		return s.half()
	case 'Z', 'z':
		zone := zonePattern().FindString(s.text[s.at:])
		s.zone = zone
		s.at += len(zone)
		return zone != ""
	}
	return s.literal("%")
}

// numbered reads a number and checks it against the bounds in d. It adds the century to two-digit years.
func (s *scanner) numbered(letter byte, d numbered) bool {
	width := d.width
	if d.blank && strings.HasPrefix(s.text[s.at:], " ") {
		s.at++
		width = 1
	}
	n, ok := s.number(width)
	if !ok || n < d.low || n > d.high {
		return false
	}
	s.numbers[d.field] = n
	if _, ok := s.numbers['C']; !ok && (letter == 'y' || letter == 'g') {
		s.numbers['C'] = 20
		if n >= 69 {
			s.numbers['C'] = 19
		}
	}
	return true
}

// signed reads a number with an optional sign. %Q and %s only allow a minus, and %C allows no sign.
func (s *scanner) signed(letter byte, most int) (int64, bool) {
	signs := map[byte]string{'G': "+-", 'Y': "+-", 'Q': "-", 's': "-"}[letter]
	negative := false
	if s.at < len(s.text) && strings.IndexByte(signs, s.text[s.at]) >= 0 {
		negative = s.text[s.at] == '-'
		s.at++
	}
	n, ok := s.number(most)
	if negative {
		n = -n
	}
	return n, ok
}

// digits reads up to most digits, or all if most is 0.
func (s *scanner) digits(most int) string {
	start := s.at
	for s.at < len(s.text) && isDigit(s.text[s.at]) && (most == 0 || s.at-start < most) {
		s.at++
	}
	return s.text[start:s.at]
}

// number reads a number. It replaces a number above farYear, which no year can reach, by farYear + 1.
func (s *scanner) number(most int) (int64, bool) {
	digits := s.digits(most)
	if digits == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > farYear {
		n = farYear + 1
	}
	return n, true
}

func (s *scanner) second(most int) bool {
	s.minus = false
	if s.at < len(s.text) && (s.text[s.at] == '-' || s.text[s.at] == '+') {
		s.minus = s.text[s.at] == '-'
		s.at++
	}
	s.fraction = s.digits(most)
	return s.fraction != ""
}

// half reads AM or PM.
func (s *scanner) half() bool {
	m := halfPattern().FindStringSubmatch(s.text[s.at:])
	if m == nil {
		return false
	}
	s.at += len(m[0])
	s.numbers['p'] = 0
	if strings.EqualFold(m[1], "p") {
		s.numbers['p'] = 12
	}
	return true
}

// name reads one of names, or its first three letters, in upper or lower case. It returns the index of the name.
func (s *scanner) name(names []string) (int, bool) {
	rest := s.text[s.at:]
	begins := func(name string) bool { return len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) }
	if i := slices.IndexFunc(names, begins); i >= 0 {
		s.at += len(names[i])
		return i, true
	}
	i := slices.IndexFunc(names, func(name string) bool { return begins(name[:3]) })
	s.at += min(3, len(rest))
	return i, i >= 0
}

func (s *scanner) literal(text string) bool {
	if !strings.HasPrefix(s.text[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

func (s *scanner) skipSpace() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
