package stdlib

import (
	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// newHash converts pairs, alternating keys and values, or a list of paths and values to a hash.
func newHash(c *call) (value.Value, error) {
	if err := countBetween(c, 1, 2); err != nil {
		return value.Value{}, err
	}
	v := c.Args[0]
	if len(c.Args) == 2 {
		option := c.Args[1].Text()
		if option != "tree" && option != "hash_tree" || !isTree(v) {
			return v, c.Failf("argument 2 must be 'tree' or 'hash_tree', with an Array of paths and values")
		}
		return hashOfTree(c, v, option == "hash_tree")
	}
	switch {
	case v.Kind() == value.Hash:
		return v, nil
	case v.Kind() != value.Array && !types.Iterates(v):
		return v, c.Failf("%s cannot be converted to a Hash", expr.Describe(v))
	case v.Kind() != value.Array:
		elems, err := elements(c)
		if err != nil {
			return v, err
		}
		v = value.FromSlice(elems)
	}
	h, err := c.HashOfArray(v, isPairs(v))
	if err != nil {
		return v, c.Fail(err)
	}
	return h, nil
}

// isPairs reports whether v is an array of two-element arrays.
func isPairs(v value.Value) bool {
	for e := range v.Elems() {
		if e.Kind() != value.Array || e.Len() != 2 {
			return false
		}
	}
	return v.Len() > 0
}

// isTree reports whether v is an array of pairs, each with a path and a value.
func isTree(v value.Value) bool {
	for e := range v.Elems() {
		if e.Index(0).Kind() != value.Array {
			return false
		}
	}
	return v.Kind() == value.Array && isPairs(v)
}

// branch is a hash or array that is being built.
type branch struct {
	keys   []value.Value
	values []any          // each is a value.Value or a *branch
	index  map[string]int // positions in keys, by distinctKey
	array  bool
}

func newBranch(array bool) *branch { return &branch{index: map[string]int{}, array: array} }

func (b *branch) set(key value.Value, val any) {
	id := distinctKey(key)
	i, exists := b.index[id]
	if exists {
		b.values[i] = val
		return
	}
	b.index[id] = len(b.keys)
	b.keys, b.values = append(b.keys, key), append(b.values, val)
}

// into returns the branch at key. It creates the branch if key does not exist, and returns nil if the value at key is
// not a collection.
func (b *branch) into(c *call, key value.Value) (*branch, error) {
	i, exists := b.index[distinctKey(key)]
	if !exists {
		inner := newBranch(false)
		b.set(key, inner)
		return inner, nil
	}
	if v, ok := b.values[i].(value.Value); ok {
		grown, err := grow(c, v)
		if grown == nil || err != nil {
			return nil, err
		}
		b.values[i] = grown
	}
	return b.values[i].(*branch), nil
}

// grow converts a collection to a branch. It returns nil for any other value.
func grow(c *call, v value.Value) (*branch, error) {
	if !expr.IsCollection(v) {
		return nil, nil
	}
	if err := c.Spend(v.Len()); err != nil {
		return nil, err
	}
	b := newBranch(v.Kind() == value.Array)
	i := int64(0)
	for e := range v.Elems() {
		b.set(value.FromInt(i), e)
		i++
	}
	for k, e := range v.Pairs() {
		b.set(k, e)
	}
	return b, c.Produce(2 * expr.SizeOfElement * v.Len())
}

func (b *branch) finish() value.Value {
	var h value.Builder
	var list []value.Value
	for i, v := range b.values {
		val, ok := v.(value.Value)
		if !ok {
			val = v.(*branch).finish()
		}
		h.Set(b.keys[i], val)
		list = append(list, val)
	}
	if b.array {
		return value.FromSlice(list)
	}
	return h.Hash()
}

// hashOfTree builds a hash from v, an array of paths and values. If hashes is set, it converts arrays among the
// values to hashes.
func hashOfTree(c *call, v value.Value, hashes bool) (value.Value, error) {
	root := newBranch(false)
	n := 0
	for e := range v.Elems() {
		n++
		path, val := e.Index(0).Slice(), e.Index(1)
		if err := c.Spend(1 + expr.Weight(e.Index(0))/expr.StepsPerNode); err != nil {
			return v, err
		}
		if err := c.Produce(2 * expr.SizeOfElement * (1 + len(path))); err != nil {
			return v, err
		}
		if len(path) == 0 {
			if err := mergeRoot(c, root, val); err != nil {
				return v, err
			}
			continue
		}
		at := root
		for _, key := range path[:len(path)-1] {
			var err error
			if at, err = at.into(c, key); err != nil {
				return v, err
			} else if at == nil {
				return v, c.Failf("the path of entry %d leads into a value that is not an Array or a Hash", n)
			}
		}
		if hashes {
			val = arrayAsHash(val)
		}
		if err := placeAt(c, at, path, val); err != nil {
			return v, err
		}
	}
	h := root.finish()
	return h, c.Check(h, 0)
}

// placeAt sets the value at the last key of path in b. If b is an array, the key must be the index of an element, or
// the index after the last element.
func placeAt(c *call, b *branch, path []value.Value, val value.Value) error {
	key := path[len(path)-1]
	if b.array && (key.Kind() != value.Int || key.Int() < 0 || key.Int() > int64(len(b.keys))) {
		return c.Failf("%s is not an index of an Array", expr.Describe(key))
	}
	b.set(key, val)
	return nil
}

func mergeRoot(c *call, root *branch, val value.Value) error {
	b, err := grow(c, val)
	if err != nil {
		return err
	}
	if b == nil {
		return c.Failf("the root must be an Array or a Hash, found %s", expr.Describe(val))
	}
	for i, k := range b.keys {
		root.set(k, b.values[i])
	}
	return nil
}

// arrayAsHash converts arrays at every depth to hashes whose keys are the indexes.
func arrayAsHash(v value.Value) value.Value {
	if v.Kind() != value.Array {
		return v
	}
	var b value.Builder
	i := int64(0)
	for e := range v.Elems() {
		b.Set(value.FromInt(i), arrayAsHash(e))
		i++
	}
	return b.Hash()
}
