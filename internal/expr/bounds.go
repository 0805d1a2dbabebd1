package expr

import (
	"errors"

	"bindc/internal/value"
)

// This file enforces the limits of Options.

var (
	errSteps = errors.New("the evaluation takes too many steps")
	ErrDepth = errors.New("the expression is nested too deeply")
	errDeep  = errors.New("the value is nested too deeply")
	ErrSize  = errors.New("the evaluation produces too much data")
)

// SizeOfElement is the size of an array element in bytes, as counted for Options.Size.
const SizeOfElement = 48

// Spend counts n steps. It returns an error if fewer steps are left.
func (ev *Evaluator) Spend(n int) error {
	if n < 0 || n > ev.steps {
		ev.steps = 0
		return errSteps
	}
	ev.steps -= n
	if ev.total == nil {
		return nil
	}
	if ev.total.Steps -= n; ev.total.Steps < 0 {
		return errSteps
	}
	return nil
}

// nest reduces the depth left for nested lookups by the current depth of ev. The caller must call leave after the
// lookup.
func (ev *Evaluator) nest() (leave func()) {
	if ev.total == nil {
		return func() {}
	}
	levels := ev.begin - ev.depth
	ev.total.Depth -= levels
	return func() { ev.total.Depth += levels }
}

// Room returns the number of bytes of results that are left.
func (ev *Evaluator) Room() int { return ev.size }

// Produce counts n bytes of results. It returns an error if fewer bytes are left.
func (ev *Evaluator) Produce(n int) error {
	if n < 0 || n > ev.size {
		ev.size = 0
		return ErrSize
	}
	ev.size -= n
	return nil
}

// Check counts n bytes for the new collection v, and limits the size of its content. The same value can occur in v
// many times, so visiting all of v may take longer than its memory suggests. Because every new collection is checked,
// functions can visit their arguments without a limit.
func (ev *Evaluator) Check(v value.Value, n int) error {
	s := scale{limit: ev.whole}
	err := s.add(v, value.MaxDepth)
	if err == nil {
		err = ev.Spend(s.nodes / StepsPerNode)
	}
	if err == nil {
		err = ev.Produce(n)
	}
	return err
}

// StepsPerNode is the number of elements that count as one step.
const StepsPerNode = 16

// spendProduct counts the steps of handling a*b elements. The product may exceed an int of 32 bits.
func (ev *Evaluator) spendProduct(a, b int) error {
	if a > 0 && b > DefaultSteps*StepsPerNode/a {
		return errSteps
	}
	return ev.Spend(a * b / StepsPerNode)
}

// BytesPerStep is the number of bytes of text that count as one step.
const BytesPerStep = 16

// sizeOfNode is the number of bytes counted for each occurrence of an element in a value.
const sizeOfNode = 32

// scale counts the elements of a value and the bytes of its strings, up to a limit.
type scale struct{ nodes, bytes, limit int }

func (s *scale) add(v value.Value, depth int) error {
	s.nodes++
	if depth == 0 {
		return errDeep
	}
	switch v.Kind() {
	case value.String, value.Regexp:
		s.bytes += len(v.Text())
	case value.Array:
		for e := range v.Elems() {
			if err := s.add(e, depth-1); err != nil {
				return err
			}
		}
	case value.Hash:
		for k, e := range v.Pairs() {
			if err := s.add(k, depth-1); err != nil {
				return err
			}
			if err := s.add(e, depth-1); err != nil {
				return err
			}
		}
	}
	if s.bytes+sizeOfNode*(s.nodes-1) > s.limit {
		return ErrSize
	}
	return nil
}

// Traverse counts the steps of visiting v and all elements in it.
func (ev *Evaluator) Traverse(v value.Value) error {
	if !IsCollection(v) {
		return nil
	}
	return ev.Spend(Weight(v) / StepsPerNode)
}

// IsCollection reports whether v is an Array or a Hash.
func IsCollection(v value.Value) bool { return v.Kind() == value.Array || v.Kind() == value.Hash }
