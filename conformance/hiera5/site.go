// Package hiera5 creates random control repositories of Hiera 5, small ones that use every feature, and asks real
// Puppet (oracle.rb) for the answers. It is independent of the tested program.
//
// Keys and values come from small sets, so that levels collide. The kind of value of most keys is decided first, so
// that most merges fit their values and some do not. Mistakes in a site affect only some keys and some requests, so a
// compiler must accept every site.
//
// Some features are missing, because Puppet's answer depends on earlier questions: convert_to with arguments, and data
// providers with caches. Features that other tests cover are missing, too (encrypted strings, scalars of YAML), as are
// paths that search the whole machine.
package hiera5

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Site is a control repository with its nodes and questions.
type Site struct {
	Files     map[string]any // content by path (site/... or global/...): a Map or a string
	Nodes     []Node
	Questions []Question
}

// Node holds the facts of a node. Vars are variables that are not facts.
type Node struct {
	Facts       Map    `json:"facts"`
	Trusted     Map    `json:"trusted"`
	Environment string `json:"environment"`
	Vars        Map    `json:"vars"`
}

// Question asks for a key, for Nodes[Node]. Without Merge, lookup_options apply.
type Question struct {
	Node  int    `json:"node"`
	Key   string `json:"key"`
	Merge string `json:"merge,omitempty"`
}

// Answer is an answer of Puppet. Error is the class of an error.
type Answer struct {
	Found     bool            `json:"found"`
	Value     json.RawMessage `json:"value,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// Write writes the files below dir.
func (s *Site) Write(dir string) error {
	for name := range s.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(s.text(name)), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) text(name string) string {
	switch content := s.Files[name].(type) {
	case Map:
		if filepath.Ext(name) == ".yaml" {
			return yamlText(content)
		}
		return jsonText(content) + "\n" // JSON is YAML, too, in case a name has no extension
	case string:
		return content
	}
	panic("a file is a Map or a text")
}

// String returns the whole site as text.
func (s *Site) String() string {
	out := ""
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		out += "-- " + name + " --\n" + s.text(name)
	}
	for _, node := range s.Nodes {
		out += "-- node --\n" + jsonText(node) + "\n"
	}
	return out
}

// Print returns a fingerprint of the site. Stored answers are valid while it is the same.
func (s *Site) Print() string {
	sum := sha256.Sum256([]byte(s.String() + jsonText(s.Questions)))
	return hex.EncodeToString(sum[:8])
}
