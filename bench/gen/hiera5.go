package gen

import (
	"bytes"
	"iter"
	"strings"
)

// The data files for Hiera 5 differ from the generated ones only in the syntax of variables:
// %{name} instead of ${name}.

const hiera5Site = `version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
  - {name: node, path: 'node/%{fqdn}.yaml'}
  - {name: osfamily, path: 'osfamily/%{osfamily}.yaml'}
  - {name: environment, path: 'environment/%{environment}.yaml'}
  - {name: common, path: common.yaml}
`

const hiera5Module = `version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
  - {name: osfamily, path: 'osfamily/%{osfamily}.yaml'}
  - {name: common, path: common.yaml}
`

// Hiera5 returns an iterator over the paths and contents of the same site as a Hiera 5 control
// repository.
func (s *Site) Hiera5() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for path, text := range s.HieraData() {
			if !yield(path, text) {
				return
			}
			module, ok := strings.CutSuffix(path, "/data/common.yaml")
			if ok && !yield(module+"/hiera.yaml", []byte(hiera5Module)) {
				return
			}
		}
		yield("hiera.yaml", []byte(hiera5Site))
	}
}

// HieraData returns an iterator over the paths and contents of the site's data files, with
// variables in Hiera syntax.
func (s *Site) HieraData() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := range s.Files() {
			path, text, bindings := s.File(i, nil)
			if bindings > 0 && !yield(path, bytes.ReplaceAll(text, []byte("${"), []byte("%{"))) {
				return
			}
		}
	}
}
