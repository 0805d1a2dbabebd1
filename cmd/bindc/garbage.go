package main

import (
	"runtime"
	"runtime/debug"
)

// garbagePercent lets the heap grow to about twice the live memory before a garbage collection. With 200, a large
// site takes a third more memory and hardly less time, because a build keeps most of its memory.
const garbagePercent = 90

// firstGarbage is the memory of the program at which garbage is collected for the first time. Collections of a small
// heap free little, and take a fifteenth of the time of a rebuild.
const firstGarbage = 208 << 20

// collectGarbageLate sets when the garbage collector runs. A lower limit that the user set by GOMEMLIMIT stays.
func collectGarbageLate() {
	limit := debug.SetMemoryLimit(-1)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(min(limit, firstGarbage))
	unused := new([64]byte)                        // too large for the allocator to combine it with other objects
	runtime.SetFinalizer(unused, func(*[64]byte) { // the first collection has found that nothing uses it
		debug.SetGCPercent(garbagePercent)
		debug.SetMemoryLimit(limit)
	})
}
