//go:build !(amd64 || arm64 || loong64 || ppc64le) || purego

package snapshot

func at64(s string, off uint64) uint64 { return load64(s[off:]) }
func at32(s string, off uint64) uint32 { return load32(s[off:]) }
func at16(s string, off uint64) uint16 { return load16(s[off:]) }
func at8(s string, off uint64) uint8   { return s[off] }

type place string

func from(s string, off uint64) place { return place(s[off:]) }

func (p place) at64(off uint64) uint64 { return at64(string(p), off) }
func (p place) at32(off uint64) uint32 { return at32(string(p), off) }
func (p place) at8(off uint64) uint8   { return at8(string(p), off) }
