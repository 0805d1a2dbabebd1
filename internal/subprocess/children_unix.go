//go:build unix

package subprocess

import (
	"os/exec"
	"syscall"
)

// stopWithChildren has cmd stopped together with the programs it has started: a shell that is killed leaves those
// behind.
func stopWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endChildren ends what cmd, which has ended, has left running, unless that has left its group.
func endChildren(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
