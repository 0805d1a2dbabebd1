package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit statuses of all programs, see docs/cli.md.
const (
	ExitNo    = 1 // not found, rejected, stale or different
	ExitError = 2 // invalid usage, input or output
)

// Answer is returned by a verb that has already printed its result. The program exits with Status
// and prints nothing.
type Answer struct {
	Reason string
	Status int
}

func (a *Answer) Error() string { return a.Reason }

// External wraps an error that the arguments did not cause, so that it is not reported as a usage
// error.
type External struct{ Err error }

func (e *External) Error() string { return e.Err.Error() }
func (e *External) Unwrap() error { return e.Err }

// NewProgram returns the root command of a program, without verbs. Execute prints its errors; cobra
// does not.
func NewProgram(name, short, long, example string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: long, Example: example,
		SilenceUsage: true, SilenceErrors: true}
}

// Execute runs the verb that the arguments name and returns the exit status. If the verb fails,
// Execute prints message(err) and returns status(verb, err).
func Execute(root *cobra.Command, message func(error) string, status func(verb *cobra.Command, err error) int) int {
	verb, err := root.ExecuteC()
	var answer *Answer
	switch {
	case err == nil:
		return 0
	case errors.As(err, &answer):
		return answer.Status
	}
	err = plain(err)
	fmt.Fprintf(root.ErrOrStderr(), "%s: %s\n", root.Name(), message(err))
	return status(verb, err)
}
