package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bindc/bench/built"
	"bindc/bench/gen"
)

// config is the configuration of the generated site. Its size hardly affects the counts, but it has
// enough keys that hashing and comparing them costs as much as in a real site.
var config = gen.Config{Nodes: 200, Keys: 2_000, Modules: 20, Overrides: 20, Seed: 1}

// The files with the snapshots.
const (
	generated = "generated.bsnap"
	hiera5    = "hiera5.bsnap"
)

// hiera5Keys is the number of keys of each kind in the Hiera 5 site.
const hiera5Keys = 500

func prepare(dir string) error {
	program := filepath.Join(dir, "bindc")
	if err := built.Bindc(program); err != nil {
		return err
	}
	if _, err := gen.Write(filepath.Join(dir, "generated"), config); err != nil {
		return err
	}
	if err := writeHiera5(filepath.Join(dir, "hiera5")); err != nil {
		return err
	}
	for _, site := range []string{"generated", "hiera5"} {
		at := filepath.Join(dir, site)
		if _, err := built.Run(program, "build", at, "-o", at+".bsnap"); err != nil {
			return err
		}
	}
	return nil
}

// writeHiera5 writes a control repository with four levels. It has nested hashes for dotted keys,
// and lookup_options that merge lists.
func writeHiera5(dir string) error {
	var common, debian strings.Builder
	common.WriteString("lookup_options:\n  '^merged::': {merge: unique}\n")
	for i := range hiera5Keys {
		fmt.Fprintf(&common, "class%d::parameter%d: value %d\n", i%50, i, i)
		fmt.Fprintf(&common, "s::k%d: %d\nclass%d::a_parameter_with_a_name_of_very_many_words_%d: %d\n", i, i, i%50, i, i)
		fmt.Fprintf(&common, "hash%d::settings: {server: {port: %d, name: host%d}, mode: strict}\n", i, i, i)
		fmt.Fprintf(&common, "merged::list%d: [a%d, b, c]\n", i, i)
		fmt.Fprintf(&debian, "merged::list%d: [d%d, c]\n", i, i)
	}
	files := map[string]string{
		"hiera.yaml": "version: 5\nhierarchy:\n" +
			"  - {name: nodes, path: \"nodes/%{trusted.certname}.yaml\"}\n" +
			"  - {name: environments, path: \"env/%{environment}.yaml\"}\n" +
			"  - {name: systems, path: \"os/%{facts.os.family}.yaml\"}\n" +
			"  - {name: common, path: common.yaml}\n",
		"data/common.yaml":                 common.String(),
		"data/os/Debian.yaml":              debian.String(),
		"data/env/production.yaml":         "class1::parameter1: of production\n",
		"data/nodes/web1.example.org.yaml": "class2::parameter2: of web1\nmerged::list1: [n]\n",
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
