//go:build !unix

package subprocess

import "os/exec"

// stopWithChildren does nothing: there are no groups of processes here, and cmd alone is stopped.
func stopWithChildren(*exec.Cmd) {}

func endChildren(*exec.Cmd) {}
