package snapshot

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// columns are the columns of a level: count columns from first on.
type columns struct {
	first, count int
	narrow       bool
}

// columnsOf assigns columns to the levels and returns the total. Starting with the level that has the fewest scopes,
// each level gets a column per scope while the total is at most maxColumns.
func columnsOf(levels []Level) ([]columns, int) {
	out, order, total := make([]columns, len(levels)), make([]int, len(levels)), len(levels)
	for l := range levels {
		out[l].count, order[l] = 1, l
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(levels[a].Scopes), len(levels[b].Scopes))
	})
	for _, l := range order {
		if n := len(levels[l].Scopes); total-1+n <= maxColumns {
			out[l].count, out[l].narrow = n, true
			total += n - 1
		}
	}
	first := 0
	for l := range out {
		out[l].first = first
		first += out[l].count
	}
	return out, total
}

// gather fills masks and lists: for each key, the columns that bind it, and its values in narrow columns.
func (w *writer) gather() {
	var total int
	w.columns, total = columnsOf(w.c.Levels)
	w.words = max(1, (total+maxColumns-1)/maxColumns)
	w.masks, w.lists = make([]uint64, w.words*len(w.c.Keys)), make([][]uint32, len(w.c.Keys))
	for l, level := range w.c.Levels {
		col := w.columns[l]
		for i, s := range level.Scopes {
			column := col.first
			if col.narrow {
				column += i
			}
			for _, e := range s.Entries {
				n := w.numbers[e.Key]
				w.masks[w.words*int(n)+column/64] |= 1 << (column % 64)
				if col.narrow {
					w.lists[n] = append(w.lists[n], e.Value)
				}
			}
		}
	}
}

// directories writes the scope directories and the tables of wide levels. It returns the levels in the encoding of
// section meta: layer, entry, dimensions, flags, columns, and offset/4 and slots of the directory.
func (w *writer) directories() (meta []byte) {
	w.out[secTables] = make([]byte, 0, w.tableBytes())
	for l, level := range w.c.Levels {
		col := w.columns[l]
		meta = appendNumbers(meta, level.Layer, level.Entry, len(level.Dimensions))
		meta = appendNumbers(meta, level.Dimensions...)
		places := make([]uint32, len(level.Scopes))
		for i, s := range level.Scopes {
			order := w.inOrder(s)
			places[i] = uint32(i) + 1
			if !col.narrow {
				places[i] = w.table(s, order) + 1
			}
			w.cold.begin(uint32(l), places[i])
			w.addScope(s, order, places[i], col.narrow)
		}
		at := len(w.out[secScopes])
		direct, slots := w.directory(level, places)
		meta = append(meta, flag(col.narrow, levelNarrow)|flag(direct, levelDirect))
		meta = appendNumbers(meta, col.count, at/4, slots)
	}
	return meta
}

// tableBytes returns the size of all tables, with room for padding.
func (w *writer) tableBytes() int {
	out := sectionAlign
	for l, level := range w.c.Levels {
		for _, s := range level.Scopes {
			if n := len(s.Entries); !w.columns[l].narrow {
				out += 4 + (w.tableKeyBytes()*n+3)&^3 + 4*n
			}
		}
	}
	return out
}

func (w *writer) tableKeyBytes() int {
	if len(w.c.Keys) <= maxShortKeys {
		return 2
	}
	return 4
}

// directory appends the directory of a level, which contains the place of each of its scopes. A place is one more than
// the scope's column within the level, or one more than the offset/4 of its table. Zero means no scope.
//
// Without dimensions the directory is a single place. With one dimension, if at least every fourth value has a scope,
// it has a place per value. Otherwise it is a hash table with open addressing, at most three quarters full. Each slot
// has a value number per dimension, and a place.
func (w *writer) directory(level Level, places []uint32) (direct bool, slots int) {
	slots = 1
	if dims := level.Dimensions; len(dims) > 0 {
		slots = int(w.dicts[dims[0]].hash.n)
	}
	if len(level.Dimensions) <= 1 && slots <= 4*max(1, len(places)) {
		w.directDirectory(level, places, slots)
		return true, slots
	}
	slots = 1
	for slots*3 < len(places)*4 {
		slots *= 2
	}
	for !w.hashedDirectory(level, places, slots) {
		slots *= 2
	}
	return false, slots
}

func (w *writer) directDirectory(level Level, places []uint32, slots int) {
	cells := make([]byte, 4*slots)
	for i, s := range level.Scopes {
		n := uint32(0)
		if len(level.Dimensions) == 1 {
			n = w.dicts[level.Dimensions[0]].number(s.Values[0])
		}
		binary.LittleEndian.PutUint32(cells[4*n:], places[i])
	}
	w.out[secScopes] = append(w.out[secScopes], cells...)
}

// hashedDirectory appends a directory that is a hash table. It returns false if a chain would become too long.
func (w *writer) hashedDirectory(level Level, places []uint32, slots int) bool {
	width := len(level.Dimensions) + 1
	cells, numbers := make([]uint32, width*slots), make([]uint32, len(level.Dimensions))
	for i, s := range level.Scopes {
		for j, d := range level.Dimensions {
			numbers[j] = w.dicts[d].number(s.Values[j])
		}
		slot, chain := int(hashNumbers(numbers))&(slots-1), 1
		for ; cells[width*slot+width-1] != 0; chain++ {
			if chain == maxChain {
				return false
			}
			slot = (slot + 1) & (slots - 1)
		}
		copy(cells[width*slot:], append(numbers, places[i]))
	}
	for _, c := range cells {
		w.out[secScopes] = binary.LittleEndian.AppendUint32(w.out[secScopes], c)
	}
	return true
}

// table appends the table of a scope and returns its offset/4. A table contains n u32, n ascending key numbers,
// padded to a multiple of 4, and n value references u32.
func (w *writer) table(s Scope, order []int) uint32 {
	out, short := w.out[secTables], w.tableKeyBytes() == 2
	at := uint32(len(out) / 4)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(order)))
	for _, i := range order {
		if n := w.numbers[s.Entries[i].Key]; short {
			out = binary.LittleEndian.AppendUint16(out, uint16(n))
		} else {
			out = binary.LittleEndian.AppendUint32(out, n)
		}
	}
	out = pad(out, 4)
	for _, i := range order {
		out = binary.LittleEndian.AppendUint32(out, w.ref(s.Entries[i].Value))
	}
	w.out[secTables] = out
	return at
}
