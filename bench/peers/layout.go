package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bindc/bench/gen"
)

// The data files for Hiera 3 differ from the generated ones only in the syntax of variables: they
// contain %{name} instead of ${name}.

const hiera3Config = `---
:backends: [yaml]
:yaml:
  :datadir: '%s/data'
:logger: noop
:hierarchy:
  - 'node/%%{fqdn}'
  - 'osfamily/%%{osfamily}'
  - 'environment/%%{environment}'
  - common
  - 'modules/osfamily/%%{osfamily}'
  - modules/common
`

// file is a file to write; path is relative to the directory of the site.
type file struct {
	path string
	data []byte
}

// hiera5 returns the site as the Puppet environment production, with modules. All other
// environments link to it.
func hiera5(s *gen.Site) []file {
	var files []file
	for path, text := range s.Hiera5() {
		files = append(files, file{"code/environments/production/" + path, text})
	}
	return files
}

// hiera3 returns the site as a single hierarchy. Hiera 3 does not read data in modules, so the data
// of all modules is combined in the lowest levels.
func hiera3(s *gen.Site, dir string) []file {
	files := []file{{"hiera.yaml", fmt.Appendf(nil, hiera3Config, dir)}}
	merged := map[string]*bytes.Buffer{}
	for name, text := range s.HieraData() {
		f := file{name, text}
		_, below, inModule := strings.Cut(f.path, "/data/")
		if !inModule {
			files = append(files, f)
			continue
		}
		path := "data/modules/" + below
		if merged[path] == nil {
			merged[path] = bytes.NewBufferString("---\n")
		}
		merged[path].Write(bytes.TrimPrefix(f.data, []byte("---\n")))
	}
	for path, text := range merged {
		files = append(files, file{path, text.Bytes()})
	}
	return files
}

// write writes files to dir, and the requested lookups to peers.json.
func write(dir string, files []file, ask question) error {
	asked, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	for _, f := range append(files, file{"peers.json", asked}) {
		path := filepath.Join(dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// environments makes the named environments symbolic links to production.
func environments(dir string, names ...string) error {
	for _, name := range names {
		if err := os.Symlink("production", filepath.Join(dir, "code/environments", name)); err != nil {
			return err
		}
	}
	return nil
}
