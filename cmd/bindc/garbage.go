package main

import (
	"runtime"
	"runtime/debug"
)

// garbagePercent lets the heap grow to about twice the live memory between garbage collections. With 200, a large site
// takes a third more memory and hardly less time, because a build keeps most of its memory.
const garbagePercent = 90

// firstGarbage is the heap size at the first garbage collection. Collections of a smaller heap free little and take a
// fifteenth of the time of a rebuild.
const firstGarbage = 208 << 20

// collectGarbageLate configures the garbage collector for a build. It keeps a lower limit that the user set by
// GOMEMLIMIT.
func collectGarbageLate() {
	limit := debug.SetMemoryLimit(-1)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(min(limit, firstGarbage))
	unused := new([64]byte)                        // too large for the allocator to combine it with other objects
	runtime.SetFinalizer(unused, func(*[64]byte) { // the first collection finds it unused
		debug.SetGCPercent(garbagePercent)
		debug.SetMemoryLimit(limit)
	})
}
