//go:build !race

package testmode

// race says that the race detector is on.
const race = false
