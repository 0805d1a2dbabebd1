package types

import (
	"strings"
	"testing"

	"bindc/internal/value"
)

// val parses a value of the Puppet language. It only supports the forms that the tests use, and no interpolation.
func val(t testing.TB, text string) value.Value {
	t.Helper()
	p := parser{text: text, find: Named}
	p.space()
	v, err := p.param(0)
	if err != nil || p.pos != len(text) {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func parsed(t testing.TB, text string) *Type {
	t.Helper()
	typ, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// String must return what Puppet prints, except for the names that are special to ARM-8 and ARM-9.
func TestStringReturnsCanonicalText(t *testing.T) {
	for text, want := range map[string]string{
		"Integer":                         "Integer",
		" Integer ":                       "Integer",
		"::Integer":                       "Integer",
		"Number":                          "Numeric",
		"Literal":                         "Scalar",
		"Object":                          "Any",
		"Pattern":                         "Pattern",
		"Array":                           "Array",
		"Array[String]":                   "Array[String]",
		"Array[ String , 1 , 2 ]":         "Array[String, 1, 2]",
		"Array[String,1]":                 "Array[String, 1]",
		"Array[String,default,2]":         "Array[String, 0, 2]",
		"Array[Integer[1,2]]":             "Array[Integer[1, 2]]",
		"Array[0,0]":                      "Array[0, 0]",
		"Hash[Integer]":                   "Hash[Scalar, Integer]",
		"Hash[String,Integer]":            "Hash[String, Integer]",
		"Hash[String,Integer,1,5]":        "Hash[String, Integer, 1, 5]",
		"Integer[1,10]":                   "Integer[1, 10]",
		"Integer[default,10]":             "Integer[default, 10]",
		"Integer[-5]":                     "Integer[-5]",
		"Integer[default]":                "Integer",
		"Integer[0x10, 020]":              "Integer[16, 16]",
		"Float[1, 2.5]":                   "Float[1.0, 2.5]",
		"Float[default, 1e20]":            "Float[default, 1.0e+20]",
		"String[1]":                       "String[1]",
		"String[1, 5]":                    "String[1, 5]",
		"String[Integer[1, 5]]":           "String[1, 5]",
		"Boolean[true]":                   "Boolean[true]",
		"Enum[b, 'a', \"c d\"]":           "Enum['a', 'b', 'c d']",
		"Enum['it\\'s']":                  `Enum['it\'s']`,
		"Enum[\"a\\nb\"]":                 `Enum["a\nb"]`,
		"Enum['a\\\\']":                   `Enum['a\\']`,
		"Enum[a, true]":                   "Enum['a', true]",
		"Pattern[/a\\/b/, 'c']":           "Pattern[/a\\/b/, /c/]",
		"Regexp[/a/]":                     "Regexp[/a/]",
		"Optional[String]":                "Optional[String]",
		"Optional['x']":                   "Optional['x']",
		"NotUndef[Any]":                   "NotUndef",
		"Variant[Integer,Enum[a]]":        "Variant[Integer, Enum['a']]",
		"Tuple[Integer,String]":           "Tuple[Integer, String]",
		"Tuple[Integer,String,1,3]":       "Tuple[Integer, String, 1, 3]",
		"Struct[{a=>Integer}]":            "Struct[{'a' => Integer}]",
		"Struct[{Optional[b] => String}]": "Struct[{Optional['b'] => String}]",
		"Struct[{a => Optional[String], NotUndef[b] => Any, 'c d' => Any}]": "Struct[{'a' => Optional[String], NotUndef['b'] => Any, 'c d' => Any}]",
		"Type[Integer]":             "Type[Integer]",
		"Callable[String, 1, 2]":    "Callable[String, 1, 2]",
		"Iterable[Integer]":         "Iterable[Integer]",
		"Collection[1, 5]":          "Collection[1, 5]",
		"Variant[[Integer, Any]]":   "Variant[Integer, Any]",
		"Hash[String,Array[Data],]": "Hash[String, Array[Data]]",
	} {
		typ, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := typ.String(); got != want {
			t.Errorf("%s: expected %s, found %s", text, want, got)
		}
		if again := parsed(t, want); again.String() != want || !again.Equal(typ) {
			t.Errorf("%s does not read back", want)
		}
	}
}

func TestParseExplainsInvalidTypes(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "expected a type at the end",
		"Strng":                         "unknown type 'Strng'; did you mean 'String'?",
		"Array[Intger]":                 "unknown type 'Intger'; did you mean 'Integer'?",
		"Foo::Bar":                      "unknown type 'Foo::Bar'",
		"Sensitive[String]":             "the type 'Sensitive' is not supported in bindings",
		"Timestamp":                     "the type 'Timestamp' is not supported in bindings",
		"integer":                       "expected a type name, found 'integer'",
		"Array[String":                  "expected ',' or ']' at the end",
		"Array[String]]":                "expected the end of the type, found ']' at character 14",
		"Array[]":                       "Array[] needs a parameter",
		"Array[1]":                      "parameter 1 of Array[] must be a type, found Integer",
		"Any[1]":                        "the type Any takes no parameters",
		"Integer[a]":                    "parameter 1 of Integer[] must be an Integer or default, found String",
		"Integer[5, 1]":                 "Integer[]: the lower bound 5 is above the upper bound 1",
		"Integer[1, 2, 3]":              "Integer[] takes 0 to 2 parameters, found 3",
		"Optional[1]":                   "parameter 1 of Optional[] must be a type, found Integer",
		"Pattern[/(?=a)/]":              "Pattern[]: lookahead (?=...) is not supported",
		"Enum[1]":                       "parameter 1 of Enum[] must be a String, found Integer",
		"Struct[{1 => String}]":         "Struct[]: a key must be a String, Optional[String] or NotUndef[String], found Integer",
		"Struct[{a => 1}]":              "Struct[]: the value of a key must be a type, found Integer",
		"Struct[{a => Any, a => Any}]":  "duplicate key",
		"Enum['a":                       "a string is not closed",
		"Pattern[/a":                    "a regular expression is not closed",
		"Integer[99999999999999999999]": "'99999999999999999999' does not fit into 64 bits",
		"Enum[\"${x}\"]":                "a string must be a literal",
		strings.Repeat("Array[", 500):   "nested too deep",
		strings.Repeat("[", 100_000):    "too long",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50s: expected %s, found %v", text, want, err)
		}
	}
}

// The expectations follow language.md, section 9.
func TestCheckReportsInnermostMismatch(t *testing.T) {
	for _, c := range []struct{ typ, val, want string }{
		{"Integer", "1", ""},
		{"Float", "1", "expected Float, found Integer"},
		{"Integer", "1.0", "expected Integer, found Float"},
		{"Numeric", "1.5", ""},
		{"String", "1", "expected String, found Integer"},
		{"Boolean", "'true'", "expected Boolean, found String"},
		{"Pattern", "/a/", ""},
		{"Pattern", "'a'", "expected Pattern, found String"},
		{"Literal", "/a/", ""},
		{"Literal", "[1]", "expected Scalar, found Array[Integer]"},
		{"Data", "[1, {a => [/a/, undef]}]", ""},
		{"Data", "{1 => 2, true => 3}", ""},
		{"Data", "[1, [default]]", "expected Data, found Default at [1][0]"},
		{"Collection", "{a => 1}", ""},
		{"Object", "default", ""},
		{"Array", "[1, 'a', [undef]]", ""},
		{"Array", "[Integer]", "expected Data, found Type at [0]"},
		{"Hash", "{a => 1}", ""},
		{"Hash", "{[1] => 1}", "expected Scalar, found Array[Integer] as a key at [[1]]"},
		{"Hash[Integer]", "{a => 1, 2 => 3}", ""},
		{"Hash[Integer]", "{a => 1, b => x}", "expected Integer, found String at ['b']"},
		{"Hash[String, Array[Integer]]", "{servers => [1, 2, x]}", "expected Integer, found String at ['servers'][2]"},
		{"Hash[String, Hash]", "{a => 1}", "expected Hash, found Integer at ['a']"},
		// undef has every type of ARM-8 and ARM-9, at any depth.
		{"Integer", "undef", ""},
		{"String", "undef", ""},
		{"Pattern", "undef", ""},
		{"Literal", "undef", ""},
		{"Array[Integer]", "undef", ""},
		{"Array[Integer]", "[1, undef]", ""},
		{"Hash[String, Integer]", "{a => undef}", ""},
		{"Hash[String, Array[Integer]]", "{a => [undef]}", ""},
		{"Variant[Integer, String]", "undef", ""},
		{"Optional[Array[Integer]]", "[undef]", ""},
		// Other types must include undef explicitly.
		{"NotUndef", "undef", "expected NotUndef, found Undef"},
		{"NotUndef[Integer]", "undef", "expected NotUndef[Integer], found Undef"},
		{"Enum[a]", "undef", "expected Enum['a'], found Undef"},
		{"Integer[1, 5]", "undef", "expected Integer[1, 5], found Undef"},
		{"String[1]", "undef", "expected String[1], found Undef"},
		{"Array[Integer, 1]", "undef", "expected Array[Integer, 1], found Undef"},
		{"Tuple[Integer, String]", "[1, undef]", ""},
		{"Tuple[Integer, String[1]]", "[1, undef]", "expected String[1], found Undef at [1]"},
		{"Struct[{a => Integer}]", "{a => undef}", ""},
		{"Struct[{a => Integer[1]}]", "{a => undef}", "expected Integer[1], found Undef at ['a']"},
		{"Struct[{a => Optional[Integer]}]", "{a => undef}", ""},
		{"Regexp", "undef", "expected Regexp, found Undef"},
		// Types of the Puppet language, with parameters.
		{"Integer[1, 5]", "7", "expected Integer[1, 5], found a larger number"},
		{"Float[1, 5]", "0.5", "expected Float[1.0, 5.0], found a smaller number"},
		{"String[3]", "'ab'", "expected String[3], found a String of length 2"},
		{"Enum[a, b]", "c", "expected Enum['a', 'b'], found another String"},
		{"Pattern[/^a/]", "b", "expected Pattern[/^a/], found a String that does not match"},
		{"Array[Integer, 2]", "[1]", "expected Array[Integer, 2], found an Array of length 1"},
		{"Hash[String, Integer, 2]", "{a => 1}", "expected Hash[String, Integer, 2], found a Hash of length 1"},
		{"Tuple[Integer, String]", "[1]", "expected Tuple[Integer, String], found an Array of length 1"},
		{"Tuple[Integer, String]", "[1, 2]", "expected String, found Integer at [1]"},
		{"Struct[{a => Integer, b => String}]", "{a => 1}", "expected String, found no such key at ['b']"},
		{"Struct[{a => Integer}]", "{a => 1, b => 2}",
			"expected Struct[{'a' => Integer}], found an unknown key at ['b']"},
		{"Struct[{a => Array[Integer]}]", "{a => [1, x]}", "expected Integer, found String at ['a'][1]"},
		{"Optional[Array[Integer]]", "[x]", "expected Integer, found String at [0]"},
		{"Variant[Integer, Array[String]]", "[1]", "expected Variant[Integer, Array[String]], found Array[Integer]"},
		{"Undef", "1", "expected Undef, found Integer"},
		{"Type[Numeric]", "Integer", ""},
		{"Type[Numeric]", "String", "expected Type[Numeric], found Type"},
	} {
		got := ""
		if m := parsed(t, c.typ).Check(val(t, c.val)); m != nil {
			got = m.Error()
		}
		if got != c.want {
			t.Errorf("%s of %s:\nexpected %s\nfound    %s", c.typ, c.val, c.want, got)
		}
	}
}

// Shown quotes wrong numbers and strings, unlike Error.
func TestShownQuotesWrongValue(t *testing.T) {
	for _, c := range []struct{ typ, val, want string }{
		{"Enum[a, b]", "c", "expected Enum['a', 'b'], found 'c'"},
		{"Array[Integer[1, 5]]", "[1, 7]", "expected Integer[1, 5], found 7 at [1]"},
		{"Float[1, 5]", "0.5", "expected Float[1.0, 5.0], found 0.5"},
		{"String[80]", "'" + strings.Repeat("é", 70) + "'", "expected String[80], found '" + strings.Repeat("é", 60) +
			"'..."},
		{"Pattern[/^a/]", "b", "expected Pattern[/^a/], found 'b'"},
		{"Integer", "x", "expected Integer, found String"},
		{"Array[Integer, 2]", "[1]", "expected Array[Integer, 2], found an Array of length 1"},
	} {
		if got := parsed(t, c.typ).Check(val(t, c.val)).Shown(); got != c.want {
			t.Errorf("%s of %s:\nexpected %s\nfound    %s", c.typ, c.val, c.want, got)
		}
	}
}

// The value is a view of encoded bytes, in which types are strings.
func TestCheckAcceptsViewsOfEncodedValues(t *testing.T) {
	v, _, err := value.View(string(value.Append(nil, val(t, "{a => [1, x], b => Integer}"))))
	if err != nil {
		t.Fatal(err)
	}
	m := parsed(t, "Struct[{a => Array[Integer], b => Type}]").Check(v)
	if m == nil || m.Error() != "expected Integer, found String at ['a'][1]" {
		t.Errorf("found %v", m)
	}
	if m := parsed(t, "Struct[{a => Array, b => Type[Numeric]}]").Check(v); m != nil {
		t.Error(m)
	}
}

func TestInferReturnsNarrowestARMType(t *testing.T) {
	for text, want := range map[string]string{
		"1": "Integer", "1.5": "Float", "'a'": "String", "true": "Boolean", "/a/": "Pattern", "undef": "Undef",
		"default": "Default",
		"[]":      "Array", "{}": "Hash", "[1, 2]": "Array[Integer]", "[1, 2.5]": "Array[Numeric]",
		"[1, a]":   "Array[Scalar]",
		"[1, /a/]": "Array[Scalar]", "[1, undef]": "Array[Integer]", "[undef]": "Array", "[1, [2]]": "Array",
		"[[1], [2]]": "Array[Array[Integer]]",
		"[[1], [a]]": "Array[Array[Scalar]]", "[[1], []]": "Array[Array]", "[[1], {a => 1}]": "Array",
		"[1, default]":                "Array[Any]",
		"[[default], {a => default}]": "Array[Collection]", "{a => 1}": "Hash[String, Integer]",
		"{a => 1, 2 => x}": "Hash[Scalar, Scalar]",
		"{a => {b => 1}}":  "Hash[String, Hash[String, Integer]]", "{a => undef}": "Hash[String, Data]",
		"{a => [1], b => 2}": "Hash[String, Data]",
		"Integer":            "Type",
	} {
		if got := Infer(val(t, text)).String(); got != want {
			t.Errorf("%s: expected %s, found %s", text, want, got)
		}
	}
}

// Checking a value against its inferred type must succeed.
func TestInferredTypesIncludeTheirValues(t *testing.T) {
	for _, text := range []string{"1", "undef", "[1, undef, [a, {b => /x/}]]", "{1 => {2.5 => [default, Integer]}}",
		"[[1], [], [undef]]", "{a => []}"} {
		v := val(t, text)
		if m := Infer(v).Check(v); m != nil {
			t.Errorf("%s: %v", text, m)
		}
		for _, typ := range []*Type{Detailed(v), Reduced(v)} {
			if !typ.Instance(v) && text != "[1, undef, [a, {b => /x/}]]" && text != "[[1], [], [undef]]" {
				t.Errorf("%s is not a %s", text, typ)
			}
		}
	}
}

func TestAcceptsIsReflexiveAndTransitive(t *testing.T) {
	var all []*Type
	for _, text := range []string{"Any", "Undef", "Integer", "Integer[1, 5]", "Numeric", "Float", "String", "String[1]",
		"Enum[a]", "Pattern[/a/]",
		"Scalar", "ScalarData", "Data", "RichData", "Array", "Array[Integer]", "Array[Data]", "Hash",
		"Hash[String, Integer]", "Collection",
		"Tuple[Integer]", "Struct[{a => Integer}]", "Optional[Integer]", "NotUndef", "Variant[Integer, String]",
		"Type[Integer]", "Iterable"} {
		all = append(all, parsed(t, text))
	}
	for _, a := range all {
		if !a.Accepts(a) {
			t.Errorf("%s does not accept itself", a)
		}
		for _, b := range all {
			for _, c := range all {
				if a.Accepts(b) && b.Accepts(c) && !a.Accepts(c) {
					t.Errorf("%s accepts %s, which accepts %s, but not that", a, b, c)
				}
			}
		}
	}
}

func TestRejectsTypesThatAreTooLarge(t *testing.T) {
	typ := Of(Integer)
	for range 200 {
		next, err := Of(Tuple).With(typ.Value(), typ.Value())
		if err != nil {
			return
		}
		typ = next
	}
	t.Error("a type of 2^200 types is accepted")
}

func FuzzTypeParse(f *testing.F) {
	for _, s := range []string{"Array[String]", "Struct[{a=>Integer, Optional[b]=>String}]",
		"Variant[Integer[1,10], Enum[a,\"b\"]]", "Pattern[/re/]",
		"Hash[String, Tuple[Integer, 1, 2]]", "Callable[[String], 1]", "Optional['x\\'y']", "Float[1, 2.5e3]",
		"Enum[\"\\u{41}\\n\"]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := Parse(text)
		if err != nil {
			return
		}
		printed := typ.String()
		again, err := Parse(printed)
		if err != nil || again.String() != printed || !again.Equal(typ) {
			t.Errorf("%q is printed as %q, which is read as %q, %v", text, printed, again, err)
		}
	})
}

func TestVariantKeepsTypesOfDifferentStrings(t *testing.T) {
	both, err := Of(Variant).With(Detailed(value.FromString("a")).Value(), Detailed(value.FromString("b")).Value())
	if err != nil {
		t.Fatal(err)
	}
	if !both.Instance(value.FromString("b")) || both.Instance(value.FromString("c")) {
		t.Errorf("expected the strings a and b to have the type, and c not to")
	}
}

// Equal texts have the same Type, so that callers can compare types by their address.
func TestDeclaredTypeIsParsedOnce(t *testing.T) {
	a := NewAliases(func(string) (string, bool) { return "", false })
	first, _, _ := a.ParseDeclared("Array[Ntp::Port]")
	again, unknown, err := a.ParseDeclared("Array[Ntp::Port]")
	if first == nil || again != first || len(unknown) != 1 || err != nil {
		t.Errorf("parsed as %p and %p, with the unknown types %v and the error %v", first, again, unknown, err)
	}
	for range 2 {
		if wrong, _, err := a.ParseDeclared("Array["); wrong != nil || err == nil {
			t.Errorf("the text 'Array[' is parsed as %v", wrong)
		}
	}
}
