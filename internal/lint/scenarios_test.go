package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/compile"
	"bindc/diag"
	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/loader"
	"bindc/runtime"
	"bindc/snapshot"
)

// The scenarios about lints also run in this process, without the program.
func TestScenariosReportExpectedLints(t *testing.T) {
	for _, c := range []struct {
		script, site, used, manifests, want string
	}{
		{script: "check_lint_reports_without_changing_exit_status", site: "site", used: "keys.txt", want: "advice.txt"},
		{script: "check_lint_reports_without_changing_exit_status", site: "used", manifests: "modules", want: "used.txt"},
		{script: "pairs_and_fleets", site: "pairs", want: "pairs.txt"},
		{script: "kinds_of_lints", site: "site", used: "used.txt", want: "advice.txt"},
		{script: "arm8_pp_files_are_linted", site: "site", used: "keys.txt", want: "advice.txt"},
		{script: "who_looks_up", site: "site", used: "keys.txt", manifests: "modules", want: "advice.txt"},
		{script: "who_looks_up", site: "control", used: "asked.txt", want: "control.txt"},
		{script: "optional_and_renamed", site: "site", want: "advice.txt"},
		{script: "web_farm", site: "site", want: "advice.txt"},
		{script: "odd_files", site: "site", used: "keys.txt", want: "advice.txt"},
	} {
		t.Run(c.script+" "+c.site, func(t *testing.T) {
			files := enter(t, c.script)
			site, content, diags := sound(t, c.site)
			opts := Options{Codes: Codes()}
			if c.used+c.manifests != "" {
				opts.Lookups = &Lookups{}
			}
			if c.used != "" {
				if err := opts.Lookups.AddKeys(c.used); err != nil {
					t.Fatal(err)
				}
			}
			if c.manifests != "" {
				if err := opts.Lookups.AddManifests(c.manifests); err != nil {
					t.Fatal(err)
				}
			}
			Check(site, content, opts, diags)
			compareText(t, diags, files[c.want])
			for _, code := range Codes() { // with one code selected, only that lint appears
				var one diag.List
				Check(site, content, Options{Codes: []diag.Code{code}, Lookups: opts.Lookups}, &one)
				if has(diags, code) && !has(&one, code) {
					t.Errorf("does not advise on %s alone", code)
				}
				for _, d := range one.Sorted() {
					if d.Code != code {
						t.Errorf("advises on %s, expected %s", d.Code, code)
					}
				}
			}
		})
	}
}

func has(diags *diag.List, code diag.Code) bool {
	return slices.ContainsFunc(diags.Sorted(), func(d diag.Diagnostic) bool { return d.Code == code })
}

// The scenarios about data that no node can get also run in this process.
func TestScenariosReportExpectedFleetWarnings(t *testing.T) {
	for _, c := range []struct{ script, site, facts, want string }{
		{"check_warns_about_data_that_no_node_uses", "site", "facts", "site.txt"},
		{"check_warns_about_data_that_no_node_uses", "control", "fleet", "control.txt"},
		{"check_warns_about_data_that_no_node_uses", "shapes", "boxes", "shapes.txt"},
		{"pairs_and_fleets", "rest", "facts", "rest.txt"},
		{"fleet_of_a_control_repository", "site", "facts", "advice.txt"},
		{"fleet_of_two_sites", "site", "facts", "site.txt"},
		{"fleet_of_two_sites", "modules_first", "facts", "modules_first.txt"},
	} {
		t.Run(c.site, func(t *testing.T) {
			files := enter(t, c.script)
			site, content, diags := sound(t, c.site)
			CheckFleet(site, fleetOf(t, content, c.facts), diags)
			compareText(t, diags, files[c.want])
		})
	}
}

// A fleet without nodes yields no warnings.
func TestFleetWithoutNodesHasNoWarnings(t *testing.T) {
	enter(t, "fleet_of_a_control_repository")
	site, _, _ := sound(t, "site")
	var diags diag.List
	if CheckFleet(site, Fleet{}, &diags); len(diags.Sorted()) > 0 {
		t.Error(diags.Sorted())
	}
}

// enter changes to a directory with the files of a scenario, and returns their contents.
func enter(t *testing.T, script string) map[string]string {
	t.Helper()
	path := filepath.Join("testdata", script+".txtar")
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join("..", "..", "cmd", "testdata", "script", script+".txtar")
	}
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := site{}
	for _, f := range archive.Files {
		texts[f.Name] = string(f.Data)
	}
	dir := t.TempDir()
	texts.write(t, dir)
	t.Chdir(dir)
	return texts
}

// sound loads and compiles a valid site. It returns the site, the content and the diagnostics.
func sound(t *testing.T, dir string) (*loader.Site, *snapshot.Content, *diag.List) {
	t.Helper()
	diags := &diag.List{}
	loaded := loader.Load(dir, loader.Options{}, diags)
	content := compile.Compile(loaded, compile.Options{}, diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	return loaded, content, diags
}

// fleetOf returns the fleet whose facts are in a directory.
func fleetOf(t *testing.T, content *snapshot.Content, dir string) (out Fleet) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	snap := snapshotOf(t, path, content)
	file, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	nodes, err := facts.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	missing, err := decision.CustomVariables(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		given, err := facts.Variables(n, runtime.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		request, err := snap.Request(given)
		if err != nil {
			t.Fatal(err)
		}
		var values []string
		for _, d := range (*lookup.Request)(request).Dimensions() {
			values = append(values, d.Value)
		}
		out.Values = append(out.Values, values)
		for name := range n.Facts.Entries() {
			out.Known = append(out.Known, "$"+name.String())
		}
	}
	for _, name := range missing {
		if !anyHas(nodes, name) {
			out.Missing = append(out.Missing, name)
		}
	}
	return out
}

func anyHas(nodes []facts.Node, name string) bool {
	for _, n := range nodes {
		if n.Has(name) {
			return true
		}
	}
	return false
}

// compareText compares diagnostics with the output of a program, except for its last line, the summary.
func compareText(t *testing.T, diags *diag.List, want string) {
	t.Helper()
	var out bytes.Buffer
	if err := diag.Render(&out, "text", diags.Sorted(), "", false); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(want, "\n"), "\n")
	want = strings.Join(lines[:len(lines)-1], "")
	if got := out.String(); got != want {
		t.Errorf("reports\n%s\nexpected\n%s", got, want)
	}
}
