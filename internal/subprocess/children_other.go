//go:build !unix

package subprocess

import "os/exec"

// stopWithChildren does nothing, because this platform has no process groups. Child processes of
// cmd keep running.
func stopWithChildren(*exec.Cmd) {}

func endChildren(*exec.Cmd) {}
