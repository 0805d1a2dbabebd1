package facts

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// With returns a copy of before, a hash of facts, with the facts in texts added. A text is name=text or name:=JSON. A
// name with dots is a path into nested facts. The added facts may replace facts in before, but not one another. Errors
// mention flag, the command-line flag that has the texts.
func With(flag string, before bindings.Value, texts []string) (bindings.Value, error) {
	given, all := value.FromPairs(), content(before)
	for _, text := range texts {
		path, v, err := parseFact(flag, text)
		if err != nil {
			return before, err
		}
		if replaces(given, path, v) {
			return before, &bindings.Error{Code: bindings.CodeUsage, Message: fmt.Sprintf(
				"%s %s: another %s gives '%s' a different value; give it once", flag, text, flag, strings.Join(path, "."))}
		}
		given, all = withNested(given, path, v), withNested(all, path, v)
	}
	return runtimeValue(all), nil
}

// WithFacts returns n with changed facts, like With. The name 'trusted' refers to the trusted facts.
func (n Node) WithFacts(flag string, texts []string) (Node, error) {
	var trusted, others []string
	for _, text := range texts {
		if name := text[:strings.IndexAny(text+"=", ".:=")]; name == "trusted" {
			trusted = append(trusted, text)
		} else {
			others = append(others, text)
		}
	}
	var err error
	if n.Facts, err = With(flag, n.Facts, others); err != nil || trusted == nil {
		return n, err
	}
	before := value.FromPairs()
	if t := content(n.Trusted); !t.IsUndef() {
		before = value.FromPairs(value.Pair{Key: value.FromString("trusted"), Value: t})
	}
	after, err := With(flag, runtimeValue(before), trusted)
	if err != nil {
		return n, err
	}
	changed := get(content(after), "trusted")
	if changed.Kind() != value.Hash {
		return n, fail("%s trusted: expected a hash, found %s", flag, value.Describe(changed))
	}
	n.Trusted = runtimeValue(changed)
	return n, nil
}

// With is like WithFacts. If the fact environment changes, so does n.Environment.
func (n Node) With(flag string, texts []string) (Node, error) {
	n, err := n.WithFacts(flag, texts)
	if err != nil {
		return n, err
	}
	for _, text := range texts {
		if name, _, _ := strings.Cut(text, "="); strings.TrimSuffix(name, ":") == "environment" {
			n.Environment = string(value.AppendText(nil, get(content(n.Facts), "environment")))
		}
	}
	return n, nil
}

// parseFact parses name=text or name:=JSON into a path and a value.
func parseFact(flag, text string) (path []string, v value.Value, err error) {
	name, val, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return nil, v, fail("%s: expected name=text or name:=JSON, found '%s'", flag, text)
	}
	v = value.FromString(val)
	if path, isJSON := strings.CutSuffix(name, ":"); isJSON {
		var wrong diag.List
		doc, ok := yaml.ParseJSON(flag, []byte(val), yaml.Options{SameValueTwice: true}, &wrong)
		if !ok && wrong.Sorted()[0].Code == "yaml_duplicate_key" {
			return nil, v, fail("%s %s: %s", flag, text, wrong.Sorted()[0].Message)
		}
		if !ok {
			return nil, v, fail("%s: expected JSON after '%s', found '%s'", flag, name+"=", val)
		}
		name, v = path, doc.Root.Literal()
	}
	path = strings.Split(name, ".")
	if slices.Contains(path, "") {
		return nil, v, fail("%s: expected names between dots, found '%s'", flag, name)
	}
	return path, v, nil
}

// replaces reports whether v at path would replace a different value in the hash h.
func replaces(h value.Value, path []string, v value.Value) bool {
	for _, name := range path {
		if h.Kind() != value.Hash {
			return true
		}
		inner, ok := h.Get(value.FromString(name))
		if !ok {
			return false
		}
		h = inner
	}
	return !value.Same(h, v)
}

// withNested returns h with the entry at path set to v. It replaces values on the path that are not hashes.
func withNested(h value.Value, path []string, v value.Value) value.Value {
	if len(path) == 0 {
		return v
	}
	var b value.Builder
	for k, e := range h.Pairs() {
		b.Set(k, e)
	}
	key := value.FromString(path[0])
	inner, _ := b.Get(key)
	b.Set(key, withNested(inner, path[1:], v))
	return b.Hash()
}
