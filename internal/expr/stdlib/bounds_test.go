package stdlib_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"bindc/internal/expr"
	"bindc/internal/expr/exprtest"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/testmode"
	"bindc/internal/value"
)

// endless lists expressions that would take practically unlimited time or memory without limits.
var endless = []string{
	`Integer[1, 9999999999].map |$x| { $x }`,
	`Integer[1, 9999999999].each |$x| { }`,
	`Integer[1, 9999999999].each |$x| { 1 }`,
	`Integer[1, 9999999999].filter |$x| { false }`,
	`Integer[1, 9999999999].all |$x| { true }`,
	`Integer[1, 9999999999].reduce |$m, $x| { $x }`,
	`Integer[1, 9999999999].index |$x| { false }`,
	`Integer[1, 9999999999].index(-1)`,
	`Integer[1, 9999999999].reverse_each`,
	`Integer[1, 9999999999].step(1000)`,
	`Integer[1, 9999999999].slice(1000)`,
	`Array(Integer[1, 9999999999])`,
	`9999999999.map |$x| { 1 }`,
	`unique(Integer[1, 9999999999])`,
	`Integer[1, 100].reduce('ab') |$m, $x| { "${m}${m}" }`,
	`Integer[1, 100].reduce([1]) |$m, $x| { $m + $m }`,
	`Integer[1, 100].reduce([1]) |$m, $x| { [$m, $m] }`,
	`Integer[1, 100].reduce([1]) |$m, $x| { [*$m, *$m] }`,
	`Integer[1, 100].reduce({}) |$m, $x| { {a => $m, b => $m} }`,
	`Integer[1, 100].reduce([1]) |$m, $x| { with($m, $m) |*$r| { $r } }`,
	`Integer[1, 100].reduce([1]) |$m, $x| { [1, 2].map |$y| { $m } }`,
	`Integer[1, 5000].reduce([1]) |$m, $x| { [$m] }`,
	`Integer[1, 5000].reduce([1]) |$m, $x| { slice($m, 1) }`,
	`Integer[1, 100].reduce(Integer) |$m, $x| { Variant[Array[$m], Tuple[$m]] }`,
	`Integer[1, 5000].reduce(Integer) |$m, $x| { Array[$m] }`,
	`Integer[1, 100].reduce('ab') |$m, $x| { regsubst($m, '.', $m, 'G') }`,
	`Integer[1, 100].reduce('ab') |$m, $x| { join([$m, $m]) }`,
	`Integer[1, 100].reduce('ab') |$m, $x| { sprintf('%s%s', $m, $m) }`,
	`Integer[1, 100].reduce('ab') |$m, $x| { String([$m, $m]) }`,
	`sprintf('%999999999d', 1)`,
	`sprintf('%*d', 999999999, 1)`,
	`sprintf('%.999999999f', 1.5)`,
	`sprintf('%99999999999999999999d', 1)`,
	`String(5, '%999999999d')`,
	`String([1, 2], {Array => {format => '%#999999999a'}, Integer => '%999999999d'})`,
	`String('x', '%999999999s')`,
	`$big =~ /((a|b|c|d|e)*(f|g)?){900}x/`,
	`Integer[1, 1000000].map |$x| { $big =~ /(a*)*$/ }`,
	`Integer[1, 1000000].map |$x| { split($big, '') }`,
	`Integer[1, 1000000].map |$x| { type($list) }`,
	`Integer[1, 1000000].map |$x| { $list == $list2 }`,
	`Integer[1, 1000000].map |$x| { $list =~ Array[Integer] }`,
	`Integer[1, 1000000].map |$x| { $big[1] }`,
	`Integer[1, 1000000].map |$x| { sort($list) }`,
	`Integer[1, 1000000].map |$x| { unique($list) }`,
	`Integer[1, 1000000].map |$x| { $list - $list2 }`,
	`Integer[1, 1000000].map |$x| { $big in $big }`,
	`Integer[1, 1000000].map |$x| { $big in 'a' }`,
	`Integer[1, 1000000].map |$x| { upcase($big) }`,
	`Integer[1, 1000000].map |$x| { with($list) |Array[Integer] $y| { 1 } }`,
	`Integer[1, 1000000].map |$x| { case $list { $list2: { 1 } } }`,
	`Integer[1, 1000000].map |$x| { {$list => 1} }`,
	`Integer[1, 1000000].map |$x| { capitalize($accents) }`,
	`Integer[1, 1000000].map |$x| { assert_type(String, $hash) |$e, $a| { 1 } }`,
	`Integer[1, 1000000].map |$x| { type($hash, reduced) }`,
	`Integer[1, 1000000].map |$x| { $hash[$x] }`,
	`Integer[1, 1000000].map |$x| { dig($hash, $x) }`,
	`Integer[1, 1000000].map |$x| { dig($hash, $hash) }`,
	`Integer[1, 1000000].map |$x| { $hash[$hash] }`,
	`Integer[1, 1000000].map |$x| { $hash[*[$hash]] }`,
	`Integer[1, 1000000].map |$x| { $hash[$big, $big] }`,
	`Integer[1, 1000000].map |$x| { compare($big, $big) }`,
	`Integer[1, 1000000].map |$x| { $big == $big }`,
	`Integer[1, 1000000].map |$x| { join($list) }`,
	`Integer[1, 1000000].map |$x| { getvar($big) }`,
	`Integer[1, 1000000].map |$x| { Hash([[[], $list]], 'tree') }`,
	`Integer[1, 1000000].map |$x| { Hash([[[], $list]], 'hash_tree') }`,
}

// wasteful lists expressions whose results exceed the limit on size far, although the arguments are small.
var wasteful = []string{
	`String(Integer[1, 400].map |$x| { $x }, {Array => {format => '%a', separator => $big}})`,
	`String(Hash(Integer[1, 400].map |$x| { [$x, 1] }), {Hash => {format => '%h', separator => $big}})`,
	`String(Hash(Integer[1, 400].map |$x| { [$x, 1] }), {Hash => {format => '%h', separator2 => $big}})`,
	"regsubst($big, '$', join(Integer[1, 400].map |$x| { '\\`' }))",
	`regsubst($big, '.*', join(Integer[1, 400].map |$x| { '\\0' }))`,
}

func TestSizeIsLimitedBeforeTextIsBuilt(t *testing.T) {
	testmode.SkipUnderRace(t)
	env := exprtest.Env{Vars: map[string]value.Value{"big": value.FromString(strings.Repeat("abcdefg", 100_000))}}
	for _, src := range wasteful {
		n, errs := syntax.ParseExpression(src)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := expr.Eval(n, env, part)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, expr.ErrSize) {
			t.Errorf("%s: expected an error about the size, found %v", src, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*uint64(part.Size) {
			t.Errorf("%s: allocated %d MB", src, used>>20)
		}
	}
}

// part has an eighth of the default limits, which saves time. Evaluations stop in proportion to their limits.
var part = expr.Options{Functions: stdlib.Functions, Steps: expr.DefaultSteps / 8, Size: expr.DefaultSize / 8}

// longest is far more than the tenth of a second that an evaluation within part takes. It leaves room for busy
// machines, the race detector and emulation. Without limits, evaluations take hours.
const longest = time.Minute

func TestEndlessExpressionsStopAtLimits(t *testing.T) {
	testmode.SkipUnderRace(t)
	env := largeValues()
	for _, src := range testmode.Sample(t, endless, 6) {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			n, errs := syntax.ParseExpression(src)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			start := time.Now()
			v, err := expr.Eval(n, env, part)
			var e *expr.EvalError
			if !errors.As(err, &e) {
				t.Errorf("expected an error, found %v of length %d", v.Kind(), v.Len())
			}
			if took := time.Since(start); took > longest {
				t.Errorf("it took %v", took)
			} else {
				t.Log(took, err)
			}
			expr.Fold(n, stdlib.Functions)
		})
	}
}

// largeValues has variables with large values.
func largeValues() exprtest.Env {
	list := make([]value.Value, 20_000)
	for i := range list {
		list[i] = value.FromInt(int64(i))
	}
	var hash value.Builder
	for _, v := range list {
		hash.Set(value.FromString(string(value.AppendText([]byte("key"), v))), v)
	}
	return exprtest.Env{Vars: map[string]value.Value{
		"hash":    hash.Hash(),
		"accents": value.FromString(strings.Repeat("éÀ", 200_000)),
		"big":     value.FromString(strings.Repeat("abcdefg", 100_000)),
		"list":    value.FromSlice(list),
		"list2":   value.FromSlice(append([]value.Value(nil), list...)),
	}}
}

// largeArguments are arguments for any function. Many functions refuse most of them.
var largeArguments = []string{
	`Integer[1, 9999999999]`, `9999999999`, `Integer[1, 9999999999], 1000`, `9999999999, 9999999999`, `$list`, `$list, $list2`,
	`$hash`, `$hash, $hash`, `$big`, `$big, $big`, `$big, 'b', $big`, `$big, $accents, '', 'G'`, `'%999999999d', 1`,
	`'%s%s', $big, $big`, `$list, 1`, `$big, 9999999999`, `Integer, $list`, `String, $hash`, `Variant[$list], $list`,
}

// Each function stops at the limits, or has a result within them, whatever its arguments and its lambda are. This test
// finds a function that has no row in endless.
func TestEveryFunctionStopsAtLimits(t *testing.T) {
	testmode.SkipUnderRace(t)
	env := largeValues()
	for i, name := range stdlib.Functions.Names() {
		if !testmode.Chosen(t, i, 16) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, arguments := range largeArguments {
				for _, lambda := range []string{"", " |$x| { true }", " |$x| { false }", " |$x, $y| { [$x, $y] }"} {
					stops(t, "Integer[1, 1000000].map |$n| { "+name+"("+arguments+")"+lambda+" }", env)
					stops(t, name+"("+arguments+")"+lambda, env)
				}
			}
		})
	}
}

// stops evaluates src within part, and fails if that takes too long, or if the result is larger than part allows.
func stops(t *testing.T, src string, env expr.Env) {
	t.Helper()
	n, errs := syntax.ParseExpression(src)
	if len(errs) > 0 {
		t.Fatal(src, errs)
	}
	start := time.Now()
	v, err := expr.Eval(n, env, part)
	if took := time.Since(start); took > longest {
		t.Errorf("%s took %v", src, took)
	}
	room := expr.Total{Steps: part.Steps, Size: part.Size}
	if err == nil && room.Add(v) != nil {
		t.Errorf("%s: the result exceeds the limit on size", src)
	}
}

// Each operator stops at the limits, or has a result within them. The short form tries few operands.
func TestEveryOperatorStopsAtLimits(t *testing.T) {
	testmode.SkipUnderRace(t)
	env, number := largeValues(), 0
	operands := []string{`$list`, `$hash`, `$big`, `$accents`, `1`, `'a'`, `Integer`, `/(a|b)*g$/`, `[$list]`,
		`{a => $hash}`}
	operators := []string{"+", "-", "*", "/", "%", "<<", "==", "!=", "<", ">=", "=~", "!~", "in", "and"}
	for _, left := range operands {
		for _, right := range operands {
			for _, operator := range operators {
				if number++; number%testmode.Number(97, 1) == 0 {
					stops(t, "Integer[1, 1000000].map |$n| { ("+left+") "+operator+" ("+right+") }", env)
				}
			}
			if number++; number%testmode.Number(97, 1) == 0 {
				stops(t, "Integer[1, 1000000].map |$n| { ("+left+")["+right+"] }", env)
				stops(t, "Integer[1, 1000000].map |$n| { ("+left+") ? { "+right+" => 1, default => 2 } }", env)
			}
		}
	}
}
