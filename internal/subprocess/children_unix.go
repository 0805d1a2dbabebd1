//go:build unix

package subprocess

import (
	"os/exec"
	"syscall"
)

// stopWithChildren makes cmd.Cancel kill the child processes too. Killing only a shell would leave
// them running.
func stopWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endChildren kills the processes that remain in the process group of cmd. It must be called after
// cmd has exited.
func endChildren(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
