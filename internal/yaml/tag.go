package yaml

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	goyaml "go.yaml.in/yaml/v4"

	"bindc/internal/value"
)

// This file treats tags as Psych does when Puppet calls it. Some tags change the value, some create a Ruby object,
// which Puppet rejects, and all others are ignored. testdata/tags.rb records the results of Psych.

var (
	textTags   = []string{"!!str", "!str", "!str:", "!ruby/string", "!ruby/string:"}
	floatTags  = []string{"!!float", "!float"}
	binaryTags = []string{"!!binary", "!binary"}
	omapTags   = []string{"!!omap", "!omap"}
)

// symbolTag is the prefix of tags for symbols. A symbol becomes a string that begins with a colon, like a plain
// :symbol.
const symbolTag = "!ruby/sym"

// objectTags lists, by the kind of node, the tags that create Ruby objects or other values that are not data. A '*'
// at the end matches any suffix.
var objectTags = [...][]string{
	Scalar: {"!str:*", "!ruby/string:*", "!ruby/object:BigDecimal", "!ruby/object:DateTime", "!ruby/object:Complex",
		"!ruby/object:Rational", "!ruby/class", "!ruby/module", "!ruby/range", "!ruby/regexp", "!ruby/encoding"},
	Sequence: {"!seq:*", "!ruby/array:*"},
	Mapping: {"!!str", "!str", "!str:*", "!ruby/string", "!ruby/string:*", "!!set", "!set", "!!omap", "!omap", "!map:*",
		"!ruby/hash:*", "!ruby/hash-with-ivars*", "!ruby/object*", "!ruby/struct*", "!ruby/array:*", "!ruby/range",
		"!ruby/exception*", "!ruby/marshalable:*"},
}

// neutralTags lists the tags of lists and hashes that have no effect.
var neutralTags = [...][]string{Sequence: {"!!seq", "!seq"}, Mapping: {"!!map", "!map", "!ruby/object:Hash"}}

// neutralKinds maps the scalar tags without effect to the kinds that they name. For example, !!int x is a string in
// Psych.
var neutralKinds = map[string]value.Kind{
	"!!int": value.Int, "!!bool": value.Bool, "!!null": value.Undef,
	"!int": value.Int, "!bool": value.Bool, "!null": value.Undef,
}

// isTagged reports whether n has a tag. A '!' alone does not count.
func isTagged(n *goyaml.Node) bool { return n.Style&goyaml.TaggedStyle != 0 }

// tagged returns the value of a scalar with a tag. Quotes around such a scalar make no difference.
func (c *converter) tagged(n *goyaml.Node) value.Value {
	switch {
	case slices.Contains(textTags, n.Tag):
		return value.FromString(n.Value)
	case slices.Contains(floatTags, n.Tag):
		return c.float(n)
	case slices.Contains(binaryTags, n.Tag):
		return c.binary(n)
	case strings.HasPrefix(n.Tag, symbolTag):
		return value.FromString(":" + n.Value)
	case !c.isData(n, Scalar):
		return value.Value{}
	}
	v, ok := c.resolved(n)
	if own, isOwn := neutralKinds[n.Tag]; ok && (!isOwn || own != v.Kind()) {
		c.warnOfUnusedTag(n)
	}
	return v
}

func (c *converter) checkTag(n *goyaml.Node, kind Shape) {
	if isTagged(n) && !slices.Contains(neutralTags[kind], n.Tag) && c.isData(n, kind) {
		c.warnOfUnusedTag(n)
	}
}

// isData reports whether the tag of n creates data. If it does not, isData adds an error.
func (c *converter) isData(n *goyaml.Node, kind Shape) bool {
	for _, tag := range objectTags[kind] {
		start, any := strings.CutSuffix(tag, "*")
		if tag == n.Tag || any && strings.HasPrefix(n.Tag, start) && n.Tag != "!ruby/object:Hash" {
			c.fail(c.position(n), "yaml_tag", "the tag "+n.Tag+" is not supported here",
				"remove it: data is strings, numbers, booleans, null, lists and hashes")
			return false
		}
	}
	return true
}

func (c *converter) warnOfUnusedTag(n *goyaml.Node) {
	c.warn(c.position(n), "yaml_tag", "the tag "+n.Tag+" is ignored, as in Puppet", "remove it")
}

// float returns the value of a scalar with the tag !!float. With this tag, an exponent needs neither a point nor a
// sign.
func (c *converter) float(n *goyaml.Node) value.Value {
	v, problem := resolve(n.Value)
	switch {
	case problem == tooLarge && n.Value[0] != '0':
		if f, ok := parseFloat(withoutGroups(n.Value)); ok {
			return value.FromFloat(f)
		}
	case problem != noFault:
	case v.Kind() == value.Float:
		return v
	case v.Kind() == value.Int:
		return value.FromFloat(float64(v.Int()))
	case v.Kind() == value.String:
		if f, ok := parseFloat(n.Value); ok {
			return value.FromFloat(f)
		}
	}
	found := value.Describe(value.FromString(n.Value))
	c.fail(c.position(n), "yaml_tag", "expected a number, as the tag "+n.Tag+" says, found "+found, "")
	return value.Value{}
}

// parseFloat parses a decimal number like Ruby's Float(): white space around it and single underscores between digits
// are allowed.
func parseFloat(text string) (float64, bool) {
	text = strings.Trim(text, " \t\n\v\f\r")
	digit := func(i int) bool { return i >= 0 && i < len(text) && isDigit(text[i]) }
	for i := range len(text) {
		switch c := text[i]; {
		case c == '_' && (!digit(i-1) || !digit(i+1)), c == '.' && !digit(i+1):
			return 0, false
		case !isDigit(c) && strings.IndexByte("+-.eE_", c) < 0:
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

func (c *converter) binary(n *goyaml.Node) value.Value {
	text := decodeBase64(n.Value)
	if !utf8.ValidString(text) {
		c.fail(c.position(n), "yaml_tag", "expected text in UTF-8 after the tag "+n.Tag+", found other bytes",
			"keep binary data as a base64 string: remove the tag")
	}
	return value.FromString(text)
}

// decodeBase64 decodes text like Ruby: it skips invalid characters, and decodes as much as possible of an incomplete
// group at the end.
func decodeBase64(text string) string {
	var digits []byte
	for i := range len(text) {
		c := text[i]
		if c == '=' && len(digits)%4 >= 2 {
			break
		}
		if isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '/' {
			digits = append(digits, c)
		}
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	out, _ := base64.RawStdEncoding.DecodeString(string(digits)) // cannot fail: digits has only valid characters
	return string(out)
}

// ordered converts a list with the tag !!omap, in which each element is a hash with one entry, to a hash.
func (c *converter) ordered(n *goyaml.Node, depth int) []Node {
	m := mapping{report: c.report, kids: make([]Node, 0, 2*len(n.Content))}
	for _, entry := range n.Content {
		if entry.Kind != goyaml.MappingNode || len(entry.Content) != 2 || entry.Anchor != "" {
			c.fail(c.position(entry), "yaml_tag", "expected a list of single-entry hashes after the tag "+n.Tag,
				"write '- key: value'")
			continue
		}
		m.set(c.node(entry.Content[0], depth), c.node(entry.Content[1], depth))
	}
	return m.kids
}
