// Package oracle asks a program in Ruby, which asks real Puppet, one question at a time.
package oracle

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
)

// Process is a running program. It reads a question from each line and writes its answer as a line.
type Process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Start starts the program with that source.
func Start(source string, args ...string) (*Process, error) {
	cmd := exec.Command("ruby", append([]string{"-e", source, "--"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &Process{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

// Ask returns the answer to a question. Neither contains a newline, except that the answer ends in one.
func (p *Process) Ask(question []byte) ([]byte, error) {
	if _, err := p.in.Write(append(question, '\n')); err != nil {
		return nil, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("puppet gave no answers: %w", err)
	}
	return line, nil
}

// Close ends the program.
func (p *Process) Close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.cmd.Wait()
}
