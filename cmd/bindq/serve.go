package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	bindings "bindc/runtime"
	"bindc/serve"
)

type serveFlags struct {
	source
	stdio  bool
	listen string
	copy   bool
	keep   bool
	idle   time.Duration
	log    bool
}

// idleTime is the default of --idle. Compilations of catalogs usually take less time.
const idleTime = 10 * time.Minute

// These are arguments of debug.SetGCPercent. A server that is the child of a Puppet process is one of many, so it saves
// memory. A server on a socket is the only one, so it uses a few megabytes more for fewer collections.
const (
	childGarbagePercent = 25
	ownGarbagePercent   = 200
)

// startTime is the time after which a server sets its GC percentage.
const startTime = 2 * time.Second

func (g *globals) serveCommand() *cobra.Command {
	f := serveFlags{source: source{globals: g}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer lookups for other programs, such as Puppet",
		Long: "serve speaks the protocol of docs/serve.md on standard input and output, or on a\n" +
			"socket. New sessions use the current file of the snapshot; a session keeps its\n" +
			"file to the end. If -s is a directory, a session for environment E uses\n" +
			"DIR/E.snap. Requests fail while a snapshot is missing or invalid.\n\n" +
			"Exit status: 0 on end of input or SIGTERM, 2 on an error.",
		Example: "  bindq serve -s /var/lib/bindc --listen unix:/run/bindc.sock --log",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.addStrictVariables(cmd)
	cmd.Flags().BoolVar(&f.stdio, "stdio", false,
		"read requests from standard input and answer on standard output, until end of file")
	cmd.Flags().StringVar(&f.listen, "listen", "", "answer on a socket, `unix:PATH`, that only this user may open")
	cmd.Flags().BoolVar(&f.copy, "copy", false, "read snapshots into memory instead of mapping them")
	cmd.Flags().BoolVar(&f.keep, "keep", false, "keep the first file of each snapshot; ignore files that replace it")
	cmd.Flags().DurationVar(&f.idle, "idle", idleTime, "end a session that is idle for `TIME`; 0 for never")
	cmd.Flags().BoolVar(&f.log, "log", false, "log events to standard error, as lines of key=value pairs")
	cmd.MarkFlagsMutuallyExclusive("stdio", "listen")
	cmd.MarkFlagsOneRequired("stdio", "listen")
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	percent := ownGarbagePercent
	if f.stdio {
		percent = childGarbagePercent
	}
	// An earlier collection would delay the first answer, for which Puppet waits.
	time.AfterFunc(startTime, func() { debug.SetGCPercent(percent) })
	path, err := f.path()
	if err != nil {
		return err
	}
	f.lateEyaml = true // a missing key fails only lookups of encrypted values
	opts, err := f.options()
	if err != nil {
		return err
	}
	opts.Copy = f.copy
	watch := bindings.WatchOptions{Options: opts}
	if f.keep {
		watch.Interval = -1
	}
	s := serve.New(serve.Options{Path: path, Snapshot: watch, Idle: f.idle,
		Version: cli.Version(), Report: f.reporter(cmd.ErrOrStderr())})
	defer s.Close()
	if f.stdio {
		return s.Answer(cmd.InOrStdin(), cmd.OutOrStdout())
	}
	socket, ok := strings.CutPrefix(f.listen, "unix:")
	if !ok || socket == "" {
		return fmt.Errorf("--listen: expected unix:PATH, found '%s'", f.listen)
	}
	l, err := listen(socket)
	if err != nil {
		return err
	}
	return serveUntilStopped(s, l)
}

// serveUntilStopped answers until a signal ends the program. Closing the listener removes the socket.
func serveUntilStopped(s *serve.Server, l net.Listener) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, s.Close)
	return s.Serve(l)
}

// reporter returns a function that logs events to w, or nil without --log.
func (f *serveFlags) reporter(w io.Writer) func(serve.Event) {
	if !f.log {
		return nil
	}
	log := slog.New(slog.NewTextHandler(w, nil))
	return func(e serve.Event) {
		level, attrs := slog.LevelInfo, []slog.Attr{}
		if e.Connection > 0 {
			attrs = append(attrs, slog.Int("connection", e.Connection))
		}
		if e.Environment != "" {
			attrs = append(attrs, slog.String("environment", e.Environment))
		}
		if e.Digest != "" {
			attrs = append(attrs, slog.String("digest", e.Digest))
		}
		if e.Err != nil {
			level = slog.LevelWarn
			attrs = append(attrs, slog.String("error", e.Err.Error()))
		}
		log.LogAttrs(context.Background(), level, e.What, attrs...)
	}
}
