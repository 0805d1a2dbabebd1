package policy_test

import (
	"fmt"
	"path/filepath"
	"testing"
)

// The proof of one policy does not change the verdict on another, even if their keys have the same value. There are
// more requirements than fit into the marks of a value.
func TestPoliciesDoNotChangeEachOther(t *testing.T) {
	const bound = 40 // the value of all keys
	policies, want := "policy_version: 1\npolicies:\n", map[string]string{}
	add := func(name, rest string, holds bool) {
		policies += "  - {name: " + name + ", " + rest + "}\n"
		if want[name] = "broken"; holds {
			want[name] = "proven"
		}
	}
	for i := range 100 {
		add(fmt.Sprint("least ", i), fmt.Sprintf("key: 'm::a', type: 'Integer[%d]'", i), i <= bound)
	}
	for i := range 100 {
		add(fmt.Sprint("most ", i), fmt.Sprintf("key: 'm::b', type: 'Integer[0, %d]'", i), i >= bound)
	}
	add("bound", "keys: '**', bound: true", true)
	add("unbound", "key: 'm::a', bound: false", false)
	add("layer of one", "key: 'a::a', layers: [top]", true)
	add("layer of all", "keys: '**', layers: [top]", false)
	add("equal", "keys: '**', equals: 40", true)
	add("unequal", "key: 'm::b', equals: 41", false)
	dir := filepath.Join(t.TempDir(), "site")
	written(t, dir, map[string]string{"policies/p.yaml": policies,
		"binder_config.yaml": "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, {name: low, include: " +
			"'confdir:/low'}]\ncategories: [[node, '${fqdn}'], [environment, '${environment}'], [common, 'true']]\n",
		"bindings/top.yaml": "bindings_version: 1\nname: top\nbind: [['a::a', 40]]\n",
		"bindings/low.yaml": "bindings_version: 1\nname: low\nbind: [['m::a', 40], ['m::b', 40]]\n"})
	of := proved(t, dir)
	if of == nil {
		t.Fatal("the site has errors")
	}
	defer of.snap.Close()
	for name, want := range want {
		if got := of.verdict(name); got != want {
			t.Errorf("the policy '%s' is %s, want %s", name, got, want)
		}
	}
}
