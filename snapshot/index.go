package snapshot

// index contains the data of a Snapshot that View.Lookup reads, in the form that takes the fewest instructions. To
// combine two 64-bit numbers, the processor needs one instruction if the second is in memory, but two if it is a
// constant.
type index struct {
	k1, k2, k3, seed         uint64
	first                    uint64 // seed ^ k0
	pilots, prints, keys     string
	buckets, slots, keyCount uint64
	narrow                   uint64
}

func indexOf(s *Snapshot) index {
	return index{k1: k1, k2: k2, k3: k3, seed: s.seed, first: s.seed ^ k0,
		pilots: s.hash.pilots, prints: s.prints, keys: s.keys,
		buckets: uint64(s.hash.buckets), slots: uint64(s.hash.slots), keyCount: uint64(s.hash.n), narrow: s.narrow}
}

// least is min without branches. The branch that the compiler generates for min is often mispredicted here, because
// it depends on the length of the key.
func least(a, b uint64) uint64 {
	d := int64(b) - int64(a)
	return a + uint64(d&(d>>63))
}

// blend mixes 16 bytes of key, from position at on, into a number.
func blend(key string, at, a, b uint64) uint64 { return mix(at64(key, at)^a, at64(key, at+8)^b) }

// differs returns 0 if 16 bytes of key, from position at on, equal those of the key in record p.
func (p place) differs(key string, at uint64) uint64 {
	return (p.at64(recText+at) ^ at64(key, at)) | (p.at64(recText+at+8) ^ at64(key, at+8))
}
