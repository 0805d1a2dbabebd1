package recipe

import (
	"testing"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

func array(elems ...value.Value) value.Value { return value.FromSlice(elems) }

func ints(ns ...int64) value.Value {
	var out []value.Value
	for _, n := range ns {
		out = append(out, value.FromInt(n))
	}
	return array(out...)
}

// messageOf returns the message of a mismatch, or "".
func messageOf(m *types.Mismatch) string {
	if m == nil {
		return ""
	}
	return m.Error()
}

// Check checks each contribution against the element type. It checks the elements of a contribution that flatten
// splits. With append, the type of the array's elements applies (language.md, sections 8 and 9).
func TestContributionIsCheckedAgainstElementType(t *testing.T) {
	one, a := value.FromInt(1), value.FromString("a")
	const noInteger, noNested = "expected Integer, found String", "expected Integer, found Array[Integer]"
	for what, row := range map[string]struct {
		element    string // "" means nil
		resolution Resolution
		flatten    int
		v          value.Value
		want       string
	}{
		"number":                    {"Integer", Priority, 0, one, ""},
		"wrong text":                {"Integer", Priority, 0, a, noInteger},
		"no element type":           {"", Priority, 0, a, ""},
		"no element type, appended": {"", AppendAll, -1, array(a, ints(1)), ""},
		"array":                     {"Array[Integer]", Priority, 0, ints(1), ""},
		"number, not array":         {"Array[Integer]", Priority, 0, one, "expected Array[Integer], found Integer"},
		"wrong element":             {"Array[Integer]", Merge, 0, array(one, a), noInteger + " at [1]"},
		"appended number":           {"Array[Integer]", AppendAll, 0, one, ""},
		"appended text":             {"Array[Integer]", AppendAll, 0, a, noInteger},
		"appended array":            {"Array[Integer]", AppendAll, 0, ints(1), noNested},
		"appended to bare Array":    {"Array", AppendAll, 0, a, ""},
		"appended default":          {"Array", AppendAll, 0, value.TheDefault(), "expected Data, found Default"},
		"appended to Integer":       {"Integer", AppendAll, 0, a, noInteger},
		"flattened array":           {"Array[Integer]", AppendAll, 1, ints(1, 2), ""},
		"flatten of a number":       {"Array[Integer]", AppendAll, 1, one, ""},
		"flatten wrong text":        {"Array[Integer]", AppendAll, 1, a, noInteger},
		"flattened wrong element":   {"Array[Integer]", AppendAll, 1, array(one, a), noInteger + " at [1]"},
		"deeper than one level":     {"Array[Integer]", AppendAll, 1, array(one, ints(1)), noNested + " at [1]"},
		"flatten two levels":        {"Integer", AppendAll, 2, array(one, ints(1)), ""},
		"wrong at level two":        {"Integer", AppendAll, 2, array(one, array(one, a)), noInteger + " at [1][1]"},
		"deeper than two levels":    {"Integer", AppendAll, 2, array(array(ints(1))), noNested + " at [0][0]"},
		"flatten all levels":        {"Integer", AppendAll, -1, array(one, array(array(ints(1)))), ""},
		"wrong at level three": {
			"Integer", AppendAll, -1, array(one, array(array(a))), noInteger + " at [1][0][0]",
		},
		"empty array":           {"Integer", AppendAll, 0, array(), "expected Integer, found Array"},
		"flattened empty array": {"Integer", AppendAll, 1, array(), ""},
		"flatten keeps hashes whole": {"Integer", AppendAll, -1, value.FromPairs(value.Pair{Key: a, Value: one}),
			"expected Integer, found Hash[String, Integer]"},
	} {
		o := &Options{Resolution: row.resolution, Flatten: row.flatten}
		if row.element != "" {
			o.Element = typ(t, row.element)
		}
		if got := messageOf(o.Check(row.v)); got != row.want {
			t.Errorf("%s: %q, expected %q", what, got, row.want)
		}
	}
}

// The build reports the wrong type of a computed contribution if no facts can change it.
func TestMisfitReportsComputedContributionOfWrongType(t *testing.T) {
	const noInteger = "expected Integer, found String"
	for _, row := range []struct {
		element    string
		resolution Resolution
		flatten    int
		source     string
		want       string
	}{
		{"Integer", Priority, 0, `"x${fqdn}"`, noInteger},
		{"Integer", Priority, 0, `$x`, ""},
		{"Integer", Priority, 0, `[$x]`, "expected Integer, found Array"},
		{"", Priority, 0, `["x${fqdn}"]`, ""},
		{"", Priority, 0, `"x${fqdn}"`, ""},
		{"Array[Integer]", AppendAll, 0, `"x${fqdn}"`, noInteger},
		{"Array[Integer]", AppendAll, 0, `[$x]`, "expected Integer, found Array"},
		{"Array[Integer]", AppendAll, 1, `[$x]`, ""}, // flatten adds the elements of the array, whose types are unknown
		{"Array[Integer]", AppendAll, -1, `[$x]`, ""},
		{"Array[Integer]", AppendAll, 1, `"x${fqdn}"`, noInteger},
		{"Array[Integer]", Priority, 0, `[$x, "x${fqdn}"]`, noInteger + " at [1]"},
		{"Array", AppendAll, 0, `[$x]`, ""},
	} {
		o := &Options{Resolution: row.resolution, Flatten: row.flatten}
		if row.element != "" {
			o.Element = typ(t, row.element)
		}
		if got := messageOf(o.Misfit(expression(t, row.source))); got != row.want {
			t.Errorf("%s, resolution %d, flatten %d: %s: %q, expected %q", row.element, row.resolution, row.flatten,
				row.source, got, row.want)
		}
	}
}

func TestFlatFlattensToGivenDepth(t *testing.T) {
	one := value.FromInt(1)
	elems := []value.Value{one, array(value.FromInt(2), array(value.FromInt(3), ints(4)), array())}
	for flatten, want := range map[int]string{
		0:  "[1,[2,[3,[4]],[]]]",
		1:  "[1,2,[3,[4]],[]]",
		2:  "[1,2,3,[4]]",
		3:  "[1,2,3,4]",
		-1: "[1,2,3,4]",
	} {
		got := string(value.AppendJSON(nil, array((&Options{Flatten: flatten}).Flat(elems)...)))
		if got != want {
			t.Errorf("%d levels: %s, expected %s", flatten, got, want)
		}
	}
}

// Misfit reports only types that are wrong for all facts.
func TestMisfitIgnoresTypesThatDependOnFacts(t *testing.T) {
	const noInteger = "expected Integer, found String"
	for _, row := range []struct{ is, source, want string }{
		{"Integer", `1`, ""},
		{"Integer", `'a'`, noInteger},
		{"Integer", `$x`, ""},
		{"Integer", `$x + 1`, ""},
		{"Integer", `"x${y}"`, noInteger},
		{"String", `"x${y}"`, ""},
		{"Data", `"x${y}"`, ""},
		{"Array[String]", `"x${y}"`, "expected Array[String], found String"},
		{"Integer", `[$x]`, "expected Integer, found Array"},
		{"Hash[String, Integer]", `[$x]`, "expected Hash[String, Integer], found Array"},
		{"Array[Integer]", `[$x, 1]`, ""},
		{"Array[Integer]", `['a', $x]`, noInteger + " at [0]"},
		{"Array[Integer]", `[$x, 1, "a${y}", 'b']`, noInteger + " at [2]"},
		{"Array[Integer]", `['a', *$x]`, noInteger + " at [0]"},
		{"Array[Integer]", `[*$x, 'a']`, ""}, // *$x may have any number of elements, so the index of 'a' is unknown
		{"Array[Array[Integer]]", `[[1, $x], [$x, 'b']]`, noInteger + " at [1][1]"},
		{"Array", `[$x, 'a']`, ""},
		{"Data", `[$x, 'a']`, ""},
		{"Collection", `[$x, 'a']`, ""},
		{"Optional[Array[Integer]]", `[1, $x]`, ""},
		{"Integer", `{'a' => $x}`, "expected Integer, found Hash"},
		{"Array[Integer]", `{'a' => $x}`, "expected Array[Integer], found Hash"},
		{"Hash[String, Integer]", `{'a' => 1, 'b' => $x}`, ""},
		{"Hash[String, Integer]", `{'a' => 'c', 'b' => $x}`, noInteger + " at ['a']"},
		{"Hash[String, Integer]", `{'a' => 1, 'b' => "x${y}"}`, noInteger + " at ['b']"},
		{"Hash[String, Integer]", `{$k => 'c', 'b' => 1}`, ""}, // the message could not name the key of the wrong value
		{"Hash[String, Integer]", `{$k => 1, 'b' => "x${y}"}`, noInteger + " at ['b']"},
		{"Hash[String, Array[Integer]]", `{'a' => [1, "x${y}"]}`, noInteger + " at ['a'][1]"},
		{"Hash[String, Integer]", `{'a' => {'b' => $x}}`, "expected Integer, found Hash at ['a']"},
		{"Hash", `{'a' => $x, 'b' => 'c'}`, ""},
		{"Data", `{'a' => $x, 'b' => 'c'}`, ""},
		{"Optional[Hash[String, Integer]]", `{'a' => 1, 'b' => $x}`, ""},
	} {
		if got := messageOf(Misfit(typ(t, row.is), expression(t, row.source))); got != row.want {
			t.Errorf("%s as %s: %q, expected %q", row.source, row.is, got, row.want)
		}
	}
}

// Misfit checks constants inside computed values, and its path leads to the wrong constant.
func TestMisfitShowsPathToWrongConstant(t *testing.T) {
	part := &expr.Node{Op: expr.Const, Value: array(value.FromInt(1), value.FromString("a"))}
	n := &expr.Node{Op: expr.ArrayLit, Kids: []*expr.Node{{Op: expr.Var, Name: "x"}, part}}
	const want = "expected Integer, found String at [1][1]"
	if got := messageOf(Misfit(typ(t, "Array[Array[Integer]]"), n)); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
