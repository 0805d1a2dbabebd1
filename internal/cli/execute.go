package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit statuses of the programs. docs/cli.md documents them.
const (
	ExitNo    = 1 // the answer is no: not found, rejected, stale, or different
	ExitError = 2 // usage, input or output
)

// Answer is the error of a verb that has printed its answer. The program exits with Status and prints nothing more.
type Answer struct {
	Reason string
	Status int
}

func (a *Answer) Error() string { return a.Reason }

// External is an error that is not caused by the arguments, so it is not reported as an error of usage.
type External struct{ Err error }

func (e *External) Error() string { return e.Err.Error() }
func (e *External) Unwrap() error { return e.Err }

// NewProgram returns a program without verbs. It does not print errors; Execute does.
func NewProgram(name, short, long, example string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: long, Example: example,
		SilenceUsage: true, SilenceErrors: true}
}

// Execute runs the verb in the arguments and returns the exit status. It prints errors in the form of message.
func Execute(root *cobra.Command, message func(error) string, status func(verb *cobra.Command, err error) int) int {
	verb, err := root.ExecuteC()
	var answer *Answer
	switch {
	case err == nil:
		return 0
	case errors.As(err, &answer):
		return answer.Status
	}
	fmt.Fprintf(root.ErrOrStderr(), "%s: %s\n", root.Name(), message(err))
	return status(verb, err)
}
