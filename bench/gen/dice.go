package gen

import (
	"math/bits"
	"math/rand/v2"
)

// dice is a stream of random numbers. It uses PCG directly, not through rand.Rand, because only the
// sequence of PCG itself is guaranteed to stay the same.
type dice struct{ pcg rand.PCG }

// Each purpose has its own stream of random numbers, independent of the others.
const (
	forKeys uint64 = iota + 1
	forKinds
	forMembership
	forValue
	forNode
	forOverrides
)

// throw returns the stream of random numbers for a purpose and two coordinates, such as a place and
// a key.
func (s *Site) throw(purpose, a, b uint64) dice {
	var d dice
	d.pcg.Seed(mix(s.Config.Seed^mix(purpose)), mix(a^mix(b)))
	return d
}

// mix is the finalizer of SplitMix64. It maps similar numbers to unrelated ones.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a random number from 0 to n-1. The bias is negligible.
func (d *dice) below(n int) int {
	high, _ := bits.Mul64(d.pcg.Uint64(), uint64(n))
	return int(high)
}

func (d *dice) percent(p int) bool { return d.below(100) < p }

func pick[T any](d *dice, from []T) T { return from[d.below(len(from))] }
