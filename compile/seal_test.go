package compile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"bindc/compile"
	"bindc/internal/diag"
	"bindc/internal/seal"
	"bindc/loader"
	"bindc/snapshot"
)

// What is sealed is nowhere else in the file: not beside it, not in a block, not among the bindings that no lookup
// finds.
func TestASealedFileHoldsNothingInClear(t *testing.T) {
	const canary = "canary"
	long := strings.Repeat(canary+" ", 500)
	dir := t.TempDir()
	write(t, dir, "binder_config.yaml", `version: 1
categories: [[node, '${fqdn}']]
layers: [{name: top, include: 'confdir:/top'}, {name: site, include: 'confdir:/default'}]
`)
	write(t, dir, "bindings/top.yaml", "bindings_version: 1\nname: top\nbind:\n  - [overridden, open]\n")
	write(t, dir, "bindings/default.yaml", `bindings_version: 1
name: default
bind:
  - {name: overridden, sensitive: true, to: canary}
  - {name: short, sensitive: true, to: canary}
  - {name: same, sensitive: true, to: canary}
  - {name: long, sensitive: true, to: "`+long+`"}
  - {name: keys, sensitive: true, to: {canary: 1}}
  - {name: all, multibind_id: all, type: 'Array[String]'}
  - {in: all, to: open}
  - {in: all, sensitive: true, to: canary}
  - when: {node: a}
    bind: [{name: short, sensitive: true, to: canary-a}]
`)
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	if in := decoded(t, content); !strings.Contains(in, canary) {
		t.Fatal("the canary is not in the file in clear: this test cannot fail")
	}
	if err := compile.Seal(content, seal.NewKey(), []byte("wrapped")); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(decoded(t, content), canary) {
		t.Error("the canary is in the file")
	}
	for _, in := range content.Inputs {
		if in.Hash != 0 {
			t.Errorf("%s: its hash is in the file", in.Path)
		}
	}
}

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

// decoded is the file of content, and behind it whatever zstd can decode in it.
func decoded(t *testing.T, content *snapshot.Content) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, frames := string(file), 0
	for at := 0; ; at++ {
		next := bytes.Index(file[at:], []byte("\x28\xb5\x2f\xfd"))
		if next < 0 {
			break
		}
		at += next
		d, err := zstd.NewReader(bytes.NewReader(file[at:]), zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		d.WriteTo(&text) // an error is of what stands behind the frame
		d.Close()
		all, frames = all+text.String(), frames+1
	}
	if frames < 2 {
		t.Fatalf("%d frames", frames)
	}
	return all
}
