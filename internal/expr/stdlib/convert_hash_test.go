package stdlib_test

import (
	"testing"

	"bindc/internal/expr/exprtest"
	"bindc/internal/testmode"
	"bindc/internal/value"
)

func TestHashesWithManyIntegerKeysAreWithinLimits(t *testing.T) {
	testmode.SkipUnderRace(t)
	for _, src := range []string{
		`Hash(Integer[1, 9000].map |$i| { [$i, 1] }).size`,
		`Hash(Integer[1, 9000].map |$i| { [[$i], 1] }, 'tree').size`,
		`Hash(Integer[1, 9000].map |$i| { [['a', $i], 1] }, 'tree')['a'].size`,
		`Hash([[[], Integer[1, 9000].map |$i| { $i }]], 'tree').size`,
	} {
		if v, err := exprtest.Evaluate(t, src, exprtest.Env{}); err != nil || v.Int() != 9000 {
			t.Errorf("%s: expected 9000, found %d, %v", src, v.Int(), err)
		}
	}
}

func TestTreeEntriesReplaceValuesBelowEarlierPaths(t *testing.T) {
	for src, want := range map[string]string{
		`Hash([[['a'], [1, 2]], [['a', 0], 5], [['a', 2], 6]], 'tree')`:      `{"a":[5,2,6]}`,
		`Hash([[['a'], [1, 2]], [['a', 0], 5]], 'hash_tree')`:                `{"a":{"0":5,"1":2}}`,
		`Hash([[[], {'a' => {'b' => 1}}], [['a', 'c'], 2]], 'tree')`:         `{"a":{"b":1,"c":2}}`,
		`Hash([[['a', 5], 1], [['a', '5'], 2], [['a', 5], 3]], 'tree')['a']`: `{"5":3,"5":2}`,
	} {
		v, err := exprtest.Evaluate(t, src, exprtest.Env{})
		if got := string(value.AppendJSON(nil, v)); err != nil || got != want {
			t.Errorf("%s: expected %s, found %s, %v", src, want, got, err)
		}
	}
	if _, err := exprtest.Evaluate(t, `Hash([[['a'], 1], [['a', 'b'], 2]], 'tree')`, exprtest.Env{}); err == nil {
		t.Error("expected an error about the path of entry 2")
	}
}
