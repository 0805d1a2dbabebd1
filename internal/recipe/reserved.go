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
	return strings.HasPrefix(key, "/") && (slices.Contains([]string{ClassesKey, DependenciesKey, EnvironmentKey}, key) ||
		strings.HasPrefix(key, ParameterKeys) || strings.HasPrefix(key, MapKeys) || strings.HasPrefix(key, VariableKeys))
}
