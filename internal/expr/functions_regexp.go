package expr

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"bindc/internal/types"
	"bindc/internal/value"
)

// pattern is argument i as the source of a regular expression: text, a regular expression or the type of one.
func (c *call) pattern(i int) (string, error) {
	switch v := c.args[i]; v.Kind() {
	case value.String, value.Regexp:
		return v.Text(), nil
	case value.Type:
		if t, err := types.FromValue(v); err == nil && t.Kind() == types.Regexp {
			return strings.Join(t.Texts(), ""), nil
		}
	}
	return "", c.wrong(i, "a regular expression")
}

// findAll finds at most as many matches as there is room for.
func (c *call) findAll(src, s string) ([][]int, error) {
	re, err := c.ev.regexp(src, len(s))
	if err != nil {
		return nil, c.fail(err)
	}
	room := c.ev.size / (2 * sizeOfElement)
	found := re.FindAllStringSubmatchIndex(s, room+1)
	if len(found) > room {
		return nil, errSize
	}
	return found, c.ev.produce(2 * sizeOfElement * len(found))
}

func runSplit(c *call) (value.Value, error) {
	s, err := c.text(0)
	if err != nil {
		return value.Value{}, err
	}
	src, err := c.pattern(1)
	if err != nil {
		return value.Value{}, err
	}
	found, err := c.findAll(src, s)
	if err != nil {
		return value.Value{}, err
	}
	parts := splitAt(s, found)
	return c.ev.array(value.Strings(parts...).Slice())
}

// splitAt cuts s at the matches. Groups become parts, empty parts at the end are dropped.
func splitAt(s string, found [][]int) []string {
	var parts []string
	from := 0
	for _, m := range found {
		if m[0] == m[1] && (m[0] == 0 || m[0] == len(s)) { // an empty match cuts only between characters
			continue
		}
		parts = append(parts, s[from:m[0]])
		from = m[1]
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				parts = append(parts, s[m[g]:m[g+1]])
			}
		}
	}
	parts = append(parts, s[from:])
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func (c *call) indexInText() (value.Value, error) {
	s := c.args[0].Text()
	at := -1
	switch m := c.args[1]; m.Kind() {
	case value.String:
		at = strings.Index(s, m.Text())
	case value.Regexp:
		re, err := c.ev.regexp(m.Text(), len(s))
		if err != nil {
			return m, c.fail(err)
		}
		if found := re.FindStringIndex(s); found != nil {
			at = found[0]
		}
	}
	if at < 0 { // also for what is no text: no character equals it
		return value.Value{}, nil
	}
	return value.FromInt(int64(utf8.RuneCountInString(s[:at]))), nil
}

func runMatch(c *call) (value.Value, error) {
	v := c.args[0]
	if v.Kind() == value.String {
		return c.match(v.Text(), c.args[1])
	}
	if v.Kind() != value.Array {
		return v, c.wrong(0, "a String or an Array of strings")
	}
	out := make([]value.Value, 0, v.Len())
	for e := range v.Elems() {
		if e.Kind() != value.String {
			return v, c.wrong(0, "a String or an Array of strings")
		}
		m, err := c.match(e.Text(), c.args[1])
		if err != nil {
			return v, err
		}
		out = append(out, m)
	}
	return c.ev.array(out)
}

// match is the groups of the first pattern that matches, or undef.
func (c *call) match(s string, pattern value.Value) (value.Value, error) {
	sources, err := c.sources(pattern, 0)
	if err != nil {
		return value.Value{}, err
	}
	for _, src := range sources {
		re, err := c.ev.regexp(src, len(s))
		if err != nil {
			return value.Value{}, c.fail(err)
		}
		if places := re.FindStringSubmatchIndex(s); places != nil {
			return c.ev.array(groups(s, places))
		}
	}
	return value.Value{}, nil
}

// sources are the regular expressions that a pattern stands for.
func (c *call) sources(pattern value.Value, depth int) ([]string, error) {
	switch pattern.Kind() {
	case value.String, value.Regexp:
		return []string{pattern.Text()}, nil
	case value.Array:
		var out []string
		for e := range pattern.Elems() {
			inner, err := c.sources(e, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		}
		return out, c.ev.spend(len(out))
	case value.Type:
		t, err := types.FromValue(pattern)
		if err != nil {
			return nil, err
		}
		return c.typeSources(t)
	}
	return nil, c.wrong(1, "a regular expression, its text or type, or an Array of them")
}

func (c *call) typeSources(t *types.Type) ([]string, error) {
	switch k := t.Kind(); {
	case k == types.Pattern, k == types.Regexp && len(t.Texts()) > 0:
		return t.Texts(), nil
	case k == types.Variant:
		var out []string
		for _, m := range t.Members() {
			inner, err := c.typeSources(m)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		}
		return out, nil
	}
	return nil, c.failf("the type %s has no regular expression", t)
}

func runRegsubst(c *call) (value.Value, error) {
	src, all, err := c.substitution()
	if err != nil {
		return value.Value{}, err
	}
	v := c.args[0]
	if v.Kind() == value.String {
		s, err := c.substitute(v.Text(), src, all)
		return value.FromString(s), err
	}
	if v.Kind() != value.Array {
		return v, c.wrong(0, "a String or an Array of strings")
	}
	out := make([]value.Value, 0, v.Len())
	for e := range v.Elems() {
		if e.Kind() != value.String {
			return v, c.wrong(0, "a String or an Array of strings")
		}
		s, err := c.substitute(e.Text(), src, all)
		if err != nil {
			return v, err
		}
		out = append(out, value.FromString(s))
	}
	return c.ev.array(out)
}

// substitution reads the arguments of regsubst but for the first: the expression with its flags, and whether all
// matches are replaced.
func (c *call) substitution() (src string, all bool, err error) {
	if src, err = c.pattern(1); err != nil {
		return "", false, err
	}
	if !isReplacement(c.args[2]) {
		return "", false, c.wrong(2, "a String or a Hash of strings")
	}
	flags := c.arg(3).Text()
	known := "G"
	if c.args[1].Kind() == value.String {
		known = "GEIM"
		if strings.ContainsAny(flags, "EIM") {
			src = "(?" + strings.NewReplacer("G", "", "E", "x", "I", "i", "M", "m").Replace(flags) + ")" + src
		}
	} else if len(flags) > 1 || len(c.args) > 4 {
		return "", false, c.failf("with a regular expression, the only flag is 'G'")
	}
	isFlags := len(c.args) < 4 || c.args[3].Kind() == value.String || c.args[3].IsUndef() && known != "G"
	if !isFlags || strings.Trim(flags, known) != "" {
		return "", false, c.failf("argument 4 must be flags out of '%s'", known)
	}
	if len(c.args) > 4 && !slices.Contains([]string{"N", "E", "S", "U"}, c.args[4].Text()) {
		return "", false, c.failf("argument 5 must be one of 'N', 'E', 'S', 'U'")
	}
	return src, strings.Contains(flags, "G"), nil
}

func isReplacement(v value.Value) bool {
	for k, e := range v.Pairs() {
		if k.Kind() != value.String || e.Kind() != value.String {
			return false
		}
	}
	return v.Kind() == value.String || v.Kind() == value.Hash
}

func (c *call) substitute(s, src string, all bool) (string, error) {
	re, err := c.ev.regexp(src, len(s))
	if err != nil {
		return "", c.fail(err)
	}
	var found [][]int
	if !all {
		if m := re.FindStringSubmatchIndex(s); m != nil {
			found = [][]int{m}
		}
	} else if found, err = c.findAll(src, s); err != nil {
		return "", err
	} else if re.MatchString("") {
		found = withEmpty(re, s, found)
	}
	if name, unknown := unknownGroup(re, c.args[2].Text()); unknown && len(found) > 0 {
		return "", c.failf("there is no group named '%s'", name)
	}
	var out []byte
	from := 0
	for _, m := range found {
		out = append(out, s[from:m[0]]...)
		out = c.appendReplacement(out, re, s, m)
		from = m[1]
		if len(out) > c.ev.size {
			return "", errSize
		}
	}
	out = append(out, s[from:]...)
	return string(out), c.ev.produce(len(out))
}

// withEmpty adds the empty matches directly behind others, which Ruby finds and Go passes over.
func withEmpty(re *regexp.Regexp, s string, found [][]int) [][]int {
	var out [][]int
	for i, m := range found {
		out = append(out, m)
		end := m[1]
		if m[0] == end || i+1 < len(found) && found[i+1][0] == end {
			continue
		}
		if next := re.FindStringSubmatchIndex(s[end:]); next != nil && next[1] == 0 {
			for g := range next {
				if next[g] >= 0 {
					next[g] += end
				}
			}
			out = append(out, next)
		}
	}
	return out
}

// appendReplacement appends what a match is replaced by: an entry of a hash, or text with \1, \k<name> and the like.
func (c *call) appendReplacement(dst []byte, re *regexp.Regexp, s string, m []int) []byte {
	if by := c.args[2]; by.Kind() == value.Hash {
		v, _ := by.Get(value.FromString(s[m[0]:m[1]]))
		return append(dst, toS(v)...)
	}
	text := c.args[2].Text()
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			dst = append(dst, text[i])
			continue
		}
		i++
		switch ch := text[i]; {
		case '0' <= ch && ch <= '9':
			dst = appendGroup(dst, s, m, int(ch-'0'))
		case ch == '&':
			dst = appendGroup(dst, s, m, 0)
		case ch == '`':
			dst = append(dst, s[:m[0]]...)
		case ch == '\'':
			dst = append(dst, s[m[1]:]...)
		case ch == '\\':
			dst = append(dst, '\\')
		case ch == 'k':
			name, length := groupReference(text[i:])
			if length == 0 {
				dst = append(dst, '\\', ch)
				continue
			}
			dst = appendGroup(dst, s, m, re.SubexpIndex(name))
			i += length - 1
		default:
			dst = append(dst, '\\', ch)
		}
	}
	return dst
}

// unknownGroup is a name that a replacement refers to and re does not have.
func unknownGroup(re *regexp.Regexp, text string) (string, bool) {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if name, length := groupReference(text[i:]); length > 0 && re.SubexpIndex(name) < 0 {
			return name, true
		}
	}
	return "", false
}

// groupReference reads k<name>; the length is 0 where there is none.
func groupReference(text string) (name string, length int) {
	if !strings.HasPrefix(text, "k<") {
		return "", 0
	}
	end := strings.IndexByte(text, '>')
	if end < 0 {
		return "", 0
	}
	return text[2:end], end + 1
}

func appendGroup(dst []byte, s string, m []int, i int) []byte {
	if i < 0 || 2*i+1 >= len(m) || m[2*i] < 0 {
		return dst
	}
	return append(dst, s[m[2*i]:m[2*i+1]]...)
}
