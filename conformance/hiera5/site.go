// Package hiera5 makes random control repositories of Hiera 5, small ones in which everything occurs that a site can
// have, and asks real Puppet (oracle.rb) what it answers. It knows nothing of the program that is held to the answers.
//
// Pools of keys and values are small, so that levels collide; whatever a key of most sites should be is decided first,
// so that most merges fit their values and some do not. What is wrong in a site is wrong for some keys and in some
// requests: a compiler has to take every one of these sites.
//
// Not here, because Puppet's answer depends on what was asked before: convert_to with arguments, and data providers
// that cache. Not here either: what other tests hold (encrypted texts, the scalars of YAML), and paths that search the
// machine.
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

// Site is a control repository, those who ask it, and what they ask.
type Site struct {
	Files     map[string]any // by path: site/... and global/...; a Map, or a text as it stands
	Nodes     []Node
	Questions []Question
}

// Node is what is known of a node; Vars are variables that are no facts.
type Node struct {
	Facts       Map    `json:"facts"`
	Trusted     Map    `json:"trusted"`
	Environment string `json:"environment"`
	Vars        Map    `json:"vars"`
}

// Question asks for a key, for Nodes[Node]. Without Merge it is as lookup_options say.
type Question struct {
	Node  int    `json:"node"`
	Key   string `json:"key"`
	Merge string `json:"merge,omitempty"`
}

// Answer is Puppet's; Error is the class of an error.
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
		return jsonText(content) + "\n" // which is YAML, too, for who reads a name without extension so
	case string:
		return content
	}
	panic("a file is a Map or a text")
}

// String is all of the site, to be read.
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

// Print tells this site from others: answers belong to it as long as it is the same.
func (s *Site) Print() string {
	sum := sha256.Sum256([]byte(s.String() + jsonText(s.Questions)))
	return hex.EncodeToString(sum[:8])
}
