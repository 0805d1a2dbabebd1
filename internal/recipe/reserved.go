package recipe

import (
	"slices"
	"strings"
)

// Bindings cannot have these keys (language.md, section 14.4). The first two keys are ids of multibindings.
const (
	ClassesKey      = "/classes"
	DependenciesKey = "/dependencies"
	EnvironmentKey  = "/environment"
	ParameterKeys   = "/param/"
	MapKeys         = "/map/"
	VariableKeys    = "/var/"
)

// IsReserved reports whether key is one of the keys above or begins with one of the prefixes.
func IsReserved(key string) bool {
	has := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
	return has(ParameterKeys) || has(MapKeys) || has(VariableKeys) ||
		slices.Contains([]string{ClassesKey, DependenciesKey, EnvironmentKey}, key)
}
