package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/internal/testsite"
	"bindc/internal/value"
	"bindc/snapshot"
)

var update = flag.Bool("update", false, "write what is found into the files that hold what is expected")

// build compiles the site in dir and returns the path of the snapshot.
func build(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "site.bsnap")
	testsite.Build(t, dir, path)
	return path
}

func dump(t *testing.T, path string) string {
	t.Helper()
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	if err := f.Dump(&out, revealRecipe, describeProgram); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The golden file has a dump of every byte of the example's snapshot. It changes if the format does.
func TestInfoDumpOfExampleMatchesRecordedDump(t *testing.T) {
	const golden = "../../testdata/example.dump"
	got := dump(t, build(t, "../../testdata/example"))
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
			t.Fatalf("%s:%d: found\n%s\n(if that is meant: go test ./cmd/bindq -run Dump -update)", golden, i+1, line)
		}
	}
	if len(gotLines) < len(wantLines) {
		t.Errorf("%s:%d: expected more", golden, len(gotLines))
	}
}

func TestInfoDumpShowsComputedValues(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bindings"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bindings", "default.yaml"), []byte(`bindings_version: 1
name: default
bind:
  - {name: hats, multibind_id: hats, type: 'Array[String]'}
  - {in: hats, to: bowler}
  - {name: fez, in: hats, to_first_found: [a, b], type: String, sensitive: true, transformer: '|$v| { upcase($v) }'}
  - {name: hat, to_lookup_of: fez}
  - {name: made, to_producer: hatter, options: {size: 58}}
  - {name: rims, to_expression: '[$fqdn].map |$n| { upcase($n) }'}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	got := dump(t, build(t, dir))
	for _, want := range []string{
		`multibind type Array[String] "\x00hats" array true, resolution 0, flatten 0, uniq false, named true, unnamed false element String`,
		`(part "" precedence 0 place 1: constant "bowler")`,
		`first found sensitive type String of "a" of "b" transformer |v| (`,
		`(Call upcase (Var v))`,
		`lookup of "fez"`,
		`(Call map (ArrayLit (Var fqdn)) |n| (Call upcase (Var n)))`,
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

// An invalid recipe is described by its error. The recipe counts as sensitive unless everything is shown.
func TestDescribesInvalidRecipeByItsError(t *testing.T) {
	const damaged = "\x7f"
	want := "not an encoded recipe"
	if text, secret := describeRecipe(damaged); text != want || !secret {
		t.Errorf("found %q, secret %v", text, secret)
	}
	if text, secret := revealRecipe(damaged); text != want || secret {
		t.Errorf("revealed: found %q, secret %v", text, secret)
	}
	if text := describeProgram(damaged); text != "not an encoded expression" {
		t.Errorf("program: found %q", text)
	}
}

// A sealed recipe is always sensitive; only its kind is known.
func TestDescribesSealedRecipeAsSensitive(t *testing.T) {
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	r := &recipe.Recipe{Kind: recipe.Constant, Value: value.FromString("hunter2"), Sensitive: true}
	sealed := recipe.Seal(string(recipe.Append(nil, r)), "password", box)
	if text, secret := describeRecipe(sealed); text != "constant sealed" || !secret {
		t.Errorf("found %q, secret %v", text, secret)
	}
	if text, secret := revealRecipe(sealed); text != "constant sealed" || secret {
		t.Errorf("revealed: found %q, secret %v", text, secret)
	}
}

// A dump shows sensitive values only with --show-sensitive.
func TestInfoDumpHidesSensitiveValuesByDefault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	testsite.BuildBindings(t, "{name: password, to: hunter2, sensitive: true}", path)
	for _, reveal := range []bool{false, true} {
		var out bytes.Buffer
		root := command(nil)
		root.SetOut(&out)
		root.SetArgs([]string{"info", path, "--dump", fmt.Sprintf("--show-sensitive=%v", reveal)})
		if status := execute(root); status != 0 || strings.Contains(out.String(), "hunter2") != reveal {
			t.Errorf("--show-sensitive=%v: status %d\n%s", reveal, status, out.String())
		}
	}
}
