package stdlib_test

import (
	"slices"
	"strings"
	"testing"

	"bindc/internal/expr/exprtest"
	"bindc/internal/expr/stdlib"
)

func TestFunctionNames(t *testing.T) {
	const known = `
		abs all any assert_type
		call camelcase capitalize ceiling chomp chop compare convert_to
		dig downcase
		each empty error
		fail filter flatten floor fqdn_rand
		get getvar
		index
		join
		keys
		length lest lookup lstrip
		map match max md5 min
		new
		reduce regsubst reverse_each round rstrip
		sha1 sha256 size slice sort split sprintf step strip
		then tree_each type
		unique upcase
		values versioncmp
		with
	`
	for _, name := range stdlib.Functions.Names() {
		if !slices.Contains(strings.Fields(known), name) {
			t.Errorf("%s is in the table of functions: add it to known in this test", name)
		}
	}
	for name := range strings.FieldsSeq(known) {
		if !slices.Contains(stdlib.Functions.Names(), name) {
			t.Errorf("%s is not in the table of functions; lookups that call it, in older snapshots, would fail", name)
		}
	}
	if !slices.IsSorted(stdlib.Functions.Names()) {
		t.Error("the table is not sorted, so Find misses functions")
	}
	for _, name := range stdlib.Functions.Names() {
		if f, ok := stdlib.Functions.Find(name); !ok || f.Name != name || f.Run == nil {
			t.Errorf("%s is not found", name)
		}
	}
	for _, name := range []string{"include", "", "aaa", "zzz", "%lookup"} {
		if _, ok := stdlib.Functions.Find(name); ok {
			t.Errorf("found a function %q", name)
		}
	}
}

func TestRejectsCallWithWrongArguments(t *testing.T) {
	for src, want := range map[string]string{
		`include('a')`:            "unknown function 'include'",
		`upcase()`:                "upcase() takes 1 argument, found 0",
		`join([], '', 3)`:         "join() takes 1 to 2 arguments, found 3",
		`sprintf()`:               "sprintf() takes 1 or more arguments, found 0",
		`map([1])`:                "map() needs a lambda",
		`upcase('a') |$x| { $x }`: "upcase() takes no lambda",
	} {
		if _, err := exprtest.Evaluate(t, src, exprtest.Env{}); err == nil || err.Error() != want {
			t.Errorf("%s: expected %s, found %v", src, want, err)
		}
	}
}
