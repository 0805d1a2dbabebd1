//go:build unix

package subprocess

import (
	"os/exec"
	"syscall"
)

// stopWithChildren makes stopping cmd also stop the programs that it started; otherwise they would survive a killed
// shell.
func stopWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endChildren kills the processes that cmd, which has ended, left running. It cannot reach those that left its
// process group.
func endChildren(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
