package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/report"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// A damaged value is reported in all formats, and nothing is printed for it.
func TestDamagedValueIsReportedInAllFormats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	const noSuchTag, inAnArray = "\x0b", "\x09\x02\x01\x0b"
	if _, err := snapshot.Write(path, &snapshot.Content{
		Layers: []string{"site"},
		Keys:   []snapshot.Key{{Name: "array", Default: 0}, {Name: "scalar", Default: 1}},
		Values: []snapshot.Stored{{Bytes: inAnArray}, {Bytes: noSuchTag}},
	}); err != nil {
		t.Fatal(err)
	}
	run := func(stdin string, args ...string) (string, error) {
		var out, notes bytes.Buffer
		cmd := command(nil)
		cmd.SetIn(strings.NewReader(stdin))
		cmd.SetOut(&out)
		cmd.SetErr(&notes)
		cmd.SetArgs(append(args, "-s", path))
		err := cmd.Execute()
		return out.String(), err
	}
	for _, form := range renderings {
		for _, args := range [][]string{
			{"lookup", "array"}, {"lookup", "scalar"}, {"lookup", "array", "nothing"}, {"dump"}, {"dump", "--prefix",
				"scalar"},
		} {
			out, err := run("", append(args, "--render-as", form)...)
			if out != "" || err == nil || report.CodeOf(err) != bindings.CodeDamaged {
				t.Errorf("%v as %s: %q, %v", args, form, out, err)
			}
		}
	}
	out, err := run("{\"key\": \"array\"}\n{\"key\": \"nothing\"}\n{\"key\": \"scalar\"}\n", "batch")
	lines := strings.Split(out, "\n")
	if err != nil || len(lines) != 4 || !strings.Contains(lines[0], `"snapshot_damaged"`) ||
		lines[1] != `{"key":"nothing","found":false}` || !strings.Contains(lines[2], `"snapshot_damaged"`) {
		t.Errorf("batch: %v\n%s", err, out)
	}
}
