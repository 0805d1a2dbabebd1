package syntax

import (
	"slices"
	"strings"
	"testing"

	"bindc/internal/expr"
)

// The mark ^ is before the character at which the error is expected.
func TestErrorsHaveOffsetsAndMessages(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"^", "expected an expression, found none"},
		{"^# nothing", "expected an expression, found none"},
		{"1 + ^", "expected a value, found the end of the text"},
		{"1 + * 2 ^)", "expected the end of the statement, found ')'"},
		{"f(1, ^", "expected a value, found the end of the text"},
		{"f(1^", "expected ) or , after the entry of the list, found the end"},
		{"[1 ^2]", "expected ] or , after the entry of the list, found '2'"},
		{"{a => 1 ^b => 2}", "expected } or , after the entry of the hash, found 'b'"},
		{"{a ^}", "expected => after the key, found '}'"},
		{"{^class => 1}", "the key class is a reserved word"},
		{"^1 2", "this value is not used"},
		{"^foo $x", "expected an operator after the word foo"},
		{"$x = 1;^", "expected a statement after ;"},
		{"$x ^+= 1", "there is no operator +="},
		{"^1 = 2", "expected a variable"},
		{"^$1 = 2", "match variable"},
		{"^$::x = 2", "only a local variable"},
		{"^[$::a, $b] = [1, 2]", "only a local variable"},
		{"^[$a, []] = 1", "expected a variable"},
		{"^[$a, 1] = 1", "expected a variable"},
		{"^([$a, $b]) = 1", "expected a variable"},
		{"f() |$a = 1, ^$b| { 1 }", "the parameter $b needs a default"},
		{"1 + ^'abc", "the string is not closed"},
		{`1 + ^"abc`, "the string is not closed"},
		{`"a ^${x"`, "${ is not closed"},
		{`"a ^${f(1). b`, "${ is not closed"},
		{`"a ^${1 +`, "${ is not closed"},
		{`"a ^${}"`, "expected an expression in ${}, found none"},
		{`"a ${x ^y}"`, "expected } after the expression in ${}, found 'y'"},
		{`"^\u{110000}"`, "not a Unicode character"},
		{`"a ^$Foo"`, "$Foo is not a valid variable name"},
		{"^08", "not an octal number"},
		{"1 + ^0xg", "not a hexadecimal number"},
		{"^1a", "1a is not a number"},
		{"^9223372036854775808", "too big for an integer"},
		{"^1e999", "too big for a float"},
		{"1 ^& 2", "unexpected character &"},
		{"1 ^\u200b 2", "unexpected invisible character U+200B"},
		{"^Foo::bar", "expected a capital letter after Foo::"},
		{"^::", "expected a name after ::"},
		{"^$", "expected a variable name after $"},
		{"$f^(1)", "expected a function name before ("},
		{"$x.^F", "expected a function name after ., found 'F'"},
		{"$x ? {^}", "expected a value, found '}'"},
		{"$x ? { default => 1, ^default => 2 }", "two defaults"},
		{"case $x { ^}", "expected an option of case"},
		{"unless $x {} ^elsif $y {}", "expected else, found elsif"},
		{"f() |^$a::b| {}", "$a::b is not a valid parameter name"},
		{"f() |*$a, ^$b| {}", "expected | after *$a"},
		{"^/* open", "the comment is not closed"},
		{"^@(END)\ntext", "the heredoc is not closed"},
		{"^@(END/x)\nEND", "a heredoc has no escape x"},
		{"^@(END/tt)\nEND", "the escape t twice"},
		{"@(\"END\")\n    a\n    b ${^+ 1}\n    | END\n", "expected a value, found '+'"},
		{"[@(\"A\"), @(\"B\")]\na\n A\n  b\n  ${x}${^)}\n  | B\n", "expected a value, found ')'"},
	} {
		off := strings.IndexByte(c.src, '^')
		src := c.src[:off] + c.src[off+1:]
		n, errs := ParseExpression(src)
		switch {
		case len(errs) != 1:
			t.Errorf("%s: no error, but %v", src, n)
		case errs[0].Off != off || !strings.Contains(errs[0].Message, c.want):
			t.Errorf("%s: at %d, %s; want at %d, %s", src, errs[0].Off, errs[0].Message, off, c.want)
		}
	}
}

func TestErrorsNameCatalogConstructs(t *testing.T) {
	for src, want := range map[string]string{
		"class foo {}":                "a class",
		"define foo() {}":             "a defined type",
		"node default {}":             "a node definition",
		"function foo() {}":           "the definition of a function",
		"type Foo = Integer":          "the definition of a type",
		"file { 'x': mode => 1 }":     "a resource",
		"File['x'] { mode => 1 }":     "a resource",
		"@file { 'x': }":              "a virtual resource",
		"@@file { 'x': }":             "an exported resource",
		"File <| title == 'x' |>":     "a collector",
		"File <<| |>>":                "a collector",
		"$x -> $y":                    "a relationship",
		"$a = 1 include foo":          "include",
		"require foo, bar":            "require",
		"if $x { realize File['x'] }": "realize",
	} {
		_, errs := ParseExpression(src)
		if len(errs) != 1 || !strings.HasPrefix(errs[0].Message, want) || !strings.Contains(errs[0].Message,
			"catalog") {
			t.Errorf("%s: %v, want %s and catalog", src, errs, want)
		}
	}
}

func TestParsesLambdas(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"|$value| { $value + 1 }", "|$value| { $value + 1 }"},
		{" || {} ", "|| {}"},
		{"|Integer $a, *$b| { $c = $a $c }", "|Integer $a, *$b| { $c = $a; $c }"},
		{"|$a| >> Integer[1] { $a }", "|$a| { assert_type(Integer[1], $a) }"},
		{"", ""},
		{"1", ""},
		{"|$a| { 1 } 2", ""},
		{"|$a { 1 }", ""},
		{"|$a| $a", ""},
	} {
		l, errs := ParseLambda(c.src)
		switch {
		case errs != nil && c.want == "":
		case errs != nil:
			t.Errorf("%s: %v", c.src, errs)
		case PrintLambda(l) != c.want:
			t.Errorf("%s\n got %s\nwant %s", c.src, PrintLambda(l), c.want)
		}
	}
}

// The mark ^ is before the expected start of the node that prints as node.
func TestNodesHaveOffsets(t *testing.T) {
	for _, c := range []struct{ src, node string }{
		{"1 + ^$x", "$x"},
		{"^1 + $x", "1 + $x"},
		{"$x.^f(1)", "f($x, 1)"},
		{"^f(1)", "f(1)"},
		{"'é' + ^$x[1]", "$x[1]"},
		{`"é ${^f(1)} b"`, "f(1)"},
		{`"é ${^x} b"`, "$x"},
		{`"é ^$x b"`, "$x"},
		{"$y ? { ^a => 1 }", "'a'"},
		{"f(@(\"END\"))\n    é\n    b ${^x}\n    | END\n", "$x"},
		{"f(@(\"END\"))\n  a\n  ${g(@(\"IN\"))}\n    b\n    ${^x}\n    | IN\n  | END\n", "$x"},
		{"if $x { } else ^{ }", "1"},
	} {
		off := strings.IndexByte(c.src, '^')
		n, errs := ParseExpression(c.src[:off] + c.src[off+1:])
		if errs != nil {
			t.Errorf("%s: %v", c.src, errs)
			continue
		}
		walk(n, func(n *expr.Node) bool {
			if n.Op != expr.Option && Print(n) == c.node && n.Off != off {
				t.Errorf("%s: %s begins at %d, want %d", c.src, c.node, n.Off, off)
			}
			return true
		})
	}
}

func TestWalkVisitsLambdas(t *testing.T) {
	n, errs := ParseExpression(`a(b($x)).c |$q, Array[Integer] $p = (d(1))| { e("t${f()}"); [g()] }`)
	if errs != nil {
		t.Fatal(errs)
	}
	var names []string
	for call := range Calls(n) {
		names = append(names, call.Name)
	}
	if want := []string{"c", "a", "b", "d", "e", "f", "g"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	for call := range Calls(n) {
		if call.Name != "c" {
			t.Errorf("went on to %s", call.Name)
		}
		break
	}
}

func TestTooDeeplyNestedExpressionIsAnError(t *testing.T) {
	for _, c := range []struct{ opening, closing string }{
		{"(", ")"}, {"[", "]"}, {"{a => ", "}"}, {"!", ""}, {"-", ""}, {"f(", ")"}, {"$x = ", ""}, {`"${`, `}"`},
		{"if 1 { ", " }"}, {"if 1 {} elsif ", " {}"}, {"case 1 { 1: { ", " } }"}, {"1 ? { 1 => ", " }"},
		{"1 ? 1 => ", ""},
		{"f() |$x| { ", " }"}, {"$x[", "]"}, {"Array[", "]"}, {"*", ""},
	} {
		for _, depth := range []int{maxNesting / 4, 100 * maxNesting} {
			src := strings.Repeat(c.opening, depth) + "1" + strings.Repeat(c.closing, depth)
			_, errs := ParseExpression(src)
			if deep := depth > maxNesting; deep != (errs != nil) {
				t.Errorf("%s %d times: %v", c.opening, depth, errs)
			}
		}
	}
}

func TestTooHighTreeIsAnError(t *testing.T) {
	for _, link := range []string{" + 1", ".f", "[1]", " ? { 1 => 1 }", " and 1"} {
		if _, errs := ParseExpression("1" + strings.Repeat(link, maxHeight/2)); errs != nil {
			t.Errorf("%s: %v", link, errs)
		}
		if _, errs := ParseExpression("1" + strings.Repeat(link, maxHeight+1)); errs == nil {
			t.Errorf("%s: no error", link)
		}
	}
}
