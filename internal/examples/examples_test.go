package examples_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/examples"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// results has an example that passes, one that was updated, and one that fails twice.
var results = []examples.Result{
	{Name: "web", At: "tests/a.yaml:3:5", Failures: []examples.Failure{}},
	{Name: "gold", At: "tests/a.yaml:4:5", Failures: []examples.Failure{}, Updated: "tests/gold.yaml"},
	{Name: "db #1 <x>", At: "tests/b.yaml:3:5", Failures: []examples.Failure{
		{Key: "a::b", At: "tests/b.yaml:5:9", Message: "expected 1, found \"<2>\"", Explanation: "a::b = <2>\n\n  why\n"},
		{At: "tests/b.yaml:3:5", Message: "no request"}}},
}

func TestPrintFormats(t *testing.T) {
	for format, want := range map[string]string{
		"text": `tests/gold.yaml: written for 'gold'
tests/b.yaml:5:9: 'db #1 <x>' fails: a::b: expected 1, found "<2>"
    a::b = <2>

      why
tests/b.yaml:3:5: 'db #1 <x>' fails: no request
3 tests, 1 failed
`,
		"tap": `TAP version 13
1..3
ok 1 - web
ok 2 - gold
not ok 3 - db \#1 <x>
# tests/b.yaml:5:9: a::b: expected 1, found "<2>"
# a::b = <2>

#   why
# tests/b.yaml:3:5: no request
`,
	} {
		var out bytes.Buffer
		if err := examples.Print(&out, format, results); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%s:\n%s\nwant:\n%s", format, out.String(), want)
		}
	}
}

func TestPrintJSONHasAllFields(t *testing.T) {
	var out bytes.Buffer
	if err := examples.Print(&out, "json", results); err != nil {
		t.Fatal(err)
	}
	var got struct{ Tests []examples.Result }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Tests) != 3 || got.Tests[1].Updated != "tests/gold.yaml" || len(got.Tests[2].Failures) != 2 ||
		got.Tests[2].Failures[0] != results[2].Failures[0] {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(out.String(), `"failures":[]`) {
		t.Errorf("an example without failures has no empty list: %s", out.String())
	}
}

func TestPrintJUnitEscapesAndCounts(t *testing.T) {
	var out bytes.Buffer
	if err := examples.Print(&out, "junit", results); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name     string `xml:"name,attr"`
			Class    string `xml:"classname,attr"`
			Failures []struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 3 || got.Failures != 1 || len(got.Cases) != 3 {
		t.Fatalf("%+v", got)
	}
	db := got.Cases[2]
	if db.Name != "db #1 <x>" || db.Class != "tests/b.yaml" || len(db.Failures) != 2 ||
		db.Failures[0].Message != "a::b: expected 1, found \"<2>\"" ||
		!strings.HasPrefix(db.Failures[0].Text, "tests/b.yaml:5:9\na::b = <2>") {
		t.Errorf("%+v", db)
	}
}

// write writes a file of the site in dir.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// run runs the examples of the site in dir.
func run(t *testing.T, dir string, update bool) []examples.Result {
	t.Helper()
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	all := examples.Read(dir, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	var b bytes.Buffer
	if _, err := snapshot.WriteTo(&b, content); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.OpenBytes(b.Bytes(), bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	out, err := examples.Run(snap, all, update)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGoldenFileHasDigestsOfSensitiveValues(t *testing.T) {
	const site = "bindings_version: 1\nname: default\nbind:\n  - [plain, 1]\n  - {name: password, to: SECRET, sensitive: true}\n"
	dir := t.TempDir()
	write(t, dir, "bindings/default.yaml", strings.Replace(site, "SECRET", "hunter2", 1))
	write(t, dir, "tests/a.yaml", "tests_version: 1\ntests:\n  - {name: one, facts: {}, golden: gold.yaml}\n")

	if got := run(t, dir, false); len(got[0].Failures) == 0 || got[0].Updated != "" {
		t.Errorf("a missing golden file is not a failure: %+v", got)
	}
	if got := run(t, dir, true); len(got[0].Failures) > 0 || got[0].Updated == "" {
		t.Errorf("the golden file is not written: %+v", got)
	}
	golden, err := os.ReadFile(filepath.Join(dir, "tests", "gold.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(golden); strings.Contains(text, "hunter2") || !strings.Contains(text, "plain: 1") ||
		!strings.Contains(text, "password") {
		t.Errorf("the golden file is:\n%s", text)
	}
	if got := run(t, dir, true); len(got[0].Failures) > 0 || got[0].Updated != "" {
		t.Errorf("a file without differences is written again: %+v", got)
	}

	write(t, dir, "bindings/default.yaml", strings.Replace(site, "SECRET", "hunter3", 1))
	got := run(t, dir, false)
	if len(got[0].Failures) != 1 || got[0].Failures[0].Key != "password" {
		t.Fatalf("another password is not the only failure: %+v", got)
	}
	if f := got[0].Failures[0]; strings.Contains(f.Message+f.Explanation, "hunter") {
		t.Errorf("the failure shows the password: %+v", f)
	}
}

func TestFailureOfSensitiveValueHidesIt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bindings/default.yaml",
		"bindings_version: 1\nname: default\nbind:\n  - {name: password, to: hunter2, sensitive: true}\n")
	write(t, dir, "tests/a.yaml",
		"tests_version: 1\ntests:\n  - {name: one, facts: {}, expect: {password: other, absent: {bound: false}}}\n")
	got := run(t, dir, false)
	if len(got[0].Failures) != 1 || got[0].Failures[0].Key != "password" {
		t.Fatalf("%+v", got)
	}
	var out bytes.Buffer
	for _, format := range examples.Formats {
		if err := examples.Print(&out, format, got); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("the password is shown: %s", out.String())
	}
}
