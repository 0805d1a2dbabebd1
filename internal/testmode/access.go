package testmode

import (
	"sync"

	"bindc/internal/fsx"
)

// Access is one file system call of a test: the call number Nth of Op on Path, from 1 on.
type Access struct {
	Op   fsx.Op
	Path string
	Nth  int
}

// NumberCalls returns a function for fsx.Disk.Fault that numbers the calls of each Op and Path, and calls f with each.
// It is safe for concurrent use: the loader finds files in one goroutine and reads them in others.
func NumberCalls(f func(Access) error) func(fsx.Op, string) error {
	var mu sync.Mutex
	seen := map[Access]int{}
	return func(op fsx.Op, path string) error {
		mu.Lock()
		defer mu.Unlock()
		a := Access{op, path, 0}
		seen[a]++
		a.Nth = seen[a]
		return f(a)
	}
}
