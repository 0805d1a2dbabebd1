package bindingsfile

import (
	"fmt"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

func number(n int64, col int) *Literal { return &Literal{Value: value.FromInt(n), Pos: at(col)} }

func regexpAt(s string, col int) *Literal { return &Literal{Value: value.FromRegexp(s), Pos: at(col)} }

// bindingTo returns a binding of the key 'a' with one producer.
func bindingTo(name string, argument *Literal) Statement {
	return Statement{Key: "a", KeyPos: at(90), Producers: []Producer{{Name: name, Argument: argument}}}
}

// computing returns a binding of the key 'a' to the result of n, with the type Integer.
func computing(name string, n *expr.Node) Statement {
	a := bindingTo(name, list(1, text("x", 2)))
	a.Type, a.Producers[0].Expr = text("Integer", 9), n
	return a
}

// diagnosticLines formats diagnostics, one per line, as column, code, message and hint.
func diagnosticLines(diags *diag.List) string {
	var out []string
	for _, d := range diags.Sorted() {
		line := fmt.Sprintf("%d %s: %s", d.Pos.Col, d.Code, d.Message)
		if d.Hint != "" {
			line += " (" + d.Hint + ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// An error states the expected and the found value, and suggests a correction if there is a likely one.
func TestBindingErrorsStateExpectedAndFound(t *testing.T) {
	name, key, x, y := text("name", 2), text("key", 4), text("x", 3), text("y", 5)
	const entry = "1 attribute: expected a hash with 'name', the key to look up, and 'key', the entry to take from it, " +
		"found "
	interpolating := &expr.Node{Op: expr.Concat}
	several := bindingTo("to", x)
	several.Producers = append(several.Producers, Producer{Name: "to_lookup_of", Argument: y})
	twice := bindingTo("rebind", text("a", 1))
	twice.Key, twice.Producers = "", append(twice.Producers, Producer{Name: "to", Argument: text("x", 2)})
	contribution := Statement{In: regexpAt("m", 1), Producers: []Producer{{Name: "to", Argument: x}}}
	untyped := bindingTo("to", x)
	untyped.Type = list(6, text("Integer", 7))
	typedByPattern := bindingTo("to", x)
	typedByPattern.Type = regexpAt("Integer", 6)
	optional := bindingTo("to_renamed", text("b", 1))
	optional.Optional = true

	for _, c := range []struct {
		what string
		Statement
		want string
	}{
		{"to_hash_lookup: string", bindingTo("to_hash_lookup", text("x", 1)), entry + "the string 'x'"},
		{"to_hash_lookup: no key", bindingTo("to_hash_lookup", hash(1, name, x)), entry + "a hash without 'key'"},
		{"to_hash_lookup: no name", bindingTo("to_hash_lookup", hash(1, key, y)), entry + "a hash without 'name'"},
		{"to_hash_lookup: empty", bindingTo("to_hash_lookup", hash(1)), entry + "an empty hash"},
		{"to_hash_lookup: list as key", bindingTo("to_hash_lookup", hash(1, name, x, key, list(5))), entry + "a hash"},
		{"to_hash_lookup: regular expression as name", bindingTo("to_hash_lookup", hash(1, regexpAt("name", 2), x, key, y)),
			entry + "a hash without 'name'"},
		{"to_hash_lookup: extra attribute",
			bindingTo("to_hash_lookup", hash(1, name, x, key, y, text("typ", 6), text("Hash", 7))),
			"6 attribute: unknown attribute: 'typ' (did you mean 'type'?)"},
		{"two values", several,
			"5 attribute: expected one attribute that produces the value, found 'to' and 'to_lookup_of' (keep one of them)"},
		{"alias and value", twice, "2 attribute: expected one attribute that produces the value, found 'rebind' " +
			"and 'to' (keep one of them)"},
		{"type that is a list", untyped, "6 type: expected a type as a string, such as 'Array[String]', found a list"},
		{"type that is a regular expression", typedByPattern,
			"6 type: expected a type as a string, such as 'Array[String]', found the regular expression /Integer/"},
		{"string with an interpolation for an Integer",
			computing("to", interpolating), "1 type_mismatch: 'a' is of type Integer: " +
				"expected Integer, found String (interpolation always yields a string; write to_expression: '$name' " +
				"to keep the type of the variable)"},
		{"string expression for an Integer", computing("to_expression", interpolating),
			"1 type_mismatch: 'a' is of type Integer: expected Integer, found String"},
		{"list with an interpolation for an Integer",
			computing("to", &expr.Node{Op: expr.ArrayLit, Kids: []*expr.Node{interpolating}}),
			"1 type_mismatch: 'a' is of type Integer: expected Integer, found Array"},
		{"regular expression as id", bindingTo("multibind_id", regexpAt("m", 1)),
			"1 multibind: expected a name without NUL for 'multibind_id', found the regular expression /m/"},
		{"contribution to a regular expression", contribution,
			"1 multibind: expected a multibind_id for 'in', found the regular expression /m/"},
		{"regular expression as renamed key", bindingTo("to_alias_of", regexpAt("b", 1)),
			"1 rebind: expected a key name for 'to_alias_of', found the regular expression /b/"},
		{"optional lookup", optional,
			"1 optional: 'to_renamed' is already skipped if there is no value: it cannot be optional"},
	} {
		var diags diag.List
		if b := c.Statement.Compile(&diags); b.Recipe != nil || b.Key != c.Key {
			t.Errorf("%s: %+v", c.what, b)
		}
		if got := diagnosticLines(&diags); got != c.want || diags.Incomplete() {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// A binding without a key is an error. If only the key in rebind is invalid, other bindings are still checked.
func TestRejectsBindingsWithoutKey(t *testing.T) {
	const expected = "1 rebind: expected a key name for 'rebind', found "
	const hint = " (write the key to rebind: {rebind: 'ntp::host'})"
	for _, c := range []struct {
		producers  []Producer
		want       string
		incomplete bool
	}{
		{nil, "8 attribute: expected 'name', the key to bind", true},
		{[]Producer{{Name: "to", Argument: number(5, 1)}}, "8 attribute: expected 'name', the key to bind", true},
		{[]Producer{{Name: "rebind", Argument: number(5, 1)}}, expected + "the integer 5" + hint, false},
		{[]Producer{{Name: "rebind", Argument: text("", 1)}}, expected + "an empty string" + hint, false},
	} {
		var diags diag.List
		s := Statement{Pos: at(8), Producers: c.producers}
		if b := s.Compile(&diags); b != nil {
			t.Errorf("%v: %+v", c.producers, b)
		}
		if got := diagnosticLines(&diags); got != c.want || diags.Incomplete() != c.incomplete {
			t.Errorf("%v: %t\n%s\nwant %t\n%s", c.producers, diags.Incomplete(), got, c.incomplete, c.want)
		}
	}
}

// A multibinding with invalid options keeps its id, but has no options: its contributions are not checked.
func TestInvalidMultibindOptionsAreReported(t *testing.T) {
	one := func(name string, val *Literal) *Literal { return hash(3, text(name, 4), val) }
	yes := &Literal{Value: value.FromBool(true), Pos: at(5)}
	two := &expr.Lambda{Params: []expr.Param{{Name: "memo"}, {Name: "x"}}, Body: &expr.Node{Op: expr.Const}}
	const unknownOfHash, unknownOfList = "expected 'combinator', 'conflict_resolution', 'flatten' or 'uniq'",
		"expected 'combinator', 'flatten', 'priority_on_named', 'priority_on_unnamed' or 'uniq'"
	const refused = "expected 'combinator' with no other option than 'uniq', found "
	for _, c := range []struct {
		what       string
		typ        string
		options    *Literal
		combinator *expr.Lambda
		want       string
	}{
		{"options that are a list",
			"", list(3, text("uniq", 4), yes), nil, "3 multibind: expected a hash for 'options', found a list"},
		{"type that is neither an array nor a hash", "Integer", nil, nil,
			"6 multibind: expected an Array or a Hash as the type of a multibinding, found Integer"},
		{"hash type whose keys are not strings",
			"Hash[Integer, String]", nil, nil, "6 multibind: expected a key type that accepts " +
				"strings, because the names of contributions become the keys; found Hash[Integer, String]"},
		{"options of a list for a hash", "Array", one("conflict_resolution", text("merge", 5)), nil,
			"4 attribute: unknown attribute: 'conflict_resolution'; " + unknownOfList +
				" (this is an option of a hash, for a multibinding of type Hash)"},
		{"options of a hash for a list", "", one("priority_on_named", yes), nil,
			"4 attribute: unknown attribute: 'priority_on_named'; " + unknownOfHash +
				" (this is an option of a list, for a multibinding of type Array)"},
		{"misspelt", "Array", one("unic", yes), nil, "4 attribute: unknown attribute: 'unic' " +
			"(did you mean 'uniq'?)"},
		{"option name that is a regular expression", "Array", hash(3, regexpAt("uniq", 4), yes), nil,
			"4 attribute: unknown attribute: the regular expression /uniq/; " + unknownOfList},
		{"flatten that is not a number of levels", "Array", one("flatten", number(-2, 5)), nil,
			"5 multibind: expected true, false, a number of levels, or -1 for all for 'flatten', found the integer -2"},
		{"unknown conflict_resolution", "", one("conflict_resolution", text("prio", 5)), nil, "5 multibind: expected " +
			"'priority', 'ignore', 'error', 'append' or 'merge' for 'conflict_resolution', found the string 'prio' (did you mean 'priority'?)"},
		{"uniq without append", "", one("uniq", yes), nil,
			"3 multibind: expected 'flatten' and 'uniq' for a hash only with 'conflict_resolution: append'"},
		{"append for numbers", "Hash[Float]", one("conflict_resolution", text("append", 5)), nil, "3 multibind: " +
			"'append' makes arrays: expected Data or an array type as the element type, found Float"},
		{"combinator with a syntax error", "Array", one("combinator", text("|", 5)), nil, ""},
		{"combinator with another option", "Array", hash(3, text("uniq", 4), yes, text("combinator", 6), text("|", 7),
			text("flatten", 8), yes), two, "8 multibind: " + refused + "'flatten': the combinator replaces all other options"},
		{"combinator of a list for a hash", "", one("combinator", text("|", 5)), two, "5 multibind: expected a " +
			"combinator with 3 parameters for a hash: '|$key, $current, $value| { … }'"},
	} {
		a := bindingTo("multibind_id", text("m", 2))
		a.Options, a.Combinator = c.options, c.combinator
		if c.typ != "" {
			a.Type = text(c.typ, 6)
		}
		var diags diag.List
		b := a.Compile(&diags)
		if b.Key != "a" || b.Multibind.ID != "m" || b.Multibind.Options != nil {
			t.Errorf("%s: %+v", c.what, b)
		}
		if got := diagnosticLines(&diags); got != c.want || diags.Incomplete() {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// An entry of a literal hash has its own position. An entry of a computed hash has that of the hash.
func TestEntryHasOwnPositionUnlessComputed(t *testing.T) {
	k, v := value.FromString("k"), value.FromString
	written := hash(1, text("k", 2), number(1, 3), text("l", 4), number(2, 5))
	computed := &Literal{Value: written.Value, Pos: at(1)}
	for _, c := range []struct {
		of        *Literal
		i         int
		key       value.Value
		name, val int
	}{
		{written, 0, k, 2, 3}, {written, 1, v("l"), 4, 5},
		{written, 1, k, 1, 1}, // not the key of entry 1
		{written, 2, v("m"), 1, 1},
		{computed, 0, k, 1, 1},
	} {
		name, val := c.of.Entry(c.i, c.key)
		if name.Pos != at(c.name) || val.Pos != at(c.val) || !value.Identical(name.Value, c.key) {
			t.Errorf("entry %d, %s: at columns %d and %d, want %d and %d", c.i, c.key.Text(), name.Pos.Col, val.Pos.Col,
				c.name, c.val)
		}
	}
}

// A contribution keeps its literal if it is constant, required and not transformed.
func TestOnlyConstantContributionKeepsLiteral(t *testing.T) {
	lambda := Lambda{Lambda: &expr.Lambda{Params: []expr.Param{{Name: "value"}}}}
	for _, c := range []struct {
		what string
		Statement
		literal bool
	}{
		{"constant contribution keeps its literal", Statement{In: text("m", 1)}, true},
		{"optional contribution has no literal", Statement{In: text("m", 1), Optional: true}, false},
		{"transformed contribution has no literal", Statement{In: text("m", 1), Transformer: &lambda}, false},
		{"binding of a key has no literal", Statement{Key: "a"}, false},
	} {
		var diags diag.List
		c.Producers = []Producer{{Name: "to", Argument: &Literal{Pos: at(2)}}} // null
		b := c.Statement.Compile(&diags)
		if (b.Literal != nil) != c.literal || b.Recipe.Kind != recipe.Constant || !diags.Empty() {
			t.Errorf("%s: %+v, %s", c.what, b, diagnosticLines(&diags))
		}
	}
}
