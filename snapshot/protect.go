package snapshot

import "runtime/debug"

// Protect calls do. If do reads a mapped page that no longer exists because the file was truncated, Protect returns a
// *DamageError. It only covers code that runs on the calling goroutine.
//
// The system reports such a read by a signal (SIGBUS), which Go turns into a panic here; otherwise it would end the
// program. Protect passes on any other panic.
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
