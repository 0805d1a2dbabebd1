package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals ends the program on a signal. If uninterrupted is running a function, the program ends after it. The exit
// status is 128 plus the signal's number, as in a shell.
type signals struct {
	busy    sync.Mutex      // held while uninterrupted runs a function
	stopped context.Context // canceled when a signal arrives
	last    func()          // runs before the program ends; may be nil
}

// handle starts to handle SIGHUP, SIGINT and SIGTERM. A signal that is already ignored, for example by nohup, stays
// ignored.
func (s *signals) handle() { s.handleSignals(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM) }

func (s *signals) handleSignals(these ...os.Signal) {
	received := make(chan os.Signal, 1)
	for _, sig := range these {
		if !signal.Ignored(sig) {
			signal.Notify(received, sig)
		}
	}
	var stop context.CancelFunc
	s.stopped, stop = context.WithCancel(context.Background())
	go func() {
		number := (<-received).(syscall.Signal)
		stop()
		s.busy.Lock()
		if s.last != nil {
			s.last()
		}
		os.Exit(128 + int(number))
	}()
}

// uninterrupted calls do. If a signal arrives during the call, the program ends when do returns, and uninterrupted does
// not return.
func (s *signals) uninterrupted(do func()) {
	s.busy.Lock()
	do()
	s.busy.Unlock()
	if s.stopped.Err() != nil {
		select {}
	}
}
