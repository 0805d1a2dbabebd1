package expr

import (
	"slices"
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/pattern"
	"bindc/internal/value"
)

// Interpolations of Hiera 5, %{...}, become calls of these functions. Source text cannot contain such names.
const (
	HieraScope  = "%scope"   // args: a variable and keys into it; returns its text
	HieraLookup = "%lookup"  // args: a key; returns the text of its value
	HieraAlias  = "%alias"   // args: a key; returns its value
	hieraFail   = "%fail"    // args: a message; fails with it
	hieraSecret = "%eyaml"   // args: an encrypted text; returns the plaintext, interpolated
	decrypted   = "%decrypt" // args: an encrypted text; returns the plaintext, for data that is not Hiera 5
	hieraPath   = "%path"    // args: a directory and a path below it; returns the cleaned path
	hieraMapped = "%mapped"  // args: an index, a variable, keys into it, a lambda; returns the path for one element
)

// Problem is a mistake in an interpolation of Hiera 5. Off is the byte offset of the interpolation in the string.
type Problem struct {
	Off     int
	Message string
	Method  string // the unknown method, if that is the problem
}

// HieraMethods lists the methods of Hiera 5 interpolations, such as lookup in %{lookup('key')}.
var HieraMethods = []string{"lookup", "hiera", "alias", "literal", "scope"}

// hieraExpression matches an interpolation, which cannot contain a closing brace.
var hieraExpression = pattern.Lazy(`%\{([^}]*)\}`)

// hieraMethod matches an interpolation method and its argument.
var hieraMethod = pattern.Lazy(`^(\w+)\((?:"([^"]+)"|'([^']+)')\)$`)

// emptyHiera lists the interpolations that produce an empty text.
var emptyHiera = []string{"", "::", `""`, `''`, `"::"`, `'::'`}

// ParseHiera parses a string in Hiera 5 data. An invalid interpolation becomes a node that fails in every lookup.
// ParseHiera also returns the problem, so that the caller can report it.
func ParseHiera(text string) (*Node, []Problem) {
	found := hieraExpression().FindAllStringSubmatchIndex(text, -1)
	if found == nil {
		return &Node{Op: Const, Value: value.FromString(text)}, nil
	}
	out := &Node{Op: Concat}
	var problems []Problem
	last := 0
	for _, m := range found {
		if m[0] > last {
			out.Kids = append(out.Kids, constText(last, text[last:m[0]]))
		}
		source := strings.Trim(text[m[2]:m[3]], " \t\n\v\f\r\x00")
		n, problem := parseHieraExpression(source, m[1]-m[0] == len(text))
		last = m[1]
		if problem != "" {
			problems = append(problems, Problem{m[0], problem, unknownMethod(source)})
			n = HieraFailure(problem)
		}
		if n == nil {
			continue
		}
		n.Off = m[0]
		if n.Name == HieraAlias {
			return n, nil
		}
		out.Kids = append(out.Kids, n)
	}
	if last < len(text) {
		out.Kids = append(out.Kids, constText(last, text[last:]))
	}
	return out, problems
}

// HieraFailure returns a node that fails with message when it is evaluated.
func HieraFailure(message string) *Node {
	return &Node{Op: Call, Name: hieraFail, Kids: []*Node{constText(0, message)}}
}

func constText(off int, text string) *Node {
	return &Node{Op: Const, Off: off, Value: value.FromString(text)}
}

// parseHieraExpression parses source, the text inside the braces of an interpolation. whole means that the string
// contains nothing else. n is nil for an empty interpolation.
func parseHieraExpression(source string, whole bool) (n *Node, problem string) {
	if slices.Contains(emptyHiera, source) {
		return nil, ""
	}
	m := hieraMethod().FindStringSubmatch(source)
	if m == nil {
		return parseHieraVariable(source)
	}
	arg := m[2] + m[3]
	switch m[1] {
	case "literal":
		return constText(0, arg), ""
	case "scope":
		return parseHieraVariable(arg)
	case "lookup", "hiera":
		return &Node{Op: Call, Name: HieraLookup, Kids: []*Node{constText(0, arg)}}, ""
	case "alias":
		if !whole {
			return nil, "alias() returns a value of any type: it must be the whole text"
		}
		return &Node{Op: Call, Name: HieraAlias, Kids: []*Node{constText(0, arg)}}, ""
	}
	return nil, "unknown method '" + m[1] + "': expected lookup, hiera, alias, literal or scope"
}

// unknownMethod returns the name of the method that an interpolation calls if there is no such method, and otherwise
// "".
func unknownMethod(source string) string {
	m := hieraMethod().FindStringSubmatch(source)
	if m == nil || slices.Contains(HieraMethods, m[1]) {
		return ""
	}
	return m[1]
}

// HieraCall returns the first method that the interpolations in text call, or "". Puppet allows methods only in data.
func HieraCall(text string) string {
	for _, found := range hieraExpression().FindAllStringSubmatch(text, -1) {
		if m := hieraMethod().FindStringSubmatch(strings.Trim(found[1], " \t\n\v\f\r\x00")); m != nil {
			return m[1]
		}
	}
	return ""
}

func parseHieraVariable(source string) (*Node, string) {
	segments, err := lookupkey.Split(source)
	switch {
	case err != nil && strings.Contains(source, "["):
		return nil, err.Error() + "; write a key of a hash after a dot, as in %{facts.os.family}"
	case err != nil:
		return nil, err.Error()
	}
	n := &Node{Op: Call, Name: HieraScope}
	for _, s := range segments {
		n.Kids = append(n.Kids, &Node{Op: Const, Value: s})
	}
	return n, ""
}

// HieraPath returns a node that joins dir and path and cleans the result. dir must be empty or end with a slash.
func HieraPath(dir, path *Node) *Node {
	return &Node{Op: Call, Name: hieraPath, Kids: []*Node{dir, path}}
}

// AsHieraPath returns the arguments of n if HieraPath created n. Otherwise ok is false.
func (n *Node) AsHieraPath() (dir, path *Node, ok bool) {
	if n.Op != Call || n.Name != hieraPath || len(n.Kids) != 2 {
		return nil, nil, false
	}
	return n.Kids[0], n.Kids[1], true
}

// HieraMapped returns a node for the path of element i in mapped_paths. source is a variable with keys, and template
// refers to the elements of its value by name. If i is -1, the path is empty unless there is exactly one element;
// otherwise, it is empty unless there are several.
func HieraMapped(i int, source, name string, template *Node) (*Node, string) {
	at, problem := parseHieraVariable(source)
	if problem != "" {
		return nil, problem
	}
	kids := append([]*Node{{Op: Const, Value: value.FromInt(int64(i))}}, at.Kids...)
	return &Node{Op: Call, Name: hieraMapped, Kids: kids,
		Lambda: &Lambda{Params: []Param{{Name: name}}, Body: template}}, ""
}
