package value

// Pair is an entry of a Hash.
type Pair struct{ Key, Value Value }

// indexFrom is the number of entries that a hash needs for an index to be faster than a search.
const indexFrom = 24

func (t *body) find(key Value) (int, bool) {
	if t.index != nil && key.Kind() == String {
		i, ok := t.index[key.str]
		return i, ok
	}
	if key.is(String) { // fast path: nearly all keys are Strings
		for i := 0; i < len(t.elems); i += 2 {
			if k := &t.elems[i]; k.str == key.str && k.is(String) {
				return i, true
			}
		}
		return 0, false
	}
	if t.others != nil {
		i, ok := t.others[string(AppendDistinct(nil, key))]
		return i, ok && Identical(t.elems[i], key) // NaN is not identical to itself
	}
	for i := 0; i < len(t.elems); i += 2 {
		if Identical(t.elems[i], key) {
			return i, true
		}
	}
	return 0, false
}

// Builder builds a Hash entry by entry. The zero Builder is empty. It must not be used after Hash.
type Builder struct{ t body }

// BuilderOf returns a Builder that has the entries of the Hash h and room for more entries.
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

// Set sets the value of key. A key that exists keeps its position.
func (b *Builder) Set(key, val Value) { *b.At(key) = val }

// At returns a pointer to the value of key. It adds the key with the value undef if it is missing. The pointer is valid
// until another key is added.
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

// Get returns the value of key, if the hash built so far has it.
func (b *Builder) Get(key Value) (Value, bool) {
	if i, ok := b.t.find(key); ok {
		return b.t.elems[i+1], true
	}
	return Value{}, false
}

// Len returns the number of entries so far.
func (b *Builder) Len() int { return len(b.t.elems) / 2 }

// Hash returns the Hash that has been built.
func (b *Builder) Hash() Value {
	b.t.kind, b.t.built = Hash, true
	return Value{ref: &b.t}
}

// FromPairs returns a Hash with the given entries, in order. The last of several entries with the same key wins.
func FromPairs(pairs ...Pair) Value {
	var b Builder
	for _, p := range pairs {
		b.Set(p.Key, p.Value)
	}
	return b.Hash()
}
