package snapshot

import (
	"encoding/binary"
	"slices"
	"strings"

	"bindc/internal/value"
)

// Where bindings are written, and those that no lookup finds, is cold: kept in compressed blocks that nothing but a report
// reads. The origins of a scope lie together, in the order of its keys, so that a binding takes about a byte.
//
// Section origintab is an entry per block, in order; section origins the blocks, zstd frames. Blocks of scopes come first,
// level by level, those of keys behind them. A block holds whole records: of the scopes of a level in the order of their
// places, or of keys in the order of their numbers.
const (
	coldEntry = 24
	coldBlock = 64 << 10 // a block is ended from so many bytes on
	coldKeys  = 1<<32 - 1
)

// What a record of a key says of a binding.
const (
	coldDefault      = iota // the unconditional binding that counts
	coldHidden              // one that something higher hides in every request
	coldContribution        // one of those that a multibinding collects
)

// coldWriter collects records in blocks.
type coldWriter struct {
	raw, packed, tab []byte
	level, first     uint32 // of the block in raw
	place, input     uint32 // of the record before, in this block
}

// begin has the next record belong to a level and be the one of a place, or of a key.
func (c *coldWriter) begin(level, place uint32) {
	if len(c.raw) > 0 && (c.level != level || len(c.raw) >= coldBlock) {
		c.flush()
	}
	if len(c.raw) == 0 {
		c.level, c.first, c.place, c.input = level, place, 0, 0
	}
}

func (c *coldWriter) flush() {
	if len(c.raw) == 0 {
		return
	}
	c.tab, c.packed = appendFrame(c.tab, c.packed, c.raw)
	c.tab = binary.LittleEndian.AppendUint32(c.tab, c.level)
	c.tab = binary.LittleEndian.AppendUint32(c.tab, c.first)
	c.raw = c.raw[:0]
}

// origins writes where everything is written that is in no scope, behind what directories has written of the scopes.
func (w *writer) origins() {
	c := &w.cold
	for n, i := range w.byNumber() {
		c.begin(coldKeys, uint32(n))
		c.raw = w.appendKey(c.raw, &w.c.Keys[i])
	}
	c.flush()
	w.out[secOriginTab], w.out[secOrigins] = c.tab, c.packed
}

// addScope appends the record of a scope: its place, the number of its entries, of a narrow level the numbers of the keys,
// each less the one before, then the origins: inputs, lines, columns. Place and inputs are less those of the record
// before: the files of nodes follow one another as the nodes do, and then take no space.
func (w *writer) addScope(s Scope, order []int, place uint32, narrow bool) {
	c := &w.cold
	c.raw = appendNumbers(c.raw, int(place-c.place), len(order))
	if narrow {
		before := uint32(0)
		for _, i := range order {
			n := w.numbers[s.Entries[i].Key]
			c.raw = binary.AppendUvarint(c.raw, uint64(n-before))
			before = n
		}
	}
	c.raw = appendColumn(c.raw, order, func(i int) uint32 { return zigzag(s.origin(i).Input - c.input) })
	c.raw = appendColumn(c.raw, order, func(i int) uint32 { return s.origin(i).Line })
	c.raw = appendColumn(c.raw, order, func(i int) uint32 { return s.origin(i).Col })
	c.place = place
	if len(order) > 0 {
		c.input = s.origin(order[0]).Input
	}
}

// zigzag is a difference of which small ones of either sign are small; unzigzag undoes it.
func zigzag(d uint32) uint32   { return d<<1 ^ uint32(int32(d)>>31) }
func unzigzag(z uint32) uint32 { return z>>1 ^ -(z & 1) }

// inOrder is the entries of a scope in the order of the numbers of their keys.
func (w *writer) inOrder(s Scope) []int {
	packed := make([]uint64, len(s.Entries)) // the number of the key, and in the lower half the entry
	for i, e := range s.Entries {
		packed[i] = uint64(w.numbers[e.Key])<<32 | uint64(i)
	}
	slices.Sort(packed)
	order := make([]int, len(packed))
	for i, p := range packed {
		order[i] = int(uint32(p))
	}
	return order
}

// appendColumn appends one number per entry: if all are the same that number plus one, else zero and all of them.
func appendColumn(out []byte, order []int, of func(entry int) uint32) []byte {
	same := true
	for _, i := range order {
		same = same && of(i) == of(order[0])
	}
	if same && len(order) > 0 {
		return binary.AppendUvarint(out, uint64(of(order[0]))+1)
	}
	out = append(out, 0)
	for _, i := range order {
		out = binary.AppendUvarint(out, uint64(of(i)))
	}
	return out
}

// appendKey appends the record of a key: the number of its bindings that no scope has, and these.
func (w *writer) appendKey(out []byte, k *Key) []byte {
	out = appendNumbers(out, len(k.Cold))
	for i := range k.Cold {
		b := &k.Cold[i]
		kind := coldHidden
		switch {
		case b.Contribution:
			kind = coldContribution
		case i == 0 && k.Default >= 0:
			kind = coldDefault
		}
		out = appendNumbers(out, kind, b.Layer, int(b.Origin.Input), int(b.Origin.Line), int(b.Origin.Col), len(b.Terms))
		for _, t := range b.Terms {
			out = appendText(appendNumbers(out, t.Dimension), t.Value)
		}
		if kind == coldHidden {
			v := w.c.Values[b.Value]
			computed := 0
			if v.Computed {
				computed = 1
			}
			out = appendText(appendNumbers(out, computed), v.Bytes)
		}
	}
	return out
}

// Binding is a binding of a key, for reports: one that a lookup may find, one that is always hidden, or a contribution.
type Binding struct {
	Layer  int
	Terms  []Term // its condition
	Origin Origin

	Ref          Ref // what the key is bound to; not of one that is hidden or a contribution
	Hidden       bool
	Contribution bool
	Stored       Stored // what a hidden one binds the key to
}

// Bindings are all bindings of key: those that a lookup may find in order of precedence, then the hidden ones. Of an
// internal key they are the contributions to a multibinding. It decodes what lookups never touch, and takes the longer the
// larger the site is. The error is a *DamageError.
func (s *Snapshot) Bindings(key string) ([]Binding, error) {
	n, ok := s.number(key)
	if !ok {
		return nil, nil
	}
	var out []Binding
	for l := range s.levels {
		found, err := s.inLevel(l, n)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	cold, err := s.coldBindings(n)
	return append(out, cold...), err
}

// inLevel is the bindings that key number n has in the scopes of a level.
func (s *Snapshot) inLevel(level int, n uint32) ([]Binding, error) {
	l := &s.levels[level]
	mask, err := s.word(n, l.first/64)
	if err != nil {
		return nil, err
	}
	if !l.narrow && mask>>(l.first%64)&1 == 0 {
		return nil, nil
	}
	at := map[uint32]Binding{}
	for slot := range l.slots {
		place, terms, err := s.slot(l, slot)
		if err != nil {
			return nil, err
		}
		b := Binding{Layer: l.layer, Terms: terms, Ref: noRef}
		switch {
		case place == 0:
		case l.narrow && mask>>(l.first+int(place-1))&1 != 0:
			b.Ref, err = s.inColumn(n, mask, l.first+int(place-1), nil)
		case !l.narrow:
			b.Ref, err = s.probe(n, place-1)
		}
		if err != nil {
			return nil, err
		}
		if b.Ref != noRef {
			at[place] = b
		}
	}
	return s.withOrigins(level, n, at)
}

// slot is the place in a slot of a directory, and the values that its scope stands for.
func (s *Snapshot) slot(l *levelView, slot uint32) (place uint32, terms []Term, err error) {
	cell := l.directory[uint64(slot)*uint64(l.slotBytes()):][:l.slotBytes()]
	place = load32(cell[len(cell)-4:])
	if place == 0 || l.narrow && uint64(place) > uint64(l.count) {
		return 0, nil, nil
	}
	for i, d := range l.dims {
		n := slot
		if !l.direct {
			n = load32(cell[4*i:])
		}
		text, ok := "", n < s.dicts[d].hash.n
		if ok {
			text, ok = s.dicts[d].value(n)
		}
		if !ok {
			return 0, nil, s.damaged(secScopes, l.at, "values of %s", s.dimensions[d].Name)
		}
		terms = append(terms, Term{int(d), strings.Clone(text)})
	}
	return place, terms, nil
}

// withOrigins adds to bindings of key number n, by the place of their scopes, where they are written.
func (s *Snapshot) withOrigins(level int, n uint32, at map[uint32]Binding) ([]Binding, error) {
	var out []Binding
	for block := range s.coldBlocks() {
		if len(out) == len(at) {
			break
		}
		if s.coldLevel(block) != uint32(level) {
			continue
		}
		err := s.eachScope(block, func(place uint32, r *scopeOrigins) {
			if b, ok := at[place]; ok {
				if b.Origin, ok = r.of(s, &s.levels[level], place, n); ok {
					out = append(out, b)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if len(out) != len(at) {
		return nil, s.damaged(secOrigins, 0, "the origins of %d bindings in level %d, found %d", len(at), level, len(out))
	}
	return out, nil
}

// scopeOrigins is the record of a scope.
type scopeOrigins struct {
	n                uint32
	keys             []uint32 // of a narrow level
	input, line, col originColumn
}

// originColumn is one number per entry.
type originColumn struct {
	one  bool // all are same
	same uint32
	all  []uint32
}

func (c *originColumn) at(i uint32) uint32 {
	if c.one {
		return c.same
	}
	return c.all[i]
}

// relativeTo makes inputs of what is less that of the record before.
func (c *originColumn) relativeTo(input uint32) {
	c.same = input + unzigzag(c.same)
	for i, z := range c.all {
		c.all[i] = input + unzigzag(z)
	}
}

// of is the origin of key number n.
func (r *scopeOrigins) of(s *Snapshot, l *levelView, place, n uint32) (Origin, bool) {
	i, ok := uint32(0), false
	if l.narrow {
		at, found := slices.BinarySearch(r.keys, n)
		i, ok = uint32(at), found
	} else if t, err := s.table(place - 1); err == nil && t.n == r.n {
		i, ok = t.position(n, s.hash.n)
	}
	if !ok {
		return Origin{}, false
	}
	return Origin{r.input.at(i), r.line.at(i), r.col.at(i)}, true
}

// coldBlocks is the number of blocks.
func (s *Snapshot) coldBlocks() int { return len(s.sections[secOriginTab]) / coldEntry }

// coldLevel is the level of a block, or coldKeys.
func (s *Snapshot) coldLevel(block int) uint32 { return load32(s.coldEntry(block)[16:]) }

// coldFirst is the place, or the key, of the first record of a block.
func (s *Snapshot) coldFirst(block int) uint32 { return load32(s.coldEntry(block)[20:]) }

func (s *Snapshot) coldEntry(block int) string {
	return s.sections[secOriginTab][coldEntry*block:][:coldEntry]
}

// coldFrame is the zstd frame of a block, and how many bytes it decodes to.
func (s *Snapshot) coldFrame(block int) (packed string, length uint64, err error) {
	packed, length, ok := frameOf(s.coldEntry(block), s.sections[secOrigins])
	if !ok {
		return "", 0, s.damaged(secOriginTab, uint64(coldEntry*block), "a block inside section %s", secOrigins)
	}
	return packed, length, nil
}

// cold is a block, decoded. Nothing keeps it.
func (s *Snapshot) cold(block int) (reader, error) {
	packed, length, err := s.coldFrame(block)
	if err != nil {
		return reader{}, err
	}
	raw, ok := decompress(packed, length)
	if !ok {
		return reader{}, s.badBlock(block, "a zstd frame")
	}
	return reader{b: string(raw)}, nil
}

func (s *Snapshot) badBlock(block int, expected string) error {
	return s.damaged(secOrigins, load64(s.coldEntry(block)), "%s", expected)
}

// eachScope reads the records of a block of scopes.
func (s *Snapshot) eachScope(block int, yield func(place uint32, r *scopeOrigins)) error {
	level := s.coldLevel(block)
	if uint64(level) >= uint64(len(s.levels)) {
		return s.badBlock(block, "a level")
	}
	r, err := s.cold(block)
	place, input := uint32(0), uint32(0)
	for err == nil && r.b != "" && !r.failed {
		place += r.u32()
		o := scopeOrigins{n: r.u32()}
		if s.levels[level].narrow {
			before := uint32(0)
			for i := uint32(0); i < o.n && !r.failed; i++ {
				before += r.u32()
				o.keys = append(o.keys, before)
			}
		}
		o.input, o.line, o.col = r.column(o.n), r.column(o.n), r.column(o.n)
		o.input.relativeTo(input)
		if !r.failed {
			if o.n > 0 {
				input = o.input.at(0)
			}
			yield(place, &o)
		}
	}
	if err == nil && r.failed {
		err = s.badBlock(block, "the origins of scopes")
	}
	return err
}

// column is what appendColumn appends.
func (r *reader) column(n uint32) originColumn {
	var c originColumn
	if same := r.number(); same > 0 {
		r.failed = r.failed || same > 1<<32
		return originColumn{one: true, same: uint32(same - 1)}
	}
	for ; n > 0 && !r.failed; n-- {
		c.all = append(c.all, r.u32())
	}
	return c
}

// coldBindings is the record of key number n.
func (s *Snapshot) coldBindings(n uint32) (out []Binding, err error) {
	first, end := s.coldKeyBlocks()
	block := first + 1
	for block < end && s.coldFirst(block) <= n {
		block++
	}
	if block--; block < first {
		return nil, nil
	}
	err = s.eachKey(block, func(key uint32, bs []Binding) {
		if key == n {
			out = bs
		}
	})
	return out, err
}

// coldKeyBlocks are the blocks of keys.
func (s *Snapshot) coldKeyBlocks() (first, end int) {
	end = s.coldBlocks()
	for first = end; first > 0 && s.coldLevel(first-1) == coldKeys; first-- {
	}
	if first == end {
		return 0, 0
	}
	return first, end
}

// eachKey reads the records of a block of keys.
func (s *Snapshot) eachKey(block int, yield func(key uint32, bs []Binding)) error {
	r, err := s.cold(block)
	for key := s.coldFirst(block); err == nil && r.b != "" && !r.failed; key++ {
		var bs []Binding
		for n := r.count(); n > 0 && !r.failed; n-- {
			bs = append(bs, s.coldBinding(&r, key))
		}
		if !r.failed {
			yield(key, bs)
		}
	}
	if err == nil && r.failed {
		err = s.badBlock(block, "bindings of keys")
	}
	return err
}

func (s *Snapshot) coldBinding(r *reader, key uint32) Binding {
	kind := r.byte()
	b := Binding{Layer: int(r.u32()), Origin: Origin{r.u32(), r.u32(), r.u32()}, Ref: noRef, Hidden: kind == coldHidden, Contribution: kind == coldContribution}
	for n := r.count(); n > 0 && !r.failed; n-- {
		b.Terms = append(b.Terms, Term{int(r.u32()), r.text()})
	}
	switch {
	case kind > coldContribution || b.Layer >= len(s.layers) || key >= s.hash.n:
		r.failed = true
	case b.Hidden:
		computed := r.byte()
		b.Stored = Stored{Computed: computed == 1, Bytes: r.text()}
		_, rest, err := value.View(b.Stored.Bytes)
		r.failed = r.failed || computed > 1 || computed == 0 && (err != nil || rest != "")
	case kind == coldDefault:
		b.Ref = Ref(at32(s.keys, keyRecord*uint64(key)+recDefault))
	}
	for _, t := range b.Terms {
		r.failed = r.failed || t.Dimension >= len(s.dimensions)
	}
	return b
}
