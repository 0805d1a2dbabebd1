package classes

import (
	"bufio"
	_ "embed" // the oracle
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
)

//go:embed oracle.rb
var oracle string

// Puppet is a process that asks real Puppet about one site at a time.
type Puppet struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// StartPuppet starts the process.
func StartPuppet() (*Puppet, error) {
	cmd := exec.Command("ruby", "-e", oracle)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &Puppet{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

// Ask returns what happens when a node of each role declares each class of the site in dir, an absolute path: "" or the
// message of Puppet's error.
func (p *Puppet) Ask(dir string, classes []string) ([][]string, error) {
	question, err := json.Marshal(map[string]any{"dir": dir, "roles": Roles, "classes": classes})
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(question, '\n')); err != nil {
		return nil, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("puppet gave no answers: %w", err)
	}
	var answers [][]string
	return answers, json.Unmarshal(line, &answers)
}

// Close ends the process.
func (p *Puppet) Close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.cmd.Wait()
}
