package compile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/loader"
)

// many returns n copies of lines, with the number of the copy in place of #.
func many(n int, lines string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(lines, "#", fmt.Sprint(i)) + "\n")
	}
	return b.String()
}

// loadTimed loads a site. It returns the time by which linear work on the site must have ended. Loading is linear. A
// quadratic algorithm takes more than 25 times as long for the sites in this file.
func loadTimed(t *testing.T, text string, diags *diag.List) (site *loader.Site, began time.Time, most time.Duration) {
	t.Helper()
	dir := hieraSite(t, text)
	began = time.Now()
	site = loader.Load(dir, loader.Options{}, diags)
	return site, time.Now(), 15 * time.Since(began)
}

// A level is left to Puppet if a chain of lookups, however long, ends in a key that only Puppet may have. The reported
// lookup is the last of the chain, because the others depend on it.
func TestForeignLookupsFollowsLongChainsInLinearTime(t *testing.T) {
	testmode.SkipUnderRace(t)
	const keys = 10_000
	var chain strings.Builder
	for i := range keys {
		fmt.Fprintf(&chain, "k%d: \"%%{lookup('k%d')}\"\n", i, i+1)
	}
	var diags diag.List
	site, began, most := loadTimed(t, "-- hiera.yaml --\nversion: 5\nhierarchy:\n  - {name: V, lookup_key: hiera_vault}\n"+
		"  - {name: A, path: a.yaml}\n  - {name: B, path: b.yaml}\n  - {name: C, path: c.yaml}\n"+
		"-- data/a.yaml --\na: \"%{lookup('k0')}\"\n-- data/b.yaml --\n"+chain.String()+
		"-- data/c.yaml --\nc: 1\n", &diags)
	got := map[int]string{}
	for _, l := range compile.ForeignLookups(site) {
		got[l.Entry] = l.Key
	}
	if took := time.Since(began); took > most {
		t.Errorf("finding them took %v", took)
	}
	if want := fmt.Sprint(map[int]string{1: "k0", 2: fmt.Sprint("k", keys)}); fmt.Sprint(got) != want {
		t.Errorf("the lookups by level are %v, want %v", got, want)
	}
}

// These sites have many parts that each of many others could be compared with.
func TestSitesOfManyPartsCompileInLinearTime(t *testing.T) {
	testmode.SkipUnderRace(t)
	bindings := func(lines string) string {
		return "-- hiera.yaml --\nversion: 5\n-- bindings/default.yaml --\nbindings_version: 1\nname: default\nbind:\n" + lines
	}
	common := "-- data/common.yaml --\n"
	for i, c := range []struct {
		name, site string
		keys       int // 0: the site has errors
	}{
		{"lookup_options of bound keys", common + "lookup_options:\n" + many(50_000, "  k#: {merge: unique}") +
			many(50_000, "k#: [1]"), 50_000},
		{"lookup_options of keys that nothing binds", common + "lookup_options:\n" +
			many(30_000, "  other#: {merge: unique}") + many(30_000, "k#: [1]"), 30_000},
		{"files with lookup_options", many(2000, "-- data/nodes/n#.yaml --\nlookup_options: {k#: {merge: unique}}") + common +
			many(20_000, "k#: [1]"), 20_000},
		{"aliases of keys that nothing binds", bindings(many(6000, "- {name: a#, to_alias_of: x#}\n- [b#, 1]")), 0},
		{"values that a merge rejects", common + "lookup_options:\n" + many(10_000, "  k#: {merge: hash}") +
			many(10_000, "k#: [1]") + "-- data/nodes/n.yaml --\n" + many(10_000, "k#: [1]"), 10_000},
		{"contributions to ids that do not exist", bindings(many(6000, "- {name: m#, multibind_id: i#, type: 'Array[Data]'}\n"+
			"- {in: other#, to: 1}")), 6000},
		{"aliases of contributions", bindings(many(6000, "- {name: m#, multibind_id: i#, type: 'Hash[String, Data]'}\n"+
			"- {name: p#, in: i#, to: 1}\n- {name: a#, to_alias_of: p#}")), 6000},
	} {
		if !testmode.Chosen(t, i, 6) {
			continue
		}
		var diags diag.List
		site, began, most := loadTimed(t, c.site, &diags)
		content := compile.Compile(site, compile.Options{}, &diags)
		if took := time.Since(began); took > most {
			t.Errorf("%s: compiling took %v, more than %v", c.name, took, most)
		}
		if diags.Failed() != (c.keys == 0) || content == nil || len(content.Keys) < c.keys {
			t.Errorf("%s: failed is %t", c.name, diags.Failed())
		}
	}
}
