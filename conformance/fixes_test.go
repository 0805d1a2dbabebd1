package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fix"
	"bindc/internal/testmode"
)

// reported is a diagnostic in the JSON form.
type reported struct {
	File, Severity, Code, Message, Hint string
	Line, Column                        int
	Edits                               []struct {
		File                             string
		Line, Column, EndLine, EndColumn int
		Text                             string
	}
}

// reportsOn returns what bindc reports on the site in dir.
func reportsOn(t *testing.T, dir string) (out []reported) {
	verb := []string{"check", "."}
	if _, err := os.Stat(filepath.Join(dir, "environments.pp")); err == nil {
		verb = []string{"environments", ".", "-o", t.TempDir()}
	}
	cmd := exec.Command("bindc", append(verb, "--format", "json")...)
	cmd.Dir = dir
	text, _ := cmd.Output() // the status depends on the severity
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var r reported
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		out = append(out, r)
	}
	return out
}

// namesReplacement matches hints that say what to write.
var namesReplacement = regexp.MustCompile(`^did you mean|^write (?:'|\$|==)`)

// withoutEdit lists the hints of namesReplacement that no edit can follow, with the reason.
var withoutEdit = map[string]string{
	"did you mean 'binder_config.yaml'?": "a file has to be renamed",
	"write 'role'":                       "the conditions that use the category have to change, too",
	"write 'key: value'":                 "the hint is general",
	"write '- key: value'":               "the hint is general",
	"write ',' between two entries":      "the hint is general",
}

// Each diagnostic whose hint names a replacement has an edit. The edit removes the diagnostic and adds no error.
func TestEditsRemoveMistakes(t *testing.T) {
	testmode.SkipUnderRace(t)
	text, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	edits := 0
	for _, text := range testmode.Sample(t, strings.Split("\n"+string(text), "\n=== ")[1:], 6) {
		name, rest, _ := strings.Cut(text, "\n")
		source, report, _ := strings.Cut(rest, "-- reported --\n")
		if !strings.Contains(report, "hint: ") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeSources(t, dir, source)
			before := reportsOn(t, dir)
			for _, r := range before {
				switch {
				case len(r.Edits) > 0:
					edits++
					checkEdit(t, dir, r, before)
				case namesReplacement.MatchString(r.Hint) && withoutEdit[r.Hint] == "":
					t.Errorf("%s:%d:%d: %s\n\tno edit for the hint: %s", r.File, r.Line, r.Column, r.Message, r.Hint)
				}
			}
		})
	}
	if edits < testmode.Number(7, 50) {
		t.Errorf("only %d mistakes have an edit", edits)
	}
}

// checkEdit applies the edits of r, compares the reports, and restores the files. Because an error may hide others,
// new errors after one count only at the edited place.
func checkEdit(t *testing.T, dir string, r reported, before []reported) {
	t.Helper()
	edits := map[string][]diag.Edit{}
	for _, e := range r.Edits {
		edits[e.File] = append(edits[e.File], diag.Edit{Pos: diag.Pos{Line: e.Line, Col: e.Column},
			End: diag.Pos{Line: e.EndLine, Col: e.EndColumn}, Text: e.Text})
	}
	for file, list := range edits {
		path := filepath.Join(dir, filepath.FromSlash(file))
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, fix.Apply(src, list), 0o666); err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile(path, src, 0o666)
	}
	after := reportsOn(t, dir)
	if times(after, r) >= times(before, r) {
		t.Errorf("%s\n\tis still reported after %v", r.Message, r.Edits)
	}
	blocked := slices.ContainsFunc(before, func(b reported) bool { return b.Severity == "error" })
	for _, a := range after {
		at := a.File == r.Edits[0].File && a.Line == r.Edits[0].Line && a.Column == r.Edits[0].Column
		if a.Severity == "error" && times(after, a) > times(before, a) && (at || !blocked) {
			t.Errorf("%s\n\tthe edit %v adds the error: %s", r.Message, r.Edits, a.Message)
		}
	}
}

// times counts the diagnostics in list with the code and the message of r.
func times(list []reported, r reported) (n int) {
	for _, other := range list {
		if other.Code == r.Code && other.Message == r.Message {
			n++
		}
	}
	return n
}
