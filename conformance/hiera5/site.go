// Package hiera5 generates small random Hiera 5 control repositories, and looks up keys in them with Puppet
// (oracle.rb). It does not use the program under test.
//
// Keys and values come from small sets, so that several levels bind the same key. Most values of a key have the
// same kind, so that most merges are valid and some are not. A mistake in a site affects only some keys and
// requests, so a compiler must accept every site.
//
// The sites do not use convert_to with arguments or data providers with caches, because Puppet's answers would
// depend on earlier questions. They do not use encrypted strings and special YAML scalars either, which other tests
// cover, or paths that would search the whole machine.
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

// Site is a control repository with nodes and questions for Puppet.
type Site struct {
	Files     map[string]any // from the path (site/… or global/…) to a Map or a string
	Nodes     []Node
	Questions []Question
}

// Node describes a node. Vars contains variables that are not facts.
type Node struct {
	Facts       Map    `json:"facts"`
	Trusted     Map    `json:"trusted"`
	Environment string `json:"environment"`
	Vars        Map    `json:"vars"`
}

// Question asks for the value of Key for node number Node. If Merge is empty, lookup_options
// determine the merge.
type Question struct {
	Node  int    `json:"node"`
	Key   string `json:"key"`
	Merge string `json:"merge,omitempty"`
}

// Answer is Puppet's answer to a Question. Error is the class of the Ruby exception, or "".
type Answer struct {
	Found     bool            `json:"found"`
	Value     json.RawMessage `json:"value,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// Write writes the files of the site to dir.
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
		return jsonText(content) + "\n" // in YAML files without an extension too, since JSON is YAML
	case string:
		return content
	}
	panic("a file is a Map or a text")
}

// String returns all files and nodes of the site as text.
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

// Print returns a fingerprint of the site and its questions. Stored answers are valid only for an
// equal fingerprint.
func (s *Site) Print() string {
	sum := sha256.Sum256([]byte(s.String() + jsonText(s.Questions)))
	return hex.EncodeToString(sum[:8])
}
