package stdlib

import (
	"math/big"
	"math/bits"
)

// random is the Mersenne Twister MT19937, which Ruby uses, so that fqdn_rand returns the same numbers as in Puppet.
type random struct {
	state [twisterSize]uint32
	next  int
}

const (
	twisterSize  = 624
	twisterShift = 397
)

// newRandom seeds a generator like Ruby's Random.new. The seed may have any size.
func newRandom(seed *big.Int) *random {
	r := &random{next: twisterSize}
	key := words(seed)
	if len(key) == 1 {
		r.seed(key[0])
	} else {
		r.seedWords(key)
	}
	return r
}

// words splits n into 32-bit words, the lowest first. Like Ruby, it drops a highest word of 1.
func words(n *big.Int) []uint32 {
	var out []uint32
	mask := big.NewInt(1<<32 - 1)
	for rest := new(big.Int).Set(n); rest.Sign() > 0; rest.Rsh(rest, 32) {
		out = append(out, uint32(new(big.Int).And(rest, mask).Uint64()))
	}
	if len(out) == 0 {
		return []uint32{0}
	}
	if len(out) > 1 && out[len(out)-1] == 1 {
		out = out[:len(out)-1]
	}
	return out
}

func (r *random) seed(s uint32) {
	r.state[0] = s
	for i := uint32(1); i < twisterSize; i++ {
		prev := r.state[i-1]
		r.state[i] = 1812433253*(prev^prev>>30) + i
	}
}

func (r *random) seedWords(key []uint32) {
	r.seed(19650218)
	i, j := 1, 0
	for range max(twisterSize, len(key)) {
		prev := r.state[i-1]
		r.state[i] = (r.state[i] ^ (prev^prev>>30)*1664525) + key[j] + uint32(j)
		i, j = r.advance(i), (j+1)%len(key)
	}
	for range twisterSize - 1 {
		prev := r.state[i-1]
		r.state[i] = (r.state[i] ^ (prev^prev>>30)*1566083941) - uint32(i)
		i = r.advance(i)
	}
	r.state[0] = 1 << 31
}

// advance returns the index that follows i during seeding. It skips index 0.
func (r *random) advance(i int) int {
	if i+1 < twisterSize {
		return i + 1
	}
	r.state[0] = r.state[twisterSize-1]
	return 1
}

func (r *random) uint32() uint32 {
	if r.next == twisterSize {
		r.twist()
	}
	y := r.state[r.next]
	r.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (r *random) twist() {
	for i := range r.state {
		y := r.state[i]&(1<<31) | r.state[(i+1)%twisterSize]&(1<<31-1)
		r.state[i] = r.state[(i+twisterShift)%twisterSize] ^ y>>1 ^ y&1*0x9908b0df
	}
	r.next = 0
}

// below returns a number from 0 to n-1. n must be positive.
func (r *random) below(n int64) int64 {
	limit := uint64(n - 1)
	if limit == 0 {
		return 0
	}
	mask := ^uint64(0) >> bits.LeadingZeros64(limit)
	for {
		val, within := uint64(0), true
		for shift := 32; shift >= 0 && within; shift -= 32 { // for a mask of 0, Ruby draws no word
			if mask>>shift&(1<<32-1) != 0 {
				val = (val | uint64(r.uint32())<<shift) & mask
				within = val <= limit
			}
		}
		if within {
			return int64(val)
		}
	}
}
