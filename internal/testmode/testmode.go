// Package testmode has what tests of several packages share: the choice between quick and thorough tests, programs, and
// files.
package testmode

import "os"

// Thorough reports whether the environment variable BINDC_THOROUGH is set. Tests then try every case, which takes many
// minutes. Otherwise they try a selection, which takes seconds.
func Thorough() bool { return os.Getenv("BINDC_THOROUGH") != "" }

// Number returns how many cases to try: quick, or thorough if Thorough returns true.
func Number(quick, thorough int) int {
	if Thorough() {
		return thorough
	}
	return quick
}
