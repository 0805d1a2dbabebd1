package lookup

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/value"
)

// Variable returns a variable, given or derived; undef if there is none of that name.
func (f *Facts) Variable(name string) value.Value { return f.variables[name] }

// Agent returns the environment that the agent asks for, "" if it does not.
func (f *Facts) Agent() string { return f.agent }

// given returns a variable if it was given. As in Puppet, data of Hiera 5 sees no others.
func (f *Facts) given(name string) value.Value {
	v, _ := f.lookup(name)
	return v
}

// lookup returns a variable and whether it was given, as undef or another value.
func (f *Facts) lookup(name string) (v value.Value, set bool) {
	// A leading :: asks for the variable of top scope, which a caller in another scope gives under that name: as undef
	// where top scope does not have it.
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

// top returns the variable of top scope with that name: the one that was given for it, or else the caller's.
func (f *Facts) top(name string) (value.Value, bool) {
	if f.qualified {
		if v, ok := f.ofTopScope("::" + name); ok {
			return v, !v.IsUndef()
		}
	}
	v, ok := f.variables[name]
	return v, ok
}

// ofTopScope is the variable of a name with a leading ::, if one was given under that name.
func (f *Facts) ofTopScope(name string) (v value.Value, ok bool) {
	if strings.HasPrefix(name, "::") {
		v, ok = f.variables[name]
	}
	return v, ok
}

// has reports whether a variable, at a path of keys, has a value that is not empty. A path of Hiera 5 needs a given
// one: it does not see variables that are derived from others.
func (f *Facts) has(name string, path []value.Value, given bool) bool {
	v := f.at(name, path, given)
	return !v.IsUndef() && (v.Kind() != value.String || v.Text() != "")
}

// at returns the value of a variable at a path of keys, or undef.
func (f *Facts) at(name string, path []value.Value, given bool) value.Value {
	v := f.variables[name]
	if given {
		v = f.given(name)
	}
	v, _, _ = lookupkey.Dig(name, path, v) // undef where the path leads into something else than a hash or a list
	return v
}

// near returns the variable that is set and that was probably meant by one that is not, or "".
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

// written returns a variable and the keys below it as an expression has them, for example $facts['os'].
func written(name string, path []value.Value) string {
	text := "$" + name
	for _, key := range path {
		text += "['" + string(value.AppendText(nil, key)) + "']"
	}
	return text
}

// names returns the names of the variables that are given, sorted.
func (f *Facts) names() (out []string) {
	for v := range f.variables {
		if !f.derived[v] && !strings.HasPrefix(v, "::") {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// textKeys returns the keys of a hash that are text, sorted.
func textKeys(hash value.Value) (out []string) {
	for k := range hash.Pairs() {
		if k.Kind() == value.String {
			out = append(out, k.Text())
		}
	}
	slices.Sort(out)
	return out
}
