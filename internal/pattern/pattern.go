// Package pattern compiles regular expressions on first use. Compiling all of them at startup would double the start
// time of a program that runs a single lookup.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that compiles expr on its first call and always returns the same Regexp. It may be called
// concurrently.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
