package pass

import "testing"

// Requests succeed until all steps are used. The first failed request is remembered, whatever is
// requested later.
func TestSpendRemembersExhaustion(t *testing.T) {
	e := newEffort(10)
	if !e.Spend(4) || !e.Spend(6) || e.Left != 0 || e.Over() {
		t.Errorf("of ten steps ten are not taken: %d left, over %v", e.Left, e.Over())
	}
	if e.Spend(1) || !e.Over() || e.Spend(0) {
		t.Error("there is an eleventh step")
	}
	if e := newEffort(10); e.Spend(11) || !e.Over() || e.Spend(1) {
		t.Error("eleven steps are taken of ten")
	}
	if e := newEffort(1); !e.Spend(1) || e.Limit != 1 {
		t.Error("one step is not taken of one")
	}
}
