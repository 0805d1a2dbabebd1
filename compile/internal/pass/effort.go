package pass

import "bindc/diag"

// Effort bounds the comparisons of a build. All conditions of a key can be compatible with one another, and so can the
// ways in which they hold. For a site made for it, the checks would take more than the square of its size. It counts
// steps of about 100 ns. When no steps are left, searches find nothing more, and Env.Report drops their results.
type Effort struct {
	Left, Limit int
	OnPatterns  diag.Pos // the lookup_options whose patterns used up the effort
}

func newEffort(limit int) *Effort {
	return &Effort{Left: limit, Limit: limit}
}

// Spend takes n steps and reports whether that many were left.
func (e *Effort) Spend(n int) bool {
	e.Left -= n
	return e.Left >= 0
}

// Over reports whether more steps were asked for than there were.
func (e *Effort) Over() bool { return e.Left < 0 }
