package exprtest_test

import (
	"errors"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/expr/exprtest"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
)

func parse(t testing.TB, src string) *expr.Node {
	t.Helper()
	n, errs := syntax.ParseExpression(src)
	if len(errs) > 0 {
		t.Fatalf("%s: %s", src, errs[0].Message)
	}
	return n
}

// site has a few facts and bindings for expressions.
var site = exprtest.Env{
	Vars: map[string]value.Value{
		"num": value.FromInt(5), "name": value.FromString("kermit"), "no": value.Value{},
		"list": value.Strings("x", "y"), "m::v": value.FromInt(7),
	},
	Bindings: map[string]value.Value{
		"port": value.FromInt(80), "none": value.Value{}, "hash": value.FromPairs(value.Pair{Key: value.FromString("a"),
			Value: value.FromInt(1)}),
	},
}

// The cases are rules of language.md that differ from Puppet or go beyond it.
func TestEvalFollowsOwnRules(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`$nope`, `null`},
		{`"a${nope}b"`, `"ab"`},
		{`$nope['a']['b']`, `null`},
		{`lookup('nope')['a']`, `null`},
		{`undef['a']`, `null`},
		{`$m::v`, `7`},
		{`$::num`, `5`},
		{`lookup('port')`, `80`},
		{`lookup(port)`, `80`},
		{`lookup('port', Integer)`, `80`},
		{`lookup('port', 'Integer')`, `80`},
		{`lookup('port', Optional[Integer])`, `80`},
		{`lookup('none')`, `null`},
		{`lookup('none', Integer)`, `null`},
		{`lookup('none', Integer, 'first', 9)`, `null`},
		{`lookup('nope')`, `null`},
		{`lookup('nope', Integer)`, `null`},
		{`lookup('nope', undef, undef, 9)`, `9`},
		{`lookup('nope', Integer, 'first', 9)`, `9`},
		{`lookup('port', Integer, 'first', 9)`, `80`},
		{`lookup('nope', {default_value => 9})`, `9`},
		{`lookup('nope', {default_value => undef})`, `null`},
		{`lookup('port', {value_type => Integer})`, `80`},
		{`lookup({name => 'port'})`, `80`},
		{`lookup({name => ['nope', 'port'], value_type => Integer})`, `80`},
		{`lookup(['nope', 'port'])`, `80`},
		{`lookup('port') |$x| { $x + 1 }`, `81`},
		{`lookup('nope') |$x| { [$x] }`, `[null]`},
		{`lookup('nope', Integer, 'first', 9) |$x| { $x + 1 }`, `10`},
		{`"p ${lookup(port)}"`, `"p 80"`},
		{`lookup('hash')['a']`, `1`},
		{`lookup('hash').map |$k, $v| { $v }`, `[1]`},
		{`call('lookup', 'port')`, `80`},
		{`$num = 6 $num`, `6`},
		{`[$a, [$b, $c]] = [1, [2, 3]] [$c, $b, $a]`, `[3, 2, 1]`},
		{`[$a, $b] = {b => 2, a => 1, c => 3} [$a, $b]`, `[1, 2]`},
		{`[$a] = 1 $a`, `1`},
		{`$num = 6 with(1) |$num, $p = $::num| { [$num, $::num, "${::num}", $p, getvar('::num')] }`,
			`[1, 6, "6", 6, 6]`},
		{`with(1) |$x| { $y = 2 [$y, $::y, $::x] }`, `[2, null, null]`},
		{`getvar('m::v')`, `7`},
		{`/a/ =~ Pattern`, `true`},
		{`'a' =~ Pattern`, `false`},
		{`1 =~ Literal`, `true`},
		{`1 =~ Number`, `true`},
		{`1 =~ Object`, `true`},
		{`{1 => 'x'} =~ Hash[String]`, `true`},
	} {
		v, err := exprtest.Evaluate(t, c.src, site)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
		} else if got := string(value.AppendJSON(nil, v)); got != strings.ReplaceAll(c.want, ", ", ",") {
			t.Errorf("%s: expected %s, found %s", c.src, c.want, got)
		}
	}
}

// Messages name the function, what it expects, and what it found.
func TestErrorMessagesOfExpressions(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`1 + 'a'`, `0: the operator + needs numbers, found String on the right`},
		{`5 < 'a'`, `0: Integer and String cannot be compared with <`},
		{`$num / 0`, `0: division by zero`},
		{`9223372036854775807 + $num`, `0: the result of + does not fit in 64 bits`},
		{`[$num, upcase(true)]`, `7: upcase(): expected a string, number, array or hash, found Boolean`},
		{`$num ? { 1 => 2 }`, `0: no option of the selector matches a value of type Integer`},
		{`lookup('port', String)`, `0: lookup('port'): expected String, found Integer`},
		{`lookup('nope', String, 'first', 5)`, `0: lookup(): the default value: expected String, found Integer`},
		{`lookup('port', Strng)`, `15: unknown type 'Strng'; did you mean 'String'?`},
		{`lookup('port', Integer, 'deep')`, `0: lookup(): the only supported merge strategy is 'first'; use a multibinding to merge`},
		{`lookup('port', {valuetype => Integer})`, `0: lookup(): unknown option "valuetype"`},
		{`lookup(5)`, `0: lookup(): the name must be a String or an Array of strings, found Integer`},
		{`nope($num)`, `0: unknown function 'nope'`},
		{`upcase($num, 1)`, `0: upcase() takes 1 argument, found 2`},
		{`map($list)`, `0: map() needs a lambda`},
		{`upcase('a') |$x| { 1 }`, `0: upcase() takes no lambda`},
		{`map(true) |$x| { 1 }`, `0: map(): argument 1 must be something to iterate over, found Boolean`},
		{`[1].map |$a, $b, $c| { 1 }`, `4: map(): expected a lambda with 1 or 2 parameters, found 3`},
		{`with('a') |Integer $x| { 1 }`, `the parameter $x of the lambda: expected Integer, found String`},
		{`with() |$x| { 1 }`, `the lambda needs 1 argument but is called with 0`},
		{`assert_type(Array[Integer], [1, 'x'])`, `0: assert_type(): expected Integer, found String at [1]`},
		{`assert_type(Enum[a, b], 'c')`, `0: assert_type(): expected Enum['a', 'b'], found 'c'`},
		{`with(7) |Integer[1, 5] $x| { 1 }`, `the parameter $x of the lambda: expected Integer[1, 5], found 7`},
		{`Integer('x')`, `0: Integer(): the String is not an Integer`},
		{`'abc' =~ '(?=b)'`, `lookahead (?=...) is not supported`},
		{`'Grüße' =~ '\bG'`, `\b and \B are not supported here: the text has characters outside ASCII`},
		{`regsubst('Grüße', '\B', '-', 'G')`,
			`0: regsubst(): \b and \B are not supported here: the text has characters outside ASCII`},
		{`'abc' =~ '(a)\1'`, `backreferences (\1) are not supported`},
		{`5[0]`, `[] does not apply to Integer`},
		{`sprintf('%d', 'x')`, `0: sprintf(): the String is not an Integer`},
		{`[$a, $b] = [1, 2, 3]`, `0: 3 values cannot be assigned to 2 variables`},
		{`[$a, $b] = {a => 1}`, `5: the hash has no value for $b`},
		{`[$a, $a] = [1, 2]`, `5: the variable $a is already assigned`},
		{`with(1) |$x| { $x = 2 }`, `15: the variable $x is already assigned`},
		{`$x = 1 $x = 2`, `7: the variable $x is already assigned`},
	} {
		_, err := expr.Eval(parse(t, c.src), site, exprtest.Puppet)
		var e *expr.EvalError
		if !errors.As(err, &e) {
			t.Errorf("%s: expected an Error, found %v", c.src, err)
			continue
		}
		got := value.AppendText(nil, value.FromInt(int64(e.Off)))
		if full := string(got) + ": " + e.Error(); full != c.want && e.Error() != c.want {
			t.Errorf("%s:\nexpected %s\nfound    %s", c.src, c.want, full)
		}
	}
}

func TestStrictVariablesRejectsUndefinedVariables(t *testing.T) {
	opts := expr.Options{Functions: stdlib.Functions, StrictVariables: true}
	for src, fails := range map[string]bool{
		`$nope`: true, `"a${nope}"`: true, `$num`: false, `"a${num}"`: false, `$no`: false, `"${no}"`: false,
		`if 'a' =~ /b/ { 1 } else { $1 }`: false, `getvar('nope')`: false, `[1].map |$x| { $x }`: false,
	} {
		if _, err := expr.Eval(parse(t, src), site, opts); (err != nil) != fails {
			t.Errorf("%s: %v", src, err)
		}
	}
}

var errLoop = errors.New("loop")

// looping is an Env in which all lookups fail.
type looping struct{ exprtest.Env }

func (looping) Lookup(string, *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, errLoop
}

func TestEvalReturnsErrorOfLookup(t *testing.T) {
	_, err := expr.Eval(parse(t, `[1].map |$x| { "${lookup('a')}" }`), looping{}, exprtest.Puppet)
	var e *expr.EvalError
	if !errors.Is(err, errLoop) || !errors.As(err, &e) {
		t.Errorf("found %v", err)
	}
	_, err = expr.Eval(parse(t, `lookup('port', String)`), site, exprtest.Puppet)
	var m *types.Mismatch
	if !errors.As(err, &m) {
		t.Errorf("found %v", err)
	}
}

func TestCallLambdaPassesArgumentsAndVariables(t *testing.T) {
	l, errs := syntax.ParseLambda(`|$value| { $value + $num }`)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	v, err := expr.CallLambda(l, site, exprtest.Puppet, value.FromInt(1))
	if err != nil || v.Int() != 6 {
		t.Errorf("found %v, %v", v.Int(), err)
	}
	if _, err := expr.CallLambda(l, site, exprtest.Puppet, value.Value{}); err == nil {
		t.Error("undef + 5 is not an error")
	}
}

func TestEvalStopsAtLimits(t *testing.T) {
	for _, c := range []struct {
		src  string
		opts expr.Options
	}{
		{`[1, 2, 3].map |$x| { $x + 1 }`, expr.Options{Functions: stdlib.Functions, Steps: 5}},
		{`((((1 + $num) + 1) + 1) + 1)`, expr.Options{Functions: stdlib.Functions, Depth: 3}},
		{`"${name}${name}${name}"`, expr.Options{Functions: stdlib.Functions, Size: 10}},
		{`"${name}${$name}${name}"`, expr.Options{Functions: stdlib.Functions, Size: 10}},
	} {
		if _, err := expr.Eval(parse(t, c.src), site, c.opts); err == nil {
			t.Errorf("%s is not bounded by %+v", c.src, c.opts)
		}
	}
}

func TestFoldEvaluatesConstants(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`1 + 2 * 3`, `7`},
		{`"a${1 + 2}b"`, `"a3b"`},
		{`"a${1 + 2}b${num}c${'d'}e"`, `"a3b${num}cde"`},
		{`[1 + 1, $num, 2 + 2]`, `[2, $num, 4]`},
		{`$num + (1 + 2)`, `$num + 3`},
		{`true or $num`, `true`},
		{`if true { 5 } else { $num }`, `5`},
		{`$x = 5 $x + 1`, `6`},
		{`[1, 2].map |$x| { $x * 2 }`, `[2, 4]`},
		{`$list.map |$x| { "${x}${1 + 1}" }`, `$list.map |$x| { "${x}2" }`},
		{`Array[Integer[1, 5 + 5]]`, `Array[Integer[1, 10]]`},
		{`upcase('abc')`, `'ABC'`},
		{`1 / 0`, `1 / 0`},
		{`[$num, 1 / 0]`, `[$num, 1 / 0]`},
		{`lookup('a' + 'b')`, `lookup('a' + 'b')`},
		{`lookup("a${1 + 1}")`, `lookup('a2')`},
		{`fqdn_rand(10 + 20)`, `fqdn_rand(30)`},
		{`if 'foobar' =~ /foo(.*)/ { $1 }`, `'bar'`},
		{`if 'foobar' =~ /foo(.*)/ { [$1, $num] }`, `if 'foobar' =~ /foo(.*)/ { [$1, $num] }`},
		{`[$y = 1 + 1, $y, $num]`, `[$y = 2, $y, $num]`},
		{`$1`, `undef`},
		{`Integer[1, 100000].map |$x| { $x }`, `Integer[1, 100000].map |$x| { $x }`},
	} {
		got, want := expr.Append(nil, unplaced(expr.Fold(parse(t, c.src), stdlib.Functions))),
			expr.Append(nil, unplaced(typed(t, c.want)))
		if string(got) != string(want) {
			t.Errorf("%s:\nexpected %q\nfound    %q", c.src, want, got)
		}
	}
}

// typed parses src. Constant arrays, negative numbers and types become constants, as Fold makes them.
func typed(t *testing.T, src string) *expr.Node {
	n := parse(t, src)
	if v, err := expr.Eval(n, exprtest.Env{}, exprtest.Puppet); err == nil && !strings.ContainsAny(src, "$(") {
		return &expr.Node{Value: v}
	}
	for i, k := range n.Kids {
		if k.Op == expr.Access && k.Kids[0].Op == expr.TypeName {
			v, err := expr.Eval(k, exprtest.Env{}, exprtest.Puppet)
			if err != nil {
				t.Fatal(err)
			}
			n.Kids[i] = &expr.Node{Value: v}
		}
	}
	return n
}

// unplaced returns a copy of n without offsets.
func unplaced(n *expr.Node) *expr.Node {
	out := *n
	out.Off = 0
	out.Kids = nil
	for _, k := range n.Kids {
		out.Kids = append(out.Kids, unplaced(k))
	}
	if n.Lambda != nil {
		out.Lambda = &expr.Lambda{Params: n.Lambda.Params, Body: unplaced(n.Lambda.Body)}
	}
	return &out
}

func BenchmarkConcat(b *testing.B) {
	n := parse(b, `"host ${name} has ${num} of ${name}"`)
	var env expr.Env = site
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expr.Eval(n, env, exprtest.Puppet); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAccess(b *testing.B) {
	n := parse(b, `"${list[0]}"`)
	var env expr.Env = site
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expr.Eval(n, env, exprtest.Puppet); err != nil {
			b.Fatal(err)
		}
	}
}
