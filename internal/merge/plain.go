package merge

import "bindc/internal/value"

// Value is what lookup_options say of the key or pattern, as they are written.
func (e *Entry) Value() value.Value { return e.value }

// Plain tells whether a lookup by e yields what is found first, as it is.
func (e *Entry) Plain() bool {
	if e == nil {
		return true
	}
	to, err := e.option("convert_to")
	return e.strategyErr == nil && e.strategy.kind == first && err == nil && to.IsUndef()
}
