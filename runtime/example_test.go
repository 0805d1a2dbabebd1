package runtime_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"bindc/compile"
	"bindc/internal/diag"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// exampleSnapshot compiles the example site, which a deploy pipeline does with bindc build.
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

func Example() {
	path, remove := exampleSnapshot()
	defer remove()
	factsJSON, err := os.ReadFile("../testdata/example-facts/web1.json")
	if err != nil {
		log.Fatal(err)
	}

	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer snap.Close()
	facts, err := parseFacts(factsJSON, bindings.FactsOptions{})
	if err != nil {
		log.Fatal(err)
	}
	req, err := snap.Request(facts)
	if err != nil {
		log.Fatal(err)
	}
	ports, found, err := req.Lookup("firewall::open_ports")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found, ports)
	for port := range ports.Elems() {
		n, err := port.Int()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n)
	}
	// Output:
	// true [22, 80, 443]
	// 22
	// 80
	// 443
}

func ExampleValue_Check() {
	path, remove := exampleSnapshot()
	defer remove()
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer snap.Close()
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "web1.example.org"})
	if err != nil {
		log.Fatal(err)
	}
	req, err := snap.Request(facts)
	if err != nil {
		log.Fatal(err)
	}
	contact, _, err := req.Lookup("monitoring::contact")
	if err != nil {
		log.Fatal(err)
	}
	integer, err := bindings.ParseType("Integer")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.ReplaceAll(contact.Check(integer).Error(), "\n", " "))
	// Output:
	// expected Integer, found String
}
