// Package oracle runs a Ruby program that answers questions with the help of Puppet.
package oracle

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
)

// Process is a running Ruby program. It reads one question per line and writes one answer per line.
type Process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Start runs Ruby code with arguments. The caller must call Close.
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

// Ask sends a question, which must not contain a newline, and returns the line with the answer.
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

// Close closes the program's input and waits for the program to exit.
func (p *Process) Close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.cmd.Wait()
}
