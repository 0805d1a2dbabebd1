package main

import (
	"io"
	"testing"

	"bindc/internal/testsite"
)

func TestTranscripts(t *testing.T) {
	testsite.RunSessions(t, "bindq", func(args []string, in io.Reader, out, errs io.Writer) int {
		root := command(nil)
		root.SetArgs(args)
		root.SetIn(in)
		root.SetOut(out)
		root.SetErr(errs)
		return execute(root)
	}, *update)
}
