package gen

import (
	"math/bits"
	"math/rand/v2"
)

// dice is a stream of random numbers. It uses the bare generator, whose sequence is defined by its
// algorithm. rand.Rand derives small numbers in an unspecified way.
type dice struct{ pcg rand.PCG }

// The purposes of streams. Streams with different purposes are independent, even if their other
// coordinates are equal.
const (
	forKeys uint64 = iota + 1
	forKinds
	forMembership
	forValue
	forNode
	forOverrides
)

// throw returns the stream for a purpose and two coordinates.
func (s *Site) throw(purpose, a, b uint64) dice {
	var d dice
	d.pcg.Seed(mix(s.Config.Seed^mix(purpose)), mix(a^mix(b)))
	return d
}

// mix is the finalizer of SplitMix64: neighbouring numbers become unrelated.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number from 0 to n-1. The bias is negligible.
func (d *dice) below(n int) int {
	high, _ := bits.Mul64(d.pcg.Uint64(), uint64(n))
	return int(high)
}

// percent returns true with a probability of p per cent.
func (d *dice) percent(p int) bool { return d.below(100) < p }

func pick[T any](d *dice, from []T) T { return from[d.below(len(from))] }
