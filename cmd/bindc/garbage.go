package main

import (
	"runtime"
	"runtime/debug"
)

// garbagePercent lets the heap grow to about twice the live memory between garbage collections. With 200, a large site
// takes a third more memory but hardly less time, because a build keeps most of its memory.
const garbagePercent = 90

// firstGarbage is the heap size in bytes at the first garbage collection. Earlier collections would free little and
// take a fifteenth of the time of a rebuild.
const firstGarbage = 208 << 20

// collectGarbageLate delays the first garbage collection until the heap reaches firstGarbage, or a lower GOMEMLIMIT.
func collectGarbageLate() {
	limit := debug.SetMemoryLimit(-1)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(min(limit, firstGarbage))
	unused := new([64]byte)                        // too large to be combined with other objects
	runtime.SetFinalizer(unused, func(*[64]byte) { // runs after the first collection
		debug.SetGCPercent(garbagePercent)
		debug.SetMemoryLimit(limit)
	})
}
