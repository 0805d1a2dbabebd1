package expr

import (
	"slices"
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/value"
)

// HieraSource returns a string that ParseHiera parses as n. For a part that fails, it shows the error. ok is false if
// n is not a string with Hiera 5 interpolations.
func HieraSource(n *Node) (text string, ok bool) {
	if n.Op != Concat {
		return hieraInterpolation(n)
	}
	var b, constant strings.Builder
	for _, k := range n.Kids {
		if v, isText := k.Constant(); isText && v.Kind() == value.String {
			constant.WriteString(v.Text())
			continue
		}
		interpolation, isHiera := hieraInterpolation(k)
		if !isHiera {
			return "", false
		}
		b.WriteString(literally(constant.String()) + interpolation)
		constant.Reset()
		ok = true
	}
	return b.String() + literally(constant.String()), ok
}

func literally(text string) string { return strings.ReplaceAll(text, "%{", "%{literal('%')}{") }

// hieraInterpolation returns the source of n. ok is false if n is not an interpolation.
func hieraInterpolation(n *Node) (text string, ok bool) {
	if n.Op != Call || len(n.Kids) == 0 || n.Kids[0].Op != Const {
		return "", false
	}
	first := n.Kids[0].Value.Text()
	switch n.Name {
	case HieraScope:
		return sourceOfVariable(n.Kids)
	case HieraLookup:
		return "%{lookup(" + hieraArgument(first) + ")}", true
	case HieraAlias:
		return "%{alias(" + hieraArgument(first) + ")}", true
	case hieraFail:
		return "%{" + first + "}", true
	case hieraSecret:
		return first, true
	}
	return "", false
}

// hieraArgument quotes the argument of a method. Hiera has no escape sequences.
func hieraArgument(text string) string {
	if strings.Contains(text, "'") {
		return `"` + text + `"`
	}
	return "'" + text + "'"
}

func sourceOfVariable(path []*Node) (text string, ok bool) {
	segments := make([]value.Value, len(path))
	for i, k := range path {
		if k.Op != Const {
			return "", false
		}
		segments[i] = k.Value
	}
	text = lookupkey.Join(segments)
	if slices.Contains(emptyHiera, text) {
		text = "scope(" + hieraArgument(text) + ")"
	}
	return "%{" + text + "}", true
}
