//go:build unix

package subprocess

import (
	"os/exec"
	"syscall"
)

// stopWithChildren makes sure that stopping cmd also stops its children. Killing a shell would leave them running.
func stopWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endChildren kills the children that cmd, which has ended, left running in its process group.
func endChildren(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
