package main

import (
	"flag"
	"io"
	"testing"

	"bindc/internal/testsite"
)

var update = flag.Bool("update", false, "write what is found into the files that hold what is expected")

func TestTranscripts(t *testing.T) {
	testsite.RunSessions(t, "bindsync", func(args []string, in io.Reader, out, errs io.Writer) int {
		root := command(nil)
		root.SetArgs(args)
		root.SetIn(in)
		root.SetOut(out)
		root.SetErr(errs)
		return execute(root)
	}, *update)
}
