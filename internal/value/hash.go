package value

// Pair is one entry of a Hash.
type Pair struct{ Key, Value Value }

// indexFrom is the number of entries from which an index is quicker than looking at each.
const indexFrom = 24

// find is where the key of an entry stands in elems.
func (t *body) find(key Value) (int, bool) {
	if t.index != nil && key.Kind() == String {
		i, ok := t.index[key.str]
		return i, ok
	}
	if key.is(String) { // nearly all are
		for i := 0; i < len(t.elems); i += 2 {
			if k := &t.elems[i]; k.str == key.str && k.is(String) {
				return i, true
			}
		}
		return 0, false
	}
	if t.others != nil {
		i, ok := t.others[string(AppendDistinct(nil, key))]
		return i, ok && Identical(t.elems[i], key) // false for NaN
	}
	for i := 0; i < len(t.elems); i += 2 {
		if Identical(t.elems[i], key) {
			return i, true
		}
	}
	return 0, false
}

// Builder makes a Hash entry by entry. The zero Builder is empty; it is not used after Hash.
type Builder struct{ t body }

// BuilderOf is a Builder that has the entries of the Hash h, and room for more.
func BuilderOf(h Value, more int) Builder {
	elems := make([]Value, 0, 2*(h.Len()+more))
	for k, e := range h.Pairs() {
		elems = append(elems, k, e)
	}
	b := Builder{body{elems: elems}}
	if b.Len() >= indexFrom {
		b.t.makeIndex()
	}
	return b
}

// Set gives key its value; a key set before keeps its place and takes the new value.
func (b *Builder) Set(key, val Value) { *b.At(key) = val }

// At is where the value of key stands until another key is set; a key that was not set before has undef.
func (b *Builder) At(key Value) *Value {
	t := &b.t
	i, ok := t.find(key)
	if !ok {
		i = len(t.elems)
		t.elems = append(t.elems, key, Value{})
		if t.index != nil {
			t.note(i)
		} else if len(t.elems) == 2*indexFrom {
			t.makeIndex()
		}
	}
	return &t.elems[i+1]
}

func (t *body) makeIndex() {
	t.index, t.others = make(map[string]int, len(t.elems)), map[string]int{}
	for i := 0; i < len(t.elems); i += 2 {
		t.note(i)
	}
}

func (t *body) note(i int) {
	if k := t.elems[i]; k.Kind() == String {
		t.index[k.str] = i
	} else {
		t.others[string(AppendDistinct(nil, k))] = i
	}
}

// Get is the value key has so far.
func (b *Builder) Get(key Value) (Value, bool) {
	if i, ok := b.t.find(key); ok {
		return b.t.elems[i+1], true
	}
	return Value{}, false
}

// Len is the number of entries so far.
func (b *Builder) Len() int { return len(b.t.elems) / 2 }

// Hash is the finished value.
func (b *Builder) Hash() Value {
	b.t.kind, b.t.built = Hash, true
	return Value{ref: &b.t}
}

// FromPairs makes a Hash of pairs in order; of equal keys the last value counts.
func FromPairs(pairs ...Pair) Value {
	var b Builder
	for _, p := range pairs {
		b.Set(p.Key, p.Value)
	}
	return b.Hash()
}
