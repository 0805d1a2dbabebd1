package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// ruby is a Ruby process that looks up keys in Hiera 3 or Hiera 5, see serve.rb.
type ruby struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs a Ruby script with the directory of a site, and waits until it is ready.
func start(script, dir string) (*ruby, error) {
	r := &ruby{cmd: exec.Command("ruby", script, dir)}
	r.cmd.Stderr = os.Stderr
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := r.line(); err != nil {
		return nil, fmt.Errorf("%s: %w", script, err)
	}
	return r, nil
}

func (r *ruby) stop() error {
	r.in.Close()
	return r.cmd.Wait()
}

// ask sends a line to the process and returns the next line that it prints.
func (r *ruby) ask(format string, args ...any) (string, error) {
	if _, err := fmt.Fprintf(r.in, format+"\n", args...); err != nil {
		return "", err
	}
	return r.line()
}

func (r *ruby) line() (string, error) {
	line, err := r.out.ReadString('\n')
	return strings.TrimSpace(line), err
}

// do returns a function that performs an operation n times. serve.rb describes the operations.
func (r *ruby) do(what string) func(n int) {
	return func(n int) {
		_, err := r.ask("%s %d", what, n)
		must(err)
	}
}

// answers returns the values of all keys, in one slice for each node.
func (r *ruby) answers() ([][]json.RawMessage, error) {
	line, err := r.ask("answers")
	if err != nil {
		return nil, err
	}
	var all [][]json.RawMessage
	return all, json.Unmarshal([]byte(line), &all)
}
