//go:build !linux

package conformance

import "github.com/rogpeppe/go-internal/testscript"

// onTerminal exists only on Linux, because every system opens terminals in another way.
func onTerminal(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("terminal: only on linux") }
