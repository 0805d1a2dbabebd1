package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"bindc/internal/testmode"
)

// mistakesOf runs check on the site in dir and returns the number of errors and warnings, by code.
func mistakesOf(t *testing.T, dir string, flags ...string) (codes map[string]int, count int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := command(append([]string{"check", dir, "--format", "json"}, flags...))
	cmd.SetArgs(append([]string{"check", dir, "--format", "json"}, flags...))
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	_ = cmd.Execute() // the site has mistakes
	codes = map[string]int{}
	for _, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		var d struct{ Code, Severity string }
		if len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, &errs)
		}
		if d.Severity == "error" || d.Severity == "warning" {
			codes[d.Code]++
			count++
		}
	}
	return codes, count
}

// brokenSite returns the files of a site with misspelt names.
func brokenSite(r *rand.Rand) map[string]string {
	of := func(words ...string) string { return words[r.IntN(len(words))] }
	if r.IntN(2) == 0 {
		text := "bindings_version: 1\nname: default\nbind:\n  - [app::url, 1]\n"
		for range 1 + r.IntN(5) {
			key := of("app::port", "app::host", "app::prot")
			switch r.IntN(3) {
			case 0:
				text += "  - {" + of("name", "nmae") + ": " + key + ", " + of("to", "name", "nmae") + ": 1}\n"
			case 1:
				text += "  - [" + key + ", 1]\n"
			case 2:
				text += "  - name: " + key + "\n    " + of("to_lookup_of", "to_lokup_of", "to") + ": app::url\n"
			}
		}
		return map[string]string{"hiera.yaml": "version: 2\n", "bindings/default.yaml": text, "modules/m/x": ""}
	}
	files := map[string]string{"manifests/site.pp": "include app\n",
		"hiera.yaml": "version: 5\nhierarchy:\n  - {name: role, path: 'role/%{role}.yaml'}\n" +
			"  - {name: common, path: common.yaml}\n",
		"modules/app/manifests/init.pp": "class app (Integer $port = 1, String $host = '', Hash $users = {}) { }\n"}
	for _, name := range []string{"data/role/web.yaml", "data/common.yaml"} {
		for range r.IntN(5) {
			files[name] += "app::" + of("port", "prot", "pport", "host", "hots", "users", "user") + ": " +
				of("1", "a", "'1'", "{a: b}") + "\n"
		}
		if r.IntN(3) == 0 {
			files[name] += "lookup_options:\n  app::users: {" + of("merge", "mrege") + ": " + of("deep", "depe") + "}\n"
		}
	}
	return files
}

// The seeds give each kind of site many times, with corrections that are accepted and others that are not.
func TestFixCausesNoNewMistakes(t *testing.T) {
	corrected, sites := 0, testmode.Number(40, 150)
	for seed := range sites {
		dir := t.TempDir()
		files := brokenSite(rand.New(rand.NewPCG(uint64(seed), 1)))
		testmode.WriteFiles(t, dir, files)
		before, count := mistakesOf(t, dir)
		mistakesOf(t, dir, "--fix")
		after, left := mistakesOf(t, dir)
		if left < count {
			corrected++
			continue
		}
		for code := range maps.Keys(after) {
			if before[code] == 0 {
				now := ""
				for name := range files {
					text, _ := os.ReadFile(filepath.Join(dir, name))
					now += fmt.Sprintf("-- %s --\n%s", name, text)
				}
				t.Errorf("site %d: new code %s after --fix\nbefore: %v\nafter: %v\n%v\n%s", seed, code, before, after, files, now)
			}
		}
	}
	if corrected < sites/10 {
		t.Errorf("--fix corrected %d of %d sites", corrected, sites)
	}
}
