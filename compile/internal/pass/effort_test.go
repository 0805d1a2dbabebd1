package pass

import "testing"

// After the first request that fails, all others fail, even smaller ones.
func TestSpendFailsForGoodAfterFirstFailure(t *testing.T) {
	e := newEffort(10)
	if !e.Spend(4) || !e.Spend(6) || e.Left != 0 || e.Over() {
		t.Errorf("spending 10 of 10 steps fails: %d left, over %v", e.Left, e.Over())
	}
	if e.Spend(1) || !e.Over() || e.Spend(0) {
		t.Error("spending an 11th step of 10 succeeds, or a later request does")
	}
	if e := newEffort(10); e.Spend(11) || !e.Over() || e.Spend(1) {
		t.Error("spending 11 of 10 steps at once succeeds")
	}
	if e := newEffort(1); !e.Spend(1) || e.Limit != 1 {
		t.Error("spending the only step fails")
	}
}
