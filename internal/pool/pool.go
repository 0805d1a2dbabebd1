// Package pool numbers texts. A key or value that a site has ten thousand times is then in memory once, and is compared
// by number.
package pool

import (
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Pool is a set of numbered texts. The zero Pool is empty. It may be used concurrently. The number of a text depends on
// the order of calls, so numbers are valid for one run and never part of its result.
//
// Pool has its own hash table. Most texts are already in it, and for these a map of strings would take three times as
// long: Pool computes hashes outside the lock, and nearly always needs to compare only hashes.
type Pool struct {
	mu    sync.Mutex
	texts []string
	slots []uint64        // open addressing: upper half of the hash, and number + 1; 0: free
	chunk strings.Builder // buffer of the latest texts; it never grows, so that they do not move
	scans int             // number of batches that are still searched without slots; see Load
}

const (
	chunkSize = 64 << 10
	fewSlots  = 1 << 10 // a power of two, like all sizes
	halfHash  = 0xffffffff << 32
)

// Number returns the number of text. A new text gets a new number.
func (p *Pool) Number(text []byte) uint32 {
	b := Batch{text: text, ends: []int{len(text)}}
	return p.Numbers(&b)[0]
}

// Batch has texts to be numbered together, for which Pool takes the lock only once.
//
// The zero Batch is empty.
type Batch struct {
	text    []byte
	ends    []int // end of each text in text
	hashes  []uint64
	numbers []uint32
}

// Reset removes all texts from b, and keeps its memory.
func (b *Batch) Reset() { b.text, b.ends = b.text[:0], b.ends[:0] }

// Add adds the text that add appends to its argument.
func (b *Batch) Add(add func([]byte) []byte) {
	b.text = add(b.text)
	b.ends = append(b.ends, len(b.text))
}

// Numbers returns the numbers of the texts in b. They are in b until its next use.
func (p *Pool) Numbers(b *Batch) []uint32 {
	hashes, start := b.hashes[:0], 0
	for _, end := range b.ends {
		hashes = append(hashes, xxhash.Sum64(b.text[start:end]))
		start = end
	}
	b.hashes, b.numbers = hashes, slices.Grow(b.numbers[:0], len(hashes))[:len(hashes)]
	out := b.numbers
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scans > 0 {
		p.scans--
		p.scan(b, out)
		return out
	}
	p.prefetch(hashes)
	start = 0
	for i, end := range b.ends {
		out[i] = p.number(b.text[start:end], hashes[i])
		start = end
	}
	return out
}

// prefetch reads the memory that the searches for these hashes begin with. One after the other, each search would wait
// for memory; this way, the waits overlap. The result has no meaning: it keeps the compiler from removing the reads.
func (p *Pool) prefetch(hashes []uint64) (sum int) {
	if len(p.slots) == 0 {
		return 0
	}
	mask := uint64(len(p.slots) - 1)
	for _, h := range hashes {
		if s := p.slots[h&mask]; s != 0 && s&halfHash == h&halfHash {
			if t := p.texts[uint32(s)-1]; t != "" {
				sum += int(t[0])
			}
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

// keep returns text as a string.
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

// grow enlarges the table. It computes hashes again: this is rare, and storing them would cost more.
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

// Texts returns all texts, by number. Callers must not change the slice. It does not have texts that are added later.
func (p *Pool) Texts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts
}

// Load fills an empty pool with distinct texts, whose numbers are their indices. The table is only built after several
// batches: for the few files that change between two builds, it is faster to go through all texts.
func (p *Pool) Load(texts []string) { p.texts, p.scans = texts, maxScans }

const maxScans = 8

// scan finds the numbers of the texts in b without the table.
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
