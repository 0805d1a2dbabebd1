package stdlib

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/types"
	"bindc/internal/value"
)

// patternSource returns the source of the regular expression in argument i, which may be a String, a Regexp or a
// Regexp type.
func patternSource(c *call, i int) (string, error) {
	switch v := c.Args[i]; v.Kind() {
	case value.String, value.Regexp:
		return v.Text(), nil
	case value.Type:
		if t, err := types.FromValue(v); err == nil && t.Kind() == types.Regexp {
			return strings.Join(t.Texts(), ""), nil
		}
	}
	return "", c.Wrong(i, "a regular expression")
}

// findAll returns all matches of src in s. It returns an error if the evaluation has no room for them.
func findAll(c *call, src, s string) ([][]int, error) {
	re, err := c.Regexp(src, s)
	if err != nil {
		return nil, c.Fail(err)
	}
	room := c.Room() / (2 * expr.SizeOfElement)
	found := re.FindAllStringSubmatchIndex(s, room+1)
	if len(found) > room {
		return nil, expr.ErrSize
	}
	return found, c.Produce(2 * expr.SizeOfElement * len(found))
}

func runSplit(c *call) (value.Value, error) {
	s, err := c.Text(0)
	if err != nil {
		return value.Value{}, err
	}
	src, err := patternSource(c, 1)
	if err != nil {
		return value.Value{}, err
	}
	found, err := findAll(c, src, s)
	if err != nil {
		return value.Value{}, err
	}
	parts := splitAt(s, found)
	return c.MakeArray(value.Strings(parts...).Slice())
}

// splitAt splits s at the matches in found. Like Ruby's split, it adds the groups, and drops empty parts at the end.
func splitAt(s string, found [][]int) []string {
	var parts []string
	from := 0
	for _, m := range found {
		if m[0] == m[1] && (m[0] == 0 || m[0] == len(s)) { // an empty match at either end splits nothing
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

func indexInText(c *call) (value.Value, error) {
	s := c.Args[0].Text()
	at := -1
	switch m := c.Args[1]; m.Kind() {
	case value.String:
		at = strings.Index(s, m.Text())
	case value.Regexp:
		re, err := c.Regexp(m.Text(), s)
		if err != nil {
			return m, c.Fail(err)
		}
		if found := re.FindStringIndex(s); found != nil {
			at = found[0]
		}
	}
	if at < 0 { // a value that is not a String is not found either
		return value.Value{}, nil
	}
	return value.FromInt(int64(utf8.RuneCountInString(s[:at]))), nil
}

func runMatch(c *call) (value.Value, error) {
	v := c.Args[0]
	if v.Kind() == value.String {
		return matchFirst(c, v.Text(), c.Args[1])
	}
	if v.Kind() != value.Array {
		return v, c.Wrong(0, "a String or an Array of strings")
	}
	out := make([]value.Value, 0, v.Len())
	for e := range v.Elems() {
		if e.Kind() != value.String {
			return v, c.Wrong(0, "a String or an Array of strings")
		}
		m, err := matchFirst(c, e.Text(), c.Args[1])
		if err != nil {
			return v, err
		}
		out = append(out, m)
	}
	return c.MakeArray(out)
}

// matchFirst returns the groups of the first regular expression in pattern that matches s, or undef.
func matchFirst(c *call, s string, pattern value.Value) (value.Value, error) {
	sources, err := sources(c, pattern, 0)
	if err != nil {
		return value.Value{}, err
	}
	for _, src := range sources {
		re, err := c.Regexp(src, s)
		if err != nil {
			return value.Value{}, c.Fail(err)
		}
		if places := re.FindStringSubmatchIndex(s); places != nil {
			return c.MakeArray(expr.Groups(s, places))
		}
	}
	return value.Value{}, nil
}

// sources returns the sources of all regular expressions in pattern, which may be an array.
func sources(c *call, pattern value.Value, depth int) ([]string, error) {
	switch pattern.Kind() {
	case value.String, value.Regexp:
		return []string{pattern.Text()}, nil
	case value.Array:
		var out []string
		for e := range pattern.Elems() {
			inner, err := sources(c, e, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		}
		return out, c.Spend(len(out))
	case value.Type:
		t, err := types.FromValue(pattern)
		if err != nil {
			return nil, err
		}
		return typeSources(c, t)
	}
	return nil, c.Wrong(1, "a regular expression, its text or type, or an Array of them")
}

func typeSources(c *call, t *types.Type) ([]string, error) {
	switch k := t.Kind(); {
	case k == types.Pattern, k == types.Regexp && len(t.Texts()) > 0:
		return t.Texts(), nil
	case k == types.Variant:
		var out []string
		for _, m := range t.Members() {
			inner, err := typeSources(c, m)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		}
		return out, nil
	}
	return nil, c.Failf("the type %s has no regular expression", t)
}

func runRegsubst(c *call) (value.Value, error) {
	src, all, err := substitution(c)
	if err != nil {
		return value.Value{}, err
	}
	v := c.Args[0]
	if v.Kind() == value.String {
		s, err := substitute(c, v.Text(), src, all)
		return value.FromString(s), err
	}
	if v.Kind() != value.Array {
		return v, c.Wrong(0, "a String or an Array of strings")
	}
	out := make([]value.Value, 0, v.Len())
	for e := range v.Elems() {
		if e.Kind() != value.String {
			return v, c.Wrong(0, "a String or an Array of strings")
		}
		s, err := substitute(c, e.Text(), src, all)
		if err != nil {
			return v, err
		}
		out = append(out, value.FromString(s))
	}
	return c.MakeArray(out)
}

// substitution reads the arguments of regsubst from argument 1 on. src is the regular expression with its flags. all
// means that every match is replaced.
func substitution(c *call) (src string, all bool, err error) {
	if src, err = patternSource(c, 1); err != nil {
		return "", false, err
	}
	if !isReplacement(c.Args[2]) {
		return "", false, c.Wrong(2, "a String or a Hash of strings")
	}
	flags := c.Arg(3).Text()
	allowed := "G"
	if c.Args[1].Kind() == value.String {
		allowed = "GEIM"
		if strings.ContainsAny(flags, "EIM") {
			src = "(?" + strings.NewReplacer("G", "", "E", "x", "I", "i", "M", "m").Replace(flags) + ")" + src
		}
	} else if len(flags) > 1 || len(c.Args) > 4 {
		return "", false, c.Failf("with a regular expression, the only flag is 'G'")
	}
	isFlags := len(c.Args) < 4 || c.Args[3].Kind() == value.String || c.Args[3].IsUndef() && allowed != "G"
	if !isFlags || strings.Trim(flags, allowed) != "" {
		return "", false, c.Failf("argument 4 must be flags out of '%s'", allowed)
	}
	if len(c.Args) > 4 && !slices.Contains([]string{"N", "E", "S", "U"}, c.Args[4].Text()) {
		return "", false, c.Failf("argument 5 must be one of 'N', 'E', 'S', 'U'")
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

func substitute(c *call, s, src string, all bool) (string, error) {
	re, err := c.Regexp(src, s)
	if err != nil {
		return "", c.Fail(err)
	}
	var found [][]int
	if !all {
		if m := re.FindStringSubmatchIndex(s); m != nil {
			found = [][]int{m}
		}
	} else if found, err = findAll(c, src, s); err != nil {
		return "", err
	} else {
		found = re.AddEmpty(s, found)
	}
	if name, unknown := unknownGroup(re.Regexp, c.Args[2].Text()); unknown && len(found) > 0 {
		return "", c.Failf("there is no group named '%s'", name)
	}
	var out []byte
	from := 0
	for _, m := range found {
		out = append(out, s[from:m[0]]...)
		out = appendReplacement(c, out, re.Regexp, s, m)
		from = m[1]
		if len(out) > c.Room() {
			return "", expr.ErrSize
		}
	}
	out = append(out, s[from:]...)
	return string(out), c.Produce(len(out))
}

// appendReplacement appends the replacement of the match m. It is an entry of a hash, or a string in which references
// such as \1 and \k<name> are replaced. It stops when dst is longer than c.Room().
func appendReplacement(c *call, dst []byte, re *regexp.Regexp, s string, m []int) []byte {
	if by := c.Args[2]; by.Kind() == value.Hash {
		v, _ := by.Get(value.FromString(s[m[0]:m[1]]))
		return append(dst, ruby.ToS(v)...)
	}
	text := c.Args[2].Text()
	for i := 0; i < len(text) && len(dst) <= c.Room(); i++ {
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

// unknownGroup returns the first group that text refers to but re does not have.
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

// groupReference parses the reference k<name> at the start of text. If there is none, length is 0.
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
