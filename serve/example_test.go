package serve_test

import (
	"encoding/json"
	"fmt"
	"log"
	"net"

	"bindc/serve"
	"bindc/serve/client"
)

// A client says hello, opens a session for a node and asks for keys.
func ExampleServer_Answer() {
	server := serve.New(serve.Options{Path: "../runtime/testdata/example.snap", Version: "1.0.0"})
	defer server.Close()
	near, far := net.Pipe()
	defer near.Close()
	go server.Answer(far, far)

	c := client.New(near, near)
	ask := func(question map[string]any) []byte {
		answer, err := c.Ask(question)
		if err != nil {
			log.Fatal(err)
		}
		return answer
	}
	var hello struct {
		Snapshot struct {
			Digest    string
			Variables []string
		}
	}
	if err := json.Unmarshal(ask(map[string]any{"ask": "hello", "protocol": serve.Protocol}), &hello); err != nil {
		log.Fatal(err)
	}
	fmt.Println(hello.Snapshot.Variables)
	facts := map[string]any{"fqdn": "web1.example.org", "role": "web", "osfamily": "Debian"}
	digest := hello.Snapshot.Digest
	fmt.Printf("%s\n", ask(map[string]any{"ask": "node", "session": 1, "digest": digest, "facts": facts}))
	fmt.Printf("%s\n", ask(map[string]any{"ask": "keys", "session": 1, "keys": []string{"firewall::open_ports"}}))
	// Output:
	// [clientcert domain fqdn hostname networking os osfamily role]
	// {"session":1}
	// {"values":{"firewall::open_ports":[22,80,443]}}
}
