package value

// Pair is one entry of a Hash.
type Pair struct{ Key, Value Value }

// table is a built Hash: entries in order, and an index of the string keys once there are many.
type table struct {
	pairs []Pair
	index map[string]int // nil while small; only String keys are in it
}

// indexFrom is the number of entries from which an index is quicker than looking at each.
const indexFrom = 12

func (t *table) find(key Value) (int, bool) {
	if t.index != nil && key.kind == String {
		i, ok := t.index[key.str]
		return i, ok
	}
	for i := range t.pairs {
		if Identical(t.pairs[i].Key, key) {
			return i, true
		}
	}
	return 0, false
}

// Builder makes a Hash entry by entry. The zero Builder is empty; it is not used after Hash.
type Builder struct{ t table }

// Set gives key its value; a key set before keeps its place and takes the new value.
func (b *Builder) Set(key, val Value) {
	t := &b.t
	if i, ok := t.find(key); ok {
		t.pairs[i].Value = val
		return
	}
	t.pairs = append(t.pairs, Pair{key, val})
	if t.index != nil {
		t.note(len(t.pairs) - 1)
	} else if len(t.pairs) == indexFrom {
		t.index = make(map[string]int, 2*indexFrom)
		for i := range t.pairs {
			t.note(i)
		}
	}
}

func (t *table) note(i int) {
	if k := t.pairs[i].Key; k.kind == String {
		t.index[k.str] = i
	}
}

// Get is the value key has so far.
func (b *Builder) Get(key Value) (Value, bool) {
	if i, ok := b.t.find(key); ok {
		return b.t.pairs[i].Value, true
	}
	return Value{}, false
}

// Len is the number of entries so far.
func (b *Builder) Len() int { return len(b.t.pairs) }

// Hash is the finished value.
func (b *Builder) Hash() Value { return Value{kind: Hash, ref: &b.t} }

// FromPairs makes a Hash of pairs in order; of equal keys the last value counts.
func FromPairs(pairs ...Pair) Value {
	var b Builder
	for _, p := range pairs {
		b.Set(p.Key, p.Value)
	}
	return b.Hash()
}
