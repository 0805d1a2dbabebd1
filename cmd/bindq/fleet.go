package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"bindc/facts"
	"bindc/internal/cli"
	bindings "bindc/runtime"
)

// fleet holds the nodes of a facts directory. A node whose facts cannot be used is reported, and the verb continues
// with the others. With --strict, the verb fails.
type fleet struct {
	nodes  []facts.Node
	errs   io.Writer
	strict bool
	failed bool // whether an error of a node was printed
}

// readFleet reads the facts of all nodes in dir. It prints a note about entries of dir that are not facts files.
func (s *source) readFleet(cmd *cobra.Command, dir string) (*fleet, error) {
	if text := facts.Unread(dir); text != "" {
		note(cmd, text)
	}
	nodes, wrong, err := facts.ReadGood(dir)
	if err == nil && len(nodes) == 0 {
		err = facts.Join(wrong)
	}
	if err != nil {
		return nil, err
	}
	f := &fleet{nodes: nodes, errs: cmd.ErrOrStderr(), strict: s.strict}
	return f, f.report(wrong)
}

// report prints the errors in wrong, which may contain nil. It returns an error only if the verb must end: if the
// snapshot is damaged, which affects all nodes, or if --strict is set.
func (f *fleet) report(wrong []error) error {
	var damage *bindings.DamageError
	for _, err := range wrong {
		if errors.As(err, &damage) {
			return err
		}
	}
	if f.strict {
		return facts.Join(wrong)
	}
	for _, err := range wrong {
		if err != nil {
			f.failed = true
			fmt.Fprintln(f.errs, "bindq:", message(err))
		}
	}
	return nil
}

// reportEach reports the errors in wrong, which has one element per node: an error or nil. It returns errReported if
// every node has an error.
func (f *fleet) reportEach(wrong []error) error {
	if err := f.report(wrong); err != nil {
		return err
	}
	if f.failed && !slices.Contains(wrong, nil) {
		return errReported
	}
	return nil
}

// outcome returns errReported if the verb succeeded but some nodes had errors. Otherwise, it returns err.
func (f *fleet) outcome(err error) error {
	var answer *cli.Answer
	if f.failed && (err == nil || errors.As(err, &answer)) {
		return errReported
	}
	return err
}
