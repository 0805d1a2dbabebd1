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

// This file implements what Psych does with tags when Puppet calls it: some change the value, some create a Ruby
// object, which Puppet refuses, and all others are ignored. testdata/tags.rb asks Psych.

var (
	textTags   = []string{"!!str", "!str", "!str:", "!ruby/string", "!ruby/string:"}
	floatTags  = []string{"!!float", "!float"}
	binaryTags = []string{"!!binary", "!binary"}
	omapTags   = []string{"!!omap", "!omap"}
)

// symbolTag is the prefix of tags of symbols. They are strings here, with the colon, as plain :symbols are.
const symbolTag = "!ruby/sym"

// objectTags has the tags that create Ruby objects, or something else that is not data, by the kind of value they apply
// to. A tag that ends in '*' is a prefix.
var objectTags = [...][]string{
	Scalar: {"!str:*", "!ruby/string:*", "!ruby/object:BigDecimal", "!ruby/object:DateTime", "!ruby/object:Complex",
		"!ruby/object:Rational", "!ruby/class", "!ruby/module", "!ruby/range", "!ruby/regexp", "!ruby/encoding"},
	Sequence: {"!seq:*", "!ruby/array:*"},
	Mapping: {"!!str", "!str", "!str:*", "!ruby/string", "!ruby/string:*", "!!set", "!set", "!!omap", "!omap", "!map:*",
		"!ruby/hash:*", "!ruby/hash-with-ivars*", "!ruby/object*", "!ruby/struct*", "!ruby/array:*", "!ruby/range",
		"!ruby/exception*", "!ruby/marshalable:*"},
}

// ownTags has the tags of collections that change nothing.
var ownTags = [...][]string{Sequence: {"!!seq", "!seq"}, Mapping: {"!!map", "!map", "!ruby/object:Hash"}}

// ownKinds has those of scalars. Psych ignores them: !!int x is a string.
var ownKinds = map[string]value.Kind{
	"!!int": value.Int, "!!bool": value.Bool, "!!null": value.Undef,
	"!int": value.Int, "!bool": value.Bool, "!null": value.Undef,
}

// isTagged reports whether n has a tag. A '!' alone is not one.
func isTagged(n *goyaml.Node) bool { return n.Style&goyaml.TaggedStyle != 0 }

// tagged returns the value of a scalar with a tag. Quotes make no difference then.
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
	if own, isOwn := ownKinds[n.Tag]; ok && (!isOwn || own != v.Kind()) {
		c.passedOver(n)
	}
	return v
}

// checkTag checks the tag of a collection.
func (c *converter) checkTag(n *goyaml.Node, kind Shape) {
	if isTagged(n) && !slices.Contains(ownTags[kind], n.Tag) && c.isData(n, kind) {
		c.passedOver(n)
	}
}

// isData reports a tag that creates something other than data, and returns false for it.
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

// passedOver warns about a tag that changes nothing.
func (c *converter) passedOver(n *goyaml.Node) {
	c.warn(c.position(n), "yaml_tag", "the tag "+n.Tag+" is ignored, as by Puppet", "remove it")
}

// float returns the value of a scalar with the tag !!float. It may have an exponent without a point or a sign, which
// would make it a string without the tag.
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

// parseFloat reads decimal numbers as Ruby's Float() does: with blanks around them, and single underscores between
// digits.
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

// binary decodes the base64 of a scalar with the tag !!binary.
func (c *converter) binary(n *goyaml.Node) value.Value {
	text := decodeBase64(n.Value)
	if !utf8.ValidString(text) {
		c.fail(c.position(n), "yaml_tag", "expected text in UTF-8 after the tag "+n.Tag+", found other bytes",
			"hand binary data on as base64: remove the tag")
	}
	return value.FromString(text)
}

// decodeBase64 is as lenient as Ruby: it skips characters that are not base64, and keeps the bytes of an incomplete
// group.
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
	out, _ := base64.RawStdEncoding.DecodeString(string(digits)) // only digits, and not a single one
	return string(out)
}

// ordered returns the entries of a list with the tag !!omap, which is a hash: each of its hashes has one entry.
func (c *converter) ordered(n *goyaml.Node, depth int) []Node {
	m := mapping{report: c.report, kids: make([]Node, 0, 2*len(n.Content))}
	for _, entry := range n.Content {
		if entry.Kind != goyaml.MappingNode || len(entry.Content) != 2 || entry.Anchor != "" {
			c.fail(c.position(entry), "yaml_tag", "expected a list of hashes of one entry each after the tag "+n.Tag,
				"write '- key: value'")
			continue
		}
		m.set(c.node(entry.Content[0], depth), c.node(entry.Content[1], depth))
	}
	return m.kids
}
