package snapshot

import "runtime/debug"

// Protect runs do. If do reads a page of the map that is gone because somebody truncated the file, Protect returns a
// *DamageError. It only covers code that runs on the calling goroutine.
//
// This is the only recover in the project. The system delivers such a read as a signal (SIGBUS). Go either ends the
// program or turns the signal into a panic; there is no other choice. Protect passes on any other panic.
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
