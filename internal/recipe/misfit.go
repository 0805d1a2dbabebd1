package recipe

import (
	"slices"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Misfit explains why the value of n does not have type t in any request. For example, a string with interpolations is
// never a number. It returns nil if the type depends on facts or is unknown.
func Misfit(t *types.Type, n *expr.Node) *types.Mismatch { return misfit(t, n, nil) }

// misfit is Misfit for n, a part of a value. path is the path to n in the whole value.
func misfit(t *types.Type, n *expr.Node, path []value.Value) *types.Mismatch {
	switch n.Op {
	case expr.Const:
		m := t.Check(n.Value)
		if m != nil {
			m.Path = append(slices.Clone(path), m.Path...)
		}
		return m
	case expr.Concat:
		return unlessAdmitted(t, value.String, types.String, path)
	case expr.ArrayLit:
		if t.Kind() != types.Array {
			return unlessAdmitted(t, value.Array, types.Array, path)
		}
		return misfitElements(t.Elem(), n.Kids, path)
	case expr.HashLit:
		if t.Kind() != types.Hash {
			return unlessAdmitted(t, value.Hash, types.Hash, path)
		}
		return misfitEntries(t.Elem(), n.Kids, path)
	}
	return nil
}

func unlessAdmitted(t *types.Type, k value.Kind, found types.Kind, path []value.Value) *types.Mismatch {
	if t.Admits(k) {
		return nil
	}
	return &types.Mismatch{Expected: t, Found: types.Of(found).String(), Path: path}
}

// misfitElements checks the elements before the first splat. The indexes of later elements are unknown.
func misfitElements(t *types.Type, elems []*expr.Node, path []value.Value) *types.Mismatch {
	for i, e := range elems {
		if e.Op == expr.Splat {
			break
		}
		if m := misfit(t, e, append(slices.Clone(path), value.FromInt(int64(i)))); m != nil {
			return m
		}
	}
	return nil
}

// misfitEntries checks the values of a hash whose keys are constant. kids alternates between keys and values.
func misfitEntries(t *types.Type, kids []*expr.Node, path []value.Value) *types.Mismatch {
	for entry := range slices.Chunk(kids, 2) {
		key, ok := entry[0].Constant()
		if !ok {
			continue
		}
		if m := misfit(t, entry[1], append(slices.Clone(path), key)); m != nil {
			return m
		}
	}
	return nil
}
