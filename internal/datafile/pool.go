package datafile

import (
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Pool assigns numbers to strings, so that a string that occurs ten thousand times in a site is in memory only once.
// Equal strings have equal numbers. The zero Pool is empty. It is safe for concurrent use. The number of a string
// depends on the order of calls, so it is only valid during one run.
//
// Pool has its own hash table, because most strings are already in it. For these, a map would take three times as long:
// Pool computes hashes without holding the lock, and rarely needs to compare more than hashes.
type Pool struct {
	mu    sync.Mutex
	texts []string
	slots []uint64        // hash table with open addressing: upper half of the hash, and number + 1; 0 if free
	chunk strings.Builder // memory for new strings; never grows, so that strings do not move
	scans int             // number of further batches to answer by scan; see load
}

const (
	chunkSize = 64 << 10
	fewSlots  = 1 << 10 // smallest size of slots; all sizes are powers of two
	halfHash  = 0xffffffff << 32
)

// Number returns the number of text. If text is new, it gets the next number.
func (p *Pool) Number(text []byte) uint32 {
	b := batch{text: text, ends: []int{len(text)}}
	return p.numbered(&b)[0]
}

// batch is a list of strings to be numbered together, so that Pool takes its lock only once.
//
// The zero batch is empty.
type batch struct {
	text    []byte
	ends    []int // end of each string in text
	hashes  []uint64
	numbers []uint32
}

// reset removes all strings from b but keeps its memory.
func (b *batch) reset() { b.text, b.ends = b.text[:0], b.ends[:0] }

// add adds the string that the function add appends to its argument.
func (b *batch) add(add func([]byte) []byte) {
	b.text = add(b.text)
	b.ends = append(b.ends, len(b.text))
}

// numbered returns the numbers of the strings in b, in the order of the calls of add. The slice is valid until b is
// used again.
func (p *Pool) numbered(b *batch) []uint32 {
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

// prefetch reads the memory where the searches for these hashes begin. Its reads wait for memory all at the same time;
// the searches would wait one after another. The result only keeps the compiler from removing the reads.
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

// keep returns a copy of text. It uses the memory of chunk unless text is long.
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

// grow enlarges the hash table. It computes all hashes again, which is rare and cheaper than storing them.
func (p *Pool) grow() {
	size := max(fewSlots, 2*len(p.slots))
	for size <= 2*len(p.texts) { // load may have added many strings
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

// Texts returns all strings in p, by number. Callers must not modify the slice.
func (p *Pool) Texts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts
}

// load fills an empty pool with distinct strings, whose numbers are their indexes. It does not build the hash table: a
// build that parses few files again is faster without it. numbered builds the table after several batches.
func (p *Pool) load(texts []string) { p.texts, p.scans = texts, maxScans }

const maxScans = 8

// scan sets out to the numbers of the strings in b. It searches all strings instead of using the hash table.
func (p *Pool) scan(b *batch, out []uint32) {
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
