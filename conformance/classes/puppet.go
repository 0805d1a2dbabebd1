package classes

import (
	_ "embed" // for oracle.rb
	"encoding/json"

	"bindc/conformance/oracle"
)

//go:embed oracle.rb
var source string

// Puppet is a process that asks real Puppet about one site at a time.
type Puppet struct{ *oracle.Process }

// StartPuppet starts the process.
func StartPuppet() (*Puppet, error) {
	p, err := oracle.Start(source)
	return &Puppet{p}, err
}

// Ask returns what happens when a node of each role declares each class of the site in dir, an absolute path: "" or the
// message of Puppet's error.
func (p *Puppet) Ask(dir string, classes []string) (answers [][]string, err error) {
	question, err := json.Marshal(map[string]any{"dir": dir, "roles": Roles, "classes": classes})
	if err != nil {
		return nil, err
	}
	line, err := p.Process.Ask(question)
	if err != nil {
		return nil, err
	}
	return answers, json.Unmarshal(line, &answers)
}
