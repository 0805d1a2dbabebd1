package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"bindc/bench/built"
	"bindc/bench/gen"
)

// backendConfig is the hiera.yaml with which Puppet asks the snapshot of its environment.
const backendConfig = `version: 5
hierarchy:
  - name: bindc
    lookup_key: bindc::lookup_key
    uris: [%s]
    options: {snapshot: '%s/snapshots/%s.snap', command: '%[2]s/bindq'}
`

// backend has backend.rb measure Puppet's own data beside the snapshots of the same: two sites of as many keys, the
// larger with a hundred times the nodes.
func backend(scripts string) error {
	dir, err := os.MkdirTemp("", "bindc-backend")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, program := range []string{"bindc", "bindq"} {
		if err := built.Program("bindc", "./cmd/"+program, filepath.Join(dir, program)); err != nil {
			return err
		}
	}
	for _, nodes := range []int{500, 50_000} {
		config := gen.Sizes["S"]
		config.Nodes = nodes
		site, err := gen.New(config)
		if err != nil {
			return err
		}
		if err := layOutBackend(site, dir, strconv.Itoa(nodes)); err != nil {
			return err
		}
	}
	cmd := exec.Command("ruby", filepath.Join(scripts, "backend.rb"), dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// layOutBackend writes the environments own and compiled of a site, and one more that has three locations.
func layOutBackend(s *gen.Site, dir, size string) error {
	environments := filepath.Join(dir, "code/environments")
	own := renamed(hiera5(s), "code/environments/production", "code/environments/own"+size)
	if err := write(dir, own, backendQuestion(s)); err != nil {
		return err
	}
	site := filepath.Join(dir, "site"+size)
	if err := write(site, renamed(siteFiles(s), "", ""), question{}); err != nil {
		return err
	}
	for name, uris := range map[string]string{"compiled": "'bindc:0'", "located": "'bindc:0', 'bindc:1', 'bindc:2'"} {
		snapshot := filepath.Join(dir, "snapshots", name+size+".snap")
		if err := os.MkdirAll(filepath.Dir(snapshot), 0o755); err != nil {
			return err
		}
		if _, err := output(filepath.Join(dir, "bindc"), "build", site, "-o", snapshot); err != nil {
			return err
		}
		config := fmt.Sprintf(backendConfig, uris, dir, "%{environment}")
		root := filepath.Join(environments, name+size)
		if err := os.MkdirAll(filepath.Join(root, "modules"), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, "hiera.yaml"), []byte(config), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// siteFiles are the files of the site as the generator writes it.
func siteFiles(s *gen.Site) []file {
	var files []file
	for i := range s.Files() {
		path, data, _ := s.File(i, nil)
		files = append(files, file{path, bytes.Clone(data)})
	}
	return files
}

// renamed are files below another directory. The stage of a node is a fact of its own in them: what Puppet calls the
// environment says here whose data are asked.
func renamed(files []file, from, to string) []file {
	stage := strings.NewReplacer("${environment}", "${stage}", "%{environment}", "%{stage}")
	for i, f := range files {
		files[i] = file{strings.Replace(f.path, from, to, 1), []byte(stage.Replace(string(f.data)))}
	}
	return files
}

// backendQuestion is 30 nodes that both sizes have, and all keys.
func backendQuestion(s *gen.Site) question {
	q := question{Keys: s.KeyNames()}
	for i := range 30 {
		facts := s.Facts(i * 16)
		facts["stage"] = facts["environment"]
		delete(facts, "environment")
		q.Nodes = append(q.Nodes, facts)
	}
	return q
}
