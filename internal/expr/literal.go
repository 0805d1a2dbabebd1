package expr

import "bindc/internal/value"

// text is a String that counts as produced.
func (ev *evaluator) text(s string) (value.Value, error) {
	return value.FromString(s), ev.produce(len(s))
}

// array is an Array whose elements count as produced.
func (ev *evaluator) array(elems []value.Value) (value.Value, error) {
	v := value.FromSlice(elems)
	return v, ev.check(v, sizeOfElement*len(elems))
}

// finish is the Hash that b has become.
func (ev *evaluator) finish(b *value.Builder) (value.Value, error) {
	h := b.Hash()
	return h, ev.check(h, 0)
}

// list evaluates elements or arguments and spreads splats.
func (ev *evaluator) list(nodes []*Node) ([]value.Value, error) {
	out := make([]value.Value, 0, len(nodes))
	for _, n := range nodes {
		if n.Op == Splat {
			elems, err := ev.splat(n)
			if err == nil {
				err = ev.produce(sizeOfElement * len(elems))
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

func (ev *evaluator) splat(n *Node) ([]value.Value, error) {
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
		return entries(v), ev.produce(3 * sizeOfElement * v.Len())
	}
	return []value.Value{v}, nil
}

// entries are the pairs of a Hash as arrays of two.
func entries(h value.Value) []value.Value {
	out := make([]value.Value, 0, h.Len())
	for k, e := range h.Pairs() {
		out = append(out, value.FromSlice([]value.Value{k, e}))
	}
	return out
}

func (ev *evaluator) hash(n *Node) (value.Value, error) {
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
		if err := ev.setKey(&b, k, v); err != nil {
			return v, err
		}
	}
	return ev.finish(&b)
}

// setKey puts an entry into a hash. Keys that are no strings are found one by one, which counts as steps.
func (ev *evaluator) setKey(b *value.Builder, k, v value.Value) error {
	if k.Kind() != value.String {
		if err := ev.spend(b.Len() * (1 + weight(k)/stepsPerNode) / stepsPerNode); err != nil {
			return err
		}
	}
	b.Set(k, v)
	return ev.produce(2 * sizeOfElement)
}
