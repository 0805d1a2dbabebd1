package expr

import (
	"bindc/internal/expr/ruby"
	"bindc/internal/types"
	"bindc/internal/value"
)

// ordered evaluates the operators < <= > >=. A type is less than another if it accepts fewer values.
func (ev *Evaluator) ordered(n *Node, left, right value.Value) (bool, error) {
	if left.Kind() == value.Type {
		return orderedTypes(n.Name, left, right)
	}
	if err := ev.Spend(min(len(left.Text()), len(right.Text())) / BytesPerStep); err != nil {
		return false, err
	}
	c, ok := compare(left, right)
	if !ok {
		return false, failf(n, "%s and %s cannot be compared with %s", Describe(left), Describe(right), n.Name)
	}
	switch n.Name {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

func orderedTypes(operator string, left, right value.Value) (bool, error) {
	a, err := types.FromValue(left)
	if err != nil || right.Kind() != value.Type {
		return false, err
	}
	b, err := types.FromValue(right)
	if err != nil {
		return false, err
	}
	if operator[0] == '<' {
		a, b = b, a
	}
	return a.Accepts(b) && (len(operator) > 1 || !b.Accepts(a)), nil
}

// compare compares two numbers, or two strings without regard to the case of ASCII letters. ok is false for other
// values, except two defaults, which are equal.
func compare(a, b value.Value) (c int, ok bool) {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case ka == value.String && kb == value.String:
		return CompareFolded(a.Text(), b.Text()), true
	case ruby.IsNumeric(ka) && ruby.IsNumeric(kb):
		return ruby.CompareNumbers(a, b)
	case ka == value.Default && kb == value.Default:
		return 0, true
	}
	return 0, false
}

// CompareFolded compares strings byte by byte, without regard to the case of ASCII letters.
func CompareFolded(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := lower(a[i]), lower(b[i]); x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// equals evaluates ==, which ignores the case of strings at every depth. It counts steps, because expressions may
// compare values in loops.
func (ev *Evaluator) equals(a, b value.Value) (bool, error) {
	if err := ev.Spend(1); err != nil {
		return false, err
	}
	switch ka, kb := a.Kind(), b.Kind(); {
	case ruby.IsNumeric(ka) && ruby.IsNumeric(kb):
		c, ok := ruby.CompareNumbers(a, b)
		return ok && c == 0, nil
	case ka != kb:
		return false, nil
	case ka == value.String:
		return ev.equalTexts(a.Text(), b.Text())
	case ka == value.Array:
		return ev.equalArrays(a, b)
	case ka == value.Hash:
		return ev.equalHashes(a, b)
	case ka == value.Type:
		return equalTypes(a, b)
	}
	return value.Identical(a, b), nil
}

func (ev *Evaluator) equalTexts(a, b string) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	return CompareFolded(a, b) == 0, ev.Spend(len(a) / BytesPerStep)
}

func equalTypes(a, b value.Value) (bool, error) {
	x, err := types.FromValue(a)
	if err != nil {
		return false, err
	}
	y, err := types.FromValue(b)
	return err == nil && x.Equal(y), err
}

func (ev *Evaluator) equalArrays(a, b value.Value) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	right := b.Slice()
	i := 0
	for e := range a.Elems() {
		if same, err := ev.equals(e, right[i]); !same || err != nil {
			return false, err
		}
		i++
	}
	return true, nil
}

func (ev *Evaluator) equalHashes(a, b value.Value) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	for k, e := range a.Pairs() {
		if err := ev.Search(b, k); err != nil {
			return false, err
		}
		f, _ := b.Get(k)
		if same, err := ev.equals(f, e); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}
