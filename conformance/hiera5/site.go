// Package hiera5 generates random Hiera 5 control repositories and asks real Puppet (oracle.rb) for the answers. The
// sites are small, but use everything that a site can have. The package knows nothing about the program under test.
//
// The pools of keys and values are small, so that levels collide. The usual kind of each key's values is decided
// first, so that most merges fit their values and some do not. An error in a site only affects some keys and some
// requests, so a compiler must accept all of these sites.
//
// Left out, because Puppet's answer depends on earlier lookups: convert_to with arguments, and data providers that
// cache. Also left out: what other tests cover (encrypted texts, YAML scalars), and paths that search the machine.
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

// Site is a control repository with nodes and the questions to ask for them.
type Site struct {
	Files     map[string]any // by path, site/... and global/...; a Map, or a text to write unchanged
	Nodes     []Node
	Questions []Question
}

// Node is a node. Vars are variables that are not facts.
type Node struct {
	Facts       Map    `json:"facts"`
	Trusted     Map    `json:"trusted"`
	Environment string `json:"environment"`
	Vars        Map    `json:"vars"`
}

// Question is the lookup of a key for Nodes[Node]. Without Merge, lookup_options decide.
type Question struct {
	Node  int    `json:"node"`
	Key   string `json:"key"`
	Merge string `json:"merge,omitempty"`
}

// Answer is Puppet's answer. Error is the class of an error.
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
		return jsonText(content) + "\n" // also valid YAML, for a path without extension
	case string:
		return content
	}
	panic("a file is a Map or a text")
}

// String returns the whole site in readable form.
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

// Print returns a fingerprint of the site. Stored answers are valid while it stays the same.
func (s *Site) Print() string {
	sum := sha256.Sum256([]byte(s.String() + jsonText(s.Questions)))
	return hex.EncodeToString(sum[:8])
}
