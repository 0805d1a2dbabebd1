package expr

import (
	"strings"

	"bindc/internal/expr/ruby"
	"bindc/internal/types"
	"bindc/internal/value"
)

// access evaluates an Access such as $a['b', 'c']. If the left side is a type, the keys are its parameters. If it is
// undef, the result is undef.
func (ev *Evaluator) access(n *Node) (value.Value, error) {
	left, err := ev.eval(n.Kids[0])
	if err != nil {
		return left, err
	}
	if len(n.Kids) == 2 && n.Kids[1].Op != Splat {
		key, err := ev.eval(n.Kids[1])
		if err != nil {
			return left, err
		}
		if err := ev.Search(left, key); err != nil {
			return left, err
		}
		if v, ok := element(left, key); ok {
			if v.IsUndef() && !ev.readsLocal(n) {
				missedKey(ev.env, n, left, v)
			}
			return v, nil
		}
		return ev.accessBy(n, left, []value.Value{key})
	}
	args, err := ev.list(n.Kids[1:])
	if err != nil {
		return left, err
	}
	return ev.accessBy(n, left, args)
}

// element returns v[key] if v is undef, a hash, or an array with an integer key. Otherwise it returns false.
func element(v, key value.Value) (value.Value, bool) {
	switch k := v.Kind(); {
	case k == value.Undef:
		return v, true
	case k == value.Hash:
		e, _ := v.Get(key)
		return e, true
	case k == value.Array && key.Kind() == value.Int:
		return ruby.At(v, key.Int()), true
	}
	return value.Value{}, false
}

// MissEnv is an Env that records missing variables. If the variable exists, path contains the keys of the missing
// element.
type MissEnv interface {
	Missed(name string, path ...value.Value)
}

// missed reports to env that a variable, or its element at path, is missing.
func missed(env Env, name string, path ...value.Value) {
	if env, ok := env.(MissEnv); ok {
		env.Missed(strings.TrimPrefix(name, "::"), path...)
	}
}

// missedKey reports to env that n, which accesses a variable by constant keys, found nothing in container. A key with
// the value undef does not count as missing.
func missedKey(env Env, n *Node, container, found value.Value) {
	if _, wanted := env.(MissEnv); !wanted || !found.IsUndef() || container.IsUndef() {
		return
	}
	name, path, ok := n.constantAccess()
	if !ok {
		return
	}
	if _, there := container.Get(path[len(path)-1]); !there {
		missed(env, name, path...)
	}
}

// accessBy evaluates left[args...] after the keys have been evaluated.
func (ev *Evaluator) accessBy(n *Node, left value.Value, args []value.Value) (value.Value, error) {
	switch left.Kind() {
	case value.Undef:
		return value.Value{}, nil
	case value.Hash:
		return ev.accessHash(n, left, args)
	case value.Array:
		return ev.accessArray(n, left, args)
	case value.String:
		return ev.accessString(n, left, args)
	case value.Type:
		t, err := types.FromValue(left)
		if err == nil {
			t, err = t.With(args...)
		}
		return t.Value(), err
	}
	return left, failf(n, "[] does not apply to %s", Describe(left))
}

// Search counts the steps of looking up key in v. It counts none unless v is a Hash. A long or composed key costs
// more, because it is hashed or compared as a whole.
func (ev *Evaluator) Search(v, key value.Value) error {
	if v.Kind() != value.Hash {
		return nil
	}
	if key.Kind() != value.String {
		return ev.spendProduct(v.Probes(key), 1+Weight(key))
	}
	return ev.Spend(v.Probes(key)/StepsPerNode + len(key.Text())/BytesPerStep)
}

func (ev *Evaluator) accessHash(n *Node, h value.Value, keys []value.Value) (value.Value, error) {
	switch len(keys) {
	case 0:
		return h, failf(n, "[] of a Hash needs a key")
	case 1:
		if err := ev.Search(h, keys[0]); err != nil {
			return h, err
		}
		v, _ := h.Get(keys[0])
		return v, nil
	}
	var out []value.Value
	for _, k := range keys {
		if err := ev.Search(h, k); err != nil {
			return h, err
		}
		if v, _ := h.Get(k); !v.IsUndef() {
			out = append(out, v)
		}
	}
	return value.FromSlice(out), nil
}

// farAway limits indexes. No string or array is that long, and the sum of two such indexes does not overflow.
const farAway = 1 << 48

// positions converts one or two arguments of [] to integers. The arguments may be in an array, and each may be the text
// of an integer.
func positions(n *Node, what string, args []value.Value) ([]int64, error) {
	var out []int64
	for _, v := range ruby.Flatten(args, -1) {
		num, ok := ruby.Number(v)
		if !ok || num.Kind() != value.Int {
			return nil, failf(n, "[] of %s needs an Integer, found %s", what, Describe(v))
		}
		out = append(out, min(max(num.Int(), -farAway), farAway))
	}
	if len(out) < 1 || len(out) > 2 {
		return nil, failf(n, "[] of %s takes 1 or 2 parameters, found %d", what, len(out))
	}
	return out, nil
}

// sliceRange converts a start and a length, which are in at, to a range in a sequence of size elements. Negative
// numbers count from the end.
func sliceRange(at []int64, size int) (from, to int, ok bool) {
	length, start, count := int64(size), at[0], at[1]
	if start < 0 {
		start += length
	}
	if count < 0 {
		count = length - start + count + 1
	}
	if start < 0 {
		start, count = 0, count+start
	}
	if start > length || count < 0 {
		return 0, 0, false
	}
	return int(start), int(start + min(count, length-start)), true
}

func (ev *Evaluator) accessArray(n *Node, v value.Value, args []value.Value) (value.Value, error) {
	at, err := positions(n, "an Array", args)
	if err != nil {
		return v, err
	}
	if len(at) == 1 {
		if at[0] < 0 {
			at[0] += int64(v.Len())
		}
		if at[0] < 0 || at[0] >= int64(v.Len()) {
			return value.Value{}, nil
		}
		return v.Index(int(at[0])), nil
	}
	from, to, ok := sliceRange(at, v.Len())
	if !ok {
		return value.FromSlice(nil), nil
	}
	return ev.MakeArray(v.Slice()[from:to:to])
}

func (ev *Evaluator) accessString(n *Node, v value.Value, args []value.Value) (value.Value, error) {
	at, err := positions(n, "a String", args)
	if err != nil {
		return v, err
	}
	chars := []rune(v.Text())
	if err := ev.Spend(len(chars) / 64); err != nil {
		return v, err
	}
	if len(at) == 1 {
		at = append(at, 1)
		if at[0] < 0 && at[0]+int64(len(chars)) < 0 {
			return value.FromString(""), nil
		}
	}
	from, to, ok := sliceRange(at, len(chars))
	if !ok {
		return value.FromString(""), nil
	}
	return ev.MakeText(string(chars[from:to]))
}
