package gen

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Kind is the kind of a key's values. A key has values of the same kind at every level.
type Kind int

const (
	String       Kind = iota // a short string without variables
	Interpolated             // a string with one or two facts
	Integer
	Boolean
	List
	Hash
)

// quota is the percentage of keys that have values of each kind.
var quota = [...]int{String: 40, Interpolated: 10, Integer: 15, Boolean: 10, List: 15, Hash: 10}

// kindsOf returns the kinds of n keys in random order, in the proportions of quota.
func (s *Site) kindsOf(n int) []Kind {
	kinds := make([]Kind, 0, n)
	sum := 0
	for kind, share := range quota {
		sum += share
		for len(kinds) < n*sum/100 {
			kinds = append(kinds, Kind(kind))
		}
	}
	d := s.throw(forKinds, 0, 0)
	for i := n - 1; i > 0; i-- {
		j := d.below(i + 1)
		kinds[i], kinds[j] = kinds[j], kinds[i]
	}
	return kinds
}

// Value is a generated value. Kind selects the fields that are used.
type Value struct {
	Kind  Kind
	Text  string   // for String and Interpolated
	Int   int      // for Integer
	Bool  bool     // for Boolean
	Names []string // for Hash: the keys of Items
	Items []Value  // for List and Hash
}

func draw(d *dice, kind Kind) Value {
	switch kind {
	case Interpolated:
		return Value{Kind: kind, Text: template(d)}
	case Integer:
		return Value{Kind: kind, Int: integer(d)}
	case Boolean:
		return Value{Kind: kind, Bool: d.percent(50)}
	case List:
		return list(d)
	case Hash:
		return hash(d)
	default:
		return Value{Kind: String, Text: text(d)}
	}
}

// text returns a random string that looks like real data: a common word, a path, a version, a host
// name, an address or an identifier.
func text(d *dice) string {
	switch d.below(8) {
	case 0:
		return "/var/lib/" + pick(d, software) + "/" + pick(d, paramLast)
	case 1:
		return fmt.Sprintf("%d.%d.%d-%d", d.below(12), d.below(30), d.below(20), 1+d.below(5))
	case 2:
		return fmt.Sprintf("10.%d.%d.%d", d.below(32), d.below(256), 1+d.below(254))
	case 3:
		return pick(d, roles) + threeDigits(1+d.below(200)) + "." + pick(d, cities) + "." + domain
	case 4:
		return fmt.Sprintf("%08x", uint32(d.pcg.Uint64()))
	default:
		return pick(d, plainWord)
	}
}

func template(d *dice) string {
	switch d.below(5) {
	case 0:
		return "${fqdn}"
	case 1:
		return pick(d, software) + "-${environment}"
	case 2:
		return "/srv/" + pick(d, software) + "/${environment}/" + pick(d, paramLast)
	case 3:
		return "https://${hostname}.${environment}." + domain + ":" + strconv.Itoa(8000+d.below(1000))
	default:
		return "${osfamily}/${environment}/" + pick(d, software)
	}
}

func integer(d *dice) int {
	switch d.below(4) {
	case 0:
		return 1 << d.below(17)
	case 1:
		return 1024 + d.below(64000)
	case 2:
		return 60 * d.below(120)
	default:
		return d.below(100)
	}
}

// list returns two to six strings or two to six integers.
func list(d *dice) Value {
	kind := String
	if d.percent(25) {
		kind = Integer
	}
	v := Value{Kind: List}
	for range 2 + d.below(5) {
		v.Items = append(v.Items, draw(d, kind))
	}
	return v
}

// hash returns two to five entries. About every fifth value is a list.
func hash(d *dice) Value {
	v := Value{Kind: Hash}
	first := d.below(len(paramLast))
	for i := range 2 + d.below(4) {
		v.Names = append(v.Names, paramLast[(first+3*i)%len(paramLast)])
		v.Items = append(v.Items, draw(d, pick(d, []Kind{String, String, Integer, Boolean, List})))
	}
	return v
}

// appendYAML appends v as it is written after a colon or a dash. The items of a list or hash start
// on new lines, indented by below spaces.
func (v Value) appendYAML(out []byte, below int) []byte {
	switch v.Kind {
	case Integer:
		return strconv.AppendInt(append(out, ' '), int64(v.Int), 10)
	case Boolean:
		return strconv.AppendBool(append(out, ' '), v.Bool)
	case List, Hash:
		return v.appendItems(out, below)
	default:
		return appendScalar(append(out, ' '), v.Text)
	}
}

func (v Value) appendItems(out []byte, indent int) []byte {
	for i, item := range v.Items {
		out = append(out, '\n')
		out = append(out, strings.Repeat(" ", indent)...)
		if v.Kind == Hash {
			out = append(append(out, v.Names[i]...), ':')
		} else {
			out = append(out, '-')
		}
		out = item.appendYAML(out, indent+2)
	}
	return out
}

// appendScalar writes words and paths as they are and quotes all other strings, such as numbers,
// addresses and templates. No word in the vocabulary is a YAML boolean.
func appendScalar(out []byte, text string) []byte {
	if isWord := text[0] >= 'a' && text[0] <= 'z' || text[0] == '/'; isWord && !strings.Contains(text, "${") &&
		!isHex(text) {
		return append(out, text...)
	}
	out = append(out, '\'')
	out = append(out, text...)
	return append(out, '\'')
}

// isHex reports whether text has only hexadecimal digits. YAML might read such an identifier as a
// number.
func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdef") == ""
}

// JSON returns the expected JSON of a lookup that finds v: compact, with variables replaced by
// facts.
func (v Value) JSON(facts map[string]any) string {
	return string(v.appendJSON(nil, facts))
}

func (v Value) appendJSON(out []byte, facts map[string]any) []byte {
	switch v.Kind {
	case Integer:
		return strconv.AppendInt(out, int64(v.Int), 10)
	case Boolean:
		return strconv.AppendBool(out, v.Bool)
	case List:
		return append(v.appendJSONItems(append(out, '['), facts), ']')
	case Hash:
		return append(v.appendJSONItems(append(out, '{'), facts), '}')
	default:
		return strconv.AppendQuote(out, expand(v.Text, facts))
	}
}

func (v Value) appendJSONItems(out []byte, facts map[string]any) []byte {
	for i, item := range v.Items {
		if i > 0 {
			out = append(out, ',')
		}
		if v.Kind == Hash {
			out = append(strconv.AppendQuote(out, v.Names[i]), ':')
		}
		out = item.appendJSON(out, facts)
	}
	return out
}

func expand(text string, facts map[string]any) string {
	return os.Expand(text, func(name string) string {
		value, _ := facts[name].(string)
		return value
	})
}
