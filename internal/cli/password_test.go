package cli_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"bindc/internal/cli"
)

func TestReadPasswordReadsWholeFirstLine(t *testing.T) {
	long := strings.Repeat("x", 10_000) // some registries use tokens of this length
	for text, want := range map[string]string{"secret": "secret", "secret\r\nmore\n": "secret", long + "\n": long} {
		if got, err := cli.ReadPassword(strings.NewReader(text)); got != want || err != nil {
			t.Errorf("%.20q: found %.20q, %v", text, got, err)
		}
	}
}

func TestReadPasswordRejectsEmptyLine(t *testing.T) {
	const want = "--password-stdin: expected a password on the first line of standard input, found none"
	for _, text := range []string{"", "\n", "\r\nsecret\n"} {
		if _, err := cli.ReadPassword(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: found %v, expected %s", text, err, want)
		}
	}
	if _, err := cli.ReadPassword(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("found %v, expected the error of the reader", err)
	}
}
