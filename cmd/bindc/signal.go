package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals end the program between the things that must not be cut short: a file that is being written is finished
// first, and what is written is whole; programs that were started are stopped first. The status is that of a program
// which a signal ends, in a shell: 128 and its number.
type signals struct {
	busy    sync.Mutex      // held while such a thing is done
	stopped context.Context // done when a signal has come
	last    func()          // runs before a signal ends the program; may be nil
}

// handle begins to listen. Signals that are ignored, as nohup has it, stay so.
func (s *signals) handle() { s.handleThese(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM) }

func (s *signals) handleThese(these ...os.Signal) {
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

// whole does what must not be cut short. After a signal it does not return.
func (s *signals) whole(do func()) {
	s.busy.Lock()
	do()
	s.busy.Unlock()
	if s.stopped.Err() != nil {
		select {}
	}
}
