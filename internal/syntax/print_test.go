package syntax

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/value"
)

// Print returns the canonical source of an expression.
func TestPrintsCanonicalSource(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"1+2*3", "1 + 2 * 3"},
		{"(1+2)*3", "(1 + 2) * 3"},
		{"1-(2-3)", "1 - (2 - 3)"},
		{"-3.abs", "-abs(3)"},
		{"foo", "'foo'"},
		{`"a\tb"`, `"a\tb"`},
		{`"a${x}b$y"`, `"a${x}b${y}"`},
		{`"${'a'}"`, `"${'a'}"`},
		{`"a${'b'}"`, `"a${'b'}"`},
		{`"${(1)}${$if}"`, `"${(1)}${$if}"`},
		{"[$::x, \"${::x}\"]", "[$::x, \"${::x}\"]"},
		{"with(1) |$x, $y = $::x| { \"${::x}\" }", "with(1) |$x, $y = $::x| { \"${::x}\" }"},
		{"$x.map |$a, Integer $b = 1, *$c| {$a}", "map($x) |$a, Integer $b = 1, *$c| { $a }"},
		{"f() |$a = (g())| >> Integer { $b = $a $b }", "f() |$a = (g())| >> Integer { $b = $a; $b }"},
		{"Integer.new('1')", "Integer('1')"},
		{"[a=>1]", "[{'a' => 1}]"},
		{"if $a {1} elsif $b {2}", "if $a { 1 } else { if $b { 2 } }"},
		{"unless $a {1}", "if $a {} else { 1 }"},
		{"case $a {1,*[2]:{} default:{3}}", "case $a { 1, *[2]: {} default: { 3 } }"},
		{"$a ? b => 1", "$a ? { 'b' => 1 }"},
		{"1+$a?{2=>3}", "1 + $a ? { 2 => 3 }"},
		{"1+($a?{2=>3})", "1 + ($a ? { 2 => 3 })"},
		{"[$a,$b]=[1,2] $a", "[$a, $b] = [1, 2]; $a"},
		{"1e20 / 2.50", "1e20 / 2.5"},
		{`/a\/b/`, `/a\/b/`},
	} {
		n, errs := ParseExpression(c.src)
		if errs != nil {
			t.Errorf("%s: %v", c.src, errs)
		} else if got := Print(n); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// A string with Hiera interpolations is printed in Hiera's syntax.
func TestPrintsHieraTextInHieraSyntax(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"a %{x} b", `"a %{x} b"`},
		{"%{::x}%{ facts.os.family }", `"%{::x}%{facts.os.family}"`},
		{`%{facts."a.b".0}%{a.'0'}%{'a.b'}`, `"%{facts.'a.b'.0}%{a.'0'}%{'a.b'}"`},
		{`%{"it's.x"}`, `"%{\"it's.x\"}"`},
		{"%{scope('x.y')}", `"%{x.y}"`},
		{`%{lookup("k")} %{hiera('a.b')}`, `"%{lookup('k')} %{lookup('a.b')}"`},
		{`%{lookup("'a.b'.c")}`, `"%{lookup(\"'a.b'.c\")}"`},
		{"%{alias('k')}", `"%{alias('k')}"`},
		{"%{literal('%')}{x} of %{x}: $5 \\ \"é\"\n", `"%{literal('%')}{x} of %{x}: $5 \\ \"é\"\n"`},
		{"%{x}%{}%{y", `"%{x}%{literal('%')}{y"`},
	} {
		n, problems := expr.ParseHiera(c.src)
		if problems != nil {
			t.Errorf("%s: %v", c.src, problems)
		} else if got := Print(n); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
		checkHieraReadBack(t, c.src)
	}
	kids := []*expr.Node{hieraNode("k%{x}"), hieraNode("plain"), hieraNode("%{lookup('k')}"), {Op: expr.ArrayLit}}
	if got := Print(&expr.Node{Op: expr.HashLit, Kids: kids}); got != `{"k%{x}" => 'plain', "%{lookup('k')}" => []}` {
		t.Errorf("a hash is printed as %s", got)
	}
	if n, _ := expr.ParseHiera("%{foo('x')}"); Print(n) != `"%{unknown method 'foo': expected lookup, hiera, alias, `+
		`literal or scope}"` {
		t.Errorf("what fails is printed as %s", Print(n))
	}
}

func hieraNode(text string) *expr.Node {
	n, _ := expr.ParseHiera(text)
	return n
}

// checkHieraReadBack checks that a printed text with Hiera interpolations parses to an equal tree.
func checkHieraReadBack(t *testing.T, src string) {
	t.Helper()
	n, problems := expr.ParseHiera(src)
	text, ok := expr.HieraSource(n)
	if problems != nil || !ok {
		return
	}
	again, problems := expr.ParseHiera(text)
	if problems != nil || !equal(expr.Fold(n, stdlib.Functions), expr.Fold(again, stdlib.Functions)) {
		t.Errorf("%q: printed as %q\n was %s\n is  %s", src, text, sexpr(n), sexpr(again))
	}
}

func TestPrintedExpressionParsesToEqualTree(t *testing.T) {
	for _, s := range shapes(t) {
		if s.tree != "error" {
			checkPrint(t, s.src)
		}
	}
	for _, src := range conformance(t) {
		checkPrint(t, src)
	}
}

// conformance returns the expressions in the shared table. It returns nil if the table does not exist.
func conformance(t *testing.T) (sources []string) {
	data, err := os.ReadFile("../../../shared/conformance/expressions.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("no conformance table")
		return nil
	}
	var table struct{ Cases []struct{ Expr string } }
	if err == nil {
		err = json.Unmarshal(data, &table)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Cases {
		sources = append(sources, c.Expr)
	}
	return sources
}

// checkPrint checks that src parses, and that printing and parsing it again gives an equal tree.
func checkPrint(t *testing.T, src string) {
	t.Helper()
	n, errs := ParseExpression(src)
	if errs != nil {
		t.Errorf("%s: %v", src, errs)
		return
	}
	checkReadBack(t, src, n)
}

func checkReadBack(t *testing.T, src string, n *expr.Node) {
	t.Helper()
	printed := Print(n)
	again, errs := ParseExpression(printed)
	switch {
	case errs != nil:
		t.Errorf("%s: printed as %s: %v", src, printed, errs)
	case !equal(n, again):
		t.Errorf("%s: printed as %s\n was %s\n is  %s", src, printed, sexpr(n), sexpr(again))
	case Print(again) != printed:
		t.Errorf("%s: printed as %s, then as %s", src, printed, Print(again))
	}
}

// equal compares trees, ignoring offsets.
func equal(a, b *expr.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Op == b.Op && a.Name == b.Name && value.Identical(a.Value, b.Value) &&
		slices.EqualFunc(a.Kids, b.Kids, equal) && equalLambdas(a.Lambda, b.Lambda)
}

func equalLambdas(a, b *expr.Lambda) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equal(a.Body, b.Body) && slices.EqualFunc(a.Params, b.Params, func(a, b expr.Param) bool {
		return a.Name == b.Name && a.Rest == b.Rest && equal(a.Type, b.Type) && equal(a.Default, b.Default)
	})
}
