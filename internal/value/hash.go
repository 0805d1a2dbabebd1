package value

// Pair is an entry of a Hash.
type Pair struct{ Key, Value Value }

// indexFrom is the number of entries from which an index is faster than a linear search.
const indexFrom = 24

// find returns the position of the key of an entry in elems.
func (t *body) find(key Value) (int, bool) {
	if t.index != nil && key.Kind() == String {
		i, ok := t.index[key.str]
		return i, ok
	}
	if key.is(String) { // nearly all keys are Strings
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

// Builder builds a Hash entry by entry. The zero Builder is empty. It must not be used after Hash.
type Builder struct{ t body }

// BuilderOf returns a Builder with the entries of the Hash h and capacity for more.
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

// Set sets the value of key. If the key exists, it keeps its position.
func (b *Builder) Set(key, val Value) { *b.At(key) = val }

// At returns a pointer to the value of key, valid until another key is set. A new key has the value
// undef.
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

// Get returns the current value of key.
func (b *Builder) Get(key Value) (Value, bool) {
	if i, ok := b.t.find(key); ok {
		return b.t.elems[i+1], true
	}
	return Value{}, false
}

// Len returns the current number of entries.
func (b *Builder) Len() int { return len(b.t.elems) / 2 }

// Hash returns the finished value.
func (b *Builder) Hash() Value {
	b.t.kind, b.t.built = Hash, true
	return Value{ref: &b.t}
}

// FromPairs returns a Hash of pairs in order. Of equal keys the last value is used.
func FromPairs(pairs ...Pair) Value {
	var b Builder
	for _, p := range pairs {
		b.Set(p.Key, p.Value)
	}
	return b.Hash()
}
