//go:build !linux

package conformance

import "github.com/rogpeppe/go-internal/testscript"

// onTerminal is for Linux: a terminal is opened in another way on every system.
func onTerminal(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("terminal: only on linux") }
