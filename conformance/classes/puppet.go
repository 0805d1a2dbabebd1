package classes

import (
	_ "embed" // for oracle.rb
	"encoding/json"

	"bindc/conformance/oracle"
)

//go:embed oracle.rb
var source string

// Puppet is a running Puppet that declares classes. It handles one site at a time.
type Puppet struct{ *oracle.Process }

// StartPuppet starts Puppet. The caller must call Close.
func StartPuppet() (*Puppet, error) {
	p, err := oracle.Start(source)
	return &Puppet{p}, err
}

// Ask declares each class on a node of each role. dir is the absolute path of the site. An answer
// is Puppet's error message, or "" if the class can be declared.
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
