package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit statuses of the programs, as docs/cli.md has them.
const (
	ExitNo    = 1 // the answer is no: not found, refused, stale, or different
	ExitError = 2 // usage, input or output
)

// Answer is an error of a verb that has printed its answer. The program prints nothing more and ends with Status.
type Answer struct {
	Reason string
	Status int
}

func (a *Answer) Error() string { return a.Reason }

// External is an error whose cause is not how the program was called, so it is not printed as an error of usage.
type External struct{ Err error }

func (e *External) Error() string { return e.Err.Error() }
func (e *External) Unwrap() error { return e.Err }

// NewProgram returns a program without verbs. It leaves errors to Execute.
func NewProgram(name, short, long, example string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: long, Example: example,
		SilenceUsage: true, SilenceErrors: true}
}

// Execute runs the verb that the arguments name and returns the exit status. It prints an error as message formats it.
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
