package snapshot

import (
	"encoding/binary"
	"sync"
)

// Section blocktab contains: the number of blocks u32; per block its offset in section blocks u64, compressed length
// u32 and decoded length u32; per value its block u32 and its offset in the decoded block u32.
const (
	blockEntry      = 16
	blockValueEntry = 8
)

// blockWriter collects large values into blocks.
type blockWriter struct {
	raw, where []byte
	blocks     uint32
	values     int
	frames     frameWriter
}

// add stores the encoded value v and returns its number.
func (b *blockWriter) add(v string) int {
	b.where = binary.LittleEndian.AppendUint32(b.where, b.blocks)
	b.where = binary.LittleEndian.AppendUint32(b.where, uint32(len(b.raw)))
	b.raw = append(b.raw, v...)
	if len(b.raw) >= blockSize {
		b.flush()
	}
	b.values++
	return b.values - 1
}

func (b *blockWriter) flush() {
	b.frames.add(b.raw)
	b.raw = nil
	b.blocks++
}

func (b *blockWriter) finish() (table, packed []byte) {
	if len(b.raw) > 0 {
		b.flush()
	}
	entries, packed := b.frames.finish()
	table = binary.LittleEndian.AppendUint32(nil, b.blocks)
	return append(append(table, entries...), b.where...), packed
}

// cacheBytes is the maximum total size of the decoded blocks in the cache.
const cacheBytes = 8 << 20

// blockCache keeps decoded blocks and evicts the oldest first.
type blockCache struct {
	mu      sync.Mutex
	decoded map[uint32]string
	order   []uint32
	bytes   int
}

func (c *blockCache) get(block uint32) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.decoded[block]
	return s, ok
}

func (c *blockCache) put(block uint32, s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.decoded == nil {
		c.decoded = map[uint32]string{}
	}
	if _, ok := c.decoded[block]; ok {
		return
	}
	c.decoded[block] = s
	c.order = append(c.order, block)
	c.bytes += len(s)
	for c.bytes > cacheBytes && len(c.order) > 1 {
		c.bytes -= len(c.decoded[c.order[0]])
		delete(c.decoded, c.order[0])
		c.order = c.order[1:]
	}
}

// blockValue returns the encoded value number n, followed by the rest of its block.
func (s *Snapshot) blockValue(n uint32) (string, error) {
	block, off, err := s.blockPlace(n)
	if err != nil {
		return "", err
	}
	text, err := s.block(block)
	if err != nil {
		return "", err
	}
	if uint64(off) >= uint64(len(text)) {
		return "", s.broken(secBlockTab, "value %d in a block of %d bytes", n, len(text))
	}
	return text[off:], nil
}

// blockPlace returns the block that contains value number n, and the offset of the value in the decoded block.
func (s *Snapshot) blockPlace(n uint32) (block, off uint32, err error) {
	tab := s.sections[secBlockTab]
	if len(tab) < 4 {
		return 0, 0, s.broken(secBlockTab, "the number of blocks")
	}
	at := 4 + blockEntry*uint64(load32(tab)) + blockValueEntry*uint64(n)
	if n >= s.blockValues || at+blockValueEntry > uint64(len(tab)) {
		return 0, 0, s.damaged(secBlockTab, at, "the place of value %d", n)
	}
	return load32(tab[at:]), load32(tab[at+4:]), nil
}

// frame returns the zstd frame of block n, its offset in section blocks and its decoded length.
func (s *Snapshot) frame(n uint32) (packed string, off, length uint64, err error) {
	tab, blocks := s.sections[secBlockTab], s.sections[secBlocks]
	at := 4 + blockEntry*uint64(n)
	if len(tab) < 4 || n >= load32(tab) || at+blockEntry > uint64(len(tab)) {
		return "", 0, 0, s.damaged(secBlockTab, at, "the place of block %d", n)
	}
	packed, length, ok := frameOf(tab[at:], blocks)
	if !ok {
		return "", 0, 0, s.damaged(secBlockTab, at, "a block inside section %s", secBlocks)
	}
	return packed, load64(tab[at:]), length, nil
}

// block returns block n, decoded, from the cache if possible.
func (s *Snapshot) block(n uint32) (string, error) {
	if text, ok := s.cache.get(n); ok {
		return text, nil
	}
	packed, off, length, err := s.frame(n)
	if err != nil {
		return "", err
	}
	text, ok := decompress(packed, length)
	if !ok {
		return "", s.damaged(secBlocks, off, "a zstd frame of %d bytes", length)
	}
	s.cache.put(n, text)
	return text, nil
}
