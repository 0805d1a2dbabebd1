package expr

import (
	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

// MakeText returns s as a String and counts its size.
func (ev *Evaluator) MakeText(s string) (value.Value, error) {
	return value.FromString(s), ev.Produce(len(s))
}

// MakeArray returns an Array of elems and counts its size.
func (ev *Evaluator) MakeArray(elems []value.Value) (value.Value, error) {
	v := value.FromSlice(elems)
	return v, ev.Check(v, SizeOfElement*len(elems))
}

// MakeHash returns the Hash that b has built. It returns an error if the content is too large.
func (ev *Evaluator) MakeHash(b *value.Builder) (value.Value, error) {
	h := b.Hash()
	return h, ev.Check(h, 0)
}

// list evaluates the elements of a list or the arguments of a call. It adds the elements of splats.
func (ev *Evaluator) list(nodes []*Node) ([]value.Value, error) {
	out := make([]value.Value, 0, len(nodes))
	for _, n := range nodes {
		if n.Op == Splat {
			elems, err := ev.splat(n)
			if err == nil {
				err = ev.Produce(SizeOfElement * len(elems))
			}
			if err != nil {
				return nil, at(n, err)
			}
			out = append(out, elems...)
			continue
		}
		v, err := ev.eval(n)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (ev *Evaluator) splat(n *Node) ([]value.Value, error) {
	v, err := ev.eval(n.Kids[0])
	if err != nil {
		return nil, err
	}
	switch v.Kind() {
	case value.Undef:
		return nil, nil
	case value.Array:
		return v.Slice(), nil
	case value.Hash:
		return ruby.Pairs(v), ev.Produce(3 * SizeOfElement * v.Len())
	}
	return []value.Value{v}, nil
}

func (ev *Evaluator) hash(n *Node) (value.Value, error) {
	var b value.Builder
	for i := 0; i+1 < len(n.Kids); i += 2 {
		k, err := ev.eval(n.Kids[i])
		if err != nil {
			return k, err
		}
		v, err := ev.eval(n.Kids[i+1])
		if err != nil {
			return v, err
		}
		if err := ev.SetKey(&b, k, v); err != nil {
			return v, err
		}
	}
	return ev.MakeHash(&b)
}

// SetKey sets an entry of a hash. It counts steps for a key that is not a string, because the hash must encode it.
func (ev *Evaluator) SetKey(b *value.Builder, k, v value.Value) error {
	if k.Kind() != value.String {
		if err := ev.Spend(1 + Weight(k)/StepsPerNode); err != nil {
			return err
		}
	}
	b.Set(k, v)
	return ev.Produce(2 * SizeOfElement)
}
