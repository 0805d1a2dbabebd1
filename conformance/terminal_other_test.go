//go:build !linux

package conformance

import "github.com/rogpeppe/go-internal/testscript"

// onTerminal is implemented only on Linux, because systems differ in how to open a terminal.
func onTerminal(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("terminal: only on linux") }
