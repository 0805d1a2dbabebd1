// Package pattern compiles regular expressions when they are first used. Compiling all of them at
// startup would double the start time of a program that makes a single lookup.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that compiles expr when it is first called. Further calls return the same
// Regexp. The function is safe for concurrent use, and panics if expr is invalid.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
