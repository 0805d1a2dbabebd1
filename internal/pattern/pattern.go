// Package pattern compiles regular expressions when they are first used: a program that answers one lookup starts in
// the time that compiling those it does not need would take.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy is regexp.MustCompile at the first call. The function may be called by several goroutines.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
