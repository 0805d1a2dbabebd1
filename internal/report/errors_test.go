package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"bindc/internal/cli"
	"bindc/origin"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Only mistakes on the command line are usage errors. Errors of the operating system and other programs have no code.
func TestMessageEndsWithCodeOfError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("unknown flag: --x"), "unknown flag: --x [usage]"},
		{&fs.PathError{Op: "open", Path: "a", Err: fs.ErrNotExist}, "open a: file does not exist"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: fs.ErrPermission}, "rename a b: permission denied"},
		{&cli.External{Err: errors.New("no answer")}, "no answer"},
		{&cli.External{Err: snapshot.ErrFormat}, "not a snapshot [snapshot_format]"},
		{&origin.Rejection{Path: "a", Reason: "not signed"}, "a: not signed [snapshot_refused]"},
		{fmt.Errorf("a: %w", &snapshot.DamageError{Section: "keys", Offset: 8, Expected: "a key"}),
			"a: snapshot damaged: section keys, offset 8: expected a key [snapshot_damaged]"},
		{&bindings.Error{Key: "k", Code: bindings.CodeFacts, Message: "no fact\x1b", Err: fs.ErrNotExist},
			`k: no fact\x1b [facts]`},
	} {
		if got := Message(c.err, CodeOf(c.err)); got != c.want {
			t.Errorf("%T: %s, expected %s", c.err, got, c.want)
		}
	}
}
