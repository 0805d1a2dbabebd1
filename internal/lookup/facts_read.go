package lookup

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/value"
)

// Variable returns a given or derived variable, or undef.
func (f *Facts) Variable(name string) value.Value { return f.variables[name] }

// Agent returns the environment that the agent requested, or "".
func (f *Facts) Agent() string { return f.agent }

// given returns the value that was given for a variable, or undef. As in Puppet, Hiera 5 data does not see derived
// variables.
func (f *Facts) given(name string) value.Value {
	v, _ := f.lookup(name)
	return v
}

// lookup returns a variable and whether it was given. A given variable may be undef.
func (f *Facts) lookup(name string) (v value.Value, set bool) {
	// ${::x} is x in the top scope. A caller in another scope gives it as the variable '::x', or as undef if it is not
	// set.
	if v, ok := f.ofTopScope(name); ok {
		return v, !v.IsUndef()
	}
	name = strings.TrimPrefix(name, "::")
	if f.derived[name] {
		return v, false
	}
	v, set = f.variables[name]
	return v, set
}

// top returns a variable of the top scope. If it was given with a leading ::, that value has precedence.
func (f *Facts) top(name string) (value.Value, bool) {
	if f.qualified {
		if v, ok := f.ofTopScope("::" + name); ok {
			return v, !v.IsUndef()
		}
	}
	v, ok := f.variables[name]
	return v, ok
}

// ofTopScope returns the variable name if it was given under a name with a leading ::.
func (f *Facts) ofTopScope(name string) (v value.Value, ok bool) {
	if strings.HasPrefix(name, "::") {
		v, ok = f.variables[name]
	}
	return v, ok
}

// has reports whether a variable has a value other than undef and "" at a path of keys. The environment counts as set,
// because it is empty only if the caller says that there is none. given excludes derived variables, which Hiera 5 paths
// do not see.
func (f *Facts) has(name string, path []value.Value, given bool) bool {
	if name == "environment" && len(path) == 0 {
		return true
	}
	v := f.at(name, path, given)
	return !v.IsUndef() && (v.Kind() != value.String || v.Text() != "")
}

// at returns the value at a path of keys in a variable, or undef. given excludes derived variables.
func (f *Facts) at(name string, path []value.Value, given bool) value.Value {
	v := f.variables[name]
	if given {
		v = f.given(name)
	}
	v, _, _ = lookupkey.Dig(name, path, v) // undef if Dig fails
	return v
}

// near returns the set variable that is most similar to an unset one, formatted as an expression, or "".
func (f *Facts) near(name string, path []value.Value) string {
	if len(path) == 0 {
		if meant := diag.Misspelt(name, f.names()); meant != "" {
			return "$" + meant
		}
		return ""
	}
	at := f.variables[name]
	for i, key := range path {
		next, there, err := lookupkey.Dig(name, path[i:i+1], at)
		if err == nil && there {
			at = next
			continue
		}
		if meant := diag.Misspelt(string(value.AppendText(nil, key)), textKeys(at)); meant != "" {
			path = slices.Clone(path)
			path[i] = value.FromString(meant)
			return written(name, path)
		}
		break
	}
	return ""
}

// written formats a variable and the keys below it as an expression, such as $facts['os'].
func written(name string, path []value.Value) string {
	text := "$" + name
	for _, key := range path {
		text += "['" + string(value.AppendText(nil, key)) + "']"
	}
	return text
}

// names returns the sorted names of the given variables, except those with a leading ::.
func (f *Facts) names() (out []string) {
	for v := range f.variables {
		if !f.derived[v] && !strings.HasPrefix(v, "::") {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

func textKeys(hash value.Value) (out []string) {
	for k := range hash.Pairs() {
		if k.Kind() == value.String {
			out = append(out, k.Text())
		}
	}
	slices.Sort(out)
	return out
}
