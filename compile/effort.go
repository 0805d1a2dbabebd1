package compile

import "bindc/internal/diag"

// DefaultEffort takes some seconds. Sites of a million bindings use a hundredth of it.
const DefaultEffort = 1 << 25

// effort bounds the comparisons of a build. All conditions of a key can be compatible with one another, and so can the
// ways in which they hold. For a site made for it, the checks would take more than the square of its size. It counts
// steps of about 100 ns. When no steps are left, searches find nothing more, and env.report drops their results.
type effort struct {
	left, limit int
	onPatterns  diag.Pos // the lookup_options whose patterns used up the effort
}

func newEffort(limit int) *effort {
	if limit <= 0 {
		limit = DefaultEffort
	}
	return &effort{left: limit, limit: limit}
}

// spend takes n steps and reports whether that many were left.
func (e *effort) spend(n int) bool {
	e.left -= n
	return e.left >= 0
}

func (e *effort) over() bool { return e.left < 0 }
