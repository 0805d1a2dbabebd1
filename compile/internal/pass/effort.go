package pass

import "bindc/diag"

// Effort limits the comparisons of a build. All conditions of a key can be compatible with one
// another, and so can the ways in which they hold, so for a hostile site the checks would take
// quadratic time or more. Effort counts steps of about 100 ns. When no steps are left, searches
// find nothing more, and Env.Report drops their results.
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

// Over reports whether more steps were requested than available.
func (e *Effort) Over() bool { return e.Left < 0 }
