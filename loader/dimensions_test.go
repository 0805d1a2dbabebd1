package loader

import (
	"strings"
	"testing"

	"bindc/internal/expr"
)

func TestConditionsAndGuardsAreNumberedOnce(t *testing.T) {
	d := newDimensions([]Dimension{{Name: "node"}, {Name: "os"}}, 0)
	guard := &expr.Node{Op: expr.Var, Name: "dc"}
	first, same, other := d.guard(0, guard), d.guard(0, guard), d.guard(1, guard)
	if first != 2 || same != 2 || other != 3 {
		t.Errorf("guards %d, %d and %d, expected 2, 2 and 3", first, same, other)
	}
	a := d.condition(Condition{{Dimension: 1, Value: "x"}, {Dimension: 0, Value: "y"}})
	if b := d.condition(Condition{{Dimension: 0, Value: "y"}, {Dimension: 1, Value: "x"}}); a != 1 || b != 1 {
		t.Errorf("conditions %d and %d, expected 1 for both", a, b)
	}
	c := d.condition(Condition{{Dimension: 0, Value: "x"}, {Dimension: 1, Value: "y"}})
	if empty := d.condition(nil); c != 2 || empty != 0 {
		t.Errorf("conditions %d and %d, expected 2, and 0 for the empty one", c, empty)
	}
	if c, ok := d.category(d.all[first].Name); ok {
		t.Errorf("a guard is taken for category %d", c)
	}
	if names := strings.Join(d.categoryNames(), " "); names != "node os common" {
		t.Errorf("the categories are %s", names)
	}
	if of := d.nameOf(0) + " " + d.nameOf(1) + " " + d.nameOf(-1); of != "node os common" {
		t.Errorf("the categories are named %s", of)
	}
}
