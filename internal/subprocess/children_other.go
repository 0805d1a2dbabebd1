//go:build !unix

package subprocess

import "os/exec"

// stopWithChildren does nothing: this system has no process groups, so only cmd itself is stopped.
func stopWithChildren(*exec.Cmd) {}

func endChildren(*exec.Cmd) {}
