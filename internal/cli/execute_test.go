package cli

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"
)

func TestExecutePrintsErrorsAndReturnsStatus(t *testing.T) {
	no := &Answer{Reason: "not found", Status: ExitNo}
	for name, c := range map[string]struct {
		err    error
		status int
		text   string
	}{
		"no error":          {nil, 0, ""},
		"an answer":         {no, ExitNo, ""},
		"a wrapped answer":  {fmt.Errorf("with more: %w", no), ExitNo, ""},
		"an error":          {errors.New("broken"), ExitError, "tool: <broken>\n"},
		"an external error": {&External{Err: errors.New("unplugged")}, ExitError, "tool: <unplugged>\n"},
	} {
		root := NewProgram("tool", "", "", "")
		root.AddCommand(&cobra.Command{Use: "verb", RunE: func(*cobra.Command, []string) error { return c.err }})
		root.SetArgs([]string{"verb"})
		var out bytes.Buffer
		root.SetErr(&out)
		status := Execute(root, func(err error) string { return "<" + err.Error() + ">" },
			func(verb *cobra.Command, _ error) int {
				if verb.Name() != "verb" {
					t.Errorf("%s: expected the verb, found '%s'", name, verb.Name())
				}
				return ExitError
			})
		if status != c.status || out.String() != c.text {
			t.Errorf("%s: status %d and %q, expected %d and %q", name, status, out.String(), c.status, c.text)
		}
	}
}
