package exprtest_test

import (
	"slices"
	"strings"
	"testing"

	"bindc/internal/syntax"
	"bindc/internal/value"
)

func TestVariablesOfCallsTypesAndAssignments(t *testing.T) {
	for src, want := range map[string]struct{ reads, scoped, own string }{
		`getvar('role')`:                                {"role", "role", ""},
		`call('getvar', 'role')`:                        {"role", "role", ""},
		`call('call', 'getvar', 'role')`:                {"role", "role", ""},
		`call('fqdn_rand', 10)`:                         {"fqdn networking", "fqdn networking", ""},
		`call('get', $facts, 'os.family')`:              {"os", "facts", ""},
		`call($f, 'role')`:                              {"f facts", "* f", ""},
		`with(1) |Integer[0, $limit] $x| { $x }`:        {"limit x", "limit x", "x"},
		`with(1) |$x = $limit| { $x }`:                  {"limit x", "limit x", "x"},
		`[$a, [$b]] = $list; $a`:                        {"a list", "a b list", "a b"},
		`with(1) |$x = [1].map |$y| { $y }| { $z = 1 }`: {"y", "y", "x y z"},
	} {
		n, errs := syntax.ParseExpression(src)
		if len(errs) > 0 {
			t.Fatalf("%s: %v", src, errs)
		}
		var reads, scoped, own []string
		n.Reads(func(name string, _ []value.Value) { reads = append(reads, name) })
		n.Scoped(func(name string) { scoped = append(scoped, name) })
		n.Own(func(name string) { own = append(own, name) })
		if sorted(reads) != want.reads || sorted(scoped) != want.scoped || sorted(own) != want.own {
			t.Errorf("%s: expected %+v, found reads %q, scoped %q, own %q", src, want, reads, scoped, own)
		}
	}
}

func sorted(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}
