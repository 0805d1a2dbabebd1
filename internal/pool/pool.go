// Package pool numbers texts. A key or value that a site has ten thousand times is then in memory once, and comparing
// two of them means comparing two numbers.
package pool

import (
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Pool is a set of numbered texts. The zero Pool is empty. It is safe for concurrent use. The number of a text
// depends on the order of the calls, so numbers are only valid within a run and never part of its result.
//
// It implements its own hash table. Most texts are already in the pool, and for those a map of strings costs three
// times as much: here the hash is computed outside the lock, and nearly always decides without comparing texts.
type Pool struct {
	mu    sync.Mutex
	texts []string
	slots []uint64        // open addressing; upper half of a hash, and below it the number plus one; 0 if free
	chunk strings.Builder // the texts added last; never grows, so that they do not move
	scans int             // number of batches that are still searched without slots, see Load
}

const (
	chunkSize = 64 << 10
	fewSlots  = 1 << 10 // a power of two, like all sizes
	halfHash  = 0xffffffff << 32
)

// Number returns the number of text, which is new if the pool does not have the text yet.
func (p *Pool) Number(text []byte) uint32 {
	b := Batch{text: text, ends: []int{len(text)}}
	return p.Numbers(&b)[0]
}

// Batch contains texts to be numbered together, which takes the lock only once.
type Batch struct {
	text []byte
	ends []int // end of each text in text
}

// NewBatch returns a batch with room for count texts with size bytes in total. It grows if necessary.
func NewBatch(count, size int) *Batch {
	return &Batch{make([]byte, 0, size), make([]int, 0, count)}
}

// Add adds the text that add appends to its argument.
func (b *Batch) Add(add func([]byte) []byte) {
	b.text = add(b.text)
	b.ends = append(b.ends, len(b.text))
}

// Numbers returns the numbers of the texts of b.
func (p *Pool) Numbers(b *Batch) []uint32 {
	hashes, start := make([]uint64, len(b.ends)), 0
	for i, end := range b.ends {
		hashes[i] = xxhash.Sum64(b.text[start:end])
		start = end
	}
	out := make([]uint32, len(b.ends))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scans > 0 {
		p.scans--
		p.scan(b, out)
		return out
	}
	p.foresee(hashes)
	start = 0
	for i, end := range b.ends {
		out[i] = p.number(b.text[start:end], hashes[i])
		start = end
	}
	return out
}

// foresee reads the memory that the searches for texts with these hashes read first. One search after another would
// wait for memory each time; this way the waits overlap. The result only keeps the compiler from removing the reads.
func (p *Pool) foresee(hashes []uint64) (sum int) {
	if len(p.slots) == 0 {
		return 0
	}
	mask := uint64(len(p.slots) - 1)
	for _, h := range hashes {
		if s := p.slots[h&mask]; s != 0 && s&halfHash == h&halfHash {
			sum += len(p.texts[uint32(s)-1])
		}
	}
	return sum
}

func (p *Pool) number(text []byte, hash uint64) uint32 {
	if 2*len(p.texts) >= len(p.slots) {
		p.grow()
	}
	mask := uint64(len(p.slots) - 1)
	at := hash & mask
	for ; p.slots[at] != 0; at = (at + 1) & mask {
		if s := p.slots[at]; s&halfHash == hash&halfHash && p.texts[uint32(s)-1] == string(text) {
			return uint32(s) - 1
		}
	}
	p.texts = append(p.texts, p.keep(text))
	p.slots[at] = hash&halfHash | uint64(len(p.texts))
	return uint32(len(p.texts) - 1)
}

// keep returns a copy of text that is never moved.
func (p *Pool) keep(text []byte) string {
	if len(text) > chunkSize/8 {
		return string(text)
	}
	if p.chunk.Cap()-p.chunk.Len() < len(text) {
		p.chunk.Reset()
		p.chunk.Grow(chunkSize)
	}
	start := p.chunk.Len()
	p.chunk.Write(text)
	return p.chunk.String()[start:]
}

// grow makes room. It hashes all texts again, which costs less than storing the hashes.
func (p *Pool) grow() {
	size := max(fewSlots, 2*len(p.slots))
	for size <= 2*len(p.texts) { // after Load
		size *= 2
	}
	p.slots = make([]uint64, size)
	mask := uint64(len(p.slots) - 1)
	for i, t := range p.texts {
		hash := xxhash.Sum64String(t)
		at := hash & mask
		for p.slots[at] != 0 {
			at = (at + 1) & mask
		}
		p.slots[at] = hash&halfHash | uint64(i+1)
	}
}

// Texts returns all texts by number. The caller must not change the slice, which does not include texts that are
// added later.
func (p *Pool) Texts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts
}

// Load fills an empty pool with distinct texts and numbers them in order. The hash table is built only after several
// batches: a few files that changed since the last build are numbered faster by scanning all texts.
func (p *Pool) Load(texts []string) { p.texts, p.scans = texts, maxScans }

const maxScans = 8

// scan finds the numbers of the texts of b without the hash table.
func (p *Pool) scan(b *Batch, out []uint32) {
	const none = ^uint32(0)
	wanted, lengths, start := make(map[string]uint32, len(b.ends)), [256]bool{}, 0
	for _, end := range b.ends {
		wanted[string(b.text[start:end])] = none
		lengths[byte(end-start)] = true
		start = end
	}
	for i, t := range p.texts {
		if !lengths[byte(len(t))] {
			continue
		}
		if _, ok := wanted[t]; ok {
			wanted[t] = uint32(i)
		}
	}
	start = 0
	for i, end := range b.ends {
		text := b.text[start:end]
		n := wanted[string(text)]
		if n == none {
			n = uint32(len(p.texts))
			p.texts = append(p.texts, p.keep(text))
			wanted[p.texts[n]] = n
		}
		out[i], start = n, end
	}
}
