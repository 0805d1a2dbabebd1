package runtime_test

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"bindc/facts"
	bindings "bindc/runtime"
)

func Example() {
	factsJSON, err := os.ReadFile("../testdata/example-facts/web1.json") // the output of facter --json
	if err != nil {
		log.Fatal(err)
	}

	snap, err := bindings.Open("testdata/example.snap", bindings.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer snap.Close()
	node, err := facts.ParseJSON(factsJSON, bindings.FactsOptions{})
	if err != nil {
		log.Fatal(err)
	}
	req, err := snap.Request(node)
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

// exampleRequest makes a request for a node of the example site.
func exampleRequest() (req *bindings.Request, end func() error) {
	snap, err := bindings.Open("testdata/example.snap", bindings.Options{})
	if err != nil {
		log.Fatal(err)
	}
	node, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "web1.example.org"})
	if err != nil {
		log.Fatal(err)
	}
	if req, err = snap.Request(node); err != nil {
		log.Fatal(err)
	}
	return req, snap.Close
}

//go:embed testdata/example.snap
var embedded []byte

func ExampleOpenBytes() {
	snap, err := bindings.OpenBytes(embedded, bindings.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer snap.Close()
	fmt.Println(snap.Verify())
	// Output:
	// <nil>
}

func ExampleRequest_Decode() {
	req, end := exampleRequest()
	defer end()
	var ports []uint16
	found, err := req.Decode("firewall::open_ports", &ports)
	fmt.Println(found, err, ports)

	var names []string
	_, err = req.Decode("firewall::open_ports", &names)
	fmt.Println(err)
	// Output:
	// true <nil> [22]
	// 'firewall::open_ports': [0]: expected String, found Integer
}

func ExampleValue_Decode() {
	var v bindings.Value
	text := `{"url": "https://wiki.example.org", "workers": 8, "limits": {"files": 1024}}`
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		log.Fatal(err)
	}
	service := struct {
		URL     string
		Threads int            `bindings:"workers"`
		Limits  map[string]int `bindings:"limits"`
		Retries int            // keeps its default
	}{Retries: 3}
	if err := v.Decode(&service); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", service)
	// Output:
	// {URL:https://wiki.example.org Threads:8 Limits:map[files:1024] Retries:3}
}

func ExampleError() {
	req, end := exampleRequest()
	defer end()
	_, err := req.Decode("firewall::open_ports", new(map[string]int))
	var failure *bindings.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Code, failure.Key)
	}
	// Output:
	// type_mismatch firewall::open_ports
}

func ExampleValue_Check() {
	req, end := exampleRequest()
	defer end()
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

func ExampleWatch() {
	w, err := bindings.Watch("testdata/example.snap", bindings.WatchOptions{Notify: func(err error) {
		log.Print("the new snapshot: ", err)
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	node, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "web1.example.org"})
	if err != nil {
		log.Fatal(err)
	}

	req, err := w.Request(node)
	if err != nil {
		log.Fatal(err)
	}
	defer req.Close()
	contact, found, err := req.Lookup("monitoring::contact")
	fmt.Println(found, contact, err)
	// Output:
	// true ops@example.org <nil>
}

func ExampleOpenEnvironments() {
	all, err := bindings.OpenEnvironments("testdata", bindings.WatchOptions{}) // the directory has example.snap
	if err != nil {
		log.Fatal(err)
	}
	defer all.Close()
	for _, agent := range []string{"example", "exmaple"} {
		node, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "web1.example.org",
			Environment: agent})
		if err != nil {
			log.Fatal(err)
		}
		req, err := all.Request(node)
		if err != nil {
			fmt.Println(err)
			continue
		}
		defer req.Close()
		fmt.Println(req.Lookup("monitoring::contact"))
	}
	// Output:
	// ops@example.org true <nil>
	// there is no environment 'exmaple'; there is 'example'; did you mean 'example'?
}
