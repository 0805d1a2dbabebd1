package yaml

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode"

	goyaml "go.yaml.in/yaml/v4"

	"bindc/internal/value"
)

// Write formats v as block YAML. Parse reads it as the same value, except for values that JSON does not have. These are
// written as in JSON: regular expressions and types as strings, default as a hash.
func Write(v value.Value) ([]byte, error) {
	var out bytes.Buffer
	d, err := goyaml.NewDumper(&out, goyaml.WithIndent(2), goyaml.WithLineWidth(-1))
	if err != nil {
		return nil, err
	}
	if err := d.Dump(written(v)); err != nil {
		return nil, err
	}
	err = d.Close()
	return out.Bytes(), err
}

func written(v value.Value) *goyaml.Node {
	switch v.Kind() {
	case value.Array:
		n := &goyaml.Node{Kind: goyaml.SequenceNode, Tag: "!!seq"}
		for e := range v.Elems() {
			n.Content = append(n.Content, written(e))
		}
		return n
	case value.Hash:
		n := &goyaml.Node{Kind: goyaml.MappingNode, Tag: "!!map"}
		for k, e := range v.Pairs() {
			n.Content = append(n.Content, written(k), written(e))
		}
		return n
	case value.Default:
		return written(value.FromPairs(value.Pair{Key: value.FromString("__default__"), Value: value.FromInt(1)}))
	case value.Undef:
		return &goyaml.Node{Kind: goyaml.ScalarNode, Tag: "!!null", Value: "null"}
	case value.Bool:
		return &goyaml.Node{Kind: goyaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v.Bool())}
	case value.Int:
		return &goyaml.Node{Kind: goyaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v.Int(), 10)}
	case value.Float:
		return &goyaml.Node{Kind: goyaml.ScalarNode, Tag: "!!float", Value: writtenFloat(v.Float())}
	}
	return writtenText(string(value.AppendText(nil, v)))
}

func writtenFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	return string(value.AppendFloat(nil, f))
}

// writtenText returns the node for a string: plain if it reads as the same string, a block scalar if it has several
// lines, and otherwise in double quotes. The library decides which other strings cannot be plain.
func writtenText(text string) *goyaml.Node {
	n := &goyaml.Node{Kind: goyaml.ScalarNode, Tag: "!!str", Value: strings.ToValidUTF8(text, "\uFFFD")}
	v, problem := resolve(n.Value)
	switch {
	case strings.ContainsFunc(n.Value, escaped):
		n.Style = goyaml.DoubleQuotedStyle
	case strings.Contains(n.Value, "\n"):
		n.Style = blockStyle(n.Value)
	case n.Value == mergeKey: // YAML merges even if the key << is quoted
		n.Style = goyaml.TaggedStyle
	case problem != noFault || v.Kind() != value.String:
		n.Style = goyaml.DoubleQuotedStyle
	}
	return n
}

// blockStyle returns the literal style if a block scalar can represent text, and otherwise double quotes.
func blockStyle(text string) goyaml.Style {
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") || strings.Contains(text, " \n") {
		return goyaml.DoubleQuotedStyle
	}
	return goyaml.LiteralStyle
}

// escaped reports whether r is invisible or ambiguous. Such characters are written as escapes.
func escaped(r rune) bool {
	return r != '\n' && r != ' ' && !unicode.IsGraphic(r) || isBreak(r) && r != '\n'
}
