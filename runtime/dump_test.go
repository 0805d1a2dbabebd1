package runtime_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

var update = flag.Bool("update", false, "write what is found into the files that hold what is expected")

func dump(t *testing.T, path string) string {
	t.Helper()
	snap, err := bindings.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var out bytes.Buffer
	if err := snap.Dump(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The file holds every byte of the example's snapshot with its meaning: a change of the format shows there.
func TestDumpOfTheExample(t *testing.T) {
	const golden = "../testdata/example.dump"
	path, remove := exampleSnapshot()
	defer remove()
	got := dump(t, path)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i, line := range gotLines {
		if i >= len(wantLines) || line != wantLines[i] {
			t.Fatalf("%s:%d: found\n%s\n(if that is meant: go test ./runtime -run Dump -update)", golden, i+1, line)
		}
	}
	if len(gotLines) < len(wantLines) {
		t.Errorf("%s:%d: expected more", golden, len(gotLines))
	}
}

func TestDumpOfComputedValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: hats, multibind_id: hats, type: 'Array[String]'}
  - {in: hats, to: bowler}
  - {name: fez, in: hats, to_first_found: [a, b], type: String, sensitive: true, transformer: '|$v| { upcase($v) }'}
  - {name: hat, to_lookup_of: fez}
  - {name: made, to_producer: hatter, options: {size: 58}}
`)
	got := dump(t, path)
	for _, want := range []string{
		`multibind type Array[String] "\x00hats" array true, resolution 0, flatten 0, uniq false, named true, unnamed false element String`,
		`(part "" precedence 0 place 1: constant "bowler")`,
		`first found sensitive type String of "a" of "b" transformer |v| (`,
		`(Call upcase (Var v))`,
		`lookup of "fez"`,
		`custom "hatter" {"size":58}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the dump does not show %s", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}
