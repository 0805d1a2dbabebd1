package runtime_test

import (
	"flag"
	"log"
	"os"
	"path/filepath"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

var update = flag.Bool("update", false, "build the snapshot of the examples anew")

// exampleSnapshot compiles the example site, as a deployment does with bindc build.
func exampleSnapshot() (path string, remove func()) {
	var diags diag.List
	site := loader.Load("../testdata/example", loader.Options{}, &diags)
	content := compile.Compile(site, compile.Options{}, &diags)
	dir, err := os.MkdirTemp("", "bindc-example")
	if err != nil || diags.Failed() {
		log.Fatal(err, diags.Sorted())
	}
	path = filepath.Join(dir, "example.snap")
	if _, err := snapshot.Write(path, content); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// The examples open a stored snapshot, so that they use only public packages. The stored snapshot must be current.
func TestStoredExampleSnapshotIsCurrent(t *testing.T) {
	path, remove := exampleSnapshot()
	defer remove()
	const stored = "testdata/example.snap"
	if *update {
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(stored, content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	digests := map[string]string{}
	for _, file := range []string{path, stored} {
		s, err := bindings.Open(file, bindings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Verify(); err != nil {
			t.Error(err)
		}
		digests[file] = s.Digest()
	}
	if digests[stored] != digests[path] {
		t.Errorf("%s has the digest %s, the example site %s: run go test ./runtime -run Examples -update", stored,
			digests[stored], digests[path])
	}
}
