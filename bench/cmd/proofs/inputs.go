package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bindc/bench/gen"
)

var types = map[gen.Kind]string{gen.String: "String[1]", gen.Interpolated: "String", gen.Integer: "Integer[0]",
	gen.Boolean: "Boolean", gen.List: "Array[Variant[String, Numeric, Boolean]]", gen.Hash: "Hash[String, Data]"}

// writeClasses writes a manifest that declares classes whose parameters are all keys of site. It
// returns the number of parameters.
func writeClasses(dir string, site *gen.Site) (parameters int, err error) {
	params := map[string][]string{}
	var names []string
	for i, key := range site.KeyNames() {
		at := strings.LastIndex(key, "::")
		class := key[:at]
		if params[class] == nil {
			names = append(names, class)
		}
		params[class] = append(params[class], fmt.Sprintf("  %s $%s,\n", types[site.KindOf(i)], key[at+2:]))
		parameters++
	}
	var b strings.Builder
	for _, class := range names {
		fmt.Fprintf(&b, "class %s (\n%s) { }\n", class, strings.Join(params[class], ""))
	}
	for _, class := range names {
		fmt.Fprintf(&b, "include %s\n", class)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return 0, err
	}
	return parameters, os.WriteFile(filepath.Join(dir, "site.pp"), []byte(b.String()), 0o666)
}

// policiesOf returns a file with 100 policies that site does not violate. 50 check the integers in
// an environment, 25 check that a key is bound, 20 check the keys of a module, and 5 check all
// keys.
func policiesOf(site *gen.Site) []byte {
	var b strings.Builder
	b.WriteString("policy_version: 1\npolicies:\n")
	add := func(n int, policy string) { fmt.Fprintf(&b, "  - {name: policy %d, %s}\n", n, policy) }
	n := 0
	for i, key := range site.KeyNames() {
		if site.KindOf(i) == gen.Integer && n < 50 {
			n++
			add(n, "when: {environment: production}, key: '"+key+"', satisfies: '|$n| { $n >= 0 }'")
		}
	}
	for _, key := range site.KeyNames()[:25] {
		n++
		add(n, "key: '"+key+"', bound: true")
	}
	seen := map[string]bool{}
	for _, key := range site.KeyNames() {
		if module, _, _ := strings.Cut(key, "::"); !seen[module] && n < 95 {
			seen[module] = true
			n++
			add(n, "keys: '"+module+"::**', type: Data")
		}
	}
	for n < 100 {
		n++
		add(n, "keys: '**', bound: true")
	}
	return []byte(b.String())
}
