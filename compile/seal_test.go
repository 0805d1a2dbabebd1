package compile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// The plain value must not be anywhere in the file: in a block, next to its sealed form, or among bindings that no
// lookup finds.
func TestSealedFileHasNoSensitiveValueInClear(t *testing.T) {
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

// A sensitive value is encrypted once for each key that has it, even if several scopes bind the key to it.
func TestSealKeepsTheValueOfEachKey(t *testing.T) {
	constant := func(text string) snapshot.Stored {
		return snapshot.Stored{Bytes: string(value.Append(nil, value.FromString(text)))}
	}
	secret := func(text string) snapshot.Stored {
		r := recipe.Recipe{Kind: recipe.Constant, Sensitive: true, Value: value.FromString(text)}
		return snapshot.Stored{Computed: true, Bytes: string(recipe.Append(nil, &r))}
	}
	open := snapshot.Stored{Computed: true, Bytes: string(recipe.Append(nil, &recipe.Recipe{Kind: recipe.Constant}))}
	misleading := snapshot.Stored{Bytes: "\x00\x01"} // looks like a sensitive recipe, but is a constant
	values := []snapshot.Stored{secret("first"), constant("plain"), secret("second"), open, misleading}
	content := &snapshot.Content{Values: slices.Clone(values),
		Keys: []snapshot.Key{
			{Name: "a", Default: 0, Cold: []snapshot.Cold{{Value: 2}, {Value: 1}, {Contribution: true}}},
			{Name: "b", Default: -1, Cold: []snapshot.Cold{{Value: 0}}}, {Name: "c", Default: 1},
			{Name: "d", Default: 3}, {Name: "e", Default: 4}},
		Levels: []snapshot.Level{{Scopes: []snapshot.Scope{
			{Entries: []snapshot.Entry{{Key: 0, Value: 2}, {Key: 1, Value: 2}}},
			{Entries: []snapshot.Entry{{Key: 0, Value: 1}, {Key: 1, Value: 2}}}}}}}
	key := seal.NewKey()
	if err := compile.Seal(content, key, []byte("wrapped")); err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	want := func(n uint32, key string, was int) {
		t.Helper()
		v := content.Values[n]
		if was == 0 || was == 2 {
			encoded, err := recipe.Unseal(v.Bytes, key, box)
			if err != nil || !recipe.IsSealed(v.Bytes) {
				t.Errorf("%s: sealed %v, %v", key, recipe.IsSealed(v.Bytes), err)
			}
			v.Bytes = encoded
		}
		if v != values[was] {
			t.Errorf("%s is bound to %+v, want %+v", key, v, values[was])
		}
	}
	a, b, scopes := content.Keys[0], content.Keys[1], content.Levels[0].Scopes
	want(uint32(a.Default), "a", 0)
	want(a.Cold[0].Value, "a", 2)
	want(a.Cold[1].Value, "a", 1)
	want(b.Cold[0].Value, "b", 0)
	for i, key := range []string{"a", "b"} {
		want(scopes[0].Entries[i].Value, key, 2)
	}
	want(scopes[1].Entries[0].Value, "a", 1)
	want(scopes[1].Entries[1].Value, "b", 2)
	for i, was := range []int{1, 3, 4} {
		want(uint32(content.Keys[i+2].Default), content.Keys[i+2].Name, was)
	}
	if b.Default != -1 || a.Cold[2].Value != 0 {
		t.Error("a key without a value got one")
	}
	if more := len(content.Values) - len(values); more != 4 {
		t.Errorf("%d values are sealed, want two of each of two keys", more)
	}
	if content.Values[0] != (snapshot.Stored{}) || content.Values[2] != (snapshot.Stored{}) {
		t.Error("the values are there in clear")
	}
	if string(content.Seal) != "wrapped" {
		t.Error("the wrapped key is not in the content")
	}
	if err := compile.Seal(content, []byte("short"), nil); err == nil {
		t.Error("sealed with an invalid key")
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

// decoded returns the file of content, followed by everything in it that zstd can decompress.
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
		d.WriteTo(&text) // fails at the bytes after the frame
		d.Close()
		all, frames = all+text.String(), frames+1
	}
	if frames < 2 {
		t.Fatalf("%d frames", frames)
	}
	return all
}
