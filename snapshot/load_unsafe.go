//go:build (amd64 || arm64 || loong64 || ppc64le) && !purego

package snapshot

import "unsafe"

// The functions below read a little endian number at any offset, aligned or not. They do not check bounds, because Open
// or the caller has checked them. The versions in load_safe.go check each time. They are for other processors and the
// build tag purego.

func at64(s string, off uint64) uint64 { return *(*uint64)(at(s, off)) }
func at32(s string, off uint64) uint32 { return *(*uint32)(at(s, off)) }
func at16(s string, off uint64) uint16 { return *(*uint16)(at(s, off)) }
func at8(s string, off uint64) uint8   { return *(*uint8)(at(s, off)) }

func at(s string, off uint64) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), off)
}

// place is a position in a string. Reading at a place takes fewer instructions than reading from the string.
type place struct{ start unsafe.Pointer }

func from(s string, off uint64) place { return place{at(s, off)} }

func (p place) at64(off uint64) uint64 { return *(*uint64)(unsafe.Add(p.start, off)) }
func (p place) at32(off uint64) uint32 { return *(*uint32)(unsafe.Add(p.start, off)) }
func (p place) at8(off uint64) uint8   { return *(*uint8)(unsafe.Add(p.start, off)) }
