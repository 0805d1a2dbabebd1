package bindingsfile

import (
	"testing"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

func at(col int) diag.Pos { return diag.Pos{File: "f", Line: 1, Col: col} }

func text(s string, col int) *Literal { return &Literal{Value: value.FromString(s), Pos: at(col)} }

// list returns an array at column col with the given elements.
func list(col int, elems ...*Literal) *Literal {
	l := &Literal{Pos: at(col)}
	values := make([]value.Value, len(elems))
	for i, e := range elems {
		l.Kids, values[i] = append(l.Kids, *e), e.Value
	}
	l.Value = value.FromSlice(values)
	return l
}

// hash returns a hash at column col with the given keys and values, in turn.
func hash(col int, kids ...*Literal) *Literal {
	l, b := &Literal{Pos: at(col)}, value.Builder{}
	for i := 0; i < len(kids); i += 2 {
		l.Kids = append(l.Kids, *kids[i], *kids[i+1])
		b.Set(kids[i].Value, kids[i+1].Value)
	}
	l.Value = b.Hash()
	return l
}

func TestWithinFindsInnermostPart(t *testing.T) {
	one := &Literal{Value: value.FromInt(1), Pos: at(6)}
	l := list(1, text("a", 2), hash(3, text("k", 4), list(5, one), one, text("v", 7)))
	k, v := value.FromString("k"), value.FromInt
	for _, c := range []struct {
		path []value.Value
		want int
	}{
		{nil, 1}, {[]value.Value{v(0)}, 2}, {[]value.Value{v(1)}, 3}, {[]value.Value{v(1), k}, 5},
		{[]value.Value{v(1), k, v(0)}, 6}, {[]value.Value{v(1), v(1)}, 7},
		{[]value.Value{v(2)}, 1},                    // no such element
		{[]value.Value{k}, 1},                       // an array has no such key
		{[]value.Value{value.FromString("a")}, 1},   // the elements are not keys and values
		{[]value.Value{v(1), v(0)}, 3},              // the hash has no key 0
		{[]value.Value{v(1), k, v(0), v(0)}, 6},     // a scalar has no parts
		{[]value.Value{v(1), value.FromInt(-1)}, 3}, // the hash has no key -1
	} {
		if got := l.Within(c.path).Pos.Col; got != c.want {
			t.Errorf("%v leads to column %d, want %d", c.path, got, c.want)
		}
	}
}

// A statement with an attribute that could not be read compiles to a binding without a recipe. Its key, its
// multibinding and its contribution are still known.
func TestBrokenBindingKeepsKeyAndMultibinding(t *testing.T) {
	var diags diag.List
	b := (&Statement{Key: "a", In: text("m", 1), Broken: true,
		Producers: []Producer{{Name: "multibind_id", Argument: text("inner", 2)}}}).Compile(&diags)
	if b.Recipe != nil || b.Key != "a" || b.In.ID != "m" || b.Multibind.ID != "inner" || b.Multibind.Options == nil {
		t.Errorf("a binding that is broken elsewhere: %+v", b)
	}
	if found := diags.Sorted(); len(found) > 0 {
		t.Errorf("reported once more: %v", found)
	}
	options := hash(3, text("uniq", 4), text("x", 5))
	b = (&Statement{Key: "a", Options: options, Type: text("Array", 6),
		Producers: []Producer{{Name: "multibind_id", Argument: text("m", 2)}}}).Compile(&diags)
	if b.Recipe != nil || b.Multibind.ID != "m" || b.Multibind.Options != nil {
		t.Errorf("a multibinding with options that cannot be: %+v", b)
	}
	if found := diags.Sorted(); len(found) != 1 || found[0].Pos != at(5) || diags.Incomplete() {
		t.Errorf("found %v, want one error in a value at column 5", found)
	}
}

// The message about a wrong type does not show the value of a sensitive binding.
func TestTypeErrorHidesSensitiveValue(t *testing.T) {
	var diags diag.List
	argument := list(1, &Literal{Value: value.FromInt(31337), Pos: at(2)})
	a := Statement{Key: "a", Sensitive: true, Type: text("Array[String]", 9),
		Producers: []Producer{{Name: "to", Argument: argument}}}
	if b := a.Compile(&diags); b.Recipe != nil {
		t.Errorf("the recipe is %+v", b.Recipe)
	}
	const want = "'a' is of type Array[String]: expected String, found a sensitive value of a different type"
	if d := diags.Sorted(); len(d) != 1 || d[0].Message != want || !d[0].Secret || d[0].Pos != at(2) {
		t.Errorf("found %+v, want %s", d, want)
	}
	a.Type = text("Array", 9)
	if b := a.Compile(&diags); b.Recipe.Kind != recipe.Constant || !b.Recipe.Sensitive || b.Recipe.Type != nil {
		t.Errorf("the recipe is %+v", b.Recipe)
	}
}
