package facts_test

import (
	"fmt"
	"log"

	"bindc/facts"
	bindings "bindc/runtime"
)

func ExampleParse() {
	nodes, err := facts.Parse("nodes.yaml", []byte("certname: web1.example.org\nfacts: {os: {family: Debian}}\n"))
	if err != nil {
		log.Fatal(err)
	}
	node, err := facts.Choose(nodes, "web1.example.org")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(node.Name, node.Facts)
	made, err := facts.Variables(node, bindings.FactsOptions{}) // the argument of Snapshot.Request
	fmt.Println(made != nil, err)
	// Output:
	// web1.example.org {os => {family => Debian}}
	// true <nil>
}

func ExampleParse_error() {
	_, err := facts.Parse("nodes.yaml", []byte("certname: web1\nfactz: {os: {family: Debian}}\n"))
	fmt.Println(err)
	// Output:
	// nodes.yaml: unknown member 'factz' next to 'certname'; did you mean 'facts'?
}
