package recipe

import (
	"slices"
	"strings"
)

// Reserved keys are bound by what they are for, and by nothing else (language.md, section 14.4). Of the first two the
// contributions go to the multibinding with the key as its id.
const (
	ClassesKey      = "/classes"
	DependenciesKey = "/dependencies"
	EnvironmentKey  = "/environment"
	ParameterKeys   = "/param/"
	MapKeys         = "/map/"
	VariableKeys    = "/var/"
)

// IsReserved tells whether a key is reserved.
func IsReserved(key string) bool {
	has := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
	return has(ParameterKeys) || has(MapKeys) || has(VariableKeys) ||
		slices.Contains([]string{ClassesKey, DependenciesKey, EnvironmentKey}, key)
}
