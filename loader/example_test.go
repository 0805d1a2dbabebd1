package loader_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"bindc/diag"
	"bindc/loader"
)

func ExampleLoad() {
	var diags diag.List
	site := loader.Load("../testdata/example", loader.Options{}, &diags)
	if diags.Failed() {
		log.Fatal(diags.Sorted())
	}
	for _, layer := range site.Layers {
		for _, c := range layer.Contributions {
			fmt.Printf("%s: %s has %d files and %d bindings\n", layer.Name, c.URI, len(c.Files), len(c.Bindings))
		}
	}
	// Output:
	// site: confdir-hiera:/ has 5 files and 0 bindings
	// site: confdir:/default has 0 files and 4 bindings
	// modules: module-hiera:/ntp has 3 files and 0 bindings
	// modules: module:/wiki::default has 0 files and 14 bindings
}

// A backend written in Go returns the data for each path of a hierarchy. The site uses it by its name in hiera.yaml.
func ExampleBackend() {
	dir, err := os.MkdirTemp("", "site")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	config := "version: 2\nbackends: [inventory]\nhierarchy: [[common, 'true', ports]]\n"
	if err := os.WriteFile(filepath.Join(dir, "hiera.yaml"), []byte(config), 0o644); err != nil {
		log.Fatal(err)
	}
	inventory := func(_, name string) ([]byte, error) {
		if name != "ports" {
			return nil, nil // no data for other paths
		}
		return []byte(`{"web::port": 8080, "db::port": 5432}`), nil
	}
	var diags diag.List
	site := loader.Load(dir, loader.Options{Backends: map[string]loader.Backend{"inventory": inventory}}, &diags)
	if diags.Failed() {
		log.Fatal(diags.Sorted())
	}
	for _, entry := range site.Layers[0].Contributions[0].Files[0].Entries {
		fmt.Println(site.Keys[entry.Key])
	}
	// Output:
	// web::port
	// db::port
}

// Load reports every mistake in a site, with its position and a fix.
func ExampleLoad_mistakes() {
	dir, err := os.MkdirTemp("", "site")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	config := "version: 2\nhierarchy:\n- [comon, 'true', data/common]\n- [node, '${fqdn}', '/data/${fqdn}']\n"
	if err := os.WriteFile(filepath.Join(dir, "hiera.yaml"), []byte(config), 0o644); err != nil {
		log.Fatal(err)
	}
	var diags diag.List
	loader.Load(dir, loader.Options{}, &diags)
	for _, d := range diags.Sorted() {
		fmt.Printf("%s:%d: %s\n", filepath.Base(d.Pos.File), d.Pos.Line, d.Message)
		if d.Hint != "" {
			fmt.Println("  " + d.Hint)
		}
	}
	// Output:
	// hiera.yaml:3: the site has no category 'comon'; it has 'node', 'osfamily', 'environment' and 'common'
	//   did you mean 'common'?
	// hiera.yaml:4: expected a path inside the directory of this hiera.yaml, found '/data/${fqdn}'
}
