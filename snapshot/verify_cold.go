package snapshot

// checkOrigins checks that every scope and every key has its record, and only one; and that blocks lie one behind the
// other and in order, so that what looks for one finds it.
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

// coldVerifier checks the blocks of origins.
type coldVerifier struct {
	*verifier
	scopes map[scopeID]bool // those whose record is still to come
	last   scopeID          // the one before
	next   uint32           // the key whose record is next
	inputs uint32           // files
	end    uint64           // of the blocks before
}

// scopeID is a level, and a place in it.
type scopeID struct{ level, place uint32 }

func (v *coldVerifier) block(block int) error {
	packed, _, err := v.coldFrame(block)
	if err != nil {
		return err
	}
	off, level := load64(v.coldEntry(block)), v.coldLevel(block)
	if off < v.end || block > 0 && level < v.coldLevel(block-1) {
		return v.badBlock(block, "a block behind the one before")
	}
	v.end = off + uint64(len(packed))
	if level == coldKeys {
		return v.keyBlock(block)
	}
	return v.scopeBlock(block)
}

// scopeBlock checks a block of scopes, and strikes them off the list.
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

// originsFit tells whether a record is of as many keys as its scope has, and of a narrow level of these.
func (v *coldVerifier) originsFit(level, place uint32, o *scopeOrigins) bool {
	l := &v.levels[level]
	if !l.narrow {
		t, _ := v.table(place - 1) // which checkLevels has found
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

// inputsExist tells whether the origins are in files that there are.
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

// keyBlock checks a block of keys, which are the next.
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

// coldKey is what the record of a key has so far.
type coldKey struct {
	key           uint32
	unconditional bool // that of the default
	hidden        bool
	above         uint32 // of the last binding
}

// fits tells whether this is what the key record says: a default where there is one, if anything is said of it.
func (k *coldKey) fits(s *Snapshot) bool {
	hasDefault := at32(s.keys, keyRecord*uint64(k.key)+recDefault) != noRef
	return k.hidden == s.hidden(k.key) && (hasDefault || !k.unconditional) &&
		(k.unconditional || !hasDefault || !k.hidden)
}

// checkBinding checks a binding of a key: that it is in a file that there is, behind the one before, what its kind may
// stand for, and its recipe.
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
			return err == nil && !contributes && v.mayStand(k.key, contributes, alone)
		}
		return !v.collects(k.key)
	case coldContribution:
		return v.collects(k.key)
	}
	return true
}
