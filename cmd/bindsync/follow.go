package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/ship"
)

func (store *storeFlag) followCommand() *cobra.Command {
	var resume string
	cmd := &cobra.Command{
		Use:   "follow -c FILE",
		Short: "Keep pulling all names of a configuration",
		Long: "follow polls the source of each name in FILE. Pauses are half to one and a half\n" +
			"times the interval, and up to ten minutes while a source does not answer. If a\n" +
			"poll fails, the active snapshot stays. On SIGHUP, follow reads FILE again and\n" +
			"polls all names at once; if FILE is invalid, the old configuration stays in\n" +
			"force. It notifies systemd once it has read FILE. With --resume, it only ends\n" +
			"the pin of a name; a running follow then activates the release of its source.\n\n" +
			"Exit status: 0 ended by SIGTERM or SIGINT, 2 on an error.",
		Example: "  bindsync follow -c /etc/bindc/follow.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if resume != "" {
				s, _, err := store.change(resume, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if err := s.Resume(); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: resumed; the next poll activates the release of its "+
					"source\n", resume)
				return nil
			}
			if store.config == "" {
				return fmt.Errorf("expected -c FILE with the names to follow, or --resume NAME")
			}
			return follow(cmd.Context(), slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)),
				func() (*following, error) { return readFollowing(*store, cmd.InOrStdin()) })
		},
	}
	cmd.Flags().StringVar(&resume, "resume", "", "end the pin that rollback or activate set on `NAME`")
	return cmd
}

// follow runs the configuration that read returns. After a change it runs the new one, until a signal ends it.
func follow(ctx context.Context, log *slog.Logger, read func() (*following, error)) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	f, err := read()
	if err != nil {
		return err
	}
	daemon.SdNotify(false, daemon.SdNotifyReady)
	for f != nil {
		f = f.run(ctx, log, hup, read)
	}
	daemon.SdNotify(false, daemon.SdNotifyStopping)
	return nil
}

// following is a parsed configuration with its open store.
type following struct {
	store    *ship.Store
	textfile string
	keep     ship.Keep
	follow   ship.Follow
	wake     chan struct{}
	inputs   string // changes with the configuration and its certificates
}

// reload reads the configuration again and wakes the polls of all names. It returns the new configuration, or nil if
// nothing has changed.
func (f *following) reload(log *slog.Logger, read func() (*following, error)) (changed *following) {
	next, err := read()
	switch {
	case err != nil:
		log.Error("the old configuration stays in force: " + diag.Visible(err.Error()))
		next = f
	case next.inputs == f.inputs:
		next = f
	default:
		log.Info("the configuration has changed", "names", len(next.follow.Pulls))
		changed = next
	}
	select {
	case next.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
	return changed
}

// run polls until ctx is done, and then returns nil. If the configuration changes on SIGHUP, run returns the new one.
func (f *following) run(ctx context.Context, log *slog.Logger, hup <-chan os.Signal,
	read func() (*following, error)) *following {
	ctx, stop := context.WithCancel(ctx)
	changed := make(chan struct{}, 1)
	f.report(log, changed)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { f.follow.Run(ctx) })
	all.Go(func() { f.writeTextfiles(ctx, log, changed) })
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hup:
			if next := f.reload(log, read); next != nil {
				return next
			}
		}
	}
}

// vet logs that the active snapshot of p does not pass the checks, if the poll with the result r has not activated it.
// The checks may be newer than the snapshot.
func vet(p *ship.Pull, r ship.Result, log *slog.Logger) {
	if r.Activated {
		return
	}
	if err := p.Vet(); err != nil {
		log.Warn(diag.Visible(err.Error()), "name", p.Name)
	}
}

// report makes f log the results of polls and collections. After each poll, f sends to changed.
func (f *following) report(log *slog.Logger, changed chan<- struct{}) {
	f.store.Notice = func(text string) { log.Warn(diag.Visible(text)) }
	var vetted sync.Map // the names whose active snapshot was checked with this configuration
	f.follow.Report = func(p *ship.Pull, r ship.Result, err error) {
		if _, done := vetted.Load(p.Name); !done && err == nil && !r.Pinned {
			vetted.Store(p.Name, true)
			vet(p, r, log)
		}
		switch {
		case r.Repeated: // already logged
		case err != nil:
			log.Error(diag.Visible(err.Error()), "name", p.Name, "source", p.Source.String(),
				"reason", string(ship.ReasonOf(err)))
		case r.Digest != "":
			log.Info(outcomeOf(p.Name, r), "digest", string(r.Digest), "source", p.Source.String())
		}
		select {
		case changed <- struct{}{}:
		default: // a write is already pending
		}
	}
	f.follow.Collect = func() {
		gone, err := f.store.Collect(f.keep, time.Now(), false)
		for _, d := range gone {
			log.Info("removed a snapshot that no name needs", "digest", string(d))
		}
		if err != nil {
			log.Error("cannot remove old snapshots: " + diag.Visible(err.Error()))
		}
	}
}

// textfilePause is the minimum time between two writes of the textfile, which every poll changes.
const textfilePause = time.Second

// writeTextfiles writes the textfile at the start, after each change, and at the end.
func (f *following) writeTextfiles(ctx context.Context, log *slog.Logger, changed <-chan struct{}) {
	for {
		if err := f.writeTextfile(); err != nil {
			log.Error(diag.Visible(err.Error()), "textfile", f.textfile)
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(textfilePause):
			select {
			case <-ctx.Done():
			case <-changed:
			}
		}
	}
}

func (f *following) writeTextfile() error {
	if f.textfile == "" {
		return nil
	}
	names := make([]string, len(f.follow.Pulls))
	for i, p := range f.follow.Pulls {
		names[i] = p.Name
	}
	all, err := statuses(f.store, names, false)
	if err != nil {
		return err
	}
	return writeTextfile(f.textfile, all)
}

// Defaults of a configuration. Only maxDelay, the maximum pause after failed polls, cannot be changed.
const (
	defaultInterval = 30 * time.Second
	maxDelay        = 10 * time.Minute
	pollTimeout     = 15 * time.Minute
	downloads       = 4 // concurrent downloads
)
