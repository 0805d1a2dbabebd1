//go:build !unix

package subprocess

import "os/exec"

// stopWithChildren does nothing, because this platform has no process groups. Only cmd is stopped.
func stopWithChildren(*exec.Cmd) {}

func endChildren(*exec.Cmd) {}
