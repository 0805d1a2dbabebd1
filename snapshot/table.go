package snapshot

type tableView struct {
	n          uint32
	short      bool
	keys, refs string
}

func (s *Snapshot) table(at uint32) (tableView, error) {
	t, off := s.tables, 4*uint64(at)
	if off+4 > uint64(len(t)) {
		return tableView{}, s.damaged(secTables, off, "a table")
	}
	v := tableView{n: load32(t[off:]), short: s.hash.n <= maxShortKeys}
	t = t[off+4:]
	keys := 4 * uint64(v.n)
	if v.short {
		keys = (2*uint64(v.n) + 3) &^ 3
	}
	if keys+4*uint64(v.n) > uint64(len(t)) {
		return tableView{}, s.damaged(secTables, off, "a table of %d entries", v.n)
	}
	v.keys, v.refs = t[:keys], t[keys:keys+4*uint64(v.n)]
	return v, nil
}

func (t *tableView) key(i uint32) uint32 {
	if t.short {
		return uint32(load16(t.keys[2*uint64(i):]))
	}
	return load32(t.keys[4*uint64(i):])
}

// probe returns the value reference of key number n in the table at offset 4*table, or noRef.
func (s *Snapshot) probe(n, table uint32) (Ref, error) {
	t, err := s.table(table)
	if t.n == 0 { // empty, or err is set
		return noRef, err
	}
	i, ok := t.position(n, s.hash.n)
	if !ok {
		return noRef, nil
	}
	return Ref(load32(t.refs[4*uint64(i):])), nil
}

// nearEntries is the number of entries that position tries one by one before it falls back to a binary search.
const nearEntries = 8

// position returns the index of key number n, or false. Key numbers come from a hash, so they are distributed evenly:
// position guesses the index and then tries the entries next to it.
func (t *tableView) position(n, keys uint32) (uint32, bool) {
	i := uint32(uint64(n) * uint64(t.n) / uint64(keys))
	lo, hi := uint32(0), t.n // the part of the table still to search
	if t.key(i) < n {
		for lo = i + 1; lo < min(t.n, i+nearEntries); lo++ {
			if got := t.key(lo); got >= n {
				return lo, got == n
			}
		}
	} else {
		for hi = i + 1; hi > 0 && hi+nearEntries > i; hi-- {
			if got := t.key(hi - 1); got <= n {
				return hi - 1, got == n
			}
		}
	}
	for lo < hi {
		if mid := lo + (hi-lo)/2; t.key(mid) < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < t.n && t.key(lo) == n
}
