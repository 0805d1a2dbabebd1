//go:build !unix

package subprocess

import "os/exec"

// stopWithChildren does nothing: this platform has no process groups, so only cmd is stopped.
func stopWithChildren(*exec.Cmd) {}

func endChildren(*exec.Cmd) {}
