package site

import (
	"strings"
	"testing"

	"bindc/internal/expr"
)

func TestEqualConditionsAndGuardsShareNumber(t *testing.T) {
	d := NewDimensions([]Dimension{{Name: "node"}, {Name: "os"}}, 0)
	guard := &expr.Node{Op: expr.Var, Name: "dc"}
	first, same, other := d.Guard(0, guard), d.Guard(0, guard), d.Guard(1, guard)
	if first != 2 || same != 2 || other != 3 {
		t.Errorf("guards %d, %d and %d, expected 2, 2 and 3", first, same, other)
	}
	a := d.Condition(Condition{{Dimension: 1, Value: "x"}, {Dimension: 0, Value: "y"}})
	if b := d.Condition(Condition{{Dimension: 0, Value: "y"}, {Dimension: 1, Value: "x"}}); a != 1 || b != 1 {
		t.Errorf("conditions %d and %d, expected 1 for both", a, b)
	}
	c := d.Condition(Condition{{Dimension: 0, Value: "x"}, {Dimension: 1, Value: "y"}})
	if empty := d.Condition(nil); c != 2 || empty != 0 {
		t.Errorf("conditions %d and %d, expected 2, and 0 for the empty one", c, empty)
	}
	three := d.Condition(Condition{{Dimension: 0, Value: "x"}, {Dimension: 1, Value: "y"}, {Dimension: 2, Value: "z"}})
	if two := d.Condition(Condition{{Dimension: 0, Value: "x\x001=y"}, {Dimension: 2, Value: "z"}}); two == three {
		t.Error("two different conditions share a number")
	}
	if c, ok := d.Category(d.All[first].Name); ok {
		t.Errorf("a guard is taken for category %d", c)
	}
	if names := strings.Join(d.CategoryNames(), " "); names != "node os common" {
		t.Errorf("the categories are %s", names)
	}
	if of := d.NameOf(0) + " " + d.NameOf(1) + " " + d.NameOf(-1); of != "node os common" {
		t.Errorf("the categories are named %s", of)
	}
}
