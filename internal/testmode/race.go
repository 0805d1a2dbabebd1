//go:build race

package testmode

// Race says that the race detector is on.
const Race = true
