package expr

import (
	"errors"

	"bindc/internal/value"
)

// This file enforces the limits of Options.

var (
	errSteps = errors.New("the evaluation takes too many steps")
	ErrDepth = errors.New("the expression is nested too deep")
	errDeep  = errors.New("the value is nested too deep")
	ErrSize  = errors.New("the evaluation produces too much data")
)

// SizeOfElement is the number of bytes that an array element counts towards Options.Size.
const SizeOfElement = 48

// Spend counts n steps. It fails once the evaluation has used all its steps.
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

// nest subtracts the current depth of ev from the depth that nested lookups may use, until leave is
// called.
func (ev *Evaluator) nest() (leave func()) {
	if ev.total == nil {
		return func() {}
	}
	levels := ev.begin - ev.depth
	ev.total.Depth -= levels
	return func() { ev.total.Depth += levels }
}

// Room returns how many bytes of results may still be produced.
func (ev *Evaluator) Room() int { return ev.size }

// Produce counts n bytes of results. It fails once the evaluation has produced too much.
func (ev *Evaluator) Produce(n int) error {
	if n < 0 || n > ev.size {
		ev.size = 0
		return ErrSize
	}
	ev.size -= n
	return nil
}

// Check counts n bytes for the collection v and limits the size of its content. A value may contain
// another value many times, so a walk through it can visit far more than is in memory. Every new
// collection is checked, so functions need not limit their walks.
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

// StepsPerNode is the number of elements that one step covers.
const StepsPerNode = 16

// BytesPerStep is the number of bytes of text that one step covers.
const BytesPerStep = 16

// sizeOfNode is the number of bytes that an element counts towards the size of a whole value, each
// time it occurs.
const sizeOfNode = 32

// scale sums up the size of a value: its elements, and its bytes as text.
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

// Traverse counts the steps of walking through v.
func (ev *Evaluator) Traverse(v value.Value) error {
	if !IsCollection(v) {
		return nil
	}
	return ev.Spend(Weight(v) / StepsPerNode)
}

// IsCollection reports whether v is an Array or a Hash.
func IsCollection(v value.Value) bool { return v.Kind() == value.Array || v.Kind() == value.Hash }
