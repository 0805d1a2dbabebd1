package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sizes of a generated control repository.
const (
	levelModules = 20
	levelKeys    = 30 // strings per module
	levelLists   = 5  // lists per module
	levelNodes   = 30
)

// levels writes the environments of a control repository with n levels: the first for nodes, the
// last common, and the others for facts. Every string is in the last level, and half of the strings
// are in another level too. Lists are in every second level.
func (l *backendLayout) levels(n int, goals targets) error {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	name := fmt.Sprint(n)
	c := backendCase{Name: name + " levels", Own: "own" + name, Ours: "ours" + name, Targets: goals}
	c.Others = []string{"key" + name, "hash" + name}
	values := map[string]any{} // the values that floors returns
	data := make([]strings.Builder, n)
	for m := range levelModules {
		for k := range levelKeys {
			key := fmt.Sprintf("m%02d::p%02d", m, k)
			c.Keys = append(c.Keys, key)
			for _, level := range []int{n - 1, random.IntN(2 * n)} {
				if level < n && !strings.Contains(data[level].String(), key+":") {
					fmt.Fprintf(&data[level], "%s: 'text %d of level %d'\n", key, k, level)
				}
			}
			values[key] = fmt.Sprintf("text %d of level %d", k, n-1)
		}
		for k := range levelLists {
			key := fmt.Sprintf("m%02d::l%02d", m, k)
			c.Merged = append(c.Merged, key)
			for level := n - 1; level >= 0; level -= 2 {
				fmt.Fprintf(&data[level], "%s: [a%d, b%d, common]\n", key, level, level)
			}
		}
	}
	c.Nodes = levelFacts(n)
	l.cases = append(l.cases, c)
	if err := l.writeLevels(c.Own, data); err != nil {
		return err
	}
	own := l.environment(c.Own)
	if err := l.ask(own, c.Ours, filepath.Join(own, "hiera.yaml")); err != nil {
		return err
	}
	return l.floors(name, values)
}

// levelFacts returns the facts of the nodes. The fact for each level has one of three values.
func levelFacts(n int) (nodes []map[string]any) {
	for i := range levelNodes {
		fqdn := fmt.Sprintf("node%02d.example.org", i)
		facts := map[string]any{"fqdn": fqdn, "networking": map[string]any{"fqdn": fqdn}}
		for level := 1; level < n-1; level++ {
			facts[fmt.Sprintf("level%d", level)] = fmt.Sprintf("v%d", i%3)
		}
		nodes = append(nodes, facts)
	}
	return nodes
}

// writeLevels writes the data files and the hiera.yaml that Puppet's own backend reads.
func (l *backendLayout) writeLevels(environment string, data []strings.Builder) error {
	var files []file
	config := "version: 5\nhierarchy:\n"
	for level := range data {
		text := []byte(data[level].String())
		path := fmt.Sprintf("level%d/%%{facts.level%d}", level, level)
		switch level {
		case 0:
			path = "nodes/%{trusted.certname}"
			for i := 0; i < levelNodes; i += 3 { // only a third of the nodes have data
				files = append(files, file{fmt.Sprintf("data/nodes/node%02d.example.org.yaml", i), text})
			}
		case len(data) - 1:
			path = "common"
			files = append(files, file{"data/common.yaml", text})
		default:
			for v := range 3 {
				files = append(files, file{fmt.Sprintf("data/level%d/v%d.yaml", level, v), text})
			}
		}
		config += fmt.Sprintf("  - {name: Level %d, path: '%s.yaml'}\n", level, path)
	}
	files = append(files, file{"hiera.yaml", []byte(config)})
	return write(l.environment(environment), files, question{})
}

// floors creates environments that show the minimum cost of Puppet's interfaces lookup_key and
// data_hash. Their functions only read a Ruby hash.
func (l *backendLayout) floors(name string, values map[string]any) error {
	text, err := json.Marshal(values)
	if err != nil {
		return err
	}
	path := filepath.Join(l.dir, "floor"+name+".json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	for kind, function := range map[string]string{"key": "lookup_key: peers::floor_key",
		"hash": "data_hash: peers::floor_hash"} {
		config := fmt.Sprintf("version: 5\nhierarchy:\n  - {name: Floor, %s, options: {values: %s}}", function, path)
		if err := l.configure(kind+name, config); err != nil {
			return err
		}
	}
	return nil
}

// corpusSite is the real control repository to measure. It has no encrypted data, so it needs no
// keys for decryption.
const corpusSite = "himlar"

func (l *backendLayout) corpus(corpora string) error {
	root := filepath.Join(corpora, corpusSite)
	c := backendCase{Name: "a real repository", Own: "ownreal", Ours: "oursreal"}
	var err error
	if c.Keys, c.Failing, err = corpusKeys(filepath.Join(root, "expect.jsonl")); err != nil {
		return err
	}
	if c.Nodes, err = corpusNodes(filepath.Join(root, "facts.json")); err != nil {
		return err
	}
	if err := os.CopyFS(l.environment(c.Own), os.DirFS(filepath.Join(root, "site"))); err != nil {
		return err
	}
	l.cases = append(l.cases, c)
	own := l.environment(c.Own)
	return l.ask(own, c.Ours, filepath.Join(own, "hiera.yaml"))
}

// corpusKeys reads a file of expected results. It returns the keys, and in failing the keys whose
// lookups fail for at least one node.
func corpusKeys(path string) (keys, failing []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	seen, failed := map[string]bool{}, map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var answer struct{ Key, Error string }
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			return nil, nil, err
		}
		if !seen[answer.Key] {
			seen[answer.Key] = true
			keys = append(keys, answer.Key)
		}
		failed[answer.Key] = failed[answer.Key] || answer.Error != ""
	}
	failing = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !failed[key] })
	return keys, failing, lines.Err()
}

// corpusNodes returns the facts of each node. It adds the top-scope variables to them.
func corpusNodes(path string) (nodes []map[string]any, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all map[string]struct{ Facts, Vars map[string]any }
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for i := range len(all) {
		node := all[fmt.Sprintf("n%02d", i)]
		for name, v := range node.Vars {
			node.Facts[name] = v
		}
		nodes = append(nodes, node.Facts)
	}
	return nodes, nil
}
