package hiera5

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

// StartPuppet starts the process. args are arguments of oracle.rb.
func StartPuppet(args ...string) (*Puppet, error) {
	cmd := exec.Command("ruby", append([]string{"-e", oracle, "--"}, args...)...)
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

// Ask asks all questions about a site that is written below dir, an absolute path.
func (p *Puppet) Ask(dir string, s *Site) ([]Answer, error) {
	question := Map{{"dir", dir}, {"nodes", s.Nodes}, {"questions", s.Questions}}
	if _, err := io.WriteString(p.in, jsonText(question)+"\n"); err != nil {
		return nil, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("puppet gave no answers: %w", err)
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

// Close ends the process.
func (p *Puppet) Close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.cmd.Wait()
}
