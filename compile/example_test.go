package compile_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"bindc/compile"
	"bindc/diag"
	"bindc/loader"
	"bindc/runtime"
	"bindc/snapshot"
)

// A program builds a snapshot in three steps: Load, Compile and Write. Then it can look up keys in the snapshot.
func ExampleCompile() {
	var diags diag.List
	site := loader.Load("../testdata/example", loader.Options{}, &diags)
	content := compile.Compile(site, compile.Options{}, &diags)
	if diags.Failed() {
		log.Fatal(diags.Sorted())
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "production.snap")
	if _, err := snapshot.Write(path, content); err != nil {
		log.Fatal(err)
	}
	snap, err := runtime.Open(path, runtime.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer snap.Close()
	facts, err := runtime.NewFacts(runtime.Value{}, runtime.FactsOptions{Node: "web1.example.org"})
	if err != nil {
		log.Fatal(err)
	}
	request, err := snap.Request(facts)
	if err != nil {
		log.Fatal(err)
	}
	ports, found, err := request.Lookup("firewall::open_ports")
	fmt.Println(ports, found, err)
	// Output:
	// [22] true <nil>
}

// Two bindings conflict if they have the same precedence and a request can find both.
func ExampleCompile_conflict() {
	dir, err := os.MkdirTemp("", "site")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bindings", "default.yaml")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	set := "bindings_version: 1\nname: default\nbind:\n- [ntp::package, ntp]\n- [ntp::package, chrony]\n"
	if err := os.WriteFile(path, []byte(set), 0o644); err != nil {
		log.Fatal(err)
	}
	var diags diag.List
	compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	for _, d := range diags.Sorted() {
		fmt.Printf("line %d: %s: %s\n", d.Pos.Line, d.Code, d.Message)
		for _, note := range d.Notes {
			fmt.Printf("  line %d: %s\n", note.Pos.Line, note.Message)
		}
	}
	// Output:
	// line 4: conflict: 'ntp::package' is bound twice with the same precedence in layer 'site'
	//   line 5: also bound here
}
