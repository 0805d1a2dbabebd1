// Package testmode contains what tests of several packages have in common: the choice between quick
// and thorough tests, and helpers for programs and files.
package testmode

import (
	"flag"
	"os"
	"testing"
)

// Thorough reports whether the environment variable BINDC_THOROUGH is set. If it is, tests try
// every case, which takes many minutes. Otherwise they try a sample, which takes seconds.
func Thorough() bool { return os.Getenv("BINDC_THOROUGH") != "" }

// Number returns thorough if Thorough() is true, and quick otherwise.
func Number(quick, thorough int) int {
	if Thorough() {
		return thorough
	}
	return quick
}

// Sample returns every n-th element of all, from the first on. It returns all if Asked(t) is true, because whoever runs
// a single test wants all of its cases.
func Sample[T any](t testing.TB, all []T, n int) []T {
	var some []T
	for i, one := range all {
		if Chosen(t, i, n) {
			some = append(some, one)
		}
	}
	return some
}

// Chosen reports whether a test that tries a Sample tries the case with the index i.
func Chosen(t testing.TB, i, n int) bool { return i%n == 0 || Asked(t) }

// Asked reports whether a test tries all cases: Thorough() is true, or the flag -run selects the test. Benchmarks and
// fuzzing are usually run with -run '^$'.
func Asked(t testing.TB) bool {
	pattern := flag.Lookup("test.run").Value.String()
	return Thorough() || pattern != "" && pattern != "^$"
}

// SkipUnderRace skips a test that takes seconds with the race detector, which finds nothing in it: the test has one
// goroutine, or goroutines that share nothing; it mostly runs other programs; or other tests do the same in more
// goroutines. .ci/run also runs the tests that call SkipUnderRace without the race detector, and then they try all
// cases of a Sample.
func SkipUnderRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("the race detector makes this test slow and finds nothing in it")
	}
}
