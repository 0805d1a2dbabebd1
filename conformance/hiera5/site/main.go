// Command site writes a random site, and Puppet's answers if Puppet is installed, in the layout of real sites: site/,
// global/, facts.json and expect.jsonl.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"bindc/conformance/hiera5"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: site SEED DIR")
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(args[1])
	if err != nil {
		return err
	}
	site := hiera5.New(seed)
	if err := site.Write(dir); err != nil {
		return err
	}
	nodes := map[string]hiera5.Node{}
	for i, node := range site.Nodes {
		nodes[fmt.Sprint("n", i)] = node
	}
	if err := writeJSON(filepath.Join(dir, "facts.json"), nodes); err != nil {
		return err
	}
	return ask(site, dir)
}

// ask writes Puppet's answers to expect.jsonl, one line per question.
func ask(site *hiera5.Site, dir string) error {
	puppet, err := hiera5.StartPuppet()
	if err != nil {
		return err
	}
	answers, err := puppet.Ask(dir, site)
	if err != nil {
		return err
	}
	var lines []any
	for i, q := range site.Questions {
		lines = append(lines, struct {
			Node  string `json:"node"`
			Key   string `json:"key"`
			Merge string `json:"merge,omitempty"`
			hiera5.Answer
		}{fmt.Sprint("n", q.Node), q.Key, q.Merge, answers[i]})
	}
	if err := writeJSON(filepath.Join(dir, "expect.jsonl"), lines...); err != nil {
		return err
	}
	return puppet.Close()
}

func writeJSON(path string, lines ...any) error {
	var out []byte
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		out = append(append(out, text...), '\n')
	}
	return os.WriteFile(path, out, 0o666)
}
