package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"bindc/internal/diag"
	"bindc/ship"
)

func followCommand() *cobra.Command {
	var store storeFlag
	var config, resume string
	cmd := &cobra.Command{
		Use:   "follow -c FILE",
		Short: "Pull again and again, for all names in one process",
		Long: "follow pulls what FILE names, each at its interval, half to one and a half of\n" +
			"it; after failures less often, up to every ten minutes. Whatever fails, what\n" +
			"answered goes on answering. SIGHUP has it look at once. systemd is told when it\n" +
			"is ready. With --resume it ends a rollback and leaves:\n" +
			"the follow that runs then activates what its source has.\n\n" +
			"Exit status: 0 ended by SIGTERM or SIGINT, 2 an error.",
		Example: "  bindq follow -c /etc/bindc/follow.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if resume != "" {
				s, err := store.change(resume)
				if err != nil {
					return err
				}
				if err := s.Resume(); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: what its source has answers after the next look\n", resume)
				return nil
			}
			if config == "" {
				return fmt.Errorf("expected -c FILE, what to follow, or --resume NAME")
			}
			f, err := readFollowing(config, store, cmd.InOrStdin())
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), cmd.ErrOrStderr())
		},
	}
	store.add(cmd)
	cmd.Flags().StringVarP(&config, "config", "c", "", "`FILE` of names and their sources")
	cmd.Flags().StringVar(&resume, "resume", "", "end the rollback of `NAME`")
	return cmd
}

// following is what a configuration says.
type following struct {
	store    *ship.Store
	textfile string
	follow   ship.Follow
}

// run follows until a signal.
func (f *following) run(ctx context.Context, errs io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	wake := make(chan struct{}, 1)
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	go func() {
		for range hup {
			wake <- struct{}{}
		}
	}()
	f.follow.Wake = wake
	log := slog.New(slog.NewTextHandler(errs, nil))
	var mu sync.Mutex
	looked := map[*ship.Pull]bool{}
	f.follow.Report = func(p *ship.Pull, r ship.Result, err error) {
		switch {
		case err != nil:
			log.Error(diag.Visible(err.Error()), "name", p.Name, "source", p.Source.String(), "refused", isRefused(err))
		case r.Digest != "":
			log.Info(outcomeOf(p.Name, r), "digest", string(r.Digest), "source", p.Source.String())
		}
		mu.Lock()
		defer mu.Unlock()
		if looked[p] = true; len(looked) == len(f.follow.Pulls) {
			daemon.SdNotify(false, daemon.SdNotifyReady)
		}
		if err := f.writeTextfile(); err != nil {
			log.Error(diag.Visible(err.Error()), "textfile", f.textfile)
		}
	}
	f.follow.Run(ctx)
	daemon.SdNotify(false, daemon.SdNotifyStopping)
	return nil
}

func (f *following) writeTextfile() error {
	if f.textfile == "" {
		return nil
	}
	names := make([]string, len(f.follow.Pulls))
	for i, p := range f.follow.Pulls {
		names[i] = p.Name
	}
	all, err := statuses(f.store, names)
	if err != nil {
		return err
	}
	return writeTextfile(f.textfile, all)
}

// Defaults of a configuration.
const (
	defaultInterval = 30 * time.Second
	maxDelay        = 10 * time.Minute
	lookTimeout     = 15 * time.Minute
)
