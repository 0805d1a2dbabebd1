// Package testmode contains what tests of several packages have in common: the choice between quick
// and thorough tests, and helpers for programs and files.
package testmode

import "os"

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
