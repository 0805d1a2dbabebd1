package hiera5

import (
	_ "embed" // for oracle.rb
	"encoding/json"
	"fmt"

	"bindc/conformance/oracle"
)

//go:embed oracle.rb
var source string

// Puppet is a running Puppet that looks up keys. It handles one site at a time.
type Puppet struct{ *oracle.Process }

// StartPuppet starts oracle.rb with args. The caller must call Close.
func StartPuppet(args ...string) (*Puppet, error) {
	p, err := oracle.Start(source, args...)
	return &Puppet{p}, err
}

// Ask returns Puppet's answers to the questions of a site, in their order. dir is the absolute path
// where the site was written.
func (p *Puppet) Ask(dir string, s *Site) ([]Answer, error) {
	line, err := p.Process.Ask([]byte(jsonText(Map{{"dir", dir}, {"nodes", s.Nodes}, {"questions", s.Questions}})))
	if err != nil {
		return nil, err
	}
	var answers []Answer
	if err := json.Unmarshal(line, &answers); err != nil {
		return nil, err
	}
	if len(answers) != len(s.Questions) {
		return nil, fmt.Errorf("puppet gave %d answers to %d questions", len(answers), len(s.Questions))
	}
	return answers, nil
}
