// Package testmode chooses how much the tests try.
package testmode

import "os"

// Thorough reports whether the variable BINDC_THOROUGH is set: tests then try everything, which takes many minutes, and
// not a part of it that takes seconds.
func Thorough() bool { return os.Getenv("BINDC_THOROUGH") != "" }

// Number returns how much of something to try: quick by default, thorough if everything is to be tried.
func Number(quick, thorough int) int {
	if Thorough() {
		return thorough
	}
	return quick
}
