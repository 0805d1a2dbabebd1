package yaml

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

// This file implements the core schema of YAML 1.2 (its section 10.3.2), which most other programs use.

var (
	coreInteger = pattern.Lazy(`^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	coreFloat   = pattern.Lazy(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
)

// core returns the value of a plain scalar in the core schema.
func core(text string) value.Value {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return value.Value{}
	case "true", "True", "TRUE":
		return value.FromBool(true)
	case "false", "False", "FALSE":
		return value.FromBool(false)
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return value.FromFloat(math.Inf(1))
	case "-.inf", "-.Inf", "-.INF":
		return value.FromFloat(math.Inf(-1))
	case ".nan", ".NaN", ".NAN":
		return value.FromFloat(math.NaN())
	}
	if c := text[0]; !isDigit(c) && c != '-' && c != '+' && c != '.' {
		return value.FromString(text)
	}
	if coreInteger().MatchString(text) {
		base := 10
		if prefix := text[:min(2, len(text))]; prefix == "0o" || prefix == "0x" {
			base = map[string]int{"0o": 8, "0x": 16}[prefix]
			text = text[2:]
		}
		if n, err := strconv.ParseInt(text, base, 64); err == nil {
			return value.FromInt(n)
		}
	} else if coreFloat().MatchString(text) {
		f, _ := strconv.ParseFloat(text, 64) // after a range error, f is the right infinity or zero
		return value.FromFloat(f)
	}
	return value.FromString(text)
}

// InCore ignores longer numbers, because nobody writes them, and scalars farther to the right, because finding them
// takes time.
const (
	maxNumber = 64
	maxColumn = 1 << 12
)

// InCore returns the text of the plain scalar n in the source, and its value in the core schema. differs is false if
// this is also the value of n, or if InCore ignores n.
func (d *Document) InCore(n *Node) (written string, other value.Value, differs bool) {
	if n.Kind != Scalar || n.Line == 0 || n.Col > maxColumn {
		return "", value.Value{}, false
	}
	if text, ok := n.Text(); ok && (len(text) > maxNumber || core(text).Kind() == value.String) {
		return "", value.Value{}, false
	}
	off := d.offset(int(n.Line), int(n.Col))
	at := d.skipProperties(off)
	if bytes.IndexByte(d.src[off:at], '!') >= 0 {
		return "", value.Value{}, false
	}
	written, ok := d.plainAt(at, n.Value)
	if !ok {
		return "", value.Value{}, false
	}
	other = core(written)
	return written, other, !value.Identical(other, n.Value)
}

// plainAt returns the shortest text at offset at that is a plain scalar with the value v. In numbers such as 1,000
// and 12:30, commas and colons belong to the scalar; otherwise they may end it.
func (d *Document) plainAt(at int, v value.Value) (string, bool) {
	text := string(d.src[at:min(at+maxNumber, len(d.src))])
	if end := strings.IndexAny(text, " \t\r\n]}"); end >= 0 {
		text = text[:end]
	}
	for end := 1; end <= len(text); end++ {
		if end < len(text) && text[end] != ',' && text[end] != ':' {
			continue
		}
		if got, wrong := resolve(text[:end]); wrong == noFault && value.Identical(got, v) {
			return text[:end], true
		}
	}
	return "", false
}
