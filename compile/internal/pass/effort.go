package pass

import "bindc/diag"

// Effort limits the number of comparisons in a build. For a hostile site, whose conditions can all hold together, the
// checks would take at least quadratic time. A step takes about 100 ns. When no steps are left, searches stop early,
// and Env.Report drops their results.
type Effort struct {
	Left, Limit int
	OnPatterns  diag.Pos // position of the lookup_options whose patterns used up the effort
}

func newEffort(limit int) *Effort {
	return &Effort{Left: limit, Limit: limit}
}

// Spend uses n steps. It returns false if fewer than n steps are left.
func (e *Effort) Spend(n int) bool {
	e.Left -= n
	return e.Left >= 0
}

// Part limits the steps to n, or to those that are left, until end is called. end reports whether more were needed.
// Steps that are left over can be spent afterwards.
func (e *Effort) Part(n int) (part int, end func() (used bool)) {
	part = min(e.Left, n)
	rest := e.Left - part
	e.Left = part
	return part, func() bool {
		used := e.Over()
		e.Left = rest + max(0, e.Left)
		return used
	}
}

// Over reports whether more steps were needed than allowed.
func (e *Effort) Over() bool { return e.Left < 0 }
