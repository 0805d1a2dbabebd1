//go:build !linux

package conformance

import "github.com/rogpeppe/go-internal/testscript"

// onTerminal only works on Linux, because each system opens terminals differently.
func onTerminal(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("terminal: only on linux") }
