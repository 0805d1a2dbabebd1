package expr

import (
	"testing"

	"bindc/internal/testmode"
	"bindc/internal/value"
)

// Fold tries each level of an expression, and each attempt may descend to the innermost level before it fails. The
// limit on steps keeps the total proportional to the size of the expression.
func TestFoldLimitsWorkOnDeepExpressions(t *testing.T) {
	testmode.SkipUnderRace(t)
	const levels = 3900
	one := &Node{Op: Const, Value: value.FromInt(1)}
	sum := func(left *Node) *Node { return &Node{Op: Binary, Name: "+", Kids: []*Node{left, one}} }
	deep := &Node{Op: Call, Name: "lookup", Kids: []*Node{{Op: Const, Value: value.FromString("key")}}}
	for range levels {
		deep = sum(deep)
	}
	left := foldBounds(2*levels + 2)
	before := left.Steps
	if n := (folder{left: &left}).foldScope(deep, true); n.Op != Binary {
		t.Errorf("a lookup is folded to %v", n.Op)
	}
	if spent := before - left.Steps; spent > before+foldSteps {
		t.Errorf("folding %d levels takes %d steps of %d", levels, spent, before)
	}
	if n := Fold(sum(sum(one)), nil); n.Op != Const || n.Value.Int() != 3 {
		t.Errorf("1 + 1 + 1 is folded to %v", n.Op)
	}
}
