package loader

import (
	"strings"

	"bindc/internal/bindingsfile"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// target is the owner of parameters: a class, a type, or an instance of a type.
type target struct {
	name, instance string
	isClass        bool
}

// target parses a class (`ntp` or `Class[ntp]`), a type (`Web`) or an instance of a type (`Web[one]`).
func (c *setCompiler) target(l *bindingsfile.Literal) (target, bool) {
	if isText(l, className()) {
		return target{name: l.Value.Text(), isClass: true}, true
	}
	t, ok := targetOf(l)
	if class := strings.ToLower(t.instance); ok && t.name == "Class" && className().MatchString(class) {
		return target{name: class, isClass: true}, true
	}
	if ok {
		return t, true
	}
	expected := "a class, a type or an instance, such as 'ntp', 'Web' or 'Web[one]'"
	if strings.Contains(l.ScalarText(), ",") {
		expected = "one instance, its name in quotes if it contains a comma, such as \"Web['a, b']\""
	}
	c.errorf(l, "expected %s, found %s", expected, value.Describe(l.Value))
	return target{}, false
}

// targetOf parses a type or an instance of a type. The name of the instance may be in quotes.
func targetOf(l *bindingsfile.Literal) (target, bool) {
	if l.Value.Kind() != value.String {
		return target{}, false
	}
	name, instance, ok := bindingsfile.SplitTarget(l.Value.Text())
	return target{name: name, instance: instance}, ok && typeName().MatchString(name)
}

var keyEscaper = strings.NewReplacer("/", "%2F", "[", "%5B", "]", "%5D", "%", "%25")

// keys returns the prefix of the keys of the target's parameters.
func (t target) keys() string {
	switch {
	case t.isClass:
		return t.name + "::"
	case t.instance == "":
		return recipe.ParameterKeys + t.name + "/"
	}
	return recipe.ParameterKeys + t.name + "[" + keyEscaper.Replace(t.instance) + "]/"
}

// references reads a reference or a list of references. It returns them in Puppet's form, without quotes.
func (c *setCompiler) references(p *bindingsfile.Producer) ([]string, bool) {
	list := oneOrMore(p.Argument)
	out, ok := make([]string, len(list)), true
	for i := range list {
		t, is := targetOf(&list[i])
		if !is || t.instance == "" {
			c.errorf(&list[i], "expected a reference to a resource, such as \"File['/etc/ntp.conf']\", found %s",
				value.Describe(list[i].Value))
			ok = false
		}
		out[i] = t.name + "[" + t.instance + "]"
	}
	return out, ok
}
