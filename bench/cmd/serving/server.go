package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

type server struct {
	socket string
	cmd    *exec.Cmd
}

// start starts a program and waits until it listens on the socket.
func start(socket, program string, args ...string) (*server, error) {
	s := &server{socket, exec.Command(program, args...)}
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 500 {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("%s does not open %s", program, socket)
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// used returns the CPU time that the server has used since it started.
func (s *server) used() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	user, err1 := strconv.Atoi(string(fields[11]))
	system, err2 := strconv.Atoi(string(fields[12]))
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("cannot read the times in %q", text)
	}
	return time.Duration(user+system) * (time.Second / 100), nil // Linux counts hundredths of a second
}
