package proof_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/manifest"
	"bindc/internal/migrate"
	"bindc/internal/migrate/proof"
	"bindc/loader"
)

const hierarchy = "version: 5\nhierarchy:\n  - {name: role, path: 'role/%{role}.yaml'}\n" +
	"  - {name: os, path: 'os/%{facts.os.family}.yaml'}\n  - {name: common, path: common.yaml}\n"

// migrated holds the result of a migration.
type migrated struct {
	files  map[string]string
	report *proof.Report
	notes  string
}

// stays reports whether a key is in the files of Hiera 5.
func (m migrated) stays(key string) bool {
	for name, text := range m.files {
		if strings.HasPrefix(name, "hiera5/data") && strings.Contains(text, key+":") {
			return true
		}
	}
	return false
}

// writeFiles writes files, given as pairs of a path below dir and a text.
func writeFiles(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		at := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func migrateFiles(t *testing.T, opts proof.Options, files ...string) migrated {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, files...)
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	written, report, err := proof.Migrate(dir, site, opts, &diags)
	if err != nil || written == nil {
		t.Fatal(err, diags.Sorted())
	}
	out := migrated{map[string]string{}, report, ""}
	for _, f := range written {
		out.files[f.Path] = string(f.Text)
	}
	for _, d := range diags.Sorted() {
		out.notes += d.Message + "\n"
	}
	return out
}

// A key stays if a merge by a caller would have another result. Otherwise it moves.
func TestKeyStaysIfAMergeWouldDiffer(t *testing.T) {
	m := migrateFiles(t, proof.Options{}, "hiera.yaml", hierarchy,
		"data/role/web.yaml", "over: [1]\nhash: {a: {x: 1}}\nones: [1]\n", "data/os/Debian.yaml", "alone: [2]\nweak: [2]\n",
		"data/common.yaml", "over: [3]\nhash: {a: {y: 1}}\nones: [3]\nconstant: text\n"+
			"lookup_options: {ones: {merge: unique}}\n")
	for key, want := range map[string]bool{"over": true, "hash": true, "ones": true, "alone": false, "weak": false,
		"constant": false} {
		if m.stays(key) != want {
			t.Errorf("%s stays: %v\n%s", key, !want, m.notes)
		}
	}
	if r := m.report; r.Keys != 6 || r.Moved != 3 || r.Kept[proof.Differs] != 3 || r.Rounds != 2 || r.Answers < 30 {
		t.Errorf("%+v", r)
	}
	want := "'over' stays in Hiera 5: merged by a caller with 'unique', its answer would change, for example for role=web\n"
	if !strings.Contains(m.notes, want) {
		t.Errorf("%s\nwant %s", m.notes, want)
	}
}

// With OnlyAsked, only the merges of manifests are compared, so more keys move. A key stays if a manifest merges it, or
// looks it up with a computed merge.
func TestOnlyAskedComparesMergesOfManifests(t *testing.T) {
	var calls manifest.Calls
	calls.Add("site.pp", "lookup('asked', Array, 'unique') lookup('unread', Array, $how)")
	files := []string{"hiera.yaml", hierarchy,
		"data/role/web.yaml", "over: [1]\nasked: [1]\nunread: [1]\nalone: [1]\n",
		"data/common.yaml", "over: [3]\nasked: [3]\nunread: [3]\n"}
	m := migrateFiles(t, proof.Options{Calls: calls, OnlyAsked: true}, files...)
	for key, want := range map[string]bool{"over": false, "asked": true, "unread": true, "alone": false} {
		if m.stays(key) != want {
			t.Errorf("%s stays: %v\n%s", key, !want, m.notes)
		}
	}
	if r := m.report; r.Kept[proof.UnreadableMerge] != 1 || r.Calls != 2 ||
		!slices.Equal(r.Merges, []string{"none", "unique"}) {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(m.notes, "'unread' stays in Hiera 5: site.pp:1:34 looks it up with a computed merge") {
		t.Error(m.notes)
	}

	// A lookup with a computed key and merge may be any merge of any key.
	calls.Add("other.pp", "lookup($key, Array, $how) /* ")
	m = migrateFiles(t, proof.Options{Calls: calls, OnlyAsked: true}, files...)
	if !m.stays("over") || m.report.Unreadable != 2 ||
		!strings.Contains(m.notes, "the rest of this manifest cannot be read") ||
		!strings.Contains(m.notes, "the key and the merge of this lookup()") {
		t.Errorf("%+v\n%s", m.report, m.notes)
	}
}

// The options of a merge in a manifest are compared, too.
func TestComparesMergesWithTheirOptions(t *testing.T) {
	files := []string{"hiera.yaml", hierarchy, "data/role/web.yaml", "other: 1\n",
		"data/common.yaml", "list: [b, a]\nother: 2\n"}
	if m := migrateFiles(t, proof.Options{}, files...); m.stays("list") {
		t.Error("without a caller it stays, too")
	}
	var calls manifest.Calls
	calls.Add("site.pp", "lookup($x, Array, {strategy => deep, sort_merged_arrays => true})")
	m := migrateFiles(t, proof.Options{Calls: calls}, files...)
	want := `{"strategy":"deep","sort_merged_arrays":true}`
	if !slices.Contains(m.report.Merges, want) {
		t.Errorf("%v", m.report.Merges)
	}
}

// Nodes with facts are compared. A fact may contain an interpolation, which only Hiera 5 expands.
func TestComparesNodesWithFacts(t *testing.T) {
	files := []string{"hiera.yaml", hierarchy, "data/common.yaml", "key: 'is %{facts.kind}'\nother: 1\n"}
	if m := migrateFiles(t, proof.Options{}, files...); m.stays("key") {
		t.Error(m.notes)
	}
	nodes, err := facts.Parse("n.json", []byte(`{"name": "n1", "values": {"kind": "%{facts.what}", "what": "x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	m := migrateFiles(t, proof.Options{Nodes: nodes}, files...)
	if !m.stays("key") || m.stays("other") || m.report.Nodes != 1 ||
		!strings.Contains(m.notes, "for example for the node n1") {
		t.Errorf("%+v\n%s", m.report, m.notes)
	}
}

// If the limit is reached, the report says so, and keys whose data was not compared stay in Hiera 5.
func TestReportsReachedLimitAndKeepsUncomparedKeys(t *testing.T) {
	m := migrateFiles(t, proof.Options{Limit: 30}, "hiera.yaml", hierarchy, "data/common.yaml", "a: 1\nb: 1\n",
		"data/role/web.yaml", "b: 2\n", "data/role/db.yaml", "c: 2\n")
	if m.report.Omitted == 0 || !strings.Contains(strings.Join(m.report.Strings(), "\n"), "a limit was reached: ") ||
		!m.stays("c") || m.stays("a") {
		t.Errorf("%+v\n%s", m.report, m.notes)
	}
}

// Two hashes whose keys have a different order are different answers.
func TestHashesInDifferentOrderAreDifferentAnswers(t *testing.T) {
	m := migrateFiles(t, proof.Options{OnlyAsked: true}, "hiera.yaml", hierarchy,
		"data/role/web.yaml", "turned: {a: 1}\nsame: {b: 1}\n",
		"data/common.yaml", "turned: {b: 2}\nsame: {b: 2}\nlookup_options: {'^[st]': {merge: hash}}\n")
	if !m.stays("turned") || m.stays("same") {
		t.Errorf("%+v\n%s", m.report, m.notes)
	}
}

// Keys whose data are only in mapped_paths are compared with facts that are lists.
func TestComparesKeysOfMappedPaths(t *testing.T) {
	m := migrateFiles(t, proof.Options{}, "hiera.yaml", "version: 5\nhierarchy:\n"+
		"  - {name: m, mapped_paths: [teams, team, 'team/%{team}.yaml']}\n  - {name: common, path: common.yaml}\n",
		"data/team/dba.yaml", "a: 1\n", "data/common.yaml", "a: 2\nb: 3\n")
	if len(m.report.Unreached) > 0 || !m.stays("a") || m.stays("b") {
		t.Errorf("%+v\n%s", m.report, m.notes)
	}
}

// A site that does not build, or has no Hiera 5, is not migrated.
func TestRefusesBrokenSitesAndSitesWithoutHiera5(t *testing.T) {
	dir := t.TempDir()
	var diags diag.List
	site := loader.Load(dir, loader.Options{MayBeEmpty: true}, &diags)
	files, report, err := proof.Migrate(dir, site, proof.Options{Migrate: migrate.Options{}}, &diags)
	if files != nil || report != nil || err != nil || !diags.Failed() {
		t.Error(files, report, err)
	}
}

// A key that stays in Hiera 5 loses its value if its file is outside the site. The migration then fails, however many
// other keys could stay.
func TestMigrationFailsIfAKeyThatStaysWouldHaveAnotherAnswer(t *testing.T) {
	for _, common := range []string{"other: 1\n", "c: \"%{lookup('a')}\"\n", ""} {
		dir := filepath.Join(t.TempDir(), "site")
		writeFiles(t, dir, "../shared/common.yaml", "a: 1\n", "data/common.yaml", common,
			"hiera.yaml", "version: 5\nhierarchy:\n  - {name: shared, datadir: ../shared, path: common.yaml}\n"+
				"  - {name: common, path: common.yaml}\n")
		var diags diag.List
		site := loader.Load(dir, loader.Options{}, &diags)
		files, _, err := proof.Migrate(dir, site, proof.Options{}, &diags)
		const want = "the new site would not give the same answers: 'a' would have a different answer"
		failed := slices.ContainsFunc(diags.Sorted(), func(d diag.Diagnostic) bool {
			return d.Severity == diag.Error && strings.HasPrefix(d.Message, want)
		})
		if err != nil || files != nil || !failed {
			t.Errorf("%q: found %d files, error %v, %v", common, len(files), err, diags.Sorted())
		}
	}
}
