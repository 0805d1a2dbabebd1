package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/snapfile"
	"bindc/ship"
)

func (store *storeFlag) activateCommand() *cobra.Command {
	var g gates
	var isNew bool
	cmd := &cobra.Command{
		Use:   "activate NAME DIGEST|REVISION",
		Short: "Activate a snapshot of the store",
		Long: "activate switches NAME to a snapshot in the store, if it passes the checks of\n" +
			"pull. If the source had another snapshot when it was last polled, NAME is\n" +
			"pinned until 'bindsync follow --resume NAME', as after a rollback; otherwise\n" +
			"activate ends a pin. The configuration of follow has the signers and gates for\n" +
			"NAME; flags override them. activate needs no network. It refuses a NAME that is\n" +
			"new but similar to a name in the store; --new allows it.\n\n" +
			"Exit status: 0 activated, 1 the snapshot is refused, 2 on an error.",
		Example: "  bindsync activate production 3f1c0ab94e52",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, p, err := store.change(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if near := misspelt(s.Store, p, args[0]); near != "" && !isNew {
				return &cli.External{Err: fmt.Errorf("the store has no active snapshot for '%s'; %s add --new "+
					"to create the name", args[0], near)}
			}
			g.inherit(p.gatesOf(args[0]), cmd.Flags())
			checks, err := g.checks()
			if err != nil {
				return err
			}
			s.Checks, s.SignedAs = checks, g.signedAs
			d, err := s.Store.Find(args[0], args[1])
			if err == nil {
				err = s.Activate(d)
			}
			if err != nil {
				return &cli.External{Err: err}
			}
			until := ""
			if s.Pinned {
				until = "; its source has another, so the name is pinned until 'bindsync follow --resume " + args[0] + "'"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s is active now%s\n", args[0], d.Short(), until)
			return nil
		},
	}
	g.add(cmd)
	cmd.Flags().BoolVar(&isNew, "new", false, "create NAME even if the store has a similar name")
	return cmd
}

// misspelt returns a suggestion if neither the store nor the configuration has name, but the store has a similar one.
func misspelt(st *ship.Store, p *policy, name string) string {
	names, _ := st.Names() // after an error, there is no suggestion
	if _, followed := p.names[name]; followed || slices.Contains(names, name) {
		return ""
	}
	return diag.DidYouMean(name, names)
}

func (s *storeFlag) change(name string, errs io.Writer) (*ship.Switch, *policy, error) {
	if err := ship.CheckName(name); err != nil {
		return nil, nil, err
	}
	st, p, err := s.find(errs)
	change := &ship.Switch{Store: st, Name: name, Checks: ship.Checks{Inspect: snapfile.Inspect}, By: byWhom(),
		Now: time.Now}
	return change, p, err
}

func (store *storeFlag) rollbackCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to an earlier snapshot and pin it",
		Long: "rollback switches NAME back to the previous snapshot. It skips snapshots that\n" +
			"were active for less than a minute. Another rollback goes further back. It pins\n" +
			"NAME: follow stores new releases but does not activate them until 'bindsync\n" +
			"follow --resume NAME', or 'bindsync activate' of the snapshot in the source. It\n" +
			"needs no network and runs no gates.\n\n" +
			"Exit status: 0 switched, 1 the snapshot is refused, 2 on an error.",
		Example: "  bindsync rollback production",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := store.change(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			var d ship.Digest
			if to != "" {
				if d, err = s.Store.Find(args[0], to); err != nil {
					return err
				}
			}
			if d, err = s.Back(d); err != nil {
				return &cli.External{Err: err}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s is active again, until 'bindsync follow --resume %s'\n", args[0],
				d.Short(), args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "`DIGEST` or revision to go back to")
	return cmd
}

func (store *storeFlag) resetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reset NAME",
		Short: "Forget a release that was signed in the future",
		Long: "A release that was signed before one that has been active is refused. After a\n" +
			"release signed by a clock that was ahead, every later release would be refused.\n" +
			"reset makes NAME forget signing times in the future: a release now has to be as\n" +
			"new as the latest one signed in the past. This is rarely needed, because pull\n" +
			"and follow refuse a release that is signed more than 5 minutes ahead.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindsync reset production",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := store.change(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			newest, err := s.Reset()
			if err != nil {
				return &cli.External{Err: err}
			}
			than := "at any time"
			if !newest.IsZero() {
				than = "at " + newest.UTC().Format(time.RFC3339) + " or later"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: accepts releases that were signed %s\n", args[0], than)
			return nil
		},
	}
	return cmd
}

// Defaults of gc.
const (
	defaultKeep    = 5
	defaultYounger = 7 * 24 * time.Hour
)

func (store *storeFlag) gcCommand() *cobra.Command {
	var keep int
	var younger time.Duration
	var dry bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove snapshots that no name needs any more",
		Long: "gc removes old snapshots from the store. It keeps the active snapshot of each\n" +
			"name, the last ones that were active before (--keep), and new ones (--younger).\n" +
			"Programs that have a removed file open can still read it.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindsync gc --keep 5 --younger 168h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, p, err := store.find(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("keep") {
				p.keep.Last = keep
			}
			if cmd.Flags().Changed("younger") {
				p.keep.Younger = younger
			}
			gone, err := st.Collect(p.keep, time.Now(), dry)
			for _, d := range gone {
				fmt.Fprintln(cmd.OutOrStdout(), d)
			}
			return err
		},
	}
	cmd.Flags().IntVar(&keep, "keep", defaultKeep, "keep the last `N` active snapshots of each name")
	cmd.Flags().DurationVar(&younger, "younger", defaultYounger, "keep snapshots in the store for less than `TIME`")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only print what would be removed")
	return cmd
}
