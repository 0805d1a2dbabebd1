package snapshot

// checkOrigins checks that every scope and every key has exactly one record, and that blocks are in order, so that a
// search finds them.
func (v *verifier) checkOrigins() error {
	list, err := v.Inputs()
	if err != nil {
		return err
	}
	c := coldVerifier{verifier: v, scopes: map[scopeID]bool{}, inputs: uint32(len(list))}
	for l := range v.levels {
		for slot := range v.levels[l].slots {
			if place := v.levels[l].placeAt(slot); place != 0 {
				c.scopes[scopeID{uint32(l), place}] = true
			}
		}
	}
	for block := range v.coldBlocks() {
		if err := c.block(block); err != nil {
			return err
		}
	}
	if len(c.scopes) > 0 || c.next != v.hash.n {
		return v.broken(secOrigins, "the origins of all scopes and keys")
	}
	return nil
}

type coldVerifier struct {
	*verifier
	scopes map[scopeID]bool // scopes whose record has not been seen yet
	last   scopeID          // the previous scope
	next   uint32           // number of the key whose record must come next
	inputs uint32           // number of inputs
	end    uint64           // end of the previous block
}

type scopeID struct{ level, place uint32 }

func (v *coldVerifier) block(block int) error {
	packed, _, err := v.coldFrame(block)
	if err != nil {
		return err
	}
	off, level := load64(v.coldEntry(block)), v.coldLevel(block)
	if off < v.end || block > 0 && level < v.coldLevel(block-1) {
		return v.badBlock(block, "a block after the previous one")
	}
	v.end = off + uint64(len(packed))
	if level == coldKeys {
		return v.keyBlock(block)
	}
	return v.scopeBlock(block)
}

// scopeBlock checks a block of scopes and removes them from v.scopes.
func (v *coldVerifier) scopeBlock(block int) error {
	level, first, sound := v.coldLevel(block), true, true
	err := v.eachScope(block, func(place uint32, o *scopeOrigins) {
		id := scopeID{level, place}
		sound = sound && v.scopes[id] && (!first || place == v.coldFirst(block)) &&
			(level > v.last.level || place > v.last.place) &&
			v.originsFit(level, place, o) && o.inputsExist(v.inputs)
		delete(v.scopes, id)
		first, v.last = false, id
	})
	if err == nil && !sound {
		err = v.badBlock(block, "the origins of scopes, each once")
	}
	return err
}

// originsFit reports whether a record has as many entries as its scope has keys and, in a narrow level, the same
// keys.
func (v *coldVerifier) originsFit(level, place uint32, o *scopeOrigins) bool {
	l := &v.levels[level]
	if !l.narrow {
		t, _ := v.table(place - 1) // checkLevels has checked it
		return t.n == o.n
	}
	column := l.first + int(place-1)
	if v.bound[column] != o.n {
		return false
	}
	for i, n := range o.keys {
		if n >= v.hash.n || i > 0 && n <= o.keys[i-1] || v.mask(n)>>column&1 == 0 {
			return false
		}
	}
	return true
}

// inputsExist reports whether all origins are in existing inputs or have no line.
func (o *scopeOrigins) inputsExist(inputs uint32) bool {
	if o.input.uniform {
		return o.input.same < inputs || o.line.uniform && o.line.same == 0
	}
	for i, input := range o.input.all {
		if input >= inputs && o.line.at(uint32(i)) > 0 {
			return false
		}
	}
	return true
}

// keyBlock checks a block of keys, which must continue where the previous block ended.
func (v *coldVerifier) keyBlock(block int) error {
	var k coldKey
	sound := v.coldFirst(block) == v.next
	err := v.eachKey(block, func(key uint32, b *coldBinding) {
		if b == nil {
			sound = sound && (key == v.coldFirst(block) || k.fits(v.Snapshot))
			k = coldKey{key: key}
			v.next++
			return
		}
		sound = sound && v.checkBinding(&k, b)
	})
	if err == nil && (!sound || v.next == v.coldFirst(block) || !k.fits(v.Snapshot)) {
		err = v.badBlock(block, "bindings of keys, in order")
	}
	return err
}

// coldKey tracks what coldVerifier has seen in the record of a key.
type coldKey struct {
	key           uint32
	unconditional bool // the default has been checked
	hidden        bool
	above         uint32 // number of levels above the previous binding
}

// fits reports whether the cold record k and the key record agree on the default and on hidden bindings. If there are
// no hidden bindings, the cold record may omit the default.
func (k *coldKey) fits(s *Snapshot) bool {
	hasDefault := at32(s.keys, keyRecord*uint64(k.key)+recDefault) != noRef
	return k.hidden == s.hidden(k.key) && (hasDefault || !k.unconditional) &&
		(k.unconditional || !hasDefault || !k.hidden)
}

// checkBinding reports whether a binding of a key is valid. Its input must exist, it must not have higher precedence
// than the previous binding, the key must allow its kind, and its recipe must be valid.
func (v *coldVerifier) checkBinding(k *coldKey, b *coldBinding) bool {
	if b.origin.Input >= v.inputs && b.origin.Line > 0 || b.above < k.above {
		return false
	}
	k.above = b.above
	switch b.kind {
	case coldDefault:
		first := !k.unconditional
		k.unconditional = true
		return first && len(b.terms) == 0
	case coldHidden:
		k.hidden = true
		if b.stored.Computed {
			contributes, alone, err := v.checkRecipe(b.stored.Bytes)
			return err == nil && !contributes && v.isAllowed(k.key, contributes, alone)
		}
		return !v.collects(k.key)
	case coldContribution:
		return v.collects(k.key)
	}
	return true
}
