package snapshot

import "runtime/debug"

// Protect runs do. Where that reads a page of the map that the file no longer has, as somebody truncated it, Protect
// returns a *DamageError. It protects what runs on this goroutine.
//
// This is the only recover of the project. The system delivers such a read as a signal (SIGBUS); that no program
// survives it, or that it becomes a panic, is all the choice that Go gives. Any other panic goes on.
func (s *Snapshot) Protect(do func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if fault := recover(); fault != nil {
			at, ok := fault.(interface{ Addr() uintptr })
			if !ok || !isInside(s.data, at.Addr()) {
				panic(fault)
			}
			err = &DamageError{Section: "file", Expected: "the bytes that it had when it was opened"}
		}
	}()
	return do()
}
