package expr

import (
	"strings"

	"bindc/internal/expr/ruby"
	"bindc/internal/types"
	"bindc/internal/value"
)

// matches reports whether v matches option, which is an option of a case or selector, or an element on the right side
// of the operator in.
func (ev *Evaluator) matches(v, option value.Value) (bool, error) {
	switch option.Kind() {
	case value.Default:
		return true, nil
	case value.Regexp:
		if v.Kind() != value.String {
			return false, nil
		}
		return ev.matchText(option.Text(), v.Text())
	case value.Type:
		return ev.isA(v, option)
	case value.Array:
		return ev.matchesArray(v, option)
	case value.Hash:
		return ev.matchesHash(v, option)
	}
	return ev.equals(v, option)
}

func (ev *Evaluator) isA(v, typ value.Value) (bool, error) {
	t, err := types.FromValue(typ)
	if err != nil {
		return false, err
	}
	if err := ev.Traverse(v); err != nil {
		return false, err
	}
	return t.Instance(v), nil
}

func (ev *Evaluator) matchesArray(v, option value.Value) (bool, error) {
	if v.Kind() != value.Array || v.Len() != option.Len() {
		return false, nil
	}
	elems := v.Slice()
	i := 0
	for o := range option.Elems() {
		if fits, err := ev.matches(elems[i], o); !fits || err != nil {
			return false, err
		}
		i++
	}
	return true, nil
}

func (ev *Evaluator) matchesHash(v, option value.Value) (bool, error) {
	if v.Kind() != value.Hash {
		return false, nil
	}
	for k, o := range option.Pairs() {
		if err := ev.Search(v, k); err != nil {
			return false, err
		}
		e, _ := v.Get(k)
		if fits, err := ev.matches(e, o); !fits || err != nil {
			return false, err
		}
	}
	return true, nil
}

// contains evaluates the operator in: it reports whether the value in contains item.
func (ev *Evaluator) contains(in, item value.Value) (bool, error) {
	switch in.Kind() {
	case value.String:
		switch item.Kind() {
		case value.String:
			if err := ev.Spend((len(in.Text()) + len(item.Text())) / BytesPerStep); err != nil {
				return false, err
			}
			return strings.Contains(ruby.Downcase(in.Text()), ruby.Downcase(item.Text())), nil
		case value.Regexp:
			return ev.matchText(item.Text(), in.Text())
		}
		return false, nil
	case value.Array:
		return ev.anyElement(in.Slice(), item)
	case value.Hash:
		return ev.anyElement(ruby.Keys(in), item)
	}
	return false, nil
}

func (ev *Evaluator) anyElement(elems []value.Value, item value.Value) (bool, error) {
	for _, e := range elems {
		var found bool
		var err error
		switch item.Kind() {
		case value.Regexp:
			if e.Kind() == value.String {
				found, err = ev.matchText(item.Text(), e.Text())
			}
		case value.String:
			found, err = ev.matches(item, e)
		case value.Type:
			found, err = ev.isA(e, item)
		default:
			found, err = ev.equals(e, item)
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func (ev *Evaluator) matchOperator(n *Node, left, right value.Value) (bool, error) {
	switch right.Kind() {
	case value.Type:
		return ev.isA(left, right)
	case value.String, value.Regexp:
		if left.Kind() != value.String {
			return false, failf(n, "the operator %s needs a String on the left, found %s", n.Name, Describe(left))
		}
		return ev.matchText(right.Text(), left.Text())
	}
	return false, failf(n, "the operator %s needs a regular expression or a type on the right, found %s", n.Name,
		Describe(right))
}
